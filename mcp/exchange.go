package mcp

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An exchange is one request with its response. It contains the principal, which is authenticated only by this
// request, and the data for the HTTP response.
type exchange struct {
	who         identity.Principal
	correlation string
	operation   wire.Operation  // for the observer
	message     *wire.Message   // the only message of the request, or nil for a batch
	full        bool            // the client requests all tools with a header
	metadata    string          // URL of the RFC 9728 metadata under which the client reaches the server, or ""
	session     string          // the ID of a session that is restored in this process, or "" for a new session
	gone        context.Context // ends when the client stops waiting for the response

	scope      atomic.Pointer[missing] // the scope that the credential lacks
	retryAfter atomic.Int64            // seconds, or 0
}

const exchangeKey = "exchange"

// tokenInfo wraps x in the only value that the SDK passes unchanged from an HTTP request to its handlers, in both
// protocol generations. The SDK doesn't pass the context. A session's handlers get the context of the request that
// began the session. The SDK stores the value of that request as long as the session. The function forget removes x
// from it.
func (x *exchange) tokenInfo() (info *auth.TokenInfo, forget func()) {
	kept := &atomic.Pointer[exchange]{}
	kept.Store(x)
	return &auth.TokenInfo{UserID: x.who.ID, Extra: map[string]any{exchangeKey: kept}}, func() { kept.Store(nil) }
}

// exchangeOf returns the exchange of a request to the SDK. It returns nil if there is none or it was removed.
func exchangeOf(req sdk.Request) *exchange {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	if kept, ok := extra.TokenInfo.Extra[exchangeKey].(*atomic.Pointer[exchange]); ok {
		return kept.Load()
	}
	return nil
}

// correlationOf returns the correlation ID that the client chose. It returns "" if there is none, or if it is
// unsuitable for logs.
func correlationOf(h http.Header, m *wire.Message) string {
	if id := h.Get("X-Mcp-Session-Id"); isWellFormed(id) {
		return id
	}
	// A traceparent is version-traceid-parentid-flags (W3C Trace Context). The trace ID is used, because people
	// search logs for it.
	if m != nil {
		if t := m.Meta("traceparent"); t.Kind() == value.String && len(t.Text()) == 55 && isWellFormed(t.Text()) {
			return t.Text()[3:35]
		}
	}
	return ""
}

// isWellFormed reports whether id consists of 1 to 128 of the characters A-Z a-z 0-9 . _ -
func isWellFormed(id string) bool {
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return 1 <= len(id) && len(id) <= 128
}

func newCorrelation() string { return rand.Text() }

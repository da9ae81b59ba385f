// Package conformance has the fixtures that the official MCP conformance suites require of a server, served through the
// whole transport.
//
// They are ported from the everything-server of go-sdk v1.8.0 (conformance/everything-server/main.go, Copyright 2025 The
// Go MCP SDK Authors, MIT licence), which mirrors the one of github.com/modelcontextprotocol/conformance. Every tool
// among them passes through extension.Raw, so that the suites meet the same authentication, limits and audit as agents do.
// They access no data, and only the program in test/conformance/server serves them.
package conformance

//lint:file-ignore SA1019 the suites want logging, sampling and roots, which 2026-07-28 deprecates

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/internal/wire"
)

const watchedResource = "test://watched-resource"

// watchInterval is how often the watched resource changes.
const watchInterval = 3 * time.Second

// Extension returns the fixtures. Until ctx ends, subscribers are notified every three seconds that a resource changed.
func Extension(ctx context.Context) wire.Extension {
	return wire.Extension{
		Options: func(o *sdk.ServerOptions) {
			o.Capabilities.Logging = &sdk.LoggingCapabilities{}
			o.CompletionHandler = complete
			o.SubscribeHandler = func(context.Context, *sdk.SubscribeRequest) error { return nil }
			o.UnsubscribeHandler = func(context.Context, *sdk.UnsubscribeRequest) error { return nil }
		},
		Mount: func(s *sdk.Server, raw wire.RawTool) {
			add := func(t *sdk.Tool, h sdk.ToolHandler) {
				if t.InputSchema == nil {
					t.InputSchema = noArguments
				}
				raw(t, failing(h))
			}
			addContent(add)
			addLegacyRequests(add)
			addRounds(add)
			addDiagnostics(s, add)
			addResources(s)
			addPrompts(s)
			go watch(ctx, s)
		},
	}
}

// An adder adds one tool.
type adder func(*sdk.Tool, sdk.ToolHandler)

func watch(ctx context.Context, s *sdk.Server) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// The SDK reports no failed notification.
			_ = s.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: watchedResource})
		}
	}
}

func complete(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
}

// maxForwarded is the size of the largest request that Forward passes on, in bytes.
const maxForwarded = 4 << 20

// Forward returns a handler that passes requests on to the server at target with token as their credential. The suites
// can't send one, so that authentication stays enabled nevertheless, they connect to a loopback listener with this
// handler. Host and Origin are passed unchanged, for the server to check.
func Forward(target *url.URL, token string) http.Handler {
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,                         // events are passed on at once
		ErrorLog:      log.New(io.Discard, "", 0), // it logs disconnecting clients, as those of the suites are
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The body is read to its end first, because responses that overtake it were seen to hang in the proxy, about
		// once in four hundred.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForwarded))
		if err != nil {
			http.Error(w, "the request body is too large or did not arrive", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
}

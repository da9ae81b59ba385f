// Package mcpobserve says what the MCP door tells of the requests that it lets in: for metrics and traces.
//
// It stands beside the door, and decides nothing.
package mcpobserve

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An Observer is told of every request of the protocol that was let in.
type Observer interface {
	// Begin is told of a request. The context that it returns is that of what answers it.
	Begin(context.Context, Operation) context.Context
	// End is told how the request failed: by a code of JSON-RPC such as "-32602", or by "tool_error" for a result that
	// says so; "" for one that didn't.
	End(ctx context.Context, failure string)
}

// An Operation is a request or a notification of the protocol.
type Operation struct {
	Method      string // that a specification has, such as "tools/call"
	Version     string // of the protocol; "" where it isn't known
	HTTP        bool   // or else standard input and output
	Correlation string
	TraceParent string // what the client says of its trace (W3C Trace Context): whatever it sent, up to 512 bytes
	TraceState  string
}

// A Load is how much a door has to do at a moment.
type Load struct {
	Running  int // calls
	Waiting  int // calls, for their turn
	Streams  int // event streams that stay open
	Sessions int // of the protocols before 2026-07-28
}

// Of returns what h, which is nil over streams, and m, which is nil for a batch, tell of an operation. Method and
// Correlation are for the caller to say.
func Of(h http.Header, m *wire.Message) Operation {
	o := Operation{HTTP: h != nil}
	if version := h.Get("Mcp-Protocol-Version"); slices.Contains(mcp.SupportedProtocolVersions(), version) {
		o.Version = version
	}
	o.TraceParent, o.TraceState = short(h.Get("Traceparent")), short(h.Get("Tracestate"))
	if m == nil {
		return o
	}
	if t := m.Meta("traceparent"); t.Kind() == value.String {
		o.TraceParent, o.TraceState = short(t.Text()), ""
		if state := m.Meta("tracestate"); state.Kind() == value.String {
			o.TraceState = short(state.Text())
		}
	}
	return o
}

func short(s string) string {
	const most = 512
	if len(s) > most {
		return ""
	}
	return s
}

// Failure returns what End is told of an answer.
func Failure(res mcp.Result, err error) string {
	if err != nil {
		if e, ok := err.(*jsonrpc.Error); ok {
			return strconv.FormatInt(e.Code, 10)
		}
		return strconv.Itoa(jsonrpc.CodeInternalError)
	}
	if r, ok := res.(*mcp.CallToolResult); ok && r.IsError {
		return "tool_error"
	}
	return ""
}

// Failed is Failure of an answer that is a failure of JSON-RPC, or else a result of a tool.
func Failed(failure *jsonrpc.Error, isError bool) string {
	if failure != nil {
		return Failure(nil, failure)
	}
	return Failure(&mcp.CallToolResult{IsError: isError}, nil)
}

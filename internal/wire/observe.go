package wire

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/value"
)

// An Observer is called for every admitted request.
type Observer interface {
	// Begin is called when a request begins. The request is answered with the returned context.
	Begin(context.Context, Operation) context.Context
	// End is called after a request. failure is "" if the request succeeded. Otherwise it is a JSON-RPC error code
	// such as "-32602", or "tool_error" for a tool result that reports an error.
	End(ctx context.Context, failure string)
}

// An Operation is a request or a notification of the protocol.
type Operation struct {
	Method      string // as in the specification, such as "tools/call"
	Version     string // the protocol version, or "" if unknown
	HTTP        bool   // false for standard input and output
	Correlation string
	TraceParent string // the client's traceparent (W3C Trace Context), at most 512 bytes
	TraceState  string
}

// A Load is the current load of a transport.
type Load struct {
	Running  int // running calls
	Waiting  int // calls waiting for a slot
	Streams  int // open event streams
	Sessions int // sessions of protocols before 2026-07-28
}

// OperationOf returns the Operation of a message. The HTTP header h is nil for stdio, and m is nil for a batch. The
// caller sets Method and Correlation.
func OperationOf(h http.Header, m *Message) Operation {
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

// Failure returns the argument failure of Observer.End for a result or an error.
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

// CallFailure returns the argument failure of Observer.End for a JSON-RPC error, or for a tool result if failure is
// nil.
func CallFailure(failure *jsonrpc.Error, isError bool) string {
	if failure != nil {
		return Failure(nil, failure)
	}
	return Failure(&mcp.CallToolResult{IsError: isError}, nil)
}

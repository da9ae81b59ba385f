// Package wire reads the JSON-RPC messages of the MCP transport and writes JSON-RPC errors. It also tracks sessions,
// running calls and subscriptions.
//
//	body ─Read→ Messages, or RPCFault
//	admitted message ─Sessions, Inflight→ call that can be cancelled ─Observer→ metrics, traces
//
// Read is the first and strictest parser of a body. It refuses bodies that later parsers may read differently:
// duplicate keys, a second document, lone surrogates, and numeric IDs that a double can't represent. All parsers read
// an accepted message in the same way. The package does not depend on principals, tools or transports.
//
// Sessions contains the sessions of protocols before 2026-07-28. Inflight contains the running calls of later
// protocols. Watched contains the resources that clients subscribed to. These types don't depend on the content of
// messages.
//
// An Observer is called for every admitted request but can't reject it. Package telemetry implements it.
//
// An Extension adds features that are written directly against the SDK. Only the fixtures of the official conformance
// suites use it (test/conformance). It is never used to serve agents.
package wire

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Codes of JSON-RPC errors. The codes of the JSON-RPC specification are in package jsonrpc.
const (
	CodeBusy         = -32000 // HTTP 503
	CodeUnauthorized = -32001 // HTTP 401, or 403 for a missing scope
)

// maxSafe is the maximum integer ID. The SDK reads request IDs as doubles and returns larger IDs changed.
const maxSafe = 1<<53 - 1

// An RPCFault is a JSON-RPC error together with its HTTP status.
type RPCFault struct {
	Status  int // the HTTP status
	Code    int64
	Message string
	Data    json.RawMessage // may be nil
	Header  [2]string       // name and value of an additional HTTP header. Both may be ""
}

// Invalid returns the fault for an invalid request, with HTTP status 400. The client sees message.
func Invalid(message string) *RPCFault {
	return &RPCFault{Status: http.StatusBadRequest, Code: jsonrpc.CodeInvalidRequest, Message: message}
}

// Internal returns the fault for an internal error, without details.
func Internal() *RPCFault {
	return &RPCFault{Status: http.StatusInternalServerError, Code: jsonrpc.CodeInternalError, Message: "Internal error"}
}

// Begin appends the beginning of a response to dst. id is the JSON text of the request's ID, or "" if the ID is not
// known.
func Begin(dst []byte, id string) []byte {
	return append(append(append(dst, `{"jsonrpc":"2.0","id":`...), cmp.Or(id, "null")...), ',')
}

// Append appends f to dst as the response to a request with this ID.
func (f *RPCFault) Append(dst []byte, id string) []byte {
	dst = append(Begin(dst, id), `"error":{"code":`...)
	dst = strconv.AppendInt(dst, f.Code, 10)
	dst = append(dst, `,"message":`...)
	dst = value.AppendQuote(dst, f.Message)
	if f.Data != nil {
		dst = append(dst, `,"data":`...)
		dst = append(dst, f.Data...)
	}
	return append(dst, "}}"...)
}

// Write sends f as the response to a request with this ID.
func (f *RPCFault) Write(w http.ResponseWriter, id string) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	if f.Header[0] != "" {
		h.Set(f.Header[0], f.Header[1])
	}
	w.WriteHeader(f.Status)
	// An error means that the client has disconnected.
	_, _ = w.Write(f.Append(nil, id))
}

// A Message is one parsed JSON-RPC message.
type Message struct {
	ID     string      // JSON text, or "" for a notification
	Method string      // "" for a response
	Params value.Value // an Object, or Null if there are none
}

// IsCall reports whether m expects a response.
func (m *Message) IsCall() bool { return m.ID != "" && m.Method != "" }

// Meta returns the named member of _meta.
func (m *Message) Meta(name string) value.Value {
	meta, _ := m.Params.Get("_meta")
	v, _ := meta.Get(name)
	return v
}

// isSDKMethod reports whether the SDK serves a method. The gateway answers all other methods itself, in the same way
// for all protocol versions.
func isSDKMethod(method string) bool {
	switch method {
	case "initialize", "ping", "server/discover", "subscriptions/listen",
		"tools/list", "tools/call", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
		"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
		"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed":
		return true
	}
	return false
}

// maxBatch is the maximum number of messages in a batch. Only MCP 2025-03-26 and older versions have batches.
const maxBatch = 50

// Read reads the messages in a body with at most depth levels of nested JSON. batch reports whether the messages were
// in an array. With a fault there may be one message that contains only the ID to answer. The SDK's parser would
// accept duplicate keys and a second document.
func Read(body []byte, depth int) (messages []Message, batch bool, f *RPCFault) {
	doc, err := value.Read(body, depth)
	if err != nil {
		return nil, false, unreadable(err)
	}
	list := []value.Value{doc}
	if doc.Kind() == value.Array {
		if list, batch = doc.List(), true; len(list) == 0 || len(list) > maxBatch {
			return nil, true, Invalid("Invalid Request: a batch has 1 to " + strconv.Itoa(maxBatch) + " messages")
		}
	}
	for _, v := range list {
		m, f := asMessage(v)
		if f != nil {
			return []Message{m}, batch, f
		}
		messages = append(messages, m)
	}
	return messages, batch, nil
}

// unreadable returns the fault for a body that value.Read rejects. It includes the position.
func unreadable(err error) *RPCFault {
	p := problem.Of(err)
	data := append([]byte(`{"detail":`), value.AppendQuote(nil, p.Detail)...)
	if p.Pointer != "" {
		data = value.AppendQuote(append(data, `,"pointer":`...), p.Pointer)
	}
	return &RPCFault{Status: http.StatusBadRequest, Code: jsonrpc.CodeParseError, Message: "Parse error", Data: append(data, '}')}
}

// asMessage checks one message. With a fault it still returns the message's ID if the ID is valid.
func asMessage(v value.Value) (m Message, f *RPCFault) {
	if v.Kind() != value.Object {
		return m, Invalid("Invalid Request: a message is an object")
	}
	if id, ok := v.Get("id"); ok {
		switch {
		case id.Kind() == value.Int && -maxSafe <= id.Int() && id.Int() <= maxSafe, id.Kind() == value.String:
			m.ID = string(id.AppendJSON(nil))
		default:
			return m, Invalid("Invalid Request: id is a string or an integer within ±(2^53-1)")
		}
	}
	if version, _ := v.Get("jsonrpc"); version.Kind() != value.String || version.Text() != "2.0" {
		return m, Invalid(`Invalid Request: jsonrpc is "2.0"`)
	}
	method, ok := v.Get("method")
	if !ok {
		_, result := v.Get("result")
		_, failure := v.Get("error")
		if m.ID == "" || result == failure {
			return m, Invalid("Invalid Request: a message has a method, or an id with a result or an error")
		}
		return m, nil
	}
	if method.Kind() != value.String || method.Text() == "" {
		return m, Invalid("Invalid Request: method is a string")
	}
	m.Method = method.Text()
	if m.Params, ok = v.Get("params"); ok && m.Params.Kind() != value.Object {
		return m, &RPCFault{Status: http.StatusBadRequest, Code: jsonrpc.CodeInvalidParams, Message: "Invalid params: params is an object"}
	}
	if m.ID != "" && !isSDKMethod(m.Method) {
		return m, &RPCFault{Status: http.StatusNotFound, Code: jsonrpc.CodeMethodNotFound, Message: "Method not found"}
	}
	if wrong := misshapen(&m); wrong != "" {
		return m, &RPCFault{Status: http.StatusBadRequest, Code: jsonrpc.CodeInvalidParams, Message: "Invalid params: " + wrong}
	}
	return m, nil
}

// misshapen describes the first error in the params of a method, or returns "". The SDK would describe the error in
// terms of Go types.
func misshapen(m *Message) string {
	is := func(name string, kind value.Kind) (given, right bool) {
		v, ok := m.Params.Get(name)
		return ok && !v.IsNull(), ok && v.Kind() == kind // some clients send null for a missing member
	}
	switch m.Method {
	case "tools/call", "prompts/get":
		if _, right := is("name", value.String); !right {
			return "name is a string"
		}
		if given, right := is("arguments", value.Object); given && !right {
			return "arguments is an object"
		}
		if args, _ := m.Params.Get("arguments"); m.Method == "prompts/get" && !texts(args) {
			return "arguments of a prompt are strings"
		}
	case "resources/read":
		if _, right := is("uri", value.String); !right {
			return "uri is a string"
		}
	case "resources/subscribe", "resources/unsubscribe": // MCP 2026-07-28 doesn't have these methods, whatever the params are
		if given, right := is("uri", value.String); given && !right {
			return "uri is a string"
		}
	case "completion/complete":
		return incomplete(m.Params)
	}
	return ""
}

// incomplete describes the first error in the params of completion/complete, or returns "".
func incomplete(params value.Value) string {
	ref, _ := params.Get("ref")
	typ, _ := ref.Get("type")
	name, _ := ref.Get("name")
	uri, _ := ref.Get("uri")
	switch typ.Text() {
	case "ref/prompt":
		if name.Text() == "" || !uri.IsNull() {
			return "ref has a name, and no uri"
		}
	case "ref/resource":
		if uri.Text() == "" || !name.IsNull() {
			return "ref has a uri, and no name"
		}
	default:
		return "ref is of type ref/prompt or ref/resource"
	}
	argument, _ := params.Get("argument")
	of, _ := argument.Get("name")
	written, _ := argument.Get("value")
	if of.Kind() != value.String || of.Text() == "" || written.Kind() != value.String {
		return "argument has a name and a value, both strings"
	}
	context, _ := params.Get("context")
	if given, _ := context.Get("arguments"); !context.IsNull() && context.Kind() != value.Object || !texts(given) {
		return "context is an object, and its arguments are strings"
	}
	return ""
}

// texts reports whether v is an object of strings or missing.
func texts(v value.Value) bool {
	for _, m := range v.Members() {
		if m.Value.Kind() != value.String {
			return false
		}
	}
	return v.IsNull() || v.Kind() == value.Object
}

package server

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The codes of JSON-RPC errors beyond the five of its specification, which package jsonrpc has.
const (
	codeBusy         = -32000 // HTTP 503
	codeUnauthorized = -32001 // HTTP 401, and 403 for a missing scope
)

// maxSafe is the largest integer that the SDK, which reads request ids as doubles, gives back unchanged.
const maxSafe = 1<<53 - 1

// emptySchema is the input schema of a tool without arguments.
var emptySchema = json.RawMessage(`{"type":"object","additionalProperties":false}`)

// A fault is a JSON-RPC error with the HTTP status that carries it.
type fault struct {
	status  int
	code    int64
	message string
	data    json.RawMessage // nil for none
	header  [2]string       // one more HTTP header; empty for none
}

func invalid(message string) *fault {
	return &fault{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest, message: message}
}

func internal() *fault {
	return &fault{status: http.StatusInternalServerError, code: jsonrpc.CodeInternalError, message: "Internal error"}
}

func errInternal() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Internal error"}
}

// errUnknownTool is the same for a tool that does not exist and one that the asker may not see.
func errUnknownTool() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool"}
}

// append appends f as the response to the request whose id is the JSON text id; "" stands for an unknown one.
func (f *fault) append(dst []byte, id string) []byte {
	if id == "" {
		id = "null"
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, f.code, 10)
	dst = append(dst, `,"message":`...)
	dst = value.AppendQuoted(dst, f.message)
	if f.data != nil {
		dst = append(dst, `,"data":`...)
		dst = append(dst, f.data...)
	}
	return append(dst, "}}"...)
}

// write answers a request with f.
func (f *fault) write(w http.ResponseWriter, id string) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	if f.header[0] != "" {
		h.Set(f.header[0], f.header[1])
	}
	w.WriteHeader(f.status)
	// A client that has gone can't be told so.
	_, _ = w.Write(f.append(nil, id))
}

// A message is one JSON-RPC message as our own reader sees it.
type message struct {
	id     string      // JSON text; "" for a notification
	method string      // "" for a response
	params value.Value // an Object, or Null when there are none
}

// isCall reports whether m wants an answer.
func (m *message) isCall() bool { return m.id != "" && m.method != "" }

// meta returns the member of _meta called name.
func (m *message) meta(name string) value.Value {
	meta, _ := m.params.Get("_meta")
	v, _ := meta.Get(name)
	return v
}

// methods are those that the SDK serves. Any other is answered here, in both generations alike.
func known(method string) bool {
	switch method {
	case "initialize", "ping", "server/discover", "subscriptions/listen",
		"tools/list", "tools/call", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
		"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
		"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed":
		return true
	}
	return false
}

// maxBatch is the most messages in a batch, which only MCP 2025-03-26 and older have.
const maxBatch = 50

// parse reads the messages in a body. It is the first reader of the body and the strictest: what it lets pass
// means the same to every later one. (The SDK's takes the last of duplicate keys and ignores a second document.)
func parse(body []byte, depth int) (messages []message, batch bool, f *fault) {
	doc, err := value.Read(body, depth)
	if err != nil {
		return nil, false, unreadable(err)
	}
	list := []value.Value{doc}
	if doc.Kind() == value.Array {
		if list, batch = doc.List(), true; len(list) == 0 || len(list) > maxBatch {
			return nil, true, invalid("Invalid Request: a batch has 1 to " + strconv.Itoa(maxBatch) + " messages")
		}
	}
	for _, v := range list {
		m, f := asMessage(v)
		if f != nil {
			return []message{m}, batch, f
		}
		messages = append(messages, m)
	}
	return messages, batch, nil
}

// unreadable says where a body breaks the rules of value.Read.
func unreadable(err error) *fault {
	p := problem.Of(err)
	data := append([]byte(`{"detail":`), value.AppendQuoted(nil, p.Detail)...)
	if p.Pointer != "" {
		data = value.AppendQuoted(append(data, `,"pointer":`...), p.Pointer)
	}
	return &fault{status: http.StatusBadRequest, code: jsonrpc.CodeParseError, message: "Parse error", data: append(data, '}')}
}

// asMessage checks one message. The message it returns with a fault has the id, if that is one.
func asMessage(v value.Value) (m message, f *fault) {
	if v.Kind() != value.Object {
		return m, invalid("Invalid Request: a message is an object")
	}
	if id, ok := v.Get("id"); ok {
		switch {
		case id.Kind() == value.Int && -maxSafe <= id.Int() && id.Int() <= maxSafe, id.Kind() == value.String:
			m.id = string(id.AppendJSON(nil))
		default:
			return m, invalid("Invalid Request: id is a string or an integer within ±(2^53-1)")
		}
	}
	if version, _ := v.Get("jsonrpc"); version.Kind() != value.String || version.Text() != "2.0" {
		return m, invalid(`Invalid Request: jsonrpc is "2.0"`)
	}
	method, ok := v.Get("method")
	if !ok {
		_, result := v.Get("result")
		_, failure := v.Get("error")
		if m.id == "" || result == failure {
			return m, invalid("Invalid Request: a message has a method, or an id with a result or an error")
		}
		return m, nil
	}
	if method.Kind() != value.String || method.Text() == "" {
		return m, invalid("Invalid Request: method is a string")
	}
	m.method = method.Text()
	if m.params, ok = v.Get("params"); ok && m.params.Kind() != value.Object {
		return m, &fault{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidParams, message: "Invalid params: params is an object"}
	}
	if m.id != "" && !known(m.method) {
		return m, &fault{status: http.StatusNotFound, code: jsonrpc.CodeMethodNotFound, message: "Method not found"}
	}
	if m.method == "tools/call" {
		if name, _ := m.params.Get("name"); name.Kind() != value.String {
			return m, &fault{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidParams, message: "Invalid params: name is a string"}
		}
		if args, ok := m.params.Get("arguments"); ok && args.Kind() != value.Object {
			return m, &fault{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidParams, message: "Invalid params: arguments is an object"}
		}
	}
	return m, nil
}

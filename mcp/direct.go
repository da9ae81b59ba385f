package mcp

import (
	"encoding/json"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/internal/mcpobserve"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/value"
)

// direct answers a tools/call of MCP 2026-07-28 from the parsed request, without the SDK, and reports whether it did.
// It only takes valid calls that need nothing but their result; the SDK answers all others. The SDK takes about
// twenty times as long: see BenchmarkCall.
func (s *Server) direct(w http.ResponseWriter, r *http.Request, x *exchange) (done bool) {
	m := x.message
	if m == nil || !m.IsCall() || m.Method != "tools/call" || !acceptsBoth(r.Header) {
		return false
	}
	name, _ := m.Params.Get("name")
	version := r.Header.Get("Mcp-Protocol-Version")
	_, asksBack := m.Params.Get("requestState")
	_, answersBack := m.Params.Get("inputResponses")
	_, raw := s.raw.Load(name.Text())
	switch {
	case raw, asksBack, answersBack,
		version != modernVersion, asText(m.Meta(metaVersion)) != version,
		r.Header.Get("Mcp-Method") != m.Method, r.Header.Get("Mcp-Name") != name.Text(),
		r.Header.Get("Last-Event-Id") != "",
		m.Meta(sdk.MetaKeyClientCapabilities).Kind() != value.Object,
		!m.Meta("progressToken").IsNull():
		return false
	}
	client, ok := clientOf(m)
	if !ok {
		return false
	}
	args, _ := m.Params.Get("arguments")
	x.gone = r.Context()
	s.writeDirect(w, r, x, asked{name: name.Text(), args: orEmpty(args), form: s.form(client)})
	return true
}

// clientOf returns the client that a call names; ok is false if its clientInfo is invalid.
func clientOf(m *wire.Message) (client *sdk.Implementation, ok bool) {
	info := m.Meta(sdk.MetaKeyClientInfo)
	if info.IsNull() {
		return nil, true
	}
	name, _ := info.Get("name")
	v, _ := info.Get("version")
	if name.Kind() != value.String || v.Kind() != value.String {
		return nil, false
	}
	return &sdk.Implementation{Name: name.Text(), Version: v.Text()}, true
}

func (s *Server) writeDirect(w http.ResponseWriter, r *http.Request, x *exchange, a asked) {
	id := x.message.ID
	a.progress = func(float64, float64, string) {} // the client asked for no progress
	defer func() {
		if p := recover(); p != nil {
			s.logPanic(r.Context(), x, p)
			f := wire.Internal()
			f.Status = http.StatusOK
			f.Write(w, id)
		}
	}()
	ctx := s.begin(r.Context(), x, x.message.Method)
	out := s.call(ctx, x, a)
	s.ended(ctx, x, mcpobserve.Failed(out.failure, out.isError))
	answer := &answer{ResponseWriter: w, x: x}
	if f := out.failure; f != nil {
		(&wire.RPCFault{Status: http.StatusBadRequest, Code: f.Code, Message: f.Message, Data: f.Data}).Write(answer, id)
		return
	}
	server, err := json.Marshal(s.implementation())
	if err != nil {
		wire.Internal().Write(w, id)
		return
	}
	answer.Header().Set("Content-Type", "application/json")
	answer.Header().Set("Cache-Control", "no-store")
	// An error means that the client has disconnected.
	_, _ = answer.Write(out.append(make([]byte, 0, len(out.text)+len(out.structured)+512), id, server))
}

// acceptsBoth reports whether h accepts both JSON and event streams, as the protocol requires.
func acceptsBoth(h http.Header) bool {
	accept := strings.ToLower(strings.Join(h.Values("Accept"), ","))
	return strings.Contains(accept, "application/json") && strings.Contains(accept, "text/event-stream")
}

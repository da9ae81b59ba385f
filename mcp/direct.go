package mcp

import (
	"cmp"
	"net/http"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/value"
)

// direct answers a tools/call without the SDK and reports whether it did. It answers only valid calls that need
// nothing except their result. The SDK answers all other calls, but takes about twenty times as long (see
// BenchmarkCall). direct calls parsed before it runs the call, because the body isn't needed after that.
func (s *Server) direct(w http.ResponseWriter, r *http.Request, x *exchange, parsed func()) (done bool) {
	m := x.message
	if m == nil || !m.IsCall() || m.Method != "tools/call" || !accepts(r.Header, asJSON) || r.Header.Get("Last-Event-Id") != "" || !m.Meta("progressToken").IsNull() {
		return false
	}
	name, _ := m.Params.Get("name")
	if _, raw := s.raw.Load(name.Text()); raw || name.Kind() != value.String {
		return false
	}
	var client *sdk.Implementation
	var ok bool
	version := r.Header.Get("Mcp-Protocol-Version")
	if version >= modernVersion {
		client, ok = s.statelessClient(r.Header, m, name.Text())
	} else if params := s.sessions.Client(r.Header.Get("Mcp-Session-Id")); params != nil {
		client = params.ClientInfo
		ok = (version == "" || slices.Contains(sdk.SupportedProtocolVersions(), version)) && m.Meta(metaVersion).IsNull()
	}
	args, _ := m.Params.Get("arguments")
	if !ok || version < modernVersion && args.Kind() != value.Object && !args.IsNull() {
		return false
	}
	parsed()
	x.gone = r.Context()
	s.writeDirect(w, r, x, asked{name: name.Text(), args: orEmpty(args), form: s.form(client)})
	return true
}

// statelessClient returns the client that a call of MCP 2026-07-28 names. ok is false if the headers and the
// parameters contradict each other, or if the call needs the SDK.
func (s *Server) statelessClient(h http.Header, m *wire.Message, name string) (client *sdk.Implementation, ok bool) {
	_, asksBack := m.Params.Get("requestState")
	_, answersBack := m.Params.Get("inputResponses")
	version := h.Get("Mcp-Protocol-Version")
	switch {
	case asksBack, answersBack,
		version != modernVersion, asText(m.Meta(metaVersion)) != version,
		h.Get("Mcp-Method") != m.Method, h.Get("Mcp-Name") != name,
		m.Meta(sdk.MetaKeyClientCapabilities).Kind() != value.Object:
		return nil, false
	}
	return clientOf(m)
}

// clientOf returns the client that a call names. ok is false if its clientInfo is invalid.
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

// writeDirect runs a call and writes its result as one JSON document in the form of the protocol version. Versions
// before 2025-06-18 have no links. Versions before 2026-07-28 send the session's id, and status 200 for errors. A
// panic is logged and answered as an internal error.
func (s *Server) writeDirect(w http.ResponseWriter, r *http.Request, x *exchange, a asked) {
	id := x.message.ID
	a.progress = func(float64, float64, string) {} // the client requested no progress
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
	s.reportEnd(ctx, x, wire.CallFailure(out.failure, out.isError))
	answer := &answer{ResponseWriter: w, x: x}
	version := r.Header.Get("Mcp-Protocol-Version")
	stateless := version >= modernVersion
	if session := r.Header.Get("Mcp-Session-Id"); !stateless {
		w.Header().Set("Mcp-Session-Id", session)
	}
	if f := out.failure; f != nil {
		status := http.StatusBadRequest
		if !stateless { // before 2026-07-28 errors have status 200
			status = http.StatusOK
			edge.RefusedBecause(r.Context(), cmp.Or(kinds[f.Code], "rpc_error"), x.correlation)
		}
		(&wire.RPCFault{Status: status, Code: f.Code, Message: f.Message, Data: f.Data}).Write(answer, id)
		return
	}
	var server []byte
	if stateless {
		server = s.self
	}
	answer.Header().Set("Content-Type", "application/json")
	answer.Header().Set("Cache-Control", "no-store")
	// An error means that the client has disconnected.
	_, _ = answer.Write(out.append(make([]byte, 0, len(out.text)+len(out.structured)+512), id, version, server))
}

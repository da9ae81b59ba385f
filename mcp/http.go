package mcp

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// modernVersion is the first protocol version without sessions.
const modernVersion = "2026-07-28"

const metaVersion = "io.modelcontextprotocol/protocolVersion"

// Handler serves /mcp, /healthz (the process is alive), /readyz (it can answer), /tools (a list for people) and the
// well-known addresses of Options.Resource. It can be mounted in any program, which then has to limit the number of
// connections itself. Deadlines of bodies and responses still apply.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", s.guard(s.serveMCP))
	mux.HandleFunc("/mcp/{$}", s.guard(s.serveMCP)) // as some clients write it
	mux.HandleFunc("GET /tools", s.guard(s.serveList))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", s.guard(s.serveReady))
	if s.options.Metrics != nil {
		mux.HandleFunc("GET /metrics", s.guard(s.serveMetrics))
	}
	if s.options.Resource != nil {
		s.options.Resource.Mount(mux)
	}
	return edge.WithDeadlines(mux, s.edge())
}

// guard recovers panics of h and answers them without details.
func (s *Server) guard(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				s.log.ErrorContext(r.Context(), "panic in the HTTP handler", "error", problem.PanicError(p).Err)
				wire.Internal().Write(w, "")
			}
		}()
		w.Header().Set("X-Content-Type-Options", "nosniff")
		h(w, r)
	}
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// An error means that the client has disconnected.
	_, _ = io.WriteString(w, text)
}

// serveList shows people the tools that their credential may call: category, name and first sentence.
func (s *Server) serveList(w http.ResponseWriter, r *http.Request) {
	if f := s.fromElsewhere(r); f != nil {
		fail(w, r, f, "")
		return
	}
	p, f := s.identify(r)
	if f != nil {
		fail(w, r, f, "")
		return
	}
	var b strings.Builder
	for _, t := range s.options.Tools.List(p, "") {
		fmt.Fprintf(&b, "%-10s %-24s %s\n", t.Category, t.Name, t.Summary())
	}
	plain(w, http.StatusOK, b.String())
}

// serveMCP admits and serves one request. It checks what costs least first: origin, method, credential, headers,
// body.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	if f := s.fromElsewhere(r); f != nil {
		fail(w, r, f, "")
		return
	}
	// Only older protocols have GET, for a stream, and DELETE, for the end of a session.
	modern := r.Header.Get("Mcp-Protocol-Version") >= modernVersion
	stream := !modern && (r.Method == http.MethodGet || r.Method == http.MethodDelete)
	if r.Method != http.MethodPost && !stream {
		allow := "POST, GET, DELETE"
		if modern {
			allow = "POST"
		}
		f := wire.Invalid("Method Not Allowed")
		f.Status, f.Header = http.StatusMethodNotAllowed, [2]string{"Allow", allow}
		fail(w, r, f, "")
		return
	}
	p, f := s.identify(r)
	if f != nil {
		fail(w, r, f, "")
		return
	}
	if stream {
		if r.Method == http.MethodGet && !accepts(r.Header, asEvents) {
			fail(w, r, unacceptable(r.Header, &wire.Message{Method: listenMethod}), "")
			return
		}
		s.serveStream(w, r, p)
		return
	}
	body, f := s.read(w, r, p)
	if f != nil {
		fail(w, r, f, "")
		return
	}
	defer body.Close()
	messages, batch, f := wire.Read(body.Bytes, s.options.MaxDepth)
	if f != nil {
		failRead(w, r, f, messages, modern)
		return
	}
	only := &messages[0]
	if batch {
		only = nil
	}
	if f := unacceptable(r.Header, only); f != nil {
		fail(w, r, f, messages[0].ID)
		return
	}
	if f := releaseListenBody(only, body); f != nil {
		fail(w, r, f, only.ID)
		return
	}
	s.servePost(w, r, post{who: p, body: body, messages: messages, batch: batch, modern: modern})
}

// failRead answers a body that can't be read as messages, or as the one in messages.
func failRead(w http.ResponseWriter, r *http.Request, f *wire.RPCFault, messages []wire.Message, modern bool) {
	id := ""
	if len(messages) == 1 {
		id = messages[0].ID
	}
	if !modern && id != "" && f.Code != jsonrpc.CodeInvalidRequest {
		f.Status = http.StatusOK // before 2026-07-28 errors are sent with 200, and 404 means that the session has ended
	}
	fail(w, r, f, id)
}

// A post is an admitted POST.
type post struct {
	who      identity.Principal
	body     *fair.Body
	messages []wire.Message
	batch    bool
	modern   bool
}

// only returns the single message of p, or nil for a batch.
func (p *post) only() *wire.Message {
	if p.batch {
		return nil
	}
	return &p.messages[0]
}

// id returns the ID for an error of the whole POST.
func (p *post) id() string {
	if m := p.only(); m != nil {
		return m.ID
	}
	return ""
}

// servePost serves an admitted POST by the handler of its protocol. It finds the session of an older protocol and takes
// a slot among the calls. It makes the call cancellable by its client and by Close, and answers directly if it can.
func (s *Server) servePost(w http.ResponseWriter, r *http.Request, p post) {
	m := p.only()
	next := s.legacy
	if p.modern || m != nil && r.Header.Get("Mcp-Session-Id") == "" && m.Meta(metaVersion).Text() >= modernVersion {
		// A request of the new protocol without its header goes to the modern handler, which reports what is missing.
		next = s.modern
	} else {
		leave, done := s.prepareSession(w, r, &p)
		if done {
			return
		}
		defer leave()
	}
	x := &exchange{who: p.who, message: m, full: r.Header.Get("Bailiwick-Tools") == "full", operation: s.operation(r.Header, m), correlation: correlationOf(r.Header, m), metadata: s.metadata(r)}
	// Ids of requests are unique within a channel: a session, or what a client of the new protocol names in its place.
	channel := r.Header.Get("X-Mcp-Session-Id")
	if !p.modern {
		channel = "session " + r.Header.Get("Mcp-Session-Id") // no client can send a space before it
	}
	if x.correlation == "" {
		x.correlation = newCorrelation()
	}
	if m != nil && m.Method == "notifications/cancelled" {
		id, _ := m.Params.Get("requestId")
		s.inflight.Cancel(wire.CallKey{Principal: p.who.ID, Channel: channel, ID: string(id.AppendJSON(nil))})
		if p.modern {
			w.WriteHeader(http.StatusAccepted)
			return
		}
	}
	leave, err := s.admit(r.Context(), &p)
	if err != nil {
		fail(w, r, busy(), p.id())
		return
	}
	defer leave()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := context.AfterFunc(s.closed, cancel)
	defer stop()
	if m != nil && m.IsCall() {
		defer s.inflight.Add(wire.CallKey{Principal: p.who.ID, Channel: channel, ID: m.ID}, cancel)()
	}
	r = r.WithContext(ctx)
	if (p.modern || next == s.legacy) && s.direct(w, r, x, p.body.Drop) {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(p.body.Bytes))
	defer p.body.Drop()
	s.pass(w, r, x, next)
}

// kinds are the identifiers of faults of requests, for operators.
var kinds = map[int64]string{jsonrpc.CodeParseError: "not_json", jsonrpc.CodeInvalidRequest: "invalid_request", jsonrpc.CodeMethodNotFound: "unknown_method", jsonrpc.CodeInvalidParams: "invalid_params", wire.CodeBusy: "busy"}

// fail answers r with f, and notes why for the operators' log.
func fail(w http.ResponseWriter, r *http.Request, f *wire.RPCFault, id string) {
	kind := kinds[int64(f.Code)]
	switch {
	case f.Status == http.StatusForbidden:
		kind = strings.ToLower(strings.TrimPrefix(f.Message, "Forbidden: ")) // "host", "origin"
	case f.Status == http.StatusMethodNotAllowed:
		kind = "method"
	case f.Status == http.StatusUnsupportedMediaType, f.Status == http.StatusNotAcceptable:
		kind = "media_type"
	case f.Status == http.StatusRequestEntityTooLarge:
		kind = "too_large"
	case f.Status == http.StatusNotFound && f.Code == jsonrpc.CodeInvalidRequest:
		kind = "no_session"
	}
	if f.Status != http.StatusUnauthorized { // that has its reason
		edge.RefusedBecause(r.Context(), cmp.Or(kind, "rpc_error"), "")
	}
	f.Write(w, id)
}

// admit takes a slot among the calls, or among the streams for a request that stays open. Notifications and responses
// take none: a call may be waiting for one.
func (s *Server) admit(ctx context.Context, p *post) (leave func(), err error) {
	for i := range p.messages {
		m := &p.messages[i]
		if !m.IsCall() {
			continue
		}
		g := s.calls
		if m.Method == listenMethod {
			g = s.streams
		}
		return g.Enter(ctx, sharer(p.who))
	}
	return func() {}, nil
}

// sharer returns whose shares of calls and streams p uses.
func sharer(p identity.Principal) fair.Who {
	return fair.Who{Tenant: p.Tenant, Owner: p.Account(), Credential: p.Origin()}
}

// pass hands a request to the SDK, without its credential and with its exchange.
func (s *Server) pass(w http.ResponseWriter, r *http.Request, x *exchange, next http.Handler) {
	stays := r.Method == http.MethodGet || x.message != nil && x.message.Method == listenMethod
	ctx, cancel := context.WithCancel(r.Context())
	defer func() { cancel() }()
	if stays {
		outer := cancel
		ctx, cancel = wire.While(ctx, s.stands(r, x))
		defer outer()
		stop := context.AfterFunc(s.closing, cancel)
		defer stop()
	}
	// The SDK's handlers in a session outlive their HTTP request, although its response can't be fetched later.
	// x.gone tells them that it ended. x.gone must not end when the SDK itself ends the HTTP response early.
	gone, lost := context.WithCancel(context.WithoutCancel(ctx))
	x.gone = gone
	stop := context.AfterFunc(ctx, lost)
	defer func() {
		if stop(); ctx.Err() != nil {
			lost() // the SDK may see the end before the AfterFunc is started
		}
	}()

	info, forget := x.tokenInfo()
	if x.message != nil && x.message.IsCall() { // the handler of a notification begins when it is answered
		defer forget()
	}
	if r.Method == http.MethodPost && !accepts(r.Header, asEvents) {
		kept := &whole{ResponseWriter: w}
		defer kept.end()
		w = kept
	}
	answer := &answer{ResponseWriter: w, x: x}
	if x.message != nil && x.message.Method == "initialize" && next == s.legacy {
		if !s.sessions.Begin(x.who.ID) {
			fail(w, r, busy(), x.message.ID)
			return
		}
		answer.began = func(id string) { s.sessions.End(x.who.ID, id) }
		defer func() { answer.begin("") }()
		var leave func()
		ctx, leave = ofSession(ctx)
		defer leave()
	}
	r = r.WithContext(ctx)
	r.Header = r.Header.Clone()
	r.Header.Del("X-Mcp-Api-Key")
	r.Header.Del("Cookie")
	r.Header.Set("Authorization", "Bearer -")
	r.Header.Set("Accept", asJSON+", "+asEvents) // the client's own Accept was checked before
	verified := func(context.Context, string, *http.Request) (*auth.TokenInfo, error) { return info, nil }
	run := func() {
		auth.RequireBearerToken(verified, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next).ServeHTTP(answer, r)
	}
	if answer.began != nil {
		s.ids.hand(s.sessionID(x), run)
		return
	}
	run()
}

// asText returns v's text if v is a string, else "".
func asText(v value.Value) string {
	if v.Kind() != value.String {
		return ""
	}
	return v.Text()
}

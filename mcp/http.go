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
// well-known addresses of Options.Resource. Any program can mount it. Such a program must limit the number of
// connections itself. The deadlines of bodies and responses still apply.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", s.guard(s.serveMCP))
	mux.HandleFunc("/mcp/{$}", s.guard(s.serveMCP)) // some clients add the slash
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

// guard recovers from panics of h and answers them without details.
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

// serveList prints the tools that the caller's credential may call, for people. Each line has the category, the name
// and the first sentence.
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

// serveMCP admits and serves one request. It performs the cheapest checks first: origin, method, credential, headers,
// body.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	if f := s.fromElsewhere(r); f != nil {
		fail(w, r, f, "")
		return
	}
	// Only older protocols use GET, which opens a stream, and DELETE, which ends a session.
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

// failRead answers a request whose body is invalid. messages contains at most one message, whose ID is used in the
// answer.
func failRead(w http.ResponseWriter, r *http.Request, f *wire.RPCFault, messages []wire.Message, modern bool) {
	id := ""
	if len(messages) == 1 {
		id = messages[0].ID
	}
	if !modern && id != "" && f.Code != jsonrpc.CodeInvalidRequest {
		f.Status = http.StatusOK // before 2026-07-28 errors have status 200, and 404 means that the session has ended
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

// only returns the message of p if there is exactly one, or nil for a batch.
func (p *post) only() *wire.Message {
	if p.batch {
		return nil
	}
	return &p.messages[0]
}

// id returns the request ID for an error that concerns the whole POST.
func (p *post) id() string {
	if m := p.only(); m != nil {
		return m.ID
	}
	return ""
}

// servePost serves an admitted POST with the handler of its protocol. It finds the session of an older protocol and
// reserves a slot for the call. It lets the client and Close cancel the call. It answers without the SDK if possible.
func (s *Server) servePost(w http.ResponseWriter, r *http.Request, p post) {
	m := p.only()
	next := s.legacy
	if p.modern || m != nil && r.Header.Get("Mcp-Session-Id") == "" && m.Meta(metaVersion).Text() >= modernVersion {
		// A request of the new protocol without its header goes to the modern handler, which reports the missing
		// header.
		next = s.modern
	} else {
		leave, done := s.prepareSession(w, r, &p)
		if done {
			return
		}
		defer leave()
	}
	x := &exchange{who: p.who, message: m, full: r.Header.Get("Bailiwick-Tools") == "full", operation: s.operation(r.Header, m), correlation: correlationOf(r.Header, m), metadata: s.metadata(r)}
	// Request IDs are unique within a channel. A channel is a session, or the name that a client of the new protocol
	// uses instead.
	channel := r.Header.Get("X-Mcp-Session-Id")
	if !p.modern {
		channel = "session " + r.Header.Get("Mcp-Session-Id") // no client can send a name with a space, so names can't collide
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
	call, interrupt := context.WithCancel(ctx) // ends the call, but not the response
	defer interrupt()
	if m != nil && m.IsCall() {
		defer s.inflight.Add(wire.CallKey{Principal: p.who.ID, Channel: channel, ID: m.ID}, interrupt)()
	}
	if (p.modern || next == s.legacy) && s.direct(w, r.WithContext(call), x, p.body.Drop) {
		return
	}
	r, x.gone = r.WithContext(ctx), call
	r.Body = io.NopCloser(bytes.NewReader(p.body.Bytes))
	defer p.body.Drop()
	s.pass(w, r, x, next)
}

// kinds contains the names of request faults for operators.
var kinds = map[int64]string{jsonrpc.CodeParseError: "not_json", jsonrpc.CodeInvalidRequest: "invalid_request", jsonrpc.CodeMethodNotFound: "unknown_method", jsonrpc.CodeInvalidParams: "invalid_params", wire.CodeBusy: "busy"}

// fail answers a request with a fault and records the reason for the operators' log.
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
	if f.Status != http.StatusUnauthorized { // for 401, the reason is already recorded
		edge.RefusedBecause(r.Context(), cmp.Or(kind, "rpc_error"), "")
	}
	f.Write(w, id)
}

// admit reserves a slot for calls, or a slot for streams if the request stays open. Notifications and responses need
// no slot, because a running call may be waiting for them.
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

// sharer returns the identity whose shares of calls and streams the principal uses.
func sharer(p identity.Principal) fair.Who {
	return fair.Who{Tenant: p.Tenant, Owner: p.Account(), Credential: p.Origin()}
}

// pass forwards a request to the SDK. It removes the credential and attaches the exchange.
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
	// The SDK's handlers in a session outlive their HTTP request, although nobody can fetch their response later.
	// x.gone tells them that the request has ended. It must not end when the SDK itself ends the HTTP response early.
	// It ends also when the client cancels the call with a notification. Then the stream still gets its response.
	lost, apart := x.endWith(ctx)
	defer apart()
	stop := context.AfterFunc(ctx, lost)
	defer func() {
		if stop(); ctx.Err() != nil {
			lost() // the SDK may notice the end before the AfterFunc runs
		}
	}()

	info, forget := x.tokenInfo()
	if x.message != nil && x.message.IsCall() { // the handler of a notification starts after the answer
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
	r.Header.Set("Accept", asJSON+", "+asEvents) // the client's own Accept was already checked
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

// endWith sets x.gone to a context that ends with the call so far, or with lost, but not with ctx. After apart it ends only
// with lost.
func (x *exchange) endWith(ctx context.Context) (lost context.CancelFunc, apart func()) {
	call := x.gone
	gone, end := context.WithCancel(context.WithoutCancel(ctx))
	x.gone = gone
	if call == nil {
		return end, func() {}
	}
	stop := context.AfterFunc(call, end)
	return end, func() { stop() }
}

// asText returns the text of v if v is a string, or "".
func asText(v value.Value) string {
	if v.Kind() != value.String {
		return ""
	}
	return v.Text()
}

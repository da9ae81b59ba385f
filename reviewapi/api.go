// Package reviewapi is the JSON API with which people review changes, for other front ends and the command line.
//
// It is a transport over a bailiwick.Reviewer, next to mcp and console. It accepts only the credential of a human
// with the scope review, from the hosts and origins that the MCP transport accepts. An agent's credential can't
// review, even with that scope. The API refuses unknown parameters, states and members of a body. GET changes
// nothing.
package reviewapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// These limit the API.
const (
	maxBody  = 64 << 10
	calls    = 32 // concurrent calls. The same number may wait
	streams  = 200
	patience = 5 * time.Second
)

// Options configure the API. All fields except Logger, Beat, Tokens, and Deliveries with Record are required.
type Options struct {
	Reviewer func(who identity.Principal, correlation string) bailiwick.Reviewer
	// Identify authenticates a request. See mcp.Server.Identify.
	Identify func(*http.Request) (identity.Principal, error)
	// Challenge is the WWW-Authenticate header of a 401.
	Challenge string
	// Deliveries lists notifications. If it is nil, they are not served.
	Deliveries Deliveries
	// Tokens manages tokens, people and sessions, for operators. If it is nil, none of them are served.
	Tokens *identity.Tokens
	// Record is Gateway.Do. It admits and records reads of deliveries.
	Record func(context.Context, identity.Principal, bailiwick.CallSpec, func(context.Context, *bailiwick.Call) (int, error)) error
	// Fresh is the maximum time since a person proved their identity to break the glass. 0 means identity.Fresh. If
	// Identify returns a principal without Proven, the principal can't break the glass.
	Fresh time.Duration
	// Closing ends when the server starts to close. Streams end with it.
	Closing context.Context
	// Logger may be nil.
	Logger *slog.Logger
	// Beat is the interval of heartbeats of a stream and of checks of its credential. 0 means 15 s.
	Beat time.Duration
}

// An API serves /api/changes and the paths below it.
type API struct {
	options        Options
	calls, streams *fair.Semaphore
}

// New returns an API with options o.
func New(o Options) *API {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Beat == 0 {
		o.Beat = 15 * time.Second
	}
	return &API{options: o, calls: fair.New(fair.Bounds{Slots: calls, Queue: calls, Patience: patience}), streams: fair.New(fair.Bounds{Slots: streams})}
}

// Handler serves the paths that begin with /api/.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	routes := map[string]map[string]answer{
		"/api/changes":            {http.MethodGet: list},
		"/api/changes/counts":     {http.MethodGet: counts},
		"/api/changes/{id}":       {http.MethodGet: show},
		"/api/changes/{id}/value": {http.MethodGet: whole},
	}
	for verb, d := range decisions {
		routes["/api/changes/{id}/"+verb] = map[string]answer{http.MethodPost: d.answer}
	}
	routes["/api/changes/{id}/break_glass"] = map[string]answer{http.MethodPost: a.fresh(decisions["break_glass"].answer)}
	mux.Handle("/api/changes/events", a.guard(a.events))
	if a.options.Deliveries != nil {
		routes["/api/deliveries"] = map[string]answer{http.MethodGet: a.deliveries}
		routes["/api/deliveries/{id}/redeliver"] = map[string]answer{http.MethodPost: a.redeliver}
	}
	known := map[string][]string{"/api/changes/events": {http.MethodGet}}
	for path, methods := range routes {
		mux.Handle(path, a.guard(a.ask(methods, identity.Review)))
		known[path] = slices.Sorted(maps.Keys(methods))
	}
	for path, methods := range a.operators() {
		mux.Handle(path, a.guard(a.ask(methods, identity.Operator)))
		known[path] = slices.Sorted(maps.Keys(methods))
	}
	mux.Handle("/api/", a.guard(func(_ http.ResponseWriter, r *http.Request, c *call) error {
		// Unauthenticated callers get no information about paths.
		if _, _, err := a.admit(r, c, identity.Review); err != nil {
			return err
		}
		return noPath(r.URL.Path, known)
	}))
	return edge.WithDeadlines(mux, edge.Options{})
}

// A call is a request in progress.
type call struct {
	correlation string
	allow       string // the allowed methods of the path, if the request has another one
}

// An answer handles a method of a path with the caller's Reviewer. Its result is written as JSON.
type answer func(ctx context.Context, reviewer bailiwick.Reviewer, r *request) (any, error)

// A request is the input of an answer.
type request struct {
	who         identity.Principal
	correlation string
	id          string
	http        *http.Request
	body        []byte
}

// guard sets the headers of every response. It writes errors and recovered panics as responses.
func (a *API) guard(h func(http.ResponseWriter, *http.Request, *call) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{correlation: rand.Text()}
		head := w.Header()
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Cache-Control", "no-store")
		head.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("X-Correlation-Id", c.correlation)
		defer func() {
			if p := recover(); p != nil {
				a.fail(w, r, c, problem.PanicError(p))
			}
		}()
		if err := h(w, r, c); err != nil {
			a.fail(w, r, c, err)
		}
	}
}

// admit authenticates r. It returns the principal and the principal's Reviewer.
func (a *API) admit(r *http.Request, c *call, needs identity.Scope) (identity.Principal, bailiwick.Reviewer, error) {
	p, err := a.options.Identify(r)
	if err != nil {
		return p, nil, err
	}
	edge.RefusedBy(r.Context(), p.ID)
	if needs == identity.Operator && (p.Kind != identity.Human || !p.Has(needs) || p.Depth > 0) {
		return p, nil, &problem.Error{Code: problem.PermissionDenied, Kind: "not_operator", Scope: string(needs), Detail: "tokens and people are managed by operators: this needs the credential of a human with the scope operator"}
	}
	if needs != identity.Operator && (p.Kind != identity.Human || !p.Has(identity.Review) || p.Depth > 0) {
		kind := "not_a_reviewer"
		if r.Method == http.MethodPost {
			kind = "decides_without_review" // counted separately, so that frequent reads don't hide it
		}
		return p, nil, &problem.Error{Code: problem.PermissionDenied, Kind: kind, Scope: string(identity.Review),
			Detail:     "changes are decided about by people: this needs the credential of a human with the scope review",
			Suggestion: `make one with "bailiwick token create --kind human --owner YOU --scopes review"`}
	}
	return p, a.options.Reviewer(p, c.correlation), nil
}

// fresh restricts do to people who have recently proved their identity.
func (a *API) fresh(do answer) answer {
	return func(ctx context.Context, reviewer bailiwick.Reviewer, r *request) (any, error) {
		if !r.who.Fresh(time.Now(), a.options.Fresh) {
			return nil, &problem.Error{Code: problem.PermissionDenied, Kind: "not_fresh", Detail: "this takes " + r.who.Takes(a.options.Fresh),
				Suggestion: "sign in again at /console/sign-in?again=yes, or send a token with the request"}
		}
		return do(ctx, reviewer, r)
	}
}

// sharer returns the identity under which p's calls and streams are limited.
func sharer(p identity.Principal) fair.Who {
	return fair.Who{Tenant: p.Tenant, Owner: p.Account(), Credential: p.Origin()}
}

// ask returns the handler of a path with the given methods.
func (a *API) ask(methods map[string]answer, needs identity.Scope) func(http.ResponseWriter, *http.Request, *call) error {
	return func(w http.ResponseWriter, r *http.Request, c *call) error {
		p, reviewer, err := a.admit(r, c, needs)
		if err != nil {
			return err
		}
		do, ok := methods[r.Method]
		if !ok {
			for method := range methods {
				c.allow = method
			}
			return problem.New(problem.InvalidArgument, "this path takes "+c.allow)
		}
		leave, err := a.calls.Enter(r.Context(), sharer(p))
		if err != nil {
			return &problem.Error{Code: problem.RateLimited, Detail: "too many requests at a time", RetryAfter: time.Second, Err: err}
		}
		defer leave()
		body, err := read(w, r)
		if err != nil {
			return err
		}
		out, err := do(r.Context(), reviewer, &request{who: p, correlation: c.correlation, id: r.PathValue("id"), http: r, body: body})
		if err != nil {
			return err
		}
		if f, ok := out.(file); ok {
			f.write(w)
			return nil
		}
		b, err := json.Marshal(out)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(append(b, '\n')) // an error means that the client has disconnected
		return nil
	}
}

// fail writes err in the same form as all transports, with its HTTP status. It logs the cause.
func (a *API) fail(w http.ResponseWriter, r *http.Request, c *call, err error) {
	p := problem.Of(err)
	edge.RefusedBecause(r.Context(), cmp.Or(p.Kind, string(p.Code)), c.correlation)
	if p.Code == problem.Internal {
		a.options.Logger.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "correlation_id", c.correlation, "error", cause(err))
		p = problem.New(problem.Internal, "Internal error")
	} else if p.Err != nil {
		a.options.Logger.WarnContext(r.Context(), "request refused", "path", r.URL.Path, "correlation_id", c.correlation, "code", p.Code, "error", p.Err)
	}
	head := w.Header()
	status := statusOf(p)
	switch {
	case c.allow != "":
		status = http.StatusMethodNotAllowed
		head.Set("Allow", c.allow)
	case status == http.StatusUnauthorized:
		head.Set("WWW-Authenticate", a.options.Challenge)
	case p.RetryAfter > 0:
		head.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.RetryAfter.Seconds()))))
	}
	head.Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(edge.ProblemBody(p, c.correlation), '\n'))
}

func cause(err error) error {
	if p := problem.Of(err); p.Err != nil {
		return p.Err
	}
	return err
}

// statusOf returns the HTTP status for p.
func statusOf(p *problem.Error) int {
	if p.Store {
		return http.StatusServiceUnavailable
	}
	switch p.Code {
	case problem.Unauthorized:
		return http.StatusUnauthorized
	case problem.PermissionDenied, problem.AccessDenied, problem.ToolFiltered, problem.SecurityBlocked:
		return http.StatusForbidden
	case problem.NotFound:
		return http.StatusNotFound
	case problem.Conflict, problem.PendingReview:
		return http.StatusConflict
	case problem.RateLimited, problem.BudgetExceeded:
		return http.StatusTooManyRequests
	case problem.Timeout:
		return http.StatusGatewayTimeout
	case problem.Cancelled:
		return http.StatusServiceUnavailable
	case problem.Upstream:
		return http.StatusBadGateway
	case problem.Internal:
		return http.StatusInternalServerError
	}
	switch {
	case p.Kind == kindTooLarge:
		return http.StatusRequestEntityTooLarge
	case strings.HasPrefix(p.Detail, contentType):
		return http.StatusUnsupportedMediaType
	}
	return http.StatusBadRequest
}

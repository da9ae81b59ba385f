// Package console is the web interface in which people review changes, read the audit log, and see a principal's
// views.
//
//	request ─session→ visit ─route→ Reviewer, audit, tokens ─page→ HTML
//
// It is a transport for people, as mcp is for agents. It calls a Reviewer and doesn't compute rights itself. Pages
// are rendered on the server and work without scripts. The included scripts only update them live. It admits people
// with at least one of the console's scopes, through a session. It refuses forms from other pages, and never shows
// the cause of an internal error.
//
// Text from agents, people and databases is harmless in a page. Markup is escaped, and invisible characters are shown
// by their code point. Long texts are cut, with their length shown. Markdown is limited to paragraphs, lists, quotes,
// code and emphasis. A link is shown as its words with the address as text beside them.
//
// The pages follow the parts of the gateway: the queue and its changes, records and their sums, people, tokens,
// sources, and notifications. A sum reads backwards from the newest record, up to a maximum number of records. If it
// stops there, the page says that the sum is partial. Records of other tenants are omitted.
//
// Browsers store the session, the token of a visitor's forms, a pending sign-in, saved filters and the theme, in
// cookies. Filters come from addresses or cookies, so they are checked.
package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/connect"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Path is the path at which the console is mounted.
const Path = "/console"

// streams is the maximum number of simultaneous live pages.
const streams = 500

// Options configure a Console. Reviewer, Tokens, Allow and Admit are required. If another part is nil, the console
// doesn't have its page.
type Options struct {
	Reviewer    func(who identity.Principal, correlation string) bailiwick.Reviewer
	Tokens      *identity.Tokens       // the store of people, their sessions and agents. Read again for each request
	Credentials identity.Authenticator // checks credentials typed into the sign-in page, or nil
	Issuer      Issuer                 // the provider at which people sign in, or nil
	Agents      Agents                 // lets agents sign in, with a person's consent, or nil
	// The URL of this host as people open it, such as "https://gate.example". "" means the URL of the request.
	URL   string
	Allow func(*http.Request) error // refuses Host headers that /mcp would refuse: mcp.Server.Allow
	Admit Admit                     // admits, limits and records pages that don't use a Reviewer

	Connections *connect.Connections // accounts of people at APIs, or nil

	Audit    audit.Reader
	Exposure func() (*policyops.Regime, error) // returns the rules in force
	Sources  func(context.Context) []Source

	Deliveries Deliveries
	Hooks      []string // the names of the webhooks in Deliveries
	TestHook   func(ctx context.Context, hook string) error

	Idle    time.Duration // maximum time without a request. 0 means the constant Idle
	Life    time.Duration // maximum duration of a session. 0 means the constant Life
	Fresh   time.Duration // maximum time since a sign-in to break the glass. 0 means identity.Fresh
	Version string        // of this program, shown at the bottom of pages
	Log     *slog.Logger  // nil means slog.Default
	Now     func() time.Time
}

// An Admit runs run as a call of the principal. The call is refused, limited and recorded like a tool call. Admit
// returns run's error, or a *problem.Error if run was not run or its result must not be shown.
type Admit func(ctx context.Context, who identity.Principal, ask bailiwick.CallSpec, run func(context.Context) error) error

// A Source is a connected system and its status.
type Source struct {
	Name    string
	Kind    string // "sqlite", "postgres", …
	Classes int    // including hidden ones
	// Operations is the number of operations in an API's document, including hidden ones.
	Operations int
	Well       bool          // also for a source that can't be asked
	Detail     string        // the fault, as a text for people, or ""
	Took       time.Duration // the response time. 0 means that the source wasn't asked
}

// A Console serves the pages. It is safe for concurrent use.
type Console struct {
	options Options
	log     *slog.Logger
	now     func() time.Time
	pages   map[string]*template.Template
	assets  map[string]asset
	streams *fair.Semaphore
	closing context.Context // ends when live pages must end
	close   context.CancelFunc
}

// New returns a Console with options o. It doesn't open connections. See Handler.
func New(o Options) (*Console, error) {
	if o.Reviewer == nil || o.Tokens == nil || o.Allow == nil || o.Admit == nil {
		return nil, errors.New("console: Reviewer, Tokens, Allow and Admit must be set")
	}
	c := &Console{options: o, log: cmp.Or(o.Log, slog.Default()), now: o.Now}
	if c.now == nil {
		c.now = time.Now
	}
	var err error
	if c.assets, err = readAssets(assetFiles); err != nil {
		return nil, err
	}
	if c.pages, err = c.readPages(); err != nil {
		return nil, err
	}
	c.streams = fair.New(fair.Bounds{Slots: streams})
	c.closing, c.close = context.WithCancel(context.Background())
	return c, nil
}

// Close ends the live pages, which don't end by themselves. Other pages keep working.
func (c *Console) Close() { c.close() }

// SignIn returns the path of a page with a button that signs a person in once, with the secret of a link. See
// identity.Tokens.Invite.
func SignIn(link string) string { return Path + "/sign-in?link=" + url.QueryEscape(link) }

// Mount serves the paths of Handler. It also serves the URLs for agents to sign in, which are outside Path.
func (c *Console) Mount(mux *http.ServeMux) {
	mux.Handle(Path, c.Handler())
	mux.Handle(Path+"/", c.Handler())
	if c.options.Agents != nil {
		c.options.Agents.Mount(mux)
	}
}

// Handler serves all paths below Path.
func (c *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range c.routes() {
		mux.Handle(r.method+" "+Path+r.pattern, c.serve(r))
	}
	inner := c.withRouteErrors(mux)
	return edge.WithDeadlines(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		defer c.recoverPanic(w, r)
		if err := c.options.Allow(r); err != nil {
			edge.RefusedBecause(r.Context(), "host", "")
			edge.RefusalCause(r.Context(), fmt.Errorf("host %s: %w", problem.Cut(r.Host), err))
			http.Error(w, http.StatusText(http.StatusForbidden), http.StatusForbidden)
			return
		}
		// Every route refuses requests from pages of other sites before reading the request.
		if edge.Foreign(r, c.options.URL) {
			edge.RefusedBecause(r.Context(), "origin", "")
			c.fail(w, r, http.StatusForbidden)
			return
		}
		inner.ServeHTTP(w, r)
	}), edge.Options{})
}

// policy is the content security policy of pages.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// harden sets the security headers of every response.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()")
}

// noRun is the body of a call that must only be admitted and recorded.
func noRun(context.Context) error { return nil }

func newCorrelation() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

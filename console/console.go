// Package console is the web page where people review changes, read the audit, and see what tools and views a principal
// has.
//
// It is a door to people, as server is one to agents: it stands before a Reviewer and after it, and computes no right. Pages
// are made here and work without a script; the scripts that come with them only make them live. It lets in a person with
// a right to something here, over a session of theirs. It refuses a form that is not one of its own pages', shows what
// agents wrote as text and nothing else, and tells nobody why it failed.
package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/console/internal/session"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/internal/policyreport"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Path is where the console is mounted.
const Path = "/console"

// streams is how many pages can be live at a time.
const streams = 500

// Options are what a Console works with. Reviewer, Credentials and Admit are needed; a page whose part is nil isn't there.
type Options struct {
	Reviewer    func(who identity.Principal, correlation string) bailiwick.Reviewer
	Credentials identity.Authenticator    // asked anew for each request
	Allow       func(*http.Request) error // refuses names of hosts that /mcp doesn't take; nil refuses none
	Admit       Admit                     // what pages that ask no Reviewer are admitted, limited and recorded by

	Audit    audit.Reader
	Exposure func() (*policyreport.Regime, error) // of the rules in force; its page needs Tokens, too
	Tokens   Tokens
	Sources  func(context.Context) []Source

	Deliveries Deliveries
	Hooks      []string // the names of the webhooks that Deliveries are of

	Key     []byte        // 32 bytes that seal sessions, the same on all replicas; nil takes random ones
	Used    once.Store    // keeps which sessions were signed out of, for all replicas with one Key; nil keeps it in this process
	Idle    time.Duration // without a request, after which a session ends; 0 takes session.Idle
	Life    time.Duration // of a session; 0 takes session.Life
	Version string        // of this program, as the foot of pages has it
	Log     *slog.Logger  // nil takes slog.Default
	Now     func() time.Time
}

// Admit makes run a call of who: it is refused, limited and recorded as calls of tools are. It returns run's error, or
// the *problem.Error for which run was not run or its answer isn't given.
type Admit func(ctx context.Context, who identity.Principal, ask bailiwick.CallSpec, run func(context.Context) error) error

// Tokens is what the console needs of identity.Tokens.
type Tokens interface {
	List(ctx context.Context, by identity.Principal) ([]identity.Token, error)
	Revoke(ctx context.Context, by identity.Principal, id string) error
}

// A Source is a connected system and how it is.
type Source struct {
	Name    string
	Kind    string // "sqlite", "postgres", …
	Classes int    // that it has, hidden ones too
	Well    bool
	Detail  string        // in our words, what is wrong; "" where nothing is
	Took    time.Duration // to answer
}

// A Console serves the pages. It is safe for use by several goroutines.
type Console struct {
	options  Options
	log      *slog.Logger
	now      func() time.Time
	sessions *session.Keeper
	pages    map[string]*template.Template
	assets   map[string]asset
	streams  *fair.Gate
	closing  context.Context // ends when live pages must end
	close    context.CancelFunc
}

// New returns a Console with o. It opens nothing; see Handler.
func New(o Options) (*Console, error) {
	if o.Reviewer == nil || o.Credentials == nil || o.Admit == nil {
		return nil, errors.New("console: Desk, Credentials and Admit must be set")
	}
	c := &Console{options: o, log: cmp.Or(o.Log, slog.Default()), now: o.Now}
	if c.now == nil {
		c.now = time.Now
	}
	var err error
	if c.sessions, err = session.New(session.Options{Key: o.Key, Used: o.Used, Idle: o.Idle, Life: o.Life, Now: c.now}); err != nil {
		return nil, err
	}
	if c.assets, err = readAssets(); err != nil {
		return nil, err
	}
	if c.pages, err = c.readPages(); err != nil {
		return nil, err
	}
	c.streams = fair.New(fair.Bounds{Slots: streams})
	c.closing, c.close = context.WithCancel(context.Background())
	return c, nil
}

// Close ends the live pages, which have no end of their own. The rest goes on.
func (c *Console) Close() { c.close() }

// Link returns the address, below the host, of a page with a button that signs in with credential, once, within life.
func (c *Console) Link(credential string, life time.Duration) string {
	return Path + "/sign-in?link=" + c.sessions.Offer(credential, life)
}

// Handler serves everything below Path.
func (c *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range c.routes() {
		mux.Handle(r.method+" "+Path+r.pattern, c.serve(r))
	}
	// A POST of another site is refused before anything of it is read.
	guarded := http.NewCrossOriginProtection()
	guarded.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.fail(w, r, http.StatusForbidden) }))
	inner := guarded.Handler(c.unrouted(mux))
	return edge.Timed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		defer c.recovered(w, r)
		if c.options.Allow != nil {
			if err := c.options.Allow(r); err != nil {
				c.log.InfoContext(r.Context(), "console: refused", "error", err, "host", problem.Cut(r.Host))
				http.Error(w, http.StatusText(http.StatusForbidden), http.StatusForbidden)
				return
			}
		}
		inner.ServeHTTP(w, r)
	}), edge.Options{})
}

// harden sets what every answer says.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; "+
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()")
}

// noRun is the whole of a call that is made to be admitted and recorded.
func noRun(context.Context) error { return nil }

func newCorrelation() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

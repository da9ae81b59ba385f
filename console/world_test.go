package console_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// A world is a console with a test Reviewer and real tokens.
type world struct {
	*drawers
	console *console.Console
	tokens  *identity.Tokens
	store   *sqlite.Store
	url     string
	log     *strings.Builder
	mu      sync.Mutex
	admits  []string
}

// newWorld returns a world with two people. rosa may review, read the audit and operate, and ines may only review.
func newWorld(t testing.TB, d *drawers, change func(*console.Options)) *world {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	w := &world{drawers: d, store: store, log: &strings.Builder{}}
	var o console.Options
	w.tokens = identity.NewTokens(identity.TokenOptions{Store: store, Audit: store, Now: func() time.Time {
		if o.Now != nil {
			return o.Now()
		}
		return time.Now()
	}})
	o = console.Options{
		Reviewer:    func(p identity.Principal, _ string) bailiwick.Reviewer { return desk{d, p} },
		Allow:       func(*http.Request) error { return nil },
		Credentials: w.tokens, Tokens: w.tokens, Version: "v0.5.0",
		Log: slog.New(slog.NewTextHandler(w.log, nil)),
		Admit: func(ctx context.Context, p identity.Principal, ask bailiwick.CallSpec, run func(context.Context) error) error {
			w.mu.Lock()
			w.admits = append(w.admits, ask.Tool)
			w.mu.Unlock()
			if !p.Has(ask.Needs) {
				return problem.New(problem.PermissionDenied, "scope")
			}
			return run(ctx)
		},
	}
	if change != nil {
		change(&o)
	}
	if w.console, err = console.New(o); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(w.console.Handler())
	t.Cleanup(s.Close)
	t.Cleanup(w.console.Close)
	w.url = s.URL
	return w
}

func (w *world) token(t testing.TB, owner string, kind identity.Kind, scopes ...identity.Scope) (id, secret string) {
	t.Helper()
	made, secret, err := w.tokens.Create(t.Context(), identity.Local("test"), identity.Token{Name: owner + "'s", Owner: owner, Kind: kind, Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID, secret
}

// link returns a link that signs in a reviewer.
func (w *world) link(t testing.TB, owner string, life time.Duration) string {
	t.Helper()
	_, link, err := w.tokens.Invite(t.Context(), identity.Local("test"), identity.Token{Owner: owner, Scopes: []identity.Scope{identity.Review}}, life)
	if err != nil {
		t.Fatal(err)
	}
	return console.SignIn(link)
}

// A browser is a client that stores cookies and sends forms like the console's pages.
type browser struct {
	t      testing.TB
	client *http.Client
	url    string
}

func (w *world) browser(t testing.TB) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, w.url}
}

// signedIn returns a browser that is signed in as owner. Without scopes, it has all scopes of the console.
func (w *world) signedIn(t testing.TB, owner string, scopes ...identity.Scope) *browser {
	t.Helper()
	if scopes == nil {
		scopes = []identity.Scope{identity.Review, identity.Audit, identity.Operator}
	}
	_, secret := w.token(t, owner, identity.Human, scopes...)
	b := w.browser(t)
	b.get("/console/sign-in")
	if got := b.post("/console/sign-in", url.Values{"credential": {secret}}); got.status != http.StatusSeeOther {
		t.Fatalf("sign in: %d\n%s", got.status, got.body)
	}
	return b
}

// An answer is a response.
type answer struct {
	status int
	body   string
	header http.Header
}

func (b *browser) do(r *http.Request) answer {
	b.t.Helper()
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{resp.StatusCode, string(body), resp.Header}
}

func (b *browser) request(method, path, body string) *http.Request {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *browser) get(path string) answer { b.t.Helper(); return b.do(b.request("GET", path, "")) }

var markOf = regexp.MustCompile(`name="mark" value="([^"]+)"`)

// mark returns the token for the forms of this browser.
func (b *browser) mark() string {
	b.t.Helper()
	found := markOf.FindStringSubmatch(b.get("/console/sign-in?link=x").body)
	if found == nil {
		b.t.Fatal("a page without a form")
	}
	return found[1]
}

// post sends a form as a page of the console does.
func (b *browser) post(path string, form url.Values) answer {
	b.t.Helper()
	if form == nil {
		form = url.Values{}
	}
	form.Set("mark", b.mark())
	return b.send(path, form)
}

// send sends a form unchanged, from the console's own origin.
func (b *browser) send(path string, form url.Values) answer {
	b.t.Helper()
	r := b.request("POST", path, form.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", b.url)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.do(r)
}

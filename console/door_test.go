package console_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// TestSignIn checks who may sign in.
func TestSignIn(t *testing.T) {
	w := newWorld(t, newDrawers(), nil)
	for _, row := range []struct {
		name   string
		kind   identity.Kind
		scopes []identity.Scope
		status int
	}{
		{"a reviewer", identity.Human, []identity.Scope{identity.Review}, 303},
		{"an auditor", identity.Human, []identity.Scope{identity.Audit}, 303},
		{"a person who may only read", identity.Human, []identity.Scope{identity.Read}, 403},
		{"an agent", identity.Agent, []identity.Scope{identity.Read, identity.Write}, 403},
		{"a service that operates", identity.Service, []identity.Scope{identity.Operator}, 403},
	} {
		_, secret := w.token(t, "ann", row.kind, row.scopes...)
		if got := w.browser(t).post("/console/sign-in", url.Values{"credential": {secret}}); got.status != row.status {
			t.Errorf("%s: %d, want %d", row.name, got.status, row.status)
		}
	}
	for _, wrong := range []string{"", "bw_nonsense", strings.Repeat("x", 10_000)} {
		got := w.browser(t).post("/console/sign-in", url.Values{"credential": {wrong}})
		if got.status != 403 || !strings.Contains(got.body, "doesn&#39;t sign in here") || wrong != "" && strings.Contains(got.body, wrong) {
			t.Errorf("%.20q: %d\n%s", wrong, got.status, got.body)
		}
	}
	if got := strings.Join(w.admits, " "); got != "console/sign_in console/sign_in" {
		t.Errorf("recorded: %s", got)
	}
}

// TestSignedOutEverywhere checks that after a sign-out, a copy of the cookie is refused: here, on another replica and
// after a restart. While the store fails, no session is accepted, and the browser keeps its cookie.
func TestSignedOutEverywhere(t *testing.T) {
	w := newWorld(t, newDrawers(), nil)
	again := func(s identity.TokenStore) *browser {
		tokens := identity.NewTokens(identity.TokenOptions{Store: s, Audit: w.store})
		o := console.Options{Reviewer: func(p identity.Principal, _ string) bailiwick.Reviewer { return desk{w.drawers, p} }, Credentials: tokens, Tokens: tokens, Allow: func(*http.Request) error { return nil },
			Log: slog.New(slog.DiscardHandler), Admit: func(ctx context.Context, _ identity.Principal, _ bailiwick.CallSpec, run func(context.Context) error) error {
				return run(ctx)
			}}
		c, err := console.New(o)
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(c.Handler())
		t.Cleanup(func() { web.Close(); c.Close() })
		return (&world{url: web.URL}).browser(t)
	}
	replica, down := again(w.store), again(failing{w.store})
	b := w.signedIn(t, "rosa")
	at, err := url.Parse(w.url)
	if err != nil {
		t.Fatal(err)
	}
	var cookies []string
	for _, c := range b.client.Jar.Cookies(at) {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	visit := func(b *browser) answer {
		r := b.request("GET", "/console/changes", "")
		r.Header.Set("Cookie", strings.Join(cookies, "; "))
		return b.do(r)
	}
	if one, two := visit(b), visit(replica); one.status != 200 || two.status != 200 {
		t.Fatal("not signed in:", one.status, two.status)
	}
	if got := visit(down); got.status != 503 || got.header.Get("Retry-After") == "" || got.header.Get("Set-Cookie") != "" {
		t.Errorf("while the store is down: %d %v", got.status, got.header)
	}
	if got := b.post("/console/sign-out", nil); got.status != 303 {
		t.Fatal(got.status)
	}
	for name, b := range map[string]*browser{"here": w.browser(t), "at a replica": replica, "after a restart": again(w.store)} {
		if got := visit(b); got.status != 303 {
			t.Errorf("%s: %d", name, got.status)
		}
	}
}

// failing is a store that can't be read.
type failing struct{ *sqlite.Store }

func (failing) TicketByHash(context.Context, [32]byte) (identity.Ticket, error) {
	return identity.Ticket{}, errors.New("the disk is on fire")
}

// TestSession checks how a session begins and ends.
func TestSession(t *testing.T) {
	now := time.Now()
	w := newWorld(t, newDrawers(), func(o *console.Options) { o.Now = func() time.Time { return now } })
	tokenID, secret := w.token(t, "rosa", identity.Human, identity.Review)
	enter := func(b *browser) (cookie string) {
		t.Helper()
		got := b.post("/console/sign-in", url.Values{"credential": {secret}})
		for _, c := range got.header.Values("Set-Cookie") {
			if strings.HasPrefix(c, "bailiwick-session=") {
				return c
			}
		}
		t.Fatalf("no cookie: %d %v", got.status, got.header)
		return ""
	}
	in := func(b *browser) bool { t.Helper(); return b.get("/console/changes").status == 200 }

	b := w.browser(t)
	first := enter(b)
	if !regexp.MustCompile(`^bailiwick-session=[\w-]+; Path=/; HttpOnly; SameSite=Strict$`).MatchString(first) || strings.Contains(first, secret) {
		t.Error("the cookie:", first)
	}
	if second := enter(b); second == first || !in(b) {
		t.Error("a second sign-in is not a new session")
	}
	old := w.browser(t)
	r := old.request("GET", "/console/changes", "")
	r.Header.Set("Cookie", strings.SplitN(first, ";", 2)[0])
	if got := old.do(r); got.status != 303 {
		t.Error("the session before a second sign-in goes on:", got.status)
	}

	// Session fixation: a cookie that an attacker planted never becomes the session.
	planted := w.browser(t)
	u, _ := url.Parse(w.url)
	planted.client.Jar.SetCookies(u, []*http.Cookie{{Name: "bailiwick-session", Value: "planted", Path: "/"}, {Name: "bailiwick-visitor", Value: "planted", Path: "/"}})
	if cookie := enter(planted); strings.Contains(cookie, "planted") || !in(planted) {
		t.Error("fixed:", cookie)
	}

	now = now.Add(59 * time.Minute)
	if !in(b) {
		t.Error("ended while in use")
	}
	now = now.Add(59 * time.Minute)
	if !in(b) {
		t.Error("the use before didn't count")
	}
	now = now.Add(61 * time.Minute)
	if in(b) {
		t.Error("idle for an hour and still good")
	}
	enter(b)
	for range 13 {
		now = now.Add(55 * time.Minute)
		in(b)
	}
	now = now.Add(6 * time.Minute)
	if in(b) {
		t.Error("good after twelve hours")
	}
	enter(b)
	kept := w.browser(t)
	kept.client.Jar.SetCookies(u, b.client.Jar.Cookies(u))
	if !in(kept) {
		t.Fatal("a copy of the cookie is the session")
	}
	if got := b.post("/console/sign-out", nil); got.status != 303 || in(b) || in(kept) {
		t.Error("signed out and still in")
	}
	enter(b)
	if err := w.tokens.Revoke(t.Context(), identity.Local("test"), tokenID); err != nil {
		t.Fatal(err)
	}
	if got := b.get("/console/changes"); got.status != 303 || got.header.Get("Location") != "/console/sign-in?ended=yes&next=%2Fconsole%2Fchanges" {
		t.Error("a revoked token's session goes on:", got.status, got.header.Get("Location"))
	}
}

// TestSecureCookie checks that browsers accept the cookie only over https, except over plain http on this machine.
func TestSecureCookie(t *testing.T) {
	w := newWorld(t, newDrawers(), nil)
	_, secret := w.token(t, "rosa", identity.Human, identity.Review)
	b := w.browser(t)
	mark := b.mark()
	visitor := b.client.Jar.Cookies(b.request("GET", "/console/", "").URL)[0]
	r := b.request("POST", "/console/sign-in", url.Values{"credential": {secret}, "mark": {mark}}.Encode())
	r.Host = "gate.example"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(visitor)
	got := b.do(r)
	cookies := strings.Join(got.header.Values("Set-Cookie"), "\n")
	if !regexp.MustCompile(`^__Host-bailiwick-session=[\w-]+; Path=/; HttpOnly; Secure; SameSite=Strict$`).MatchString(cookies) {
		t.Errorf("%d %s\n%s", got.status, cookies, got.body)
	}
	// A browser that drops the cookie gets a page that says why.
	if got = w.browser(t).get(got.header.Get("Location")); got.status != 200 || !strings.Contains(got.body, "plain http") {
		t.Errorf("%d\n%s", got.status, got.body)
	}
}

// TestLink checks that a link signs in only once, by a button. A refused request doesn't use up the link.
func TestLink(t *testing.T) {
	now := time.Now()
	full := false
	w := newWorld(t, newDrawers(), func(o *console.Options) {
		o.Now = func() time.Time { return now }
		admit := o.Admit
		o.Admit = func(ctx context.Context, p identity.Principal, ask bailiwick.CallSpec, run func(context.Context) error) error {
			if full {
				return problem.New(problem.RateLimited, "Too many calls")
			}
			return admit(ctx, p, ask, run)
		}
	})
	link := w.link(t, "rosa", time.Hour)
	code := strings.TrimPrefix(link, "/console/sign-in?link=")
	b := w.browser(t)
	for range 3 { // viewing the page doesn't use up the link
		if got := b.get(link); got.status != 200 || !strings.Contains(got.body, `<button class="first" autofocus>Sign in</button>`) {
			t.Fatalf("%d\n%s", got.status, got.body)
		}
	}
	for _, row := range []struct {
		code   string
		status int
	}{{"other", 403}, {code, 303}, {code, 403}} {
		if got := b.post("/console/sign-in", url.Values{"link": {row.code}}); got.status != row.status {
			t.Errorf("%s: %d, want %d", row.code, got.status, row.status)
		}
	}
	busy := w.browser(t)
	again := strings.TrimPrefix(w.link(t, "rosa", time.Hour), "/console/sign-in?link=")
	full = true // a refusal because of load doesn't use up the link
	if got := busy.post("/console/sign-in", url.Values{"link": {again}}); got.status != 429 {
		t.Error("under load:", got.status)
	}
	full = false
	if got := busy.post("/console/sign-in", url.Values{"link": {again}}); got.status != 303 {
		t.Error("after it:", got.status)
	}
	late := strings.TrimPrefix(w.link(t, "rosa", time.Hour), "/console/sign-in?link=")
	now = now.Add(time.Hour)
	if got := w.browser(t).post("/console/sign-in", url.Values{"link": {late}}); got.status != 403 {
		t.Error("an old link:", got.status)
	}
}

// TestForms checks that a POST is accepted only from the console's own pages.
func TestForms(t *testing.T) {
	box := outbox(t)
	w := newWorld(t, newDrawers(samples()...), withOutbox(box))
	b, other := w.signedIn(t, "rosa"), w.signedIn(t, "ines")
	paths := []string{"/sign-out", "/theme", "/changes/" + id(11) + "/reject", "/changes/" + id(11) + "/approve", "/batch", "/sign-in", "/tokens/x/revoke", "/notifications/2/redeliver", "/people/invite", "/people/remove", "/people/end", "/you/sessions/x/end", "/you/agents/x/end"}
	for _, path := range paths {
		for name, change := range map[string]func(*http.Request, url.Values){
			"no mark":            func(_ *http.Request, f url.Values) { f.Del("mark") },
			"another one's mark": func(_ *http.Request, f url.Values) { f.Set("mark", other.mark()) },
			"another site":       func(r *http.Request, _ url.Values) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
			"a sister site":      func(r *http.Request, _ url.Values) { r.Header.Set("Sec-Fetch-Site", "same-site") },
			"an origin elsewhere": func(r *http.Request, _ url.Values) {
				r.Header.Set("Origin", "https://evil.example")
				r.Header.Del("Sec-Fetch-Site")
			},
			"a body of another kind": func(r *http.Request, f url.Values) {
				r.Header.Set("Content-Type", "application/json")
			},
		} {
			form := url.Values{"mark": {b.mark()}, "text": {"no"}, "digest": {strings.Repeat("000b", 16)}}
			r := b.request("POST", "/console"+path, "")
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", b.url)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			change(r, form)
			body := b.request("POST", "/console"+path, form.Encode())
			body.Header = r.Header
			if got := b.do(body); got.status != 403 {
				t.Errorf("%s with %s: %d", path, name, got.status)
			}
		}
	}
	if w.calls != nil || dead(t, box) != 1 {
		t.Error("something was done:", w.calls, dead(t, box))
	}
	if got := b.send("/console/changes/"+id(11)+"/reject", url.Values{"mark": {b.mark()}, "text": {strings.Repeat("x", 300<<10)}}); got.status != 403 || w.calls != nil {
		t.Error("a form of 300 KB:", got.status)
	}
}

// TestGetChangesNothing requests all pages with the parameters of their forms, and checks that this changes nothing.
func TestGetChangesNothing(t *testing.T) {
	box := outbox(t)
	w := newWorld(t, newDrawers(samples()...), withOutbox(box))
	b := w.signedIn(t, "rosa")
	deeds := []string{"approve", "break-glass", "reject", "comment", "renew", "revert", "settle"}
	values := "?text=x&digest=" + strings.Repeat("000b", 16) + "&applied=yes&change=" + id(11) + ":" + strings.Repeat("000b", 16) + "&mark=" + url.QueryEscape(b.mark())
	before := len(w.events)
	paths := []string{"/", "/sign-in", "/sign-out", "/theme", "/changes", "/batch", "/audit", "/access", "/tokens", "/sources", "/tokens/x/revoke", "/people", "/people/invite", "/people/remove", "/people/end", "/you", "/you/sessions/x/end", "/notifications", "/notifications/2/redeliver"}
	for n := 11; n < 19; n++ {
		paths = append(paths, "/changes/"+id(n))
		for _, deed := range deeds {
			paths = append(paths, "/changes/"+id(n)+"/"+deed)
		}
	}
	for _, path := range paths {
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"} {
			b.do(b.request(method, "/console"+path+values, ""))
		}
	}
	if w.calls != nil || len(w.events) != before || dead(t, box) != 1 {
		t.Error("done by a GET:", w.calls, dead(t, box))
	}
	if got := b.get("/console/changes"); got.status != 200 {
		t.Error("a GET signed out:", got.status)
	}
}

// TestHeaders checks that every response has the security headers.
func TestHeaders(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), nil)
	b := w.signedIn(t, "rosa")
	for _, path := range []string{"/changes", "/changes/" + id(11), "/changes/none", "/nothing", "/assets/console.css", "/assets/none", "/sign-in?link=x", "/batch"} {
		h := b.get("/console" + path).header
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Frame-Options":         "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if cache := h.Get("Cache-Control"); cache != "no-store" && !(path == "/assets/console.css" && cache == "no-cache") {
			t.Errorf("%s: Cache-Control %q", path, cache)
		}
	}
	body := b.get("/console/changes/" + id(12)).body
	if found := regexp.MustCompile(`(?i)<script(?: [^>]*)?>[^<]|<style|\son\w+=|\sstyle=|javascript:`).FindString(body); found != "" {
		t.Errorf("the page has %q", found)
	}
}

// TestNothingTold checks that errors for missing, refused and failing requests reveal nothing else.
func TestNothingTold(t *testing.T) {
	d := newDrawers(samples()...)
	w := newWorld(t, d, nil)
	b := w.signedIn(t, "rosa")
	for _, row := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/nothing", 404}, {"GET", "/changes/" + id(99), 404}, {"GET", "/changes/../../etc/passwd", 404}, {"GET", "/assets/../console.go", 404},
		{"PUT", "/changes", 405}, {"GET", "/sign-out", 405}, {"DELETE", "/changes/" + id(11), 405}, {"GET", "/changes?state=odd", 400}, {"GET", "/changes?risk=odd", 400},
	} {
		got := b.do(b.request(row.method, "/console"+row.path, ""))
		if got.status == http.StatusTemporaryRedirect || got.status == http.StatusMovedPermanently {
			got = b.do(b.request(row.method, got.header.Get("Location"), ""))
		}
		if got.status != row.status || !strings.Contains(got.body, "Back to the console") && !strings.Contains(got.body, "404") {
			t.Errorf("%s %s: %d\n%s", row.method, row.path, got.status, got.body)
		}
	}
	d.err = errors.New("secret-table does not exist at /var/lib/secret")
	got := b.get("/console/changes")
	if got.status != 500 || strings.Contains(got.body, "secret") || !strings.Contains(got.body, "Something went wrong") {
		t.Errorf("%d\n%s", got.status, got.body)
	}
	if !strings.Contains(w.log.String(), "secret-table") {
		t.Error("the log has nothing of it:", w.log)
	}
	broken := newWorld(t, d, func(o *console.Options) {
		o.Reviewer = func(identity.Principal, string) bailiwick.Reviewer { panic("secret state of mind") }
	})
	got = broken.signedIn(t, "rosa").get("/console/changes")
	if got.status != 500 || strings.Contains(got.body, "secret") {
		t.Errorf("%d\n%s", got.status, got.body)
	}
}

// TestRights checks that each page requires its own scope.
func TestRights(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), nil)
	b := w.signedIn(t, "ann", identity.Operator)
	for _, path := range []string{"/changes", "/changes/" + id(11), "/batch?id=x", "/events"} {
		if got := b.get("/console" + path); got.status != 403 || strings.Contains(got.body, "PAY-17") {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	if got := b.post("/console/changes/"+id(11)+"/reject", url.Values{"text": {"x"}}); got.status != 403 || w.calls != nil {
		t.Error(got.status, w.calls)
	}
	nobody := w.browser(t)
	for _, path := range []string{"/", "/changes", "/changes/" + id(11), "/batch"} {
		if got := nobody.get("/console" + path); got.status != 303 || !strings.HasPrefix(got.header.Get("Location"), "/console/sign-in") {
			t.Errorf("%s: %d %s", path, got.status, got.header.Get("Location"))
		}
	}
	if got := nobody.get("/console/events"); got.status != 401 {
		t.Error("events:", got.status)
	}
}

// TestNext checks that the browser is redirected only within the console after sign-in.
func TestNext(t *testing.T) {
	w := newWorld(t, newDrawers(), nil)
	_, secret := w.token(t, "rosa", identity.Human, identity.Review)
	for next, want := range map[string]string{
		"/console/changes?state=all": "/console/changes?state=all", "": "/console/", "https://evil.example/console/": "/console/", "//evil.example/console/": "/console/",
		`/console/\evil`: "/console/", "/console/../mcp": "/console/", "/mcp": "/console/", "javascript:alert(1)": "/console/",
	} {
		got := w.browser(t).post("/console/sign-in", url.Values{"credential": {secret}, "next": {next}})
		if got.header.Get("Location") != want {
			t.Errorf("%q leads to %q", next, got.header.Get("Location"))
		}
	}
	b := w.browser(t)
	r := b.request("GET", "/console/changes/"+id(1), "")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	if got := b.do(r); got.status != 200 || !strings.Contains(got.body, `content="0;url=/console/changes/`+id(1)+`"`) {
		t.Errorf("from a chat: %d\n%s", got.status, got.body)
	}
}

// TestEventsEnd checks that a live page ends with its session.
func TestEventsEnd(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), nil)
	b := w.signedIn(t, "rosa")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	resp, err := b.client.Do(b.request("GET", "/console/events", "").WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := b.post("/console/sign-out", nil); got.status != 303 {
		t.Fatal(got.status)
	}
	w.put(sample(50, "one more")) // wakes the page up
	buf := make([]byte, 4096)
	var read strings.Builder
	for {
		n, err := resp.Body.Read(buf)
		read.Write(buf[:n])
		if err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		t.Error("the stream goes on without its session")
	}
	if strings.Contains(read.String(), "moved-") {
		t.Errorf("it told of more:\n%s", read.String())
	}
}

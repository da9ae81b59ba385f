package console_test

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
)

// TestPeople invites a person on the page and removes them after they signed in with the link. Names are shown as
// text.
func TestPeople(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), nil)
	b := w.signedIn(t, "rosa")
	const name = `<img src=x onerror=alert(1)>@example.com`
	got := b.post("/console/people/invite", url.Values{"person": {name}, "scope": {"review", "read"}})
	link := regexp.MustCompile(`/console/sign-in\?link=bwl_[\w-]{43}`).FindString(got.body)
	if got.status != 200 || link == "" || strings.Contains(got.body, "<img") {
		t.Fatal(got.status, got.body)
	}
	guest := w.browser(t)
	if got := guest.post("/console/sign-in", url.Values{"link": {strings.SplitN(link, "link=", 2)[1]}}); got.status != 303 || guest.get("/console/changes").status != 200 {
		t.Fatal("not signed in:", got.status)
	}
	if got := guest.get("/console/people"); got.status != 403 {
		t.Error("a reviewer sees the people:", got.status)
	}
	if got := b.get("/console/people"); !strings.Contains(got.body, "&lt;img") || strings.Contains(got.body, "<img") {
		t.Error(got.body)
	}
	if got := b.post("/console/people/remove", url.Values{"person": {name}, "tenant": {""}}); got.status != 303 || guest.get("/console/changes").status != 303 {
		t.Error("removed and signed in:", got.status)
	}
	for body, form := range map[string]url.Values{"names the person": {"person": {" "}, "scope": {"review"}}, "There is no scope": {"person": {"ann"}, "scope": {"everything"}}} {
		if got := b.post("/console/people/invite", form); got.status != 400 || !strings.Contains(got.body, body) {
			t.Errorf("%v: %d %s", form, got.status, got.body)
		}
	}
}

// TestSessions checks that people can end their own sessions, that operators can end sessions of others, and that
// nobody else can.
func TestSessions(t *testing.T) {
	w := newWorld(t, newDrawers(), nil)
	ines, other, rosa := w.signedIn(t, "ines", identity.Review), w.signedIn(t, "ann", identity.Review), w.signedIn(t, "rosa")
	id := regexp.MustCompile(`/console/you/sessions/(\w+)/end`).FindStringSubmatch(ines.get("/console/you").body)
	if id == nil {
		t.Fatal("no session")
	}
	if got := other.post("/console/you/sessions/"+id[1]+"/end", nil); got.status != 404 || ines.get("/console/changes").status != 200 {
		t.Error("ended by another person:", got.status)
	}
	if got := rosa.post("/console/people/end", url.Values{"session": {id[1]}}); got.status != 303 || ines.get("/console/changes").status != 303 {
		t.Error("ended by an operator:", got.status)
	}

	// An operator of a tenant sees, ends and removes only sessions and people of that tenant.
	in := func(owner, tenant string, scopes ...identity.Scope) *browser {
		_, secret, err := w.tokens.Create(t.Context(), identity.Local("test"), identity.Token{Name: owner, Owner: owner, Kind: identity.Human, Tenant: tenant, Scopes: scopes})
		if err != nil {
			t.Fatal(err)
		}
		b := w.browser(t)
		if got := b.post("/console/sign-in", url.Values{"credential": {secret}}); got.status != 303 {
			t.Fatal(got.status)
		}
		return b
	}
	olga, zed, own := in("olga", "acme", identity.Operator), in("zed", "globex", identity.Review), in("max", "acme", identity.Review)
	session := func(b *browser) string {
		t.Helper()
		id := regexp.MustCompile(`/console/you/sessions/(\w+)/end`).FindStringSubmatch(b.get("/console/you").body)
		if id == nil {
			t.Fatal("no session")
		}
		return id[1]
	}
	if got := olga.get("/console/people").body; strings.Contains(got, "zed") || strings.Contains(got, "rosa") || !strings.Contains(got, "max") {
		t.Error("the people of acme:", got)
	}
	for path, form := range map[string]url.Values{"end": {"session": {session(zed)}}, "remove": {"person": {"zed"}, "tenant": {"globex"}}} {
		if got := olga.post("/console/people/"+path, form); got.status < 400 || zed.get("/console/changes").status != 200 {
			t.Errorf("%s in another tenant: %d", path, got.status)
		}
	}
	if got := olga.post("/console/people/end", url.Values{"session": {session(own)}}); got.status != 303 || own.get("/console/changes").status != 303 {
		t.Error("ended by an operator of the tenant:", got.status)
	}
}

// TestFresh checks that breaking the glass requires a fresh sign-in, and that nothing else does.
func TestFresh(t *testing.T) {
	now := time.Now()
	w := newWorld(t, newDrawers(samples()...), func(o *console.Options) { o.Now = func() time.Time { return now } })
	b := w.signedIn(t, "rosa")
	form := url.Values{"digest": {strings.Repeat("0012", 16)}, "text": {"the site is down"}}
	now = now.Add(identity.Fresh)
	got := b.post("/console/changes/"+id(18)+"/break-glass", form)
	if to := got.header.Get("Location"); got.status != 303 || !strings.HasPrefix(to, "/console/sign-in?again=yes&next=%2Fconsole%2Fchanges%2F") || w.calls != nil {
		t.Error(got.status, to, w.calls)
	}
	if got := b.get(got.header.Get("Location")); got.status != 200 || !strings.Contains(got.body, "Sign in again") || !strings.Contains(got.body, "This takes a sign-in of the last 15 min.") {
		t.Error(got.status, got.body)
	}
	olga := w.signedIn(t, "olga", identity.Operator)
	now = now.Add(identity.Fresh)
	if got := olga.post("/console/people/invite", url.Values{"person": {"max"}, "scope": {"review"}}); got.status != 303 || !strings.HasPrefix(got.header.Get("Location"), "/console/sign-in?again=yes&next=%2Fconsole%2Fpeople") {
		t.Error("an invitation:", got.status, got.header)
	}
	if got := b.post("/console/changes/"+id(12)+"/reject", url.Values{"text": {"no"}}); got.status != 303 || len(w.calls) != 1 {
		t.Error("a rejection:", got.status, w.calls)
	}
}

// A doubtful is an issuer whose sign-ins are refused.
type doubtful struct{ kind string }

func (doubtful) Name() string { return "Vouch" }

func (doubtful) Begin(_ context.Context, back string, _ bool) (to, kept string, err error) {
	return back + "?code=1", "kept", nil
}

func (d doubtful) Finish(context.Context, string, string, url.Values) (identity.Principal, error) {
	return identity.Principal{}, identity.UnauthorizedError(d.kind, nil)
}

func (doubtful) SignOut(context.Context, string) string { return "" }

// TestStepUpRefused checks that the sign-in page gives the reason why an issuer's proof was not enough.
func TestStepUpRefused(t *testing.T) {
	for kind, want := range map[string]string{"sign_in_level": "not by a proof of the level that this takes", "sign_in_not_proved_again": "didn&#39;t ask again who you are", "id_token_nonce": "did not vouch for you"} {
		w := newWorld(t, newDrawers(samples()...), func(o *console.Options) { o.Issuer = doubtful{kind} })
		b := w.signedIn(t, "rosa")
		got := b.get(strings.TrimPrefix(b.get("/console/sign-in/issuer?again=yes").header.Get("Location"), w.url))
		if again := strings.Contains(got.body, "again=yes"); got.status != 403 || !strings.Contains(got.body, want) || again != (kind != "id_token_nonce") {
			t.Errorf("%s: %d, again %t\n%s", kind, got.status, again, got.body)
		}
	}
}

// A vouching is an issuer whose sign-ins succeed.
type vouching struct{ doubtful }

func (vouching) Finish(context.Context, string, string, url.Values) (identity.Principal, error) {
	return identity.Principal{ID: "oidc:7", Kind: identity.Human, Owner: "rosa", Scopes: []identity.Scope{identity.Review}, Proven: time.Now()}, nil
}

// TestIssuerAnswer checks that an issuer's answer signs in only the browser that was sent to the issuer, and only
// once. The browser's previous session ends.
func TestIssuerAnswer(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), func(o *console.Options) { o.Issuer = vouching{} })
	const answer = "/console/sign-in/callback?code=1"
	if got := w.browser(t).get(answer); got.status != 403 || !strings.Contains(got.body, "not begun in this browser") {
		t.Errorf("without a sign-in under way: %d\n%s", got.status, got.body)
	}
	b, copied := w.signedIn(t, "rosa"), w.browser(t)
	u, err := url.Parse(w.url)
	if err != nil {
		t.Fatal(err)
	}
	copied.client.Jar.SetCookies(u, b.client.Jar.Cookies(u))
	b.get("/console/sign-in/issuer?again=yes")
	back := w.browser(t) // a redirect from another site carries only the cookie of the sign-in
	for _, c := range b.client.Jar.Cookies(u) {
		if c.Name == "bailiwick-leaving" {
			back.client.Jar.SetCookies(u, []*http.Cookie{c})
		}
	}
	if got := back.get(answer); got.status != 303 || back.get("/console/changes").status != 200 {
		t.Errorf("%d\n%s", got.status, got.body)
	}
	if got := copied.get("/console/changes"); got.status != 303 {
		t.Error("the session before goes on:", got.status)
	}
	if got := back.get(answer); got.status != 403 {
		t.Error("the answer again:", got.status)
	}
}

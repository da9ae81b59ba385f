package console_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// outbox returns a store with deliveries. Delivery 1 was sent, 2 is dead, 3 is being retried and 4 has not been
// tried.
func outbox(t testing.TB) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	hooks := []string{"ops", "ops", "slack", "archive"}
	ends := []webhook.Delivery{{State: webhook.Sent, Status: 204}, {State: webhook.Dead, Status: 500, Failure: "it answered 500 Internal Server Error"},
		{State: webhook.Waiting, Failure: "it can't be reached <b>\u202e"}}
	var list []webhook.Delivery
	for i, name := range hooks {
		list = append(list, webhook.Delivery{Hook: name, State: webhook.Waiting, Event: change.Event{Seq: int64(i + 1), Change: id(11 + i), Kind: change.EventCreated, At: time.Now().Add(-time.Minute)}})
	}
	fail := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	fail(s.Feed(t.Context(), -1, 0, nil))
	fail(s.Feed(t.Context(), 0, 4, list))
	claimed, err := s.Claim(t.Context(), []string{"ops", "slack"}, 9, time.Hour)
	fail(err)
	for i, d := range claimed {
		d.State, d.Status, d.Failure = ends[i].State, ends[i].Status, ends[i].Failure
		fail(s.Finish(t.Context(), d, time.Hour))
	}
	return s
}

// withOutbox gives a console the deliveries in s, and one additional webhook.
func withOutbox(s *sqlite.Store) func(*console.Options) {
	return func(o *console.Options) { o.Deliveries, o.Hooks = s, []string{"archive", "billing", "ops", "slack"} }
}

// dead returns the number of dead deliveries.
func dead(t testing.TB, s *sqlite.Store) int {
	t.Helper()
	found, _, err := s.Deliveries(t.Context(), webhook.Filter{State: webhook.Dead})
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// TestNotifications checks that operators without a tenant see the status of each webhook, and that they can resend
// dead deliveries.
func TestNotifications(t *testing.T) {
	s := outbox(t)
	w := newWorld(t, newDrawers(), withOutbox(s))
	b := w.signedIn(t, "rosa")
	for _, row := range []struct {
		path string
		want []string
		not  []string
	}{
		{"", []string{`href="/console/notifications" aria-current="page"`, "1 dead", "it answered 500 Internal Server Error", "tried again", "it can&#39;t be reached &lt;b&gt;", "U+202E",
			"next try", "Nothing was sent yet", "Last sent", "1 waiting", `/console/changes/` + id(12), "Send again"}, []string{"<b>", "Older →"}},
		{"?state=dead", []string{id(12)}, []string{id(11), id(13)}},
		{"?webhook=slack", []string{id(13)}, []string{id(12), "Send again"}},
		{"?change=" + id(11), []string{id(11)}, []string{id(12)}},
		{"?before=2", []string{id(11), "← Newest"}, []string{id(12)}},
		{"?state=sent&webhook=slack", []string{"None here"}, nil},
	} {
		got := b.get("/console/notifications" + row.path)
		if got.status != 200 {
			t.Errorf("%s: %d\n%s", row.path, got.status, got.body)
		}
		for _, want := range row.want {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s: no %q in\n%s", row.path, want, got.body)
			}
		}
		for _, not := range row.not {
			if strings.Contains(got.body, not) {
				t.Errorf("%s: %q is there", row.path, not)
			}
		}
	}
	for _, query := range []string{"?state=lost", "?before=x", "?before=0"} {
		if got := b.get("/console/notifications" + query); got.status != 400 {
			t.Errorf("%s: %d", query, got.status)
		}
	}
	w.admits = nil
	for _, row := range []struct {
		id     string
		status int
	}{{"2", 303}, {"2", 404}, {"3", 404}, {"9", 404}, {"x", 404}} {
		if got := b.post("/console/notifications/"+row.id+"/redeliver", nil); got.status != row.status {
			t.Errorf("send %s again: %d, want %d", row.id, got.status, row.status)
		}
	}
	if got := strings.Join(w.admits, " "); got != strings.TrimSpace(strings.Repeat("console/redeliver ", 4)) {
		t.Error("recorded:", got)
	}
	found, _, err := s.Deliveries(t.Context(), webhook.Filter{State: webhook.Waiting, Hook: "ops"})
	if err != nil || len(found) != 1 || found[0].ID != 2 || found[0].Attempts != 0 {
		t.Errorf("%+v %v", found, err)
	}
}

// TestNotificationsTest checks that operators without a tenant can send a test, only with a form of the page.
func TestNotificationsTest(t *testing.T) {
	var tested []string
	w := newWorld(t, newDrawers(), func(o *console.Options) {
		withOutbox(outbox(t))(o)
		o.TestHook = func(_ context.Context, hook string) error {
			if tested = append(tested, hook); hook == "billing" {
				return problem.New(problem.Upstream, "billing: it can't be reached")
			}
			return nil
		}
	})
	b := w.signedIn(t, "rosa")
	if got := b.post("/console/notifications/test", url.Values{"webhook": {"ops"}}); got.status != 303 {
		t.Error(got.status)
	}
	if got := b.get("/console/notifications?tested=ops"); !strings.Contains(got.body, "A test has arrived at ops.") || strings.Contains(b.get("/console/notifications?tested=x").body, "has arrived") {
		t.Error(got.body)
	}
	if got := b.post("/console/notifications/test", url.Values{"webhook": {"billing"}}); got.status != 502 || !strings.Contains(got.body, "billing: it can") {
		t.Error(got.status, got.body)
	}
	if got := b.post("/console/notifications/test", url.Values{"webhook": {"nowhere"}}); got.status != 404 {
		t.Error(got.status)
	}
	if got := w.signedIn(t, "ann", identity.Review).post("/console/notifications/test", url.Values{"webhook": {"ops"}}); got.status != 403 {
		t.Error("a reviewer sends a test:", got.status)
	}
	if strings.Join(tested, " ") != "ops billing" {
		t.Error(tested)
	}
}

// TestNotificationsRights checks that deliveries belong to all tenants and require the scope operator.
func TestNotificationsRights(t *testing.T) {
	s := outbox(t)
	w := newWorld(t, newDrawers(), withOutbox(s))
	made, secret, err := w.tokens.Create(t.Context(), identity.Local("test"), identity.Token{Name: "ines", Owner: "ines", Kind: identity.Human, Tenant: demo.Acme,
		Scopes: []identity.Scope{identity.Operator}})
	if err != nil {
		t.Fatal(made, err)
	}
	tenanted := w.browser(t)
	if got := tenanted.post("/console/sign-in", url.Values{"credential": {secret}}); got.status != 303 {
		t.Fatal(got.status)
	}
	for name, b := range map[string]*browser{"a reviewer": w.signedIn(t, "ann", identity.Review, identity.Audit), "an operator of a tenant": tenanted} {
		got := b.get("/console/notifications")
		if got.status != 403 || strings.Contains(got.body, id(12)) || strings.Contains(got.body, `href="/console/notifications"`) {
			t.Errorf("%s: %d\n%s", name, got.status, got.body)
		}
		if got := b.post("/console/notifications/2/redeliver", nil); got.status != 403 {
			t.Errorf("%s sends again: %d", name, got.status)
		}
	}
	if dead(t, s) != 1 {
		t.Error("sent again all the same")
	}
	none := newWorld(t, newDrawers(), nil)
	if got := none.signedIn(t, "rosa").get("/console/notifications"); got.status != 404 {
		t.Error("without webhooks:", got.status)
	}
}

// TestBrowserNotifications resends a dead notification with only the keyboard.
func TestBrowserNotifications(t *testing.T) {
	s := outbox(t)
	w := newWorld(t, newDrawers(), withOutbox(s))
	_, rosa := w.token(t, "rosa", identity.Human, identity.Operator)
	b := w.tab(t, chrome(t), rosa)
	b.open("/console/notifications?state=dead")
	for range 30 {
		if b.key("\t"); eval[bool](b, `document.activeElement.textContent.startsWith("Send again")`) {
			break
		}
	}
	b.key("\r")
	b.visible(".notice.good")
	if dead(t, s) != 0 {
		t.Error("it is still dead")
	}
}

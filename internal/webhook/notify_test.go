package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

var secret = []byte("a secret of twenty-four bytes")

// A got is a request that a receiver has received.
type got struct {
	header http.Header
	body   string
}

// A receiver responds with a list of statuses, and then with 200.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	all      []got
	came     chan got
}

func newReceiver(t *testing.T, statuses ...int) *receiver {
	r := &receiver{statuses: statuses, came: make(chan got, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		g := got{req.Header, string(body)}
		r.mu.Lock()
		r.all = append(r.all, g)
		status := http.StatusOK
		if len(r.statuses) > 0 {
			status, r.statuses = r.statuses[0], r.statuses[1:]
		}
		r.mu.Unlock()
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		r.came <- g
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) next(t *testing.T) got {
	t.Helper()
	select {
	case g := <-r.came:
		return g
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came")
		return got{}
	}
}

func openStore(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// propose files the n-th change, with a secret in each of its texts.
func propose(t *testing.T, s change.Store, n int) *change.Change {
	t.Helper()
	c, err := s.Put(t.Context(), &change.Change{ID: fmt.Sprintf("%026d", n), State: change.Pending, Source: "tracker", Op: write.OpUpdate, Digest: fmt.Sprint(n), Title: "SECRET title",
		Reason: "SECRET reason", Classes: []string{"tracker.issues"}, Rows: 1, Need: 2, Risk: change.High, Agent: change.Party{Principal: "token:a", Name: "bot", Owner: "olga", Tenant: "acme"},
		Effects: []change.Effect{{Class: "tracker.issues", After: value.OfString("SECRET value")}}, Input: value.OfString("SECRET input"),
		History: []change.Step{{State: change.Pending, Event: change.EventCreated, By: "bot"}}}, change.Filing{Life: time.Hour, Most: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run runs a sender until stop is called.
func run(t *testing.T, s *sqlite.Store, hooks ...webhook.Hook) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	sender := webhook.New(webhook.Options{Changes: s, Store: s, Hooks: hooks, Link: "https://gate.example/console/changes/", First: 10 * time.Millisecond, Poll: 20 * time.Millisecond})
	go func() { defer close(ended); sender.Run(ctx) }()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	for { // events before the sender starts are not notified
		if _, begun, err := s.FedTo(ctx); begun || err != nil {
			return stop
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func become(t *testing.T, s *sqlite.Store, want string) webhook.Delivery {
	t.Helper()
	var is string
	for range 400 {
		list, _, err := s.Deliveries(t.Context(), webhook.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 1 {
			if is = fmt.Sprintf("%s after %d: %d %s", list[0].State, list[0].Attempts, list[0].Status, list[0].Failure); is == want {
				return list[0]
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("the delivery is %s, want %s", is, want)
	return webhook.Delivery{}
}

func TestMessages(t *testing.T) {
	s := openStore(t, sqlite.Memory)
	programs, people := newReceiver(t), newReceiver(t)
	run(t, s, webhook.Hook{Name: "ops", URL: programs.URL, Secret: secret, Private: true},
		webhook.Hook{Name: "chat", URL: people.URL, Form: webhook.Slack, Private: true, Events: []change.EventKind{change.EventCreated, change.EventRejected}})
	c := propose(t, s, 1)
	m := programs.next(t)
	want := `{"type":"change.created","timestamp":"AT","data":{"change_id":"00000000000000000000000001","event":"created","state":"pending","by":"bot","agent":"token:a","owner":"olga","tenant":"acme",` +
		`"op":"update","classes":["tracker.issues"],"rows":1,"risk":"high","need":2,"url":"https://gate.example/console/changes/00000000000000000000000001","seq":1}}`
	if got := regexp.MustCompile(`"timestamp":"[^"]*"`).ReplaceAllString(m.body, `"timestamp":"AT"`); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	seconds, err := strconv.ParseInt(m.header.Get("Webhook-Timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)) > time.Minute {
		t.Error(m.header)
	}
	if id := m.header.Get("Webhook-Id"); id != c.ID+".1" || m.header.Get("Webhook-Signature") != webhook.Sign(secret, id, time.Unix(seconds, 0), []byte(m.body)) {
		t.Error(m.header)
	}
	chat := people.next(t)
	if want := `{"text":"Update 1 record of tracker.issues: proposed by bot, high risk, needs 2 to approve \u003chttps://gate.example/console/changes/` + c.ID + `|` + c.ID + `\u003e"}`; chat.body != want || chat.header.Get("Webhook-Signature") != "" {
		t.Errorf("got  %s\nwant %s", chat.body, want)
	}

	c.State = change.Pending
	c.History = append(c.History, change.Step{State: change.Pending, Event: change.EventCommented, By: "rita", Comment: "SECRET comment"})
	if err := s.Swap(t.Context(), c, change.Guard{}); err != nil {
		t.Fatal(err)
	}
	c.State = change.Rejected
	c.History = append(c.History, change.Step{State: change.Rejected, Event: change.EventRejected, By: "<!channel> *rita*", Comment: "SECRET reason"})
	if err := s.Swap(t.Context(), c, change.Guard{}); err != nil {
		t.Fatal(err)
	}
	both := programs.next(t).body + programs.next(t).body // in any order, because deliveries run concurrently
	for _, kind := range []string{"commented", "rejected"} {
		if !strings.Contains(both, `"type":"change.`+kind+`"`) {
			t.Error(kind, both)
		}
	}
	var told map[string]string
	if err := json.Unmarshal([]byte(people.next(t).body), &told); err != nil || !strings.HasPrefix(told["text"], "Update 1 record of tracker.issues: rejected by &lt;!channel&gt; ∗rita∗ <https://") {
		t.Error(told, err)
	}
	for _, r := range append(programs.all, people.all...) {
		if strings.Contains(fmt.Sprint(r), "SECRET") {
			t.Error("a value left:", r)
		}
	}
}

// TestBreakGlass checks that every hook is notified of a break-glass approval, whatever events it subscribes to. The
// text must be prominent.
func TestBreakGlass(t *testing.T) {
	s := openStore(t, sqlite.Memory)
	programs, people := newReceiver(t), newReceiver(t)
	run(t, s, webhook.Hook{Name: "ops", URL: programs.URL, Secret: secret, Private: true, Events: []change.EventKind{change.EventFailed}},
		webhook.Hook{Name: "chat", URL: people.URL, Form: webhook.Slack, Private: true, Events: []change.EventKind{change.EventFailed}})
	c := propose(t, s, 1)
	c.State = change.Granted
	c.History = append(c.History, change.Step{State: change.Granted, Event: change.EventApproved, By: "rita", Comment: "BREAK GLASS: SECRET", Broken: true})
	if err := s.Swap(t.Context(), c, change.Guard{}); err != nil {
		t.Fatal(err)
	}
	program, chat := programs.next(t).body, people.next(t).body
	if !strings.Contains(program, `"type":"change.approved"`) || !strings.Contains(program, `"break_glass":true`) {
		t.Error(program)
	}
	if !strings.HasPrefix(chat, `{"text":":rotating_light: *BREAK GLASS, past the rules of review! Update 1 record of tracker.issues: approved by rita* `) || strings.Contains(program+chat, "SECRET") {
		t.Error(chat)
	}
}

// TestOutcomes checks the state of deliveries after different responses.
func TestOutcomes(t *testing.T) {
	free := httptest.NewServer(nil)
	free.Close()
	for _, c := range []struct {
		name     string
		statuses []int
		change   func(*webhook.Hook)
		want     string
		came     int
	}{
		{"at once", nil, nil, "sent after 1: 200 ", 1},
		{"at last", []int{500, 404, 429}, nil, "sent after 4: 200 ", 4},
		{"never", []int{500, 500, 500, 503, 500}, nil, "dead after 4: 503 it answered 503 Service Unavailable", 4},
		{"not wanted any more", []int{410}, nil, "dead after 1: 410 it answered 410 Gone", 1},
		{"elsewhere", []int{307, 302, 301, 308}, nil, "dead after 4: 308 it redirects elsewhere, which is not followed. Name the address itself", 4},
		{"nobody there", nil, func(h *webhook.Hook) { h.URL = free.URL }, "dead after 4: 0 it can't be reached", 0},
		{"inside", nil, func(h *webhook.Hook) { h.Private = false }, "dead after 4: 0 its host leads to a private network. Set private: true if that is meant", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, r := openStore(t, sqlite.Memory), newReceiver(t, c.statuses...)
			h := webhook.Hook{Name: "ops", URL: r.URL, Secret: secret, Private: true, Attempts: 4}
			if c.change != nil {
				c.change(&h)
			}
			run(t, s, h)
			propose(t, s, 1)
			d := become(t, s, c.want)
			ids := map[string]bool{}
			for _, g := range r.all {
				ids[g.header.Get("Webhook-Id")] = true
			}
			if len(r.all) != c.came || len(ids) > 1 {
				t.Errorf("came %d times, with %v", len(r.all), ids)
			}
			if d.State == webhook.Dead && c.change == nil {
				r.mu.Lock()
				r.statuses = nil
				r.mu.Unlock()
				if err := s.Redeliver(t.Context(), d.ID); err != nil {
					t.Fatal(err)
				}
				become(t, s, "sent after 1: 200 ")
			}
		})
	}
}

// TestRestart checks that events are sent later if no sender was running. Events before the first start must not be
// sent.
func TestRestart(t *testing.T) {
	s, r := openStore(t, sqlite.Memory), newReceiver(t)
	hook := webhook.Hook{Name: "ops", URL: r.URL, Private: true}
	propose(t, s, 1)
	stop := run(t, s, hook)
	propose(t, s, 2)
	r.next(t)
	stop()
	propose(t, s, 3)
	propose(t, s, 4)
	run(t, s, hook)
	for _, want := range []string{"2", "3", "4"} {
		if want != "2" {
			r.next(t)
		}
	}
	time.Sleep(100 * time.Millisecond)
	var ids []string
	for _, g := range r.all {
		ids = append(ids, strings.TrimLeft(g.header.Get("Webhook-Id"), "0"))
	}
	if len(ids) != 3 || strings.Contains(strings.Join(ids, " "), "1.1") {
		t.Error(ids)
	}
}

// TestReplicas runs two senders on one store file. Each event must be sent once.
func TestReplicas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	a, b := openStore(t, path), openStore(t, path)
	r := newReceiver(t)
	hook := webhook.Hook{Name: "ops", URL: r.URL, Private: true}
	run(t, a, hook)
	run(t, b, hook)
	const n = 20
	for i := range n {
		propose(t, []*sqlite.Store{a, b}[i%2], i)
	}
	ids := map[string]bool{}
	for range n {
		ids[r.next(t).header.Get("Webhook-Id")] = true
	}
	time.Sleep(300 * time.Millisecond)
	if len(ids) != n || len(r.all) != n {
		t.Errorf("%d came, of %d events", len(r.all), len(ids))
	}
}

// TestSign checks the example from the libraries of the Standard Webhooks specification.
func TestSign(t *testing.T) {
	key, err := webhook.Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := webhook.Sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if diff := cmp.Diff("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", got); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ text, want string }{
		{"short", "must be 24 bytes long at least"}, {"whsec_%%", "what follows whsec_ must be base64"}, {"whsec_AAAA", "must be 24 bytes long at least"},
		{"a secret of twenty-four bytes", "<nil>"},
	} {
		if _, err := webhook.Secret(c.text); fmt.Sprint(err) != c.want {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// TestTell sends the event of a hidden field, which doesn't belong to a change. It must arrive once at each
// subscribed hook, even before the first event of a change.
func TestTell(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "store.db"))
	all, slack, tenant := newReceiver(t), newReceiver(t), newReceiver(t)
	hooks := []webhook.Hook{{Name: "all", URL: all.URL, Secret: secret, Private: true}, {Name: "slack", URL: slack.URL, Form: webhook.Slack, Private: true},
		{Name: "tenant", URL: tenant.URL, Tenant: "acme", Private: true}, {Name: "none", URL: tenant.URL, Events: []change.EventKind{change.EventApplied}, Private: true}}
	sender := webhook.New(webhook.Options{Changes: s, Store: s, Hooks: hooks})
	at := time.Date(2026, 11, 29, 1, 0, 0, 0, time.UTC)
	if err := sender.Tell(t.Context(), change.Event{Kind: webhook.Withheld, At: at, Seq: 7, Field: "app.pages.content", Why: "30 of 30 sampled values look like credentials"}); err != nil {
		t.Fatal(err)
	}
	run(t, s, hooks...)
	if got, want := all.next(t).body, `{"type":"field.withheld","timestamp":"2026-11-29T01:00:00Z","data":{"change_id":"","event":"withheld","state":"","agent":"","seq":7,"field":"app.pages.content","why":"30 of 30 sampled values look like credentials"}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := slack.next(t).body; !strings.Contains(got, "app.pages.content is hidden from agents: 30 of 30 sampled values look like credentials. Confirm it with denied") {
		t.Error(got)
	}
	list, _, err := s.Deliveries(t.Context(), webhook.Filter{})
	if err != nil || len(list) != 2 {
		t.Error(len(list), err)
	}
}

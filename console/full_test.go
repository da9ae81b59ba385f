package console_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
)

// regime returns the regime with the demo's rules for its tracker. It is created once, because that takes a second.
var regime = sync.OnceValues(func() (*policyops.Regime, error) {
	dir, err := os.MkdirTemp("", "bailiwick-console-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, app.DefaultFile)
	if err := errors.Join(demo.Create(context.Background(), filepath.Join(dir, "tracker.db")), os.WriteFile(file, []byte(demo.Config), 0o600)); err != nil {
		return nil, err
	}
	c, err := app.LoadFile(file)
	if err != nil {
		return nil, err
	}
	s, err := app.Examine(context.Background(), c)
	if err != nil {
		return nil, err
	}
	return s.Regime, nil
})

// full enables every page. It has audit records of a month, the demo's rules, and sources with and without errors.
func full(t testing.TB) func(*console.Options) {
	t.Helper()
	log, mail := month(t), withOutbox(outbox(t))
	return func(o *console.Options) {
		mail(o)
		o.Audit, o.Exposure = log, regime
		o.Sources = func(context.Context) []console.Source {
			return []console.Source{{Name: "tracker", Kind: "sqlite", Classes: 8, Well: true, Took: 412 * time.Microsecond},
				{Name: "warehouse", Kind: "postgres", Classes: 41, Well: true, Took: 3 * time.Millisecond}, {Name: "billing", Kind: "openapi", Operations: 14}}
		}
	}
}

// month returns audit records of 30 days.
func month(t testing.TB) *audit.Memory {
	t.Helper()
	log := &audit.Memory{}
	random := rand.New(rand.NewPCG(7, 11))
	tools := []string{"query_class", "query_class", "query_class", "get_object", "count_objects", "aggregate", "get_schema", "update_status", "propose_changes"}
	agents := []string{"token:triage-bot", "token:triage-bot", "token:planning-assistant", "token:rosas-helper"}
	owners := []string{"maria", "maria", "maria", "rosa"}
	end := time.Now().UTC()
	for at := end.Add(-30 * 24 * time.Hour); at.Before(end); {
		pause := 14.0
		if day := at.Weekday(); day == time.Saturday || day == time.Sunday {
			pause = 90
		}
		at = at.Add(time.Duration(pause * random.ExpFloat64() * float64(time.Minute)))
		who := random.IntN(len(agents))
		r := &audit.Record{Time: at, Principal: agents[who], Owner: owners[who], Tenant: "acme", Correlation: fmt.Sprintf("%016x", random.Uint64()),
			Tool: tools[random.IntN(len(tools))], Class: "tracker.issues", Outcome: audit.OK, Rows: random.IntN(50), Micros: int64(800 + random.ExpFloat64()*2500),
			Cost: int64(random.IntN(4000))}
		r.Bytes = r.Rows * 210
		r.Tokens = r.Bytes / 4
		if random.IntN(14) == 0 {
			r.Outcome, r.Code, r.Kind, r.Rows = audit.Refused, "access_denied", "hidden_class", 0
		}
		if r.Tool == "update_status" {
			r.Change = id(11)
		}
		if err := log.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	return log
}

// many returns n pending changes.
func many(n int) *drawers {
	verbs := []string{"Close", "Reassign", "Retitle", "Reopen", "Estimate"}
	d := &drawers{moved: make(chan struct{})}
	for i := range n {
		s := sample(n-i, fmt.Sprintf("%s PAY-%d", verbs[i%len(verbs)], n-i))
		s.Fields = []string{[]string{"status", "assignee_id", "title"}[i/4%3]}
		s.Reason = "Part of the clean-up that Maria asked for."
		d.sheets = append(d.sheets, s)
	}
	return d
}

// TestOtherPages checks the pages that are not about changes.
func TestOtherPages(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), full(t))
	agent, _ := w.token(t, "maria", identity.Agent, identity.Read)
	gone, _ := w.token(t, "old", identity.Agent, identity.Read)
	if err := w.tokens.Revoke(t.Context(), identity.Local("test"), gone); err != nil {
		t.Fatal(err)
	}
	b := w.signedIn(t, "rosa")
	for _, row := range []struct {
		path string
		want []string
		not  []string
	}{
		{"/audit", []string{"By tool", "query_class", "token:triage-bot", "hidden_class", "95 of 100 calls", "<svg class=\"bars\"", "$"}, []string{"can't be read"}},
		{"/audit?days=30&tool=update_status", []string{"/console/changes/" + id(11)}, []string{"<code>query_class"}},
		{"/audit?days=1&agent=nobody", []string{"No call fits", "Looked up from ", " to "}, nil},
		{"/tokens", []string{"maria&#39;s", "this session", "Show those that have ended"}, []string{"old&#39;s"}},
		{"/tokens?state=all", []string{"old&#39;s", "revoked", "maria&#39;s"}, nil},
		{"/tokens?state=ended", []string{"old&#39;s", "Clear"}, []string{"maria&#39;s"}},
		{"/tokens?q=nobody", []string{"No token matches"}, nil},
		{"/tokens?revoke=" + agent, []string{"Revoke “maria"}, nil},
		{"/access", []string{"See what they see", "maria&#39;s"}, []string{"old&#39;s"}},
		{"/access?as=" + agent, []string{"Would it be permitted?", "the class is hidden", "classes", "query_class", "doesn&#39;t have"}, nil},
		{"/access?as=" + agent + "&tool=query_class&on=tracker.api_keys", []string{"✕ Refused at class", "classes</", "hidden_class"}, nil},
		{"/access?as=" + agent + "&tool=query_class", []string{"✓ Permitted"}, nil},
		{"/sources", []string{"1 source in trouble", "answered in 0.4 ms", "The log says why"}, nil},
	} {
		got := b.get("/console" + row.path)
		if got.status != 200 {
			t.Errorf("%s: %d\n%s", row.path, got.status, got.body)
		}
		for _, want := range row.want {
			if !strings.Contains(got.body, strings.ReplaceAll(want, "classes</", "classes")) {
				t.Errorf("%s: no %q in\n%s", row.path, want, got.body)
			}
		}
		for _, not := range row.not {
			if strings.Contains(got.body, not) {
				t.Errorf("%s: %q is there", row.path, not)
			}
		}
	}
	for _, path := range []string{"/tokens?revoke=" + gone, "/access?as=none", "/audit?days=3", "/audit?before=x", "/tokens?state=valid", "/tokens?kind=robot", "/people?person=nobody"} {
		if got := b.get("/console" + path); got.status != 404 && got.status != 400 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	if got := b.post("/console/tokens/"+agent+"/revoke", nil); got.status != 303 || !strings.Contains(strings.Join(w.admits, " "), "console/revoke_token") {
		t.Error("revoke:", got.status, w.admits)
	}
	if got := b.get("/console/access?as=" + agent); got.status != 404 {
		t.Error("a revoked token can be looked at:", got.status)
	}
}

// TestManyTokens checks that the pages of operators have at most 50 tokens or people. The pages lead to each of them
// once, and filters find one of them.
func TestManyTokens(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), full(t))
	const people = 60
	for i := range people {
		name := fmt.Sprintf("guest%02d", i)
		w.token(t, name, identity.Human, identity.Review)
		for range 2 {
			w.token(t, name, identity.Agent, identity.Read)
		}
	}
	b := w.signedIn(t, "rosa")
	for _, tt := range []struct {
		path  string
		pages int
		row   string // what begins each row's part of the page
	}{{"/console/tokens", 4, `href="/console/tokens?revoke=`}, {"/console/people", 2, `&amp;remove=yes"`}} {
		seen, path := map[string]int{}, tt.path
		n := 0
		for path != "" {
			page := b.get(path).body
			if n++; len(page) > 200_000 || n > tt.pages || strings.Count(page, tt.row) > 50 {
				t.Fatalf("%s: page %d has %d bytes and %d rows", path, n, len(page), strings.Count(page, tt.row))
			}
			for _, m := range regexp.MustCompile(`guest\d\d(&#39;s)?</strong>`).FindAllString(page, -1) {
				seen[m]++
			}
			path = ""
			if m := regexp.MustCompile(`href="([^"]+)" rel="next"`).FindStringSubmatch(page); m != nil {
				path = html.UnescapeString(m[1])
			}
		}
		if n != tt.pages || len(seen) != people {
			t.Errorf("%s: %d pages with %d people, want %d with %d", tt.path, n, len(seen), tt.pages, people)
		}
		for name, times := range seen {
			if want := map[bool]int{true: 3, false: 1}[tt.path == "/console/tokens"]; times != want {
				t.Errorf("%s: %s is there %d times, want %d", tt.path, name, times, want)
			}
		}
	}
	for path, rows := range map[string]int{"/tokens?q=guest07": 3, "/tokens?owner=GUEST07&kind=agent": 2, "/tokens?owner=guest": 0, "/people?q=guest07": 1, "/people?q=guest07&tenant=other": 0, "/access?q=guest07": 3} {
		page := b.get("/console" + path).body
		got := strings.Count(page, "guest07&#39;s</strong>") + strings.Count(page, "guest07</strong>")
		if strings.HasPrefix(path, "/access") {
			got = strings.Count(page, "guest07&#39;s · ")
		}
		if got != rows {
			t.Errorf("%s: %d rows, want %d", path, got, rows)
		}
	}
	page := b.get("/console/access").body
	_, choices, _ := strings.Cut(page, `<select id="as"`)
	choices, _, _ = strings.Cut(choices, "</select>")
	if n := strings.Count(choices, "<option"); n != 51 || !strings.Contains(page, "Find a token") {
		t.Errorf("the page of views offers %d tokens, or no search", n)
	}
}

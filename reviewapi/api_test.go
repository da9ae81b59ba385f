package reviewapi

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A desk is a Reviewer that records the calls of its methods and stores events.
type desk struct {
	who identity.Principal
	*journal
}

type journal struct {
	mu     sync.Mutex
	asked  []string
	events []change.Event
	news   chan struct{}
}

func (d desk) did(format string, args ...any) (*review.Sheet, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, d.who.Owner+": "+fmt.Sprintf(format, args...))
	if strings.Contains(d.asked[len(d.asked)-1], "panic") {
		panic("as asked")
	}
	if strings.Contains(d.asked[len(d.asked)-1], "01MOVED") {
		return nil, problem.New(problem.Conflict, "the digest is another one")
	}
	return &review.Sheet{Row: review.Row{ID: "01"}}, nil
}

func (d desk) Queue(_ context.Context, f change.Filter) ([]review.Row, bool, error) {
	_, err := d.did("queue %+v", f)
	return []review.Row{{ID: "02"}, {ID: "01"}}, f.Limit == 2, err
}
func (d desk) Counts(_ context.Context, f change.Filter) (all, mine map[change.State]int, err error) {
	_, err = d.did("counts %v", f.States)
	return map[change.State]int{change.Pending: 3}, map[change.State]int{change.Pending: 2}, err
}
func (d desk) Sheet(_ context.Context, id string) (*review.Sheet, error) {
	return d.did("sheet %s", id)
}
func (d desk) Value(_ context.Context, id string, at review.Place) (*review.Whole, error) {
	if _, err := d.did("value %s %+v", id, at); err != nil {
		return nil, err
	}
	return &review.Whole{Change: id, Page: 1, Pages: 1, Exact: "exactly"}, nil
}

func (d desk) Approve(_ context.Context, id, digest, comment string) (*review.Sheet, error) {
	return d.did("approve %s %q %q", id, digest, comment)
}
func (d desk) BreakGlass(_ context.Context, id, digest, reason string) (*review.Sheet, error) {
	return d.did("break %s %q %q", id, digest, reason)
}
func (d desk) Reject(_ context.Context, id, reason string) (*review.Sheet, error) {
	return d.did("reject %s %q", id, reason)
}
func (d desk) Comment(_ context.Context, id, text string) (*review.Sheet, error) {
	return d.did("comment %s %q", id, text)
}
func (d desk) View(_ context.Context, id, digest string, item int) (*review.Sheet, error) {
	return d.did("view %s %q %d", id, digest, item)
}
func (d desk) Ask(_ context.Context, id, text string) (*review.Sheet, error) {
	return d.did("ask %s %q", id, text)
}
func (d desk) Edit(_ context.Context, id string, e review.Revision) (*review.Sheet, error) {
	return d.did("edit %s %q %s %q", id, e.Digest, e.Input(), e.Reason)
}
func (d desk) Renew(_ context.Context, id string) (*review.Sheet, error) {
	return d.did("renew %s", id)
}
func (d desk) Revert(_ context.Context, id, reason string) (*review.Sheet, error) {
	return d.did("revert %s %q", id, reason)
}
func (d desk) Settle(_ context.Context, id string, applied bool, reason string) (*review.Sheet, error) {
	return d.did("settle %s %v %q", id, applied, reason)
}

func (d desk) Events(_ context.Context, after int64) ([]change.Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []change.Event
	for _, e := range d.events {
		if e.Seq > after {
			out = append(out, e)
		}
	}
	return out, nil
}

func (d desk) Await(ctx context.Context, _ int64) error {
	select {
	case <-d.news:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d desk) LastEvent(context.Context) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.events)), nil
}

func (d desk) happen(kind change.EventKind) {
	d.mu.Lock()
	d.events = append(d.events, change.Event{Seq: int64(len(d.events)) + 1, Change: "01", Kind: kind, State: change.Pending, Agent: "token:a"})
	d.mu.Unlock()
	d.news <- struct{}{}
}

// people maps the tests' tokens to principals.
var people = map[string]identity.Principal{
	"rita":    {ID: "token:1", Kind: identity.Human, Owner: "rita", Scopes: []identity.Scope{identity.Review}},
	"agent":   {ID: "token:2", Kind: identity.Agent, Owner: "olga", Scopes: []identity.Scope{identity.Read, identity.Review}},
	"service": {ID: "token:3", Kind: identity.Service, Owner: "olga", Scopes: []identity.Scope{identity.Review}},
	"human":   {ID: "token:4", Kind: identity.Human, Owner: "hal", Scopes: []identity.Scope{identity.Read, identity.Operator}},
	"derived": {ID: "token:1/x", Kind: identity.Human, Owner: "rita", Scopes: []identity.Scope{identity.Review}, Depth: 1},
}

// proved maps values of a test header to the time since the person proved their identity.
var proved = map[string]time.Duration{"": 0, "lately": identity.Fresh - time.Minute, "before": identity.Fresh, "never": 0, "tomorrow": -24 * time.Hour}

func serve(t *testing.T, beat time.Duration) (*httptest.Server, desk, func(string)) {
	t.Helper()
	d := desk{journal: &journal{news: make(chan struct{}, 10)}}
	var mu sync.Mutex
	revoked := map[string]bool{}
	closing, cancel := context.WithCancel(context.Background())
	s := httptest.NewServer(New(Options{
		Reviewer: func(p identity.Principal, correlation string) bailiwick.Reviewer { return desk{p, d.journal} },
		Identify: func(r *http.Request) (identity.Principal, error) {
			mu.Lock()
			defer mu.Unlock()
			token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			if p, ok := people[token]; ok && !revoked[token] {
				if when := r.Header.Get("Test-Proved"); when != "never" {
					p.Proven = time.Now().Add(-proved[when])
				}
				return p, nil
			}
			return identity.Principal{}, problem.New(problem.Unauthorized, "Unauthorized")
		},
		Challenge: "Bearer", Closing: closing, Beat: beat,
	}).Handler())
	t.Cleanup(func() { cancel(); s.Close() })
	return s, d, func(token string) { mu.Lock(); revoked[token] = true; mu.Unlock() }
}

var correlation = regexp.MustCompile(`"correlation_id":"[A-Z2-7]{26}"`)

// ask sends a request and returns its status, the named headers, and the body without its correlation ID.
func ask(t *testing.T, url, token, method, path, body string, headers ...string) string {
	t.Helper()
	r, err := http.NewRequest(method, url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprint(res.StatusCode)
	for _, h := range []string{"Allow", "WWW-Authenticate", "Retry-After"} {
		if v := res.Header.Get(h); v != "" {
			out += " " + h + "=" + v
		}
	}
	for h, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Type": "application/json", "Access-Control-Allow-Origin": ""} {
		if got := res.Header.Get(h); got != want {
			t.Errorf("%s %s: %s is %q, want %q", method, path, h, got, want)
		}
	}
	return out + " " + correlation.ReplaceAllString(strings.TrimSpace(string(b)), `"correlation_id":"C"`)
}

func refusal(status, code, text, more string) string {
	return fmt.Sprintf(`%s {"error":%q,"error_code":%q%s,"retryable":false,"correlation_id":"C"}`, status, text, code, more)
}

// TestRequests lists requests with their responses and the calls that they make on the desk.
func TestRequests(t *testing.T) {
	s, d, _ := serve(t, 0)
	sheet := ask(t, s.URL, "rita", "GET", "/api/changes/01", "")
	if !strings.HasPrefix(sheet, `200 {"id":"01",`) {
		t.Fatal(sheet)
	}
	invalid := func(text, more string) string { return refusal("400", "invalid_argument", text, more) }
	const at = "/api/changes/01AB/"
	for _, c := range []struct{ method, path, body, want, asked string }{
		{"GET", "/api/changes", "", `200 {"changes":ROWS,"more":false}`, "queue {States:[] Principal: Owner: Tenant: Tenanted:false Source: Schemas:map[] Class: Records:[] Op: Risk: Text: Sees:<nil> For: As:[] Own:false Before: Limit:0}"},
		{"GET", "/api/changes?state=pending,stale&limit=2&text=a%26b&risk=high&op=delete&class=issues&source=tracker&agent=token:a&owner=olga&before=03", "",
			`200 {"changes":ROWS,"more":true,"next":"/api/changes?agent=token%3Aa\u0026before=01\u0026class=issues\u0026limit=2\u0026op=delete\u0026owner=olga\u0026risk=high\u0026source=tracker\u0026state=pending%2Cstale\u0026text=a%26b"}`,
			"queue {States:[pending stale] Principal:token:a Owner:olga Tenant: Tenanted:false Source:tracker Schemas:map[] Class:issues Records:[] Op:delete Risk:high Text:a&b Sees:<nil> For: As:[] Own:false Before:03 Limit:2}"},
		{"GET", "/api/changes?state=pendin", "", invalid("state must be one of pending, changes_requested, approved, applying, applied, rejected, expired, cancelled, replaced, stale, failed, unknown, all. Did you mean pending?", `,"details":{"near":["pending"]}`), ""},
		{"GET", "/api/changes?stat=pending", "", invalid(`there is no parameter "stat" here. Did you mean state?`, `,"details":{"near":["state"]}`), ""},
		{"GET", "/api/changes?state=all&state=all", "", invalid("the parameter state is given twice", ""), ""},
		{"GET", "/api/changes?limit=201", "", invalid("limit must be a number from 1 to 200", ""), ""},
		{"GET", "/api/changes?op=update_object", "", invalid("op must be one of create, update, delete, action, call, schema, group", ""), ""},
		{"GET", "/api/changes?risk=hi", "", invalid("risk must be one of low, medium, high", ""), ""},
		{"GET", "/api/changes?a=%zz", "", invalid("the query of the URL is not well formed", ""), ""},
		{"GET", "/api/changes", "{}", invalid("a GET has no body", ""), ""},
		{"GET", "/api/changes/counts?state=pending", "", `200 {"pending":3}`, "counts [pending]"},
		{"GET", "/api/changes/counts?for=me", "", `200 {"pending":2}`, "counts []"},
		{"GET", "/api/changes/01AB?x=1", "", invalid(`there is no parameter "x" here`, ""), ""},
		{"GET", "/api/changes/01AB", "", sheet, "sheet 01AB"},
		{"GET", at + "value?item=0&field=2&page=3&digest=d", "", `200 {"change_id":"01AB","digest":"","title":"","class":"","item":0,"field":0,"path":"","words":null,"page":1,"pages":1}`,
			"value 01AB {Item:0 Field:2 Page:3 Side: Digest:d}"},
		{"GET", at + "value?field=-1", "", invalid("field must be a number", ""), ""},
		{"GET", at + "value?fields=1", "", invalid(`there is no parameter "fields" here. Did you mean field?`, `,"details":{"near":["field"]}`), ""},
		{"POST", at + "approve", `{"digest":"d","comment":"ok"}`, sheet, `approve 01AB "d" "ok"`},
		{"POST", at + "approve", `{"digest":"d"}`, sheet, `approve 01AB "d" ""`},
		{"POST", at + "request_changes", `{"text":"less"}`, sheet, `ask 01AB "less"`},
		{"POST", at + "request_changes", `{"text":" "}`, invalid("text is missing", `,"details":{"pointer":"/text"}`), ""},
		{"POST", at + "edit", `{"digest":"d","reason":"r","edits":[{"item":0,"field":"n","value":9007199254740993}]}`, sheet, `edit 01AB "d" {"edits":[{"item":0,"field":"n","value":9007199254740993}]} "r"`},
		{"POST", at + "edit", `{"digest":"d","reason":"r","edits":[{"item":0,"field":"n","valu":1}]}`, invalid(`an edit is {"item": 0, "field": "title", "value": …}`, `,"details":{"pointer":"/edits/0"}`), ""},
		{"POST", at + "approve", `{}`, invalid("digest is missing", `,"details":{"pointer":"/digest"}`), ""},
		{"POST", at + "approve", ``, invalid("digest is missing", `,"details":{"pointer":"/digest"}`), ""},
		{"POST", at + "approve", `{"digest":"d","aprove":true}`, invalid(`there is no member "aprove" here`, `,"details":{"pointer":"/aprove"}`), ""},
		{"POST", at + "approve", `{"digest":"d","coment":"x"}`, invalid(`there is no member "coment" here. Did you mean comment?`, `,"details":{"pointer":"/coment","near":["comment"]}`), ""},
		{"POST", at + "approve", `{"digest":7}`, invalid("must be a string", `,"details":{"pointer":"/digest"}`), ""},
		{"POST", at + "approve", `{"digest":"a","digest":"b"}`, invalid("not valid JSON: the key \"digest\" appears twice in one object", `,"details":{"pointer":"/digest"}`), ""},
		{"POST", at + "approve", `["d"]`, invalid("the body must be a JSON object", ""), ""},
		{"POST", "/api/changes/01MOVED/approve", `{"digest":"d"}`, refusal("409", "conflict", "the digest is another one", ""), `approve 01MOVED "d" ""`},
		{"POST", at + "break_glass", `{"digest":"d","reason":"fire"}`, sheet, `break 01AB "d" "fire"`},
		{"POST", at + "break_glass", `{"digest":"d"}`, invalid("reason is missing", `,"details":{"pointer":"/reason"}`), ""},
		{"POST", at + "reject", `{"reason":"no"}`, sheet, `reject 01AB "no"`},
		{"POST", at + "reject", `{"reason":" "}`, invalid("reason is missing", `,"details":{"pointer":"/reason"}`), ""},
		{"POST", at + "view", `{"digest":"d","item":2}`, sheet, `view 01AB "d" 2`},
		{"POST", at + "view", `{"digest":"d","item":0.5}`, invalid("must be an integer", `,"details":{"pointer":"/item"}`), ""},
		{"POST", at + "comment", `{"comment":"why?"}`, sheet, `comment 01AB "why?"`},
		{"POST", at + "renew", ``, sheet, `renew 01AB`},
		{"POST", at + "revert", `{"reason":"oops"}`, sheet, `revert 01AB "oops"`},
		{"POST", at + "revert?x=1", `{}`, invalid(`there is no parameter "x" here`, ""), ""},
		{"POST", at + "settle", `{"applied":true,"reason":"looked"}`, sheet, `settle 01AB true "looked"`},
		{"POST", at + "settle", `{"applied":"true","reason":"x"}`, invalid("must be a boolean", `,"details":{"pointer":"/applied"}`), ""},
		{"GET", at + "approve", "", "405 Allow=POST" + refusal("", "invalid_argument", "this path takes POST", ""), ""},
		{"DELETE", "/api/changes/01AB", "", "405 Allow=GET" + refusal("", "invalid_argument", "this path takes GET", ""), ""},
		{"POST", "/api/changes", "{}", "405 Allow=GET" + refusal("", "invalid_argument", "this path takes GET", ""), ""},
		{"POST", "/api/changes/events", "{}", "405 Allow=GET" + refusal("", "invalid_argument", "this path takes GET", ""), ""},
		{"POST", at + "aprove", "{}", refusal("404", "not_found", "there is no such path. Did you mean POST /api/changes/{id}/approve?", ""), ""},
		{"GET", "/api/", "", refusal("404", "not_found", "there is no such path. GET /api/changes lists changes", ""), ""},
		{"GET", "/api/changes/events?after=x", "", invalid("Last-Event-ID and after are the id of an event: a number", ""), ""},
		{"GET", "/api/changes/panic", "", refusal("500", "internal_error", "Internal error", ""), "sheet panic"},
		{"POST", at + "comment", `{"comment":"` + strings.Repeat("x", 4001) + `"}`, invalid("is longer than 4000 characters", `,"details":{"pointer":"/comment"}`), ""},
		{"POST", at + "comment", `{"comment":"` + strings.Repeat("x", 70_000) + `"}`, refusal("413", "invalid_argument", "the body exceeds 65536 bytes", ""), ""},
	} {
		d.asked = nil
		got := ask(t, s.URL, "rita", c.method, c.path, c.body)
		if i, j := strings.Index(got, `"changes":[`), strings.Index(got, `],"more"`); i > 0 && j > 0 {
			got = got[:i] + `"changes":ROWS` + got[j+1:]
		}
		if got != c.want {
			t.Errorf("%s %s %.80s\ngot  %s\nwant %s", c.method, c.path, c.body, got, c.want)
		}
		want := c.asked
		if want != "" {
			want = "rita: " + want
		}
		if asked := strings.Join(d.asked, ", "); asked != want {
			t.Errorf("%s %s: the desk was asked %s, want %s", c.method, c.path, asked, want)
		}
	}
	d.asked = nil
	if got, want := ask(t, s.URL, "rita", "POST", at+"reject", `{"reason":"x"}`, "Content-Type", "text/plain"), refusal("415", "invalid_argument", "Content-Type must be application/json", ""); got != want || d.asked != nil {
		t.Errorf("got %s want %s", got, want)
	}
}

// TestExactValue checks that a value is sent as a file, with its hash.
func TestExactValue(t *testing.T) {
	s, _, _ := serve(t, 0)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/changes/01AB/value?item=1&field=2&side=after", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer rita")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	sum := sha256.Sum256(body)
	if err != nil || string(body) != "exactly" || res.Header.Get("Content-Type") != "text/plain; charset=utf-8" ||
		res.Header.Get("Content-Disposition") != `attachment; filename="01AB-1-2-after.txt"` ||
		res.Header.Get("Repr-Digest") != "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":" {
		t.Errorf("%q %v %v", body, res.Header, err)
	}
}

// TestFresh checks that breaking the glass requires a fresh sign-in, and that nothing else does.
func TestFresh(t *testing.T) {
	s, d, _ := serve(t, 0)
	for when := range proved {
		fresh := when == "" || when == "lately"
		got := ask(t, s.URL, "rita", "POST", "/api/changes/01AB/break_glass", `{"digest":"d","reason":"fire"}`, "Test-Proved", when)
		want := map[bool]string{true: "200 ", false: `403 {"error":"this takes a sign-in of the last 15 min"`}[fresh]
		if when == "never" {
			want = `403 {"error":"this takes a sign-in of the last 15 min, by a stronger proof than yours: `
		}
		if !strings.HasPrefix(got, want) || fresh != (len(d.asked) == 1) {
			t.Errorf("%q: %s, calls %q", when, got, d.asked)
		}
		d.asked = nil
		if got := ask(t, s.URL, "rita", "POST", "/api/changes/01AB/reject", `{"reason":"no"}`, "Test-Proved", when); !strings.HasPrefix(got, "200 ") || len(d.asked) != 1 {
			t.Errorf("%q: a rejection: %s", when, got)
		}
		d.asked = nil
	}
}

// TestOperators checks that only humans with the scope operator can manage tokens, people and sessions.
func TestOperators(t *testing.T) {
	one := func(kind identity.Kind, depth int, scopes ...identity.Scope) int {
		asked := 0
		s := httptest.NewServer(New(Options{Tokens: &identity.Tokens{}, Closing: t.Context(),
			Reviewer: func(identity.Principal, string) bailiwick.Reviewer { return desk{} },
			Identify: func(*http.Request) (identity.Principal, error) {
				return identity.Principal{ID: "token:1", Kind: kind, Owner: "olga", Scopes: scopes, Depth: depth, Proven: time.Now()}, nil
			},
			Record: func(context.Context, identity.Principal, bailiwick.CallSpec, func(context.Context, *bailiwick.Call) (int, error)) error {
				asked++
				return problem.New(problem.Conflict, "as asked")
			}}).Handler())
		defer s.Close()
		for path, method := range map[string]string{"/api/tokens": "GET", "/api/tokens/1/revoke": "POST", "/api/people": "GET", "/api/people/remove": "POST", "/api/sessions": "GET", "/api/sessions/1/end": "POST"} {
			body := map[string]string{"GET": "", "POST": "{}"}[method]
			if got, want := ask(t, s.URL, "x", method, path, body), asked > 0; strings.HasPrefix(got, "409 ") != want || !want && !strings.HasPrefix(got, "403 ") {
				t.Errorf("%s %d %v: %s %s: %s", kind, depth, scopes, method, path, got)
			}
		}
		return asked
	}
	if n := one(identity.Human, 0, identity.Operator); n != 6 {
		t.Errorf("an operator's %d calls are made, want 6", n)
	}
	for name, n := range map[string]int{"a reviewer": one(identity.Human, 0, identity.Review), "a service": one(identity.Service, 0, identity.Review, identity.Operator),
		"an agent": one(identity.Agent, 0, identity.Review, identity.Operator), "a derived principal": one(identity.Human, 1, identity.Review, identity.Operator)} {
		if n != 0 {
			t.Errorf("%s: %d calls are made", name, n)
		}
	}
}

// TestOnlyPeopleDecide tries every path with all other credentials.
func TestOnlyPeopleDecide(t *testing.T) {
	s, d, _ := serve(t, 0)
	denied := `403 {"error":"changes are decided about by people: this needs the credential of a human with the scope review","error_code":"permission_denied",` +
		`"details":{"scope":"review"},"retryable":false,"suggestion":"make one with \"bailiwick token create --kind human --owner YOU --scopes review\"","correlation_id":"C"}`
	unknown := "401 WWW-Authenticate=Bearer" + refusal("", "unauthorized", "Unauthorized", "")
	paths := []string{"GET /api/changes", "GET /api/changes/counts", "GET /api/changes/events", "GET /api/changes/01AB", "GET /api/changes/01AB/value", "POST /api/nothing", "DELETE /api/changes"}
	for verb := range decisions {
		paths = append(paths, "POST /api/changes/01AB/"+verb)
	}
	for _, p := range paths {
		method, path, _ := strings.Cut(p, " ")
		for token, want := range map[string]string{"agent": denied, "service": denied, "human": denied, "derived": denied, "nobody": unknown, "": unknown} {
			if got := ask(t, s.URL, token, method, path, ""); got != want {
				t.Errorf("%s by %q\ngot  %s\nwant %s", p, token, got, want)
			}
		}
	}
	if d.asked != nil {
		t.Error("the desk was asked", d.asked)
	}
}

// follow reads a stream line by line.
func follow(t *testing.T, url, token, query string, headers ...string) (next func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/changes/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if got := res.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatal(res.Status, got)
	}
	lines := bufio.NewScanner(res.Body)
	return func() string {
		for lines.Scan() {
			if lines.Text() != "" {
				return lines.Text()
			}
		}
		if err := lines.Err(); err != nil {
			return err.Error()
		}
		return "end"
	}
}

func event(n int, kind string) string {
	return fmt.Sprintf(`id: %d|event: %s|data: {"seq":%d,"change_id":"01","event":"%s","state":"pending","agent":"token:a","at":"0001-01-01T00:00:00Z"}`, n, kind, n, kind)
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		query   string
		headers []string
		want    []string
	}{
		{"", nil, nil},
		{"?after=0", nil, []string{event(1, "created"), event(2, "commented")}},
		{"?after=0", []string{"Last-Event-ID", "1"}, []string{event(2, "commented")}},
	} {
		s, d, _ := serve(t, time.Hour)
		d.happen(change.EventCreated)
		d.happen(change.EventCommented)
		next := follow(t, s.URL, "rita", c.query, c.headers...)
		if got := next(); got != "retry: 1000" {
			t.Error(got)
		}
		for _, want := range c.want {
			if got := strings.Join([]string{next(), next(), next()}, "|"); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
		d.happen(change.EventApproved)
		if got, want := strings.Join([]string{next(), next(), next()}, "|"), event(3, "approved"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestStreamEndsWithItsCredential checks that a stream ends after its token is revoked.
func TestStreamEndsWithItsCredential(t *testing.T) {
	s, d, revoke := serve(t, 20*time.Millisecond)
	next := follow(t, s.URL, "rita", "")
	if a, b := next(), next(); a != "retry: 1000" || b != ": alive" {
		t.Fatal(a, b)
	}
	revoke("rita")
	d.happen(change.EventCreated)
	for {
		switch line := next(); line {
		case ": alive":
		case "end":
			return
		default:
			t.Fatal("heard", line)
		}
	}
}

// TestQuietStreamEndsWithItsCredential checks the same for a stream without events.
func TestQuietStreamEndsWithItsCredential(t *testing.T) {
	s, _, revoke := serve(t, time.Hour)
	next := follow(t, s.URL, "rita", "")
	if got := next(); got != "retry: 1000" {
		t.Fatal(got)
	}
	revoke("rita")
	got := next()
	for got == ": alive" {
		got = next()
	}
	if got != "end" {
		t.Fatal(got)
	}
}

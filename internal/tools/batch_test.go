package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

const shopDocument = `{"openapi":"3.0.0","paths":{"/orders":{"get":{"operationId":"listOrders","parameters":[{"in":"query","name":"n","schema":{"type":"integer"}},{"in":"query","name":"from","schema":{"type":"string","format":"date"}}],"responses":{"200":{"description":""}}}},
	"/orders/{id}":{"get":{"operationId":"getOrder","parameters":[{"in":"path","name":"id","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":""}}}},
	"/items/{id}":{"get":{"operationId":"getItem","parameters":[{"in":"path","name":"id","required":true,"schema":{"type":"string"}},{"in":"query","name":"id","schema":{"type":"string"}}],"responses":{"200":{"description":""}}}},
	"/secrets":{"get":{"operationId":"listSecrets","responses":{"200":{"description":""}}}}}}`

// A shop contains an API and the tools for it. It counts concurrent requests.
type shop struct {
	set     *tool.Set
	log     *audit.Memory
	running atomic.Int32
	most    atomic.Int32
	hang    chan struct{}
}

func newShop(t *testing.T, o bailiwick.Options) *shop {
	t.Helper()
	s := &shop{log: &audit.Memory{}, hang: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.running.Add(1)
		defer s.running.Add(-1)
		for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
		}
		w.Header().Set("Content-Type", "application/json")
		id := strings.TrimPrefix(r.URL.Path, "/orders/")
		switch {
		case r.URL.Path == "/orders" && r.URL.Query().Get("n") != "":
			var n int
			fmt.Sscan(r.URL.Query().Get("n"), &n)
			fmt.Fprint(w, `{"data":[`)
			for i := range n {
				fmt.Fprintf(w, `%s{"id":%d,"even":%t}`, map[bool]string{true: ","}[i > 0], i+1, i%2 == 1)
			}
			fmt.Fprint(w, `]}`)
		case r.URL.Path == "/orders":
			fmt.Fprintf(w, `{"since":%q}`, r.URL.Query().Get("from"))
		case id == "hang":
			select {
			case <-s.hang:
			case <-r.Context().Done():
			}
		case strings.HasPrefix(id, "bad"):
			w.WriteHeader(500)
			fmt.Fprint(w, `{"message":"it broke"}`)
		default:
			time.Sleep(5 * time.Millisecond)
			w.Header().Set("ETag", `"v1"`)
			fmt.Fprintf(w, `{"id":%q,"note":%q}`, id, strings.Repeat("x", 2000*strings.Count(id, "L")))
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(s.hang) })
	d, err := spec.Load([]byte(shopDocument))
	if err != nil {
		t.Fatal(err)
	}
	sender, err := client.New(client.Options{Base: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sender.Close)
	o.Sources, o.Audit = map[string]source.Source{"shop": openapi.New("shop", sender)}, s.log
	o.Rules = policy.Rules{Version: "v1", APIs: map[string]calls.Rules{"shop": {Document: d, Hidden: []calls.Hidden{{Operations: []string{"GET /secrets"}}}}}}
	g, _, err := bailiwick.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if s.set, err = tool.NewSet(g, tools.NewAPITools(tools.NewChangeTools(tools.ChangeOptions{Gateway: g})).Tools()...); err != nil {
		t.Fatal(err)
	}
	return s
}

var reader = identity.Principal{ID: "token:1", TokenID: "1", Kind: identity.Agent, Owner: "ana", Scopes: []identity.Scope{identity.Read}}

// call calls call_api_read with a batch and returns the results.
func (s *shop) call(ctx context.Context, args string) (results []map[string]any, text string, err error) {
	in, err := value.Read([]byte(args), 0)
	if err != nil {
		return nil, "", err
	}
	r, err := s.set.Call(ctx, reader, tool.Request{Name: "call_api_read", Arguments: in, Correlation: "c1"})
	if err != nil {
		return nil, "", err
	}
	var doc struct{ Results []map[string]any }
	return doc.Results, r.Text, json.Unmarshal(r.Structured, &struct{ Results *[]map[string]any }{&doc.Results})
}

// records returns all audit records.
func (s *shop) records(t *testing.T) (all []audit.Record) {
	t.Helper()
	if err := s.log.Records(t.Context(), 0, func(r audit.Record) bool { all = append(all, r); return true }); err != nil {
		t.Fatal(err)
	}
	return all
}

// orders returns the arguments of a batch that reads these orders.
func orders(ids ...string) string {
	var all []string
	for _, id := range ids {
		all = append(all, fmt.Sprintf(`{"operationId":"getOrder","id":%q}`, id))
	}
	return `{"calls":[` + strings.Join(all, ",") + `]}`
}

// TestBatch makes fifty calls in one batch. The answers must be in order, and four calls must run at a time. A failed
// call must not fail the others. Each call must be recorded.
func TestBatch(t *testing.T) {
	s := newShop(t, bailiwick.Options{})
	var ids []string
	for i := range 50 {
		ids = append(ids, fmt.Sprint(map[bool]string{true: "bad", false: "o"}[i%10 == 3], i))
	}
	results, _, err := s.call(t.Context(), orders(ids...))
	if err != nil || len(results) != 50 {
		t.Fatal(len(results), err)
	}
	for i, r := range results {
		if i%10 == 3 {
			if r["error"] != "the API answered 500 Internal Server Error: it broke" || r["error_code"] != "upstream_error" || r["body"] != nil {
				t.Errorf("%d: %v", i, r)
			}
		} else if body, _ := r["body"].(map[string]any); body["id"] != ids[i] || r["etag"] != `"v1"` {
			t.Errorf("%d: %v", i, r)
		}
	}
	if most := s.most.Load(); most != 4 {
		t.Errorf("%d ran at a time", most)
	}
	records := s.records(t)
	outcomes := map[string]int{}
	for _, r := range records[:len(records)-1] {
		outcomes[r.Tool+" "+r.Class+" "+string(r.Outcome)]++
	}
	if got := fmt.Sprint(outcomes); len(records) != 51 || got != "map[call_api_read shop.getOrder failed:5 call_api_read shop.getOrder ok:45]" {
		t.Errorf("%d records: %s", len(records), got)
	}
	// The record of a call equals the record of a single call. The batch counts only amounts that its calls don't
	// count.
	alone := newShop(t, bailiwick.Options{})
	if _, _, err := alone.call(t.Context(), `{"operationId":"getOrder","id":"o0"}`); err != nil {
		t.Fatal(err)
	}
	one, last, sum := alone.records(t)[0], records[50], 0
	found := false
	for _, r := range records[:50] {
		found = found || r.ArgHash == one.ArgHash && fmt.Sprint(r.ArgKeys) == fmt.Sprint(one.ArgKeys) && r.Bytes == one.Bytes && r.Correlation == "c1"
		sum += r.Bytes
	}
	if !found || last.Bytes > sum/2 || last.Tool != "call_api_read" {
		t.Errorf("alone %+v, the batch %+v, %d bytes in the records of its calls", one, last, sum)
	}
}

// TestBatchRefused checks which batches are refused, and which single calls of a batch are refused.
func TestBatchRefused(t *testing.T) {
	s := newShop(t, bailiwick.Options{})
	for _, tt := range []struct{ args, want string }{
		{orders(make([]string, 51)...), "invalid_argument /calls: calls must have at most 50 items, not 51"},
		{`{"calls":[{"operationId":"getOrder","id":"1"}],"operationId":"getOrder"}`, "invalid_argument /operationId: operationId stands beside calls, where it belongs to no call"},
		{`{"calls":[1]}`, "invalid_argument /calls/0: calls/0 must be an object, not 1"},
	} {
		_, _, err := s.call(t.Context(), tt.args)
		p := problem.Of(err)
		if got := fmt.Sprintf("%s %s: %s", p.Code, p.Pointer, p.Detail); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.args, got, tt.want)
		}
	}
	// A hidden operation returns the same answer as a missing one. The records differ only in the kind.
	results, _, err := s.call(t.Context(), `{"calls":[{"operationId":"listSecrets"},{"operationId":"listSekretz"},{"operationId":"getOrder","id":"1","calls":[{}]},{"operationId":"getOrder"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	hidden, absent := fmt.Sprint(results[0]), fmt.Sprint(results[1])
	if strings.ReplaceAll(hidden, "listSecrets", "X") != strings.ReplaceAll(absent, "listSekretz", "X") {
		t.Errorf("hidden %s\nabsent %s", hidden, absent)
	}
	if got := results[2]["error"]; got != "a call in calls has no calls of its own" {
		t.Error(got)
	}
	if got := results[3]["error_code"]; got != "invalid_argument" {
		t.Error(results[3])
	}
}

// TestBatchLimits checks that each call of a batch counts as one call for rates, the concurrency of a token, and
// daily budgets.
func TestBatchLimits(t *testing.T) {
	one := newShop(t, bailiwick.Options{Limits: limit.Options{Concurrency: 1, Queue: 2}})
	results, _, err := one.call(t.Context(), orders("a", "b", "c", "d", "e", "f"))
	if err != nil || one.most.Load() != 1 {
		t.Fatal(err, one.most.Load())
	}
	for i, r := range results { // one call runs, two wait for it, and three are refused
		if code := r["error_code"]; code != nil && code != "rate_limited" {
			t.Errorf("%d: %v", i, r)
		}
	}
	rates := newShop(t, bailiwick.Options{Limits: limit.Options{Every: time.Hour, Burst: 6}})
	results, _, err = rates.call(t.Context(), orders("a", "b", "c", "d", "e", "f", "g"))
	if err != nil {
		t.Fatal(err)
	}
	good := 0
	for _, r := range results {
		if r["body"] != nil {
			good++
		} else if r["error_code"] != "rate_limited" {
			t.Error(r)
		}
	}
	if good != 5 { // the batch itself also counts as a call
		t.Errorf("%d of 7 calls were let through, where six are a batch and five calls", good)
	}
	days := newShop(t, bailiwick.Options{Limits: limit.Options{Daily: limit.Use{Calls: 4}}})
	results, _, err = days.call(t.Context(), orders("a", "b", "c", "d", "e"))
	if err != nil {
		t.Fatal(err)
	}
	good = 0
	for _, r := range results {
		if r["body"] != nil {
			good++
		} else if r["error_code"] != "budget_exceeded" {
			t.Error(r)
		}
	}
	if good != 3 {
		t.Errorf("%d calls, of a budget of four with the batch", good)
	}
}

// TestBatchBudget checks that the answers of a batch together have the maximum size of one answer. Each answer must
// say which part was cut and how to continue.
func TestBatchBudget(t *testing.T) {
	s := newShop(t, bailiwick.Options{Budget: 3000})
	results, text, err := s.call(t.Context(), `{"calls":[{"operationId":"getOrder","id":"LL"},{"operationId":"getOrder","id":"s"},{"operationId":"listOrders","n":200},{"operationId":"listOrders","n":200,"where":{"even":true}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, r := range results {
		b, err := json.Marshal(r["body"])
		if err != nil {
			t.Fatal(err)
		}
		size += len(b)
	}
	if size > 3000 || size < 2500 {
		t.Errorf("%d bytes", size)
	}
	if body := results[1]["body"].(map[string]any); body["id"] != "s" || results[1]["notes"] != nil {
		t.Errorf("%v", results[1])
	}
	next := func(i int) string {
		n, _ := results[i]["next_call"].(map[string]any)
		b, err := json.Marshal(n["arguments"])
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	shown := results[2]["shown"].(float64)
	matching := results[3]["shown"].(float64)
	if results[2]["of"] != 200.0 || results[3]["of"] != 100.0 || results[3]["matched"] != 100.0 || results[3]["looked_at"] != 200.0 {
		t.Errorf("%v\n%v", results[2], results[3])
	}
	for i, want := range map[int]string{
		0: `{"at":"note","from":`,
		2: fmt.Sprintf(`{"from":%d,"operationId":"listOrders","query":{"n":200}}`, int(shown)+1),
		3: fmt.Sprintf(`{"from":%d,"operationId":"listOrders","query":{"n":200},"where":{"even":true}}`, int(matching)+1),
	} {
		if got := next(i); !strings.HasPrefix(got, want) {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
	if !strings.Contains(text, "1. getOrder: {") || !strings.Contains(text, "\nNext: call_api_read {") {
		t.Error(text)
	}
	// The continuing calls return the rest without a gap.
	results, _, err = s.call(t.Context(), `{"calls":[`+next(2)+`,`+next(3)+`]}`)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]float64{0: shown + 1, 1: 2 * (matching + 1)} {
		first := results[i]["body"].(map[string]any)["data"].([]any)[0].(map[string]any)["id"]
		if first != want {
			t.Errorf("it goes on with %v, not %v", first, want)
		}
	}
	// If the budget leaves no room, a body is omitted and the answer names the call that returns it.
	tight := newShop(t, bailiwick.Options{Budget: 600})
	results, _, err = tight.call(t.Context(), orders("LLa", "LLb", "LLc", "LLd"))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r["body"] != nil || r["next_call"] == nil || fmt.Sprint(r["notes"]) != "[the body is left out, for the other answers leave it no room: make the call alone]" {
			t.Errorf("%d: %v", i, r)
		}
	}
}

// TestBatchEnds checks that a cancelled batch ends at once. A batch that reaches its deadline must return the results
// so far.
func TestBatchEnds(t *testing.T) {
	t.Parallel()
	s := newShop(t, bailiwick.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	begun := time.Now()
	if _, _, err := s.call(ctx, orders("hang", "a")); problem.CodeOf(err) != problem.Cancelled || time.Since(begun) > 5*time.Second {
		t.Error(err, time.Since(begun))
	}
	ctx, cancel = context.WithTimeout(t.Context(), 6500*time.Millisecond)
	defer cancel()
	results, _, err := s.call(ctx, orders("a", "hang", "hang", "hang", "hang", "b", "c"))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, r := range results {
		got += fmt.Sprint(r["status"], " ", r["error_code"], " ", r["error"], "\n")
	}
	late := "<nil> timeout the call was not made: those before it took all the time\n"
	hung := "<nil> timeout the API did not answer in time\n"
	if want := "200 <nil> <nil>\n" + strings.Repeat(hung, 4) + late + late; got != want {
		t.Errorf("\n%s", got)
	}
}

// TestLikeNames checks an argument name that both the tool and the operation have. If the tool can't accept the
// value, it belongs to the operation.
func TestLikeNames(t *testing.T) {
	s := newShop(t, bailiwick.Options{})
	if _, text, err := s.call(t.Context(), `{"operationId":"listOrders","from":"2026-11-01"}`); err != nil || text != "{\"since\":\"2026-11-01\"}\n" {
		t.Error(text, err)
	}
	if _, text, err := s.call(t.Context(), `{"operationId":"getItem","id":"7"}`); err != nil || !strings.Contains(text, `"/items/7"`) {
		t.Error(text, err) // of the two possible places, the path requires the value
	}
	if _, text, err := s.call(t.Context(), `{"operationId":"listOrders","n":3,"from":3}`); err != nil || !strings.HasPrefix(text, `{"data":[{"id":3,"even":false}]}`) {
		t.Error(text, err)
	}
}

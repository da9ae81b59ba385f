package endtoend

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// broken is a store of limits that always fails.
type broken struct{}

var errBroken = errors.New("the secret connection to db7 is refused")

func (broken) Take(context.Context, []limit.Bucket) (time.Duration, error) { return 0, errBroken }

func (broken) Spend(context.Context, []limit.Entry) ([]limit.Use, error) { return nil, errBroken }

// refused calls a tool of a gateway with these limits until a call is refused. It returns the whole response without
// numbers that differ between calls.
func refused(t *testing.T, name, arguments string, o limit.Options) (answer string, kind string) {
	t.Helper()
	log := &audit.Memory{}
	write := tool.Tool{Name: "write", Title: "Write", Description: "Writes.", Input: []byte(`{"type": "object", "additionalProperties": false, "properties": {}}`),
		Category: tool.Custom, Handle: func(context.Context, *bailiwick.Call, value.Value) (tool.Result, error) {
			return tool.Result{Structured: []byte(`{}`), Text: "written"}, nil
		}}
	set, err := tool.NewSet(gateway(t, bailiwick.Options{Audit: log, Limits: o, Rules: policy.Rules{Gates: policy.Gates{Writes: policy.On}}}), append(tool.Data(tool.Options{}), write)...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.New(mcp.Options{Tools: set, Authenticate: func(*http.Request) (identity.Principal, error) {
		return identity.Principal{ID: "a", Owner: "ann", Scopes: []identity.Scope{identity.Read, identity.Write, identity.Delete}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	for range 3 {
		r, err := http.NewRequestWithContext(t.Context(), "POST", web.URL+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+
			`","arguments":`+arguments+`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name, "X-Mcp-Session-Id": "c-1"} {
			r.Header.Set(k, v)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(body), `"isError":true`) {
			continue
		}
		log.Backwards(t.Context(), audit.Last, func(r audit.Record) bool { kind = r.Kind; return false })
		var all strings.Builder
		res.Header.Del("Date")
		res.Header.Del("Content-Length") // depends on the removed numbers
		all.WriteString(res.Status + "\n")
		if err := res.Header.Write(&all); err != nil {
			t.Fatal(err)
		}
		all.Write(body)
		return drawnAnew.ReplaceAllString(all.String(), `$1 drawn`), kind
	}
	t.Fatal("it was not refused")
	return "", ""
}

// drawnAnew matches numbers that differ between calls. est_tokens depends on the digits of the others.
var drawnAnew = regexp.MustCompile(`(Retry-After|retry_after|est_tokens|wait)"?:? ?([1-6](\.\d+)?|\d\d)\b`)

// TestStoreFailure checks that a failing store of limits looks like a reached limit to a client, for tools that read
// and tools that write. The reason must be hidden.
func TestStoreFailure(t *testing.T) {
	for _, call := range [][2]string{{"query_class", `{"class_name":"notes"}`}, {"write", `{}`}} {
		name, want := call[0], ""
		for _, tt := range []struct {
			kind string
			o    limit.Options
		}{
			{"rate", limit.Options{PerMinute: 60, Burst: 1}},
			{"limit_store", limit.Options{Store: broken{}}},
			{"limit_store", limit.Options{Daily: limit.Use{Calls: 9}, Ledger: broken{}}},
			{"limit_store", limit.Options{TokenDaily: limit.Use{Cost: 9}, Ledger: broken{}}},
		} {
			got, kind := refused(t, name, call[1], tt.o)
			if kind != tt.kind {
				t.Errorf("%s: recorded as %q, want %q", name, kind, tt.kind)
			}
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s, %s:\n%s\nwant\n%s", name, tt.kind, got, want)
			}
		}
		if !strings.Contains(want, "Retry-After drawn") || !strings.Contains(want, "retry_after drawn") {
			t.Error("it doesn't say when to come again:", want)
		}
	}
}

// TestDailyBudget makes calls with a store, across restarts. Their use must be counted. The refusal must say what is
// used up and until when.
func TestDailyBudget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.db")
	now := time.Date(2026, 7, 28, 23, 59, 0, 0, time.UTC)
	o := bailiwick.Options{Price: 3_000_000, Now: func() time.Time { return now },
		Limits: limit.Options{Daily: limit.Use{Rows: 5}, TokenDaily: limit.Use{Calls: 100}, Now: func() time.Time { return now }}}
	child, err := identity.Derive(reader, identity.Derivation{Name: "helper"})
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	read := func(g *bailiwick.Gateway, principal identity.Principal) error {
		_, err := g.Read(t.Context(), principal, &query.Find{Class: "notes", Limit: 5}) // returns two rows
		if err == nil {
			passed++
		}
		return err
	}
	for _, principal := range []identity.Principal{reader, child, reader, child} { // each call in a new process
		s, open := sqlite.Open(t.Context(), path)
		if open != nil {
			t.Fatal(open)
		}
		o.Audit, o.Limits.Ledger = s, s
		g := gateway(t, o)
		err = read(g, principal)
		if err := g.Close(t.Context()); err != nil {
			t.Error(err)
		}
		s.Close()
	}
	p := problem.Of(err)
	if passed != 3 || p == nil || p.Code != problem.BudgetExceeded || p.Detail != "The daily budget of rows is spent" || p.RetryAfter < time.Minute || p.RetryAfter > 66*time.Second {
		t.Errorf("%d passed, then %+v; want 3: the last may go over", passed, p)
	}
}

// TestCost checks that the record of a call contains the price of the answer's estimated tokens. Without a configured
// price, it must contain none.
func TestCost(t *testing.T) {
	for _, tt := range []struct{ price, want int64 }{{0, 0}, {3_000_000, 1500}, {250_000, 125}} {
		log := &audit.Memory{}
		g := gateway(t, bailiwick.Options{Audit: log, Price: tt.price})
		if err := g.Do(t.Context(), reader, bailiwick.CallSpec{Tool: "t", Needs: identity.Read}, func(context.Context, *bailiwick.Call) (int, error) { return 2003, nil }); err != nil {
			t.Fatal(err)
		}
		err := log.Records(t.Context(), audit.First, func(r audit.Record) bool {
			if r.Bytes != 2003 || r.Tokens != 500 || r.Cost != tt.want {
				t.Errorf("a price of %d: %d bytes, %d tokens, cost %d, want %d", tt.price, r.Bytes, r.Tokens, r.Cost, tt.want)
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestOwnerless checks that each principal without an owner has its own allowance.
func TestOwnerless(t *testing.T) {
	g := gateway(t, bailiwick.Options{Audit: &audit.Memory{}, Limits: limit.Options{Burst: 1, PerMinute: 1}})
	for _, id := range []string{"a", "b"} {
		p := identity.Principal{ID: id, Scopes: reader.Scopes}
		if _, err := g.Read(t.Context(), p, &query.Find{Class: "notes", Limit: 1}); err != nil {
			t.Error(id, err)
		}
	}
}

package tool_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestStatement checks that the text of a statement, which names the parts of views, and the database's plan are shown
// only to some principals. They have the scope explain, or see everything.
func TestStatement(t *testing.T) {
	all := policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"customers": {
		Visible: []string{"id", "org", "name", "email", "password_hash", "vip"}, Lift: []string{"password_hash"}}}}
	hidden := policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"customers": all.Classes["customers"], "secrets": {Hidden: true}}}
	explain := agent()
	explain.Scopes = []identity.Scope{identity.Read, identity.Explain}
	for _, tt := range []struct {
		name  string
		rules policy.Rules
		who   identity.Principal
		want  bool
	}{
		{"who sees all", all, agent(), true},
		{"one class is hidden, another one than is asked for", hidden, agent(), false},
		{"a tenant's agent", shopRules(), agent(), false},
		{"a tenant's agent who may explain", shopRules(), explain, true},
	} {
		set, _ := openWith(t, 0, tt.rules)
		args, err := value.Read([]byte(`{"class_name": "orders", "where": {"id": "10"}}`), 0)
		if err != nil {
			t.Fatal(err)
		}
		res, err := set.Call(t.Context(), tt.who, tool.Request{Name: "explain_query", Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		for what, part := range map[string]string{"statement": "SELECT", "plan": "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"} {
			if got := strings.Contains(string(res.Structured), part); got != tt.want || strings.Contains(res.Text, part) != tt.want {
				t.Errorf("%s: a %s is shown: %t, want %t: %s", tt.name, what, got, tt.want, res.Structured)
			}
		}
	}
}

// TestSelectNotes checks that an answer says once that a text is compared with a number, each way once.
func TestSelectNotes(t *testing.T) {
	set, _ := openWith(t, 0, policy.Rules{Unlisted: true})
	args, err := value.Read([]byte(`{"sql": "SELECT id FROM customers WHERE name > 5 OR email < 7 OR name = 3 OR email IN (4, 5) OR '9' > 8"}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	res, err := set.Call(t.Context(), agent(), tool.Request{Name: "query_sql", Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{"compared as texts: '10' comes before '9'", "compared with the digits of the number"} {
		if strings.Count(string(res.Structured), said) != 1 || strings.Count(res.Text, said) != 1 {
			t.Errorf("%q isn't there once: %s\n%s", said, res.Structured, res.Text)
		}
	}
}

// TestGatheredTooMuch checks that an answer says why a joined text and a list may be null, and only where one is.
func TestGatheredTooMuch(t *testing.T) {
	set, _ := openWith(t, 0, policy.Rules{Unlisted: true})
	const why = " is null for a group without values, and for one with more than about 4 MB of them"
	for _, tt := range []struct {
		sql  string
		want []string
	}{
		{"SELECT string_agg(c.name, ', ') AS names FROM customers c", nil},
		{"SELECT t.names, t.n FROM (SELECT string_agg(repeat('x', 1000), '') AS names, count(*) AS n FROM generate_series(1, 6000) AS s(i)) AS t", []string{"names" + why}},
		{"SELECT length(t.names) AS long FROM (SELECT string_agg(repeat('x', 1000), '') AS names FROM generate_series(1, 6000) AS s(i)) AS t", []string{"long" + why}},
		{"SELECT string_agg(repeat('x', 1000), '') AS names, array_agg(i) AS list FROM generate_series(1, 6000) AS s(i) WHERE i < 0", []string{"names" + why, "list" + why}},
	} {
		args := value.OfObject([]value.Member{{Name: "sql", Value: value.OfString(tt.sql)}})
		res, err := set.Call(t.Context(), agent(), tool.Request{Name: "query_sql", Arguments: args})
		if err != nil {
			t.Fatalf("%s: %v %v", tt.sql, err, problem.Of(err).Err)
		}
		for _, want := range tt.want {
			if !strings.Contains(string(res.Structured), want) || !strings.Contains(res.Text, want) {
				t.Errorf("%s: %s\n%s, want %q", tt.sql, res.Structured, res.Text, want)
			}
		}
		if n := strings.Count(string(res.Structured), why); n != len(tt.want) {
			t.Errorf("%s: %d notes, want %d: %s", tt.sql, n, len(tt.want), res.Structured)
		}
	}
}

// TestPages checks that the pages of a statement are its records, each once: with a limit, and cut to the byte budget.
func TestPages(t *testing.T) {
	for _, tt := range []struct {
		budget int
		args   string
		pages  int
	}{
		{0, `{"sql": "SELECT n FROM generate_series(1, 25) AS n ORDER BY n DESC", "limit": 10}`, 3},
		{0, `{"sql": "SELECT n FROM generate_series(1, 25) AS n", "limit": 25}`, 1},
		{0, `{"sql": "SELECT n FROM generate_series(1, 30) AS n ORDER BY n % 2, n LIMIT 25", "limit": 12}`, 3},
		{0, `{"sql": "SELECT n FROM generate_series(1, 30) AS n ORDER BY n LIMIT 25 OFFSET 5", "limit": 20}`, 2},
		{0, `{"sql": "SELECT n FROM generate_series(1, 400) AS n LIMIT 25"}`, 1},
		{100, `{"sql": "SELECT n FROM generate_series(1, 25) AS n ORDER BY n"}`, 2},
		{100, `{"sql": "SELECT n FROM generate_series(1, 40) AS n ORDER BY n LIMIT $1", "params": [25]}`, 2},
	} {
		set, _ := openWith(t, tt.budget, policy.Rules{Unlisted: true})
		args, err := value.Read([]byte(tt.args), 0)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int64]bool{}
		pages := 0
		for ; !args.IsNull() && pages < 30; pages++ {
			res, err := set.Call(t.Context(), agent(), tool.Request{Name: "query_sql", Arguments: args})
			if err != nil {
				t.Fatalf("%s: page %d: %v", tt.args, pages, err)
			}
			doc, err := value.Read(res.Structured, 0)
			if err != nil {
				t.Fatal(err)
			}
			list, _ := doc.Get("results")
			for _, row := range list.List() {
				n, _ := row.Get("n")
				if seen[n.Int()] {
					t.Errorf("%s: %d is there twice", tt.args, n.Int())
				}
				seen[n.Int()] = true
			}
			next, _ := doc.Get("next_call")
			args, _ = next.Get("arguments")
		}
		if pages != tt.pages || len(seen) != 25 {
			t.Errorf("%s: %d pages of %d records, want %d of 25", tt.args, pages, len(seen), tt.pages)
		}
	}
}

// TestCursorOfStatement checks that a cursor goes on only with its own statement and values.
func TestCursorOfStatement(t *testing.T) {
	set, _ := openWith(t, 0, policy.Rules{Unlisted: true})
	call := func(args []value.Member) (value.Value, error) {
		res, err := set.Call(t.Context(), agent(), tool.Request{Name: "query_sql", Arguments: value.OfObject(args)})
		if err != nil {
			return value.Value{}, err
		}
		return value.Read(res.Structured, 0)
	}
	of := func(sql string, param int64, cursor string) []value.Member {
		return []value.Member{{Name: "sql", Value: value.OfString(sql)}, {Name: "limit", Value: value.OfInt(1)},
			{Name: "params", Value: value.OfArray([]value.Value{value.OfInt(param)})}, {Name: "cursor", Value: value.OfString(cursor)}}
	}
	const mine = "SELECT id FROM orders WHERE id > $1 ORDER BY id"
	doc, err := call(of(mine, 1, "")[:3])
	if err != nil {
		t.Fatal(err)
	}
	next, _ := doc.Get("next_call")
	args, _ := next.Get("arguments")
	cursor, _ := args.Get("cursor")
	for _, tt := range []struct {
		sql   string
		param int64
		want  problem.Code
	}{{mine, 1, ""}, {mine, 2, problem.InvalidArgument}, {mine + " ", 1, problem.InvalidArgument}, {"SELECT id FROM customers WHERE id > $1 ORDER BY id", 1, problem.InvalidArgument}} {
		if _, err := call(of(tt.sql, tt.param, cursor.Text())); (err == nil) != (tt.want == "") || err != nil && problem.CodeOf(err) != tt.want {
			t.Errorf("%s with %d: %v, want %q", tt.sql, tt.param, err, tt.want)
		}
	}
}

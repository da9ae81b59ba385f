package tool_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// shopExamples returns examples of orders. The agent may make the queries of open, late and count.
func shopExamples() (open, late, count policy.Example, refused []policy.Example) {
	arguments := func(text string) value.Value {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			panic(err)
		}
		return v
	}
	open = policy.Example{Question: "Which orders are open?", SQL: "SELECT id FROM orders WHERE state = 'open'"}
	late = policy.Example{Question: "Who ordered last?", SQL: "SELECT c.name FROM orders o JOIN customers c ON c.id = o.customer_id ORDER BY o.placed_at DESC LIMIT 1"}
	count = policy.Example{Question: "How many orders are paid?", Tool: "count_objects", Arguments: arguments(`{"class_name": "orders", "where": {"state": "paid"}}`)}
	return open, late, count, []policy.Example{
		{Question: "a hidden field", SQL: "SELECT margin FROM orders"},
		{Question: "a field that never existed", SQL: "SELECT marginal FROM orders"},
		{Question: "a hidden class", SQL: "SELECT o.id FROM orders o JOIN secrets s ON s.id = o.id"},
		{Question: "a hidden field in a condition", Tool: "count_objects", Arguments: arguments(`{"class_name": "orders", "where": {"margin": 1}}`)},
		{Question: "wrong arguments", Tool: "count_objects", Arguments: arguments(`{"class": 5}`)},
		{Question: "a tool that never existed", Tool: "count_everything", Arguments: arguments(`{}`)},
	}
}

// TestExamplesOfDeclarations checks examples that name metrics and declared queries, and that an example of a tool that
// describes classes is not shown: it would show its own examples.
func TestExamplesOfDeclarations(t *testing.T) {
	arguments := func(text string) value.Value {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	rules := shopRules()
	orders := rules.Classes["orders"]
	orders.Examples = []policy.Example{
		{Question: "What is there?", Tool: "get_schema", Arguments: arguments(`{"class_name": "orders"}`)},
		{Question: "Which classes are there?", Tool: "get_all_schemas", Arguments: arguments(`{}`)},
		{Question: "What did others sell?", Tool: "query_metrics", Arguments: arguments(`{"metrics": ["internal"]}`)},
		{Question: "What is missing?", Tool: "run_query", Arguments: arguments(`{"name": "missing"}`)},
		{Question: "What did we sell?", Tool: "query_metrics", Arguments: arguments(`{"metrics": ["revenue"], "by": ["time:month"]}`)},
		{Question: "What is open?", Tool: "run_query", Arguments: arguments(`{"name": "in_state", "input": {"state": "open"}}`)},
	}
	rules.Classes["orders"] = orders
	g, _ := gatewayOf(t, 0, rules, bailiwick.Declarations{Metrics: shopMetrics(), Queries: []declared.Declaration{
		{Name: "in_state", Input: arguments(`{"properties": {"state": {"type": "string"}}}`), SQL: "SELECT id FROM orders WHERE state = :state"}}})
	set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	res, err := set.Call(t.Context(), agent(), tool.Request{Name: "get_schema", Arguments: arguments(`{"class_name": "orders"}`)})
	if err != nil {
		t.Fatal(err)
	}
	var questions []string
	for _, l := range strings.Split(res.Text, "\n") {
		if text, ok := strings.CutPrefix(l, " e.g. "); ok {
			questions = append(questions, text[:strings.Index(text, "?")+1])
		}
	}
	if want := []string{"What did we sell?", "What is open?"}; !slices.Equal(questions, want) {
		t.Errorf("got %q, want %q", questions, want)
	}
}

// TestExamples checks which examples get_schema shows, and that those that the caller may not make leave no trace.
func TestExamples(t *testing.T) {
	open, late, count, refused := shopExamples()
	describe := func(examples []policy.Example, args string) tool.Result {
		t.Helper()
		rules := shopRules()
		orders := rules.Classes["orders"]
		orders.Examples = examples
		rules.Classes["orders"] = orders
		set, log := openWith(t, 0, rules)
		in, err := value.Read([]byte(args), 0)
		if err != nil {
			t.Fatal(err)
		}
		res, err := set.Call(context.Background(), agent(), tool.Request{Name: "get_schema", Arguments: in})
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		if err := log.Records(t.Context(), 0, func(r audit.Record) bool { calls++; return r.Tool == "get_schema" }); err != nil || calls != 1 {
			t.Errorf("the audit has %d calls (%v), want one of get_schema", calls, err)
		}
		return res
	}
	one, both := `{"class_name": "orders"}`, `{"class_names": ["orders", "customers"]}`
	for _, c := range []struct {
		name     string
		examples []policy.Example
		args     string
		want     []policy.Example
	}{
		{"all", []policy.Example{open, count}, one, []policy.Example{open, count}},
		{"at most two", []policy.Example{open, count, open}, one, []policy.Example{open, count}},
		{"one with another class comes last", []policy.Example{late, open, count}, one, []policy.Example{open, count}},
		{"one with another class that is described", []policy.Example{late, open, count}, both, []policy.Example{late, open}},
		{"one with another class that isn't described", []policy.Example{late, open}, one, []policy.Example{open, late}},
		{"refused ones", append(slices.Clone(refused), count), one, []policy.Example{count}},
	} {
		got := describe(c.examples, c.args)
		var lines []string
		for _, l := range strings.Split(got.Text, "\n") {
			if strings.HasPrefix(l, " e.g. ") {
				lines = append(lines, l)
			}
		}
		if len(lines) != len(c.want) {
			t.Errorf("%s: got %q", c.name, lines)
			continue
		}
		for i, e := range c.want {
			if !strings.HasPrefix(lines[i], " e.g. "+e.Question+" "+e.SQL) {
				t.Errorf("%s: got %q, want %q", c.name, lines[i], e.Question)
			}
		}
	}
	for _, args := range []string{one, both, `{"class_name": "orders", "format": "full"}`} {
		if without, with := describe(nil, args), describe(refused, args); without.Text != with.Text || string(without.Structured) != string(with.Structured) {
			t.Errorf("%s: examples that the caller may not make show:\n%s\nwithout them:\n%s", args, with.Text, without.Text)
		}
	}
}

// Package measures asks questions about metrics through the tools, on a source that contains the shop of package
// questions. It is a part of the suite for sources.
//
// Beside each question stands the SELECT that answers it too, and its answer. So query_metrics, MEASURE and the SELECT
// must agree with each other on each source, to the last digit, and with all other sources. Only tests import it.
package measures

import (
	"context"
	_ "embed"
	"flag"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

//go:embed questions.txt
var text string

var update = flag.Bool("update-measures", false, "write the answers of the SELECTs to questions.txt")

// A question is a block of questions.txt.
type question struct {
	lines   []string // without the answer
	calls   []tool.Request
	refused string // the kind of the refusal, or ""
	answer  []string
}

// Run asks a source that contains questions.Shop every question.
func Run(t *testing.T, src source.Source) {
	set := open(t, src)
	all := read(t)
	if len(all) < 70 {
		t.Errorf("%d questions, want 70", len(all))
	}
	for i := range all {
		q := &all[i]
		t.Run(q.lines[len(q.lines)-1], func(t *testing.T) { q.check(t, set) })
	}
	if *update {
		write(t, all)
	}
}

// check makes the calls of q. Their answers must be equal to the last digit, and like the answers of other databases.
func (q *question) check(t *testing.T, set *tool.Set) {
	var first []string
	for i, c := range q.calls {
		rows, err := ask(t.Context(), set, c)
		switch p := problem.Of(err); {
		case q.refused != "":
			if p == nil || p.Kind != q.refused {
				t.Errorf("%s: want a refusal of the kind %s, got %q %v", c.Arguments, q.refused, rows, err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %s %s %s %v", c.Arguments, p.Pointer, p.Detail, p.Suggestion, p.Err)
			continue
		}
		if first == nil {
			first = rows
		}
		if !alike(t, rows, first, false) {
			t.Errorf("%s\ngot  %s\nwant %s as from the first call", c.Arguments, strings.Join(rows, " "), strings.Join(first, " "))
		}
		if *update && i == len(q.calls)-1 {
			q.answer = rows
		}
		if !*update && !alike(t, rows, q.answer, true) {
			t.Errorf("%s\ngot  %s\nwant %s as from other databases", c.Arguments, strings.Join(rows, " "), strings.Join(q.answer, " "))
		}
	}
}

// read parses questions.txt.
func read(t *testing.T) []question {
	t.Helper()
	var out []question
	for _, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		var q question
		for _, line := range strings.Split(block, "\n") {
			kind, rest, _ := strings.Cut(line, " ")
			switch kind {
			case "?":
				q.calls = append(q.calls, tool.Request{Name: "query_metrics", Arguments: parse(t, rest)})
			case "~", "=":
				q.calls = append(q.calls, tool.Request{Name: "query_sql", Arguments: value.OfObject([]value.Member{{Name: "sql", Value: value.OfString(rest)}})})
			case "!":
				q.refused = rest
			case "#":
			default:
				q.answer = append(q.answer, strings.TrimSpace(line))
				continue
			}
			q.lines = append(q.lines, line)
		}
		if q.calls == nil {
			q.answer = nil
		}
		out = append(out, q)
	}
	return out
}

// write writes the answers to questions.txt.
func write(t *testing.T, all []question) {
	t.Helper()
	blocks := make([]string, len(all))
	for i, q := range all {
		blocks[i] = strings.Join(q.lines, "\n")
		for _, row := range q.answer {
			blocks[i] += "\n  " + row
		}
	}
	if err := os.WriteFile("../sourcetest/measures/questions.txt", []byte(strings.Join(blocks, "\n\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(text, err)
	}
	return v
}

// ask returns the rows of an answer, each as a list of its values.
func ask(ctx context.Context, set *tool.Set, call tool.Request) ([]string, error) {
	res, err := set.Call(ctx, reader, call)
	if err != nil {
		return nil, err
	}
	doc, err := value.Read(res.Structured, 0)
	if err != nil {
		return nil, err
	}
	list, _ := doc.Get("results")
	var out []string
	for _, row := range list.List() {
		var cells []value.Value
		for _, m := range row.Members() {
			cells = append(cells, m.Value)
		}
		out = append(out, value.OfArray(cells).String())
	}
	return out, nil
}

// alike reports whether the rows are equal, where 12.50 equals 12.5. With near, numbers with a fraction may differ by
// 1e-9 of their size: some databases compute them as doubles.
func alike(t *testing.T, a, b []string, near bool) bool {
	t.Helper()
	return slices.EqualFunc(a, b, func(x, y string) bool {
		return slices.EqualFunc(parse(t, x).List(), parse(t, y).List(), func(v, w value.Value) bool {
			m, ok := new(big.Rat).SetString(strings.Trim(v.String(), `"`))
			n, also := new(big.Rat).SetString(strings.Trim(w.String(), `"`))
			if !ok || !also {
				return v.String() == w.String()
			}
			if m.Cmp(n) == 0 {
				return true
			}
			d := new(big.Rat).Sub(m, n)
			most := new(big.Rat).Mul(n, big.NewRat(1, 1e9))
			return near && !(m.IsInt() && n.IsInt()) && d.Abs(d).Cmp(most.Abs(most)) <= 0
		})
	})
}

// reader may read everything.
var reader = identity.Principal{ID: "test", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}

// A forgetful is an audit log that discards its records.
type forgetful struct{}

func (forgetful) Append(context.Context, *audit.Record) error { return nil }

// open returns the tools over a source with the metrics.
func open(t *testing.T, src source.Source) *tool.Set {
	t.Helper()
	classes, _, err := src.Describe(t.Context())
	if err != nil || len(classes) == 0 {
		t.Fatal(classes, err)
	}
	g, warnings, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{classes[0].Source: src}, Rules: policy.Rules{Unlisted: true}, Metrics: metrics(),
		Audit: forgetful{}, Limits: limit.Options{PerMinute: 1e9, Burst: 1e9}, Budget: 4 << 20})
	if err != nil {
		t.Fatal(err, warnings)
	}
	set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// metrics returns the metrics of the shop.
func metrics() []metric.Declaration {
	is := func(v value.Value, path ...string) query.Filter {
		return query.Compare{Path: path, Op: query.Eq, Value: v}
	}
	delivered := is(value.OfString("delivered"), "status")
	paid := query.In{Path: query.Path{"order_id", "status"}, Values: []value.Value{value.OfString("delivered"), value.OfString("shipped")}}
	bulk := query.Compare{Path: query.Path{"quantity"}, Op: query.Gte, Value: value.OfInt(5)}
	of := func(class, time string, list ...metric.Declaration) []metric.Declaration {
		for i := range list {
			list[i].On, list[i].Time = class, time
		}
		return list
	}
	return slices.Concat(
		of("orders", "placed_at",
			metric.Declaration{Name: "orders", Measure: "count()"},
			metric.Declaration{Name: "delivered", Measure: "count()", Where: delivered},
			metric.Declaration{Name: "nothing", Measure: "sum(discount)", Where: is(value.OfString("never"), "status")},
			metric.Declaration{Name: "buyers", Measure: "count_distinct(customer_id)"},
			metric.Declaration{Name: "buyers_by_status", Measure: "count_distinct(customer_id)", Dimensions: []string{"status"}},
			metric.Declaration{Name: "discount", Measure: "avg(discount)"},
			metric.Declaration{Name: "shipped", Measure: "count(shipped_at)"},
			metric.Declaration{Name: "first_order", Measure: "min(placed_at)"},
			metric.Declaration{Name: "last_shipment", Measure: "max(shipped_at)"}),
		of("order_items", "",
			metric.Declaration{Name: "items", Measure: "count()"},
			metric.Declaration{Name: "quantity", Measure: "sum(quantity)"},
			metric.Declaration{Name: "revenue", Measure: "sum(quantity * unit_price)"},
			metric.Declaration{Name: "bulk_revenue", Measure: "sum(quantity * unit_price)", Where: bulk},
			metric.Declaration{Name: "paid_revenue", Measure: "sum(quantity * unit_price)", Where: paid},
			metric.Declaration{Name: "dearest", Measure: "max(unit_price)"},
			metric.Declaration{Name: "cheapest", Measure: "min(unit_price)"},
			metric.Declaration{Name: "average_price", Measure: "avg(unit_price)"}),
		of("customers", "signed_up",
			metric.Declaration{Name: "customers", Measure: "count()"},
			metric.Declaration{Name: "vips", Measure: "count()", Where: is(value.OfBool(true), "vip")}),
		of("employees", "hired_on",
			metric.Declaration{Name: "employees", Measure: "count()"},
			metric.Declaration{Name: "salaries", Measure: "sum(salary)"},
			metric.Declaration{Name: "average_salary", Measure: "avg(salary)"}),
		of("issues", "opened_at",
			metric.Declaration{Name: "issues", Measure: "count()"},
			metric.Declaration{Name: "estimate", Measure: "sum(estimate)"},
			metric.Declaration{Name: "average_estimate", Measure: "avg(estimate)"}),
		of("events", "at",
			metric.Declaration{Name: "events", Measure: "count()"},
			metric.Declaration{Name: "largest", Measure: "max(n)"}),
		[]metric.Declaration{
			{Name: "delivered_rate", Ratio: []string{"delivered", "orders"}},
			{Name: "items_per_order", Ratio: []string{"items", "orders"}},
			{Name: "average_quantity", Ratio: []string{"quantity", "items"}},
		})
}

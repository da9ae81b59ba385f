package sourcetest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"pgregory.net/rapid"
)

// rounds is the default number of random queries for each source. BAILIWICK_SOAK overrides it.
const rounds = 1500

// An Oracle creates the source whose answers are correct. It is memory.New.
type Oracle func([]schema.Class, map[string][]value.Row) source.Source

// Differential runs random queries on a source and the oracle. Their answers must be equal to the last byte. For each
// filter it also checks that matching and not matching records together are all records. show returns what the source
// runs for a permit, for error messages.
func Differential(t *testing.T, open Open, limits Limits, oracle Oracle, show func(policy.Permit) string) {
	s := newSubject(t, open, limits)
	n := Rounds(t, rounds)
	d := &differential{subject: s, oracle: oracle(s.classes, s.data.Rows(t, s.classes)), show: show, pool: s.pools(t), whole: map[part][]string{}}
	tenant := reader
	tenant.Tenant = "acme"
	d.asks = map[string]asker{"free": {s.policy, reader}, "scoped": {s.rules(t, s.scopedRules(t)), tenant}}
	for _, table := range s.data.Tables {
		d.names = append(d.names, table.Name)
	}
	rapid.Check(t, d.check)
	t.Logf("%d queries compared, %d rows; refused as unsupported: %d", d.compared, d.rows, d.unsupported)
	if testing.Short() {
		n /= 5 // as rapid does in short mode
	}
	if d.compared < n/2 || d.rows < n {
		t.Errorf("only %d queries with %d rows of %d rounds were compared", d.compared, d.rows, n)
	}
}

// Rounds sets the number of random queries for rapid. short is the default, and BAILIWICK_SOAK overrides it. By
// default each run draws the same queries, so that a failure is caused by the current change. With BAILIWICK_SOAK it
// draws new queries, or those of -rapid.seed.
func Rounds(t *testing.T, short int) int {
	t.Helper()
	n := short
	if soak := os.Getenv("BAILIWICK_SOAK"); soak != "" {
		var err error
		if n, err = strconv.Atoi(soak); err != nil {
			t.Fatalf("BAILIWICK_SOAK=%s: %v", soak, err)
		}
	}
	flags := map[string]string{"rapid.checks": strconv.Itoa(n), "rapid.nofailfile": "true"}
	if os.Getenv("BAILIWICK_SOAK") == "" && flag.Lookup("rapid.seed").Value.String() == "0" {
		flags["rapid.seed"] = "1"
	}
	for name, to := range flags {
		set := flag.Lookup(name)
		before := set.Value.String()
		if err := set.Value.Set(to); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { set.Value.Set(before) })
	}
	return n
}

// An asker is a principal with the rules for it.
type asker struct {
	policy *policy.Policy
	who    identity.Principal
}

// A part identifies the view of a class for an asker.
type part struct {
	by    *policy.Policy
	class string
}

type differential struct {
	*subject
	oracle source.Source
	show   func(policy.Permit) string
	pool   map[string]map[string][]value.Value // values for literals, by class and field
	asks   map[string]asker
	names  []string          // the names of the classes
	whole  map[part][]string // all records of each view, sorted

	compared, rows, unsupported int
}

// scopedRules returns the rules for the restricted principal.
func (s *subject) scopedRules(t *testing.T) map[string]policy.ClassRule {
	rules := map[string]policy.ClassRule{
		"users":    {Tenant: &policy.TenantRule{Field: "org"}},
		"visits":   {Pointers: DeclaredRules(s.classes)["visits"].Pointers, Tenant: &policy.TenantRule{Through: "who"}},
		"comments": {Tenant: &policy.TenantRule{Through: "author"}, Canonical: where(t, `{"hidden":{"$ne":true}}`)},
		"posts":    {Canonical: where(t, `{"$or":[{"meta.tags":"x"},{"deleted":null}]}`)},
		"docs":     {Canonical: where(t, `{"doc.a":{"$ne":1}}`)},
		"held":     {Types: DeclaredRules(s.classes)["held"].Types, Canonical: where(t, `{"ms":{"$gt":"1970-01-01"}}`)},
		"texts":    {Denied: []string{"ci"}, Canonical: where(t, `{"mood":{"$ne":"sad"}}`)},
	}
	if s.limits[Conversions] != "" {
		delete(rules, "held")
	}
	return rules
}

func (d *differential) check(t *rapid.T) {
	as := d.asks[rapid.SampledFrom([]string{"free", "scoped"}).Draw(t, "asker")]
	name := rapid.SampledFrom(d.names).Draw(t, "class")
	view, err := as.policy.View(as.who, name, "", false)
	if err != nil {
		t.Fatal(err)
	}
	g := &generator{t: t, d: d, as: as, view: view, pool: d.pool[name]}
	text := g.nearby(g.object(2))
	filter, err := query.ParseWhere(text, "/where")
	if err != nil {
		tooMuch(t, text, err)
	}
	q := &query.Find{Class: view.Name(), Where: filter, Order: g.order(), Keys: g.keys(), Include: g.include(),
		Skip: rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "skip"), Limit: rapid.SampledFrom([]int{1, 2, 3, 7, 100}).Draw(t, "limit")}
	permit, err := as.policy.Read(as.who, q)
	if err != nil {
		tooMuch(t, text, err)
	}
	all, ok := d.same(t, permit, text)
	if !ok {
		return
	}
	d.compared++
	d.rows += len(all)
	if plan, _ := permit.Plan(); plan.Unique && plan.Skip == 0 && len(all) > q.Limit {
		d.pagesOn(t, permit, text, all)
	}
	if filter != nil {
		d.halves(t, as, view, filter, text)
	}
}

// tooMuch skips a query that exceeds the limits of the language. It fails for any other refusal.
func tooMuch(t *rapid.T, text value.Value, err error) {
	t.Helper()
	if p := problem.Of(err); strings.Contains(p.Detail, "deeper than") || strings.Contains(p.Detail, "more than") {
		t.Skip(p.Detail)
	}
	t.Fatalf("%s: %v", text, err)
}

// same reads a permit from both sources and compares the rows.
func (d *differential) same(t *rapid.T, permit policy.Permit, text value.Value) ([]value.Row, bool) {
	t.Helper()
	plan, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	want, err := Collect(t.Context(), d.oracle, permit)
	if err != nil {
		t.Fatalf("the oracle: %s: %v", text, err)
	}
	got, err := Collect(t.Context(), d.source, permit)
	if problem.CodeOf(err) == problem.Unsupported && len(d.limits) > 0 {
		d.unsupported++
		return nil, false
	}
	if err != nil || !slices.EqualFunc(got, want, func(a, b value.Row) bool { return equalRows(&plan, a, b) }) {
		t.Fatalf("%s where %s, order %v, skip %d, limit %d, after %v: %v\n%s\n got %s\nwant %s", plan.View.Name(), text,
			orderText(&plan), plan.Skip, plan.Limit, plan.After, err, d.show(permit), lines(got), lines(want))
	}
	return got, true
}

// equalRows compares the returned columns as the gateway would send them. It compares the values of the order as the
// order does.
func equalRows(plan *policy.Plan, a, b value.Row) bool {
	n := len(plan.Columns)
	if plan.Count {
		n = 1
	}
	return len(a) == len(b) && canonicalLine(a[:n]) == canonicalLine(b[:n]) &&
		slices.EqualFunc(a[n:], b[n:], func(x, y value.Value) bool { return value.Order(x, y) == 0 })
}

func orderText(plan *policy.Plan) []string {
	out := make([]string, len(plan.Order))
	for i, o := range plan.Order {
		if out[i] = fmt.Sprint(o.Field.Name, " of ", o.Join); o.Near != nil {
			out[i] = "the distance of " + out[i]
		} else if o.Desc {
			out[i] = "-" + out[i]
		}
	}
	return out
}

func lines(rows []value.Row) string {
	var out strings.Builder
	for _, r := range rows {
		out.WriteString("\n  " + canonicalLine(r))
	}
	return out.String()
}

// pagesOn reads the pages after the first page. Each must continue where the previous page ended.
func (d *differential) pagesOn(t *rapid.T, permit policy.Permit, text value.Value, page []value.Row) {
	t.Helper()
	plan, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if len(page) <= plan.Limit {
			return
		}
		last, next := page[plan.Limit-1], page[plan.Limit]
		if permit, err = permit.From(policy.Position{After: last[len(plan.Columns):]}); err != nil {
			t.Fatal(err)
		}
		page, _ = d.same(t, permit, text)
		if len(page) == 0 || !equalRows(&plan, page[0], next) {
			t.Fatalf("%s where %s, order %v, limit %d: after %s comes %s; want %s\n%s", plan.View.Name(), text, orderText(&plan), plan.Limit,
				canonicalLine(last), lines(page), canonicalLine(next), d.show(permit))
		}
	}
}

// halves tests that a filter either matches a record or doesn't match it.
func (d *differential) halves(t *rapid.T, as asker, view *policy.View, filter query.Filter, text value.Value) {
	t.Helper()
	of := part{as.policy, view.Name()}
	whole, known := d.whole[of]
	if !known {
		whole = d.matchingRecords(t, as, view, nil, text)
		d.whole[of] = whole
	}
	yes, no := d.matchingRecords(t, as, view, filter, text), d.matchingRecords(t, as, view, query.Not{Part: filter}, text)
	both := slices.Sorted(slices.Values(append(slices.Clone(yes), no...)))
	if !slices.Equal(both, whole) {
		t.Fatalf("%s where %s: %d records of %d, and %d where it doesn't hold", view.Name(), text, len(yes), len(whole), len(no))
	}
}

// matchingRecords returns the sorted records that match a filter. The number must equal the result of count_objects.
func (d *differential) matchingRecords(t *rapid.T, as asker, view *policy.View, filter query.Filter, text value.Value) []string {
	t.Helper()
	permit, err := as.policy.Read(as.who, &query.Count{Class: view.Name(), Where: filter})
	if err != nil {
		t.Fatal(err)
	}
	counted, _ := d.same(t, permit, text)
	plan, rows, err := d.read(t.Context(), as.policy, as.who, &query.Find{Class: view.Name(), Where: filter, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, 0, len(rows))
	for _, row := range rows {
		out = append(out, canonicalLine(row[:len(plan.Columns)]))
	}
	if int64(len(rows)) != counted[0][0].Int() {
		t.Fatalf("%s where %s: %d rows; count %v", view.Name(), text, len(rows), counted[0][0])
	}
	slices.Sort(out)
	return out
}

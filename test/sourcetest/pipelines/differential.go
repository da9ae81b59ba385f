package pipelines

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
	"pgregory.net/rapid"
)

// rounds is the default number of random pipelines for each source. BAILIWICK_SOAK overrides it.
const rounds = 1000

// patience is the maximum time of a source for one pipeline.
const patience = 30 * time.Second

// Differential runs random pipelines on a source and the oracle. They must have the same answers for any records, and
// none may fail. For some pipelines it also checks that the records that a condition keeps and the records that it
// drops are together all records.
func Differential(t *testing.T, target Target) {
	s := newSubject(t, target)
	n := sourcetest.Rounds(t, rounds)
	d := &differential{subject: s, oracle: target.Oracle(s.classes, s.data.Rows(t, s.classes)), unsupported: map[string]int{}, refused: map[string]int{}}
	tenant := reader
	tenant.Tenant = "acme"
	d.asks = []asker{{s.policy, reader}, {s.rules(t, scoped), tenant}}
	for _, table := range s.data.Tables {
		if table.Name != "untyped" { // a date column of SQLite with values other than dates has no defined order
			d.names = append(d.names, table.Name)
		}
	}
	rapid.Check(t, d.check)
	t.Logf("%d pipelines compared, %d rows; %d stages refused, and as unsupported: %v", d.compared, d.rows, d.misses, d.unsupported)
	for _, detail := range slices.SortedFunc(maps.Keys(d.refused), func(a, b string) int { return d.refused[b] - d.refused[a] })[:min(10, len(d.refused))] {
		t.Logf("refused %d: %s", d.refused[detail], detail)
	}
	if testing.Short() {
		n /= 5 // as rapid does in short mode
	}
	if d.compared < n/2 || d.rows < n {
		t.Errorf("only %d pipelines with %d rows of %d rounds were compared", d.compared, d.rows, n)
	}
}

// scoped contains rules under which a tenant sees only a part of some classes.
var scoped = map[string]policy.ClassRule{
	"orgs":     {Tenant: &policy.TenantRule{Field: "id"}},
	"users":    {Tenant: &policy.TenantRule{Field: "org"}, Visible: []string{"id", "name", "boss"}},
	"posts":    {Tenant: &policy.TenantRule{Field: "org"}, Canonical: query.Compare{Path: query.Path{"deleted"}, Op: query.Ne, Value: value.OfBool(true)}},
	"comments": {Tenant: &policy.TenantRule{Through: "author"}, Canonical: query.Compare{Path: query.Path{"hidden"}, Op: query.Ne, Value: value.OfBool(true)}},
	"texts":    {Visible: []string{"s", "ci", "code", "mood"}}, // the key is hidden
}

type differential struct {
	*subject
	oracle         source.Source
	asks           []asker
	names          []string
	compared, rows int
	misses         int
	refused        map[string]int
	unsupported    map[string]int
}

// check compares one random pipeline.
func (d *differential) check(t *rapid.T) {
	g := &generator{t: t, d: d, as: d.asks[rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "asker")]}
	class := rapid.SampledFrom(d.names).Draw(t, "class")
	p := g.pipeline(class, nil, 6)
	for _, detail := range g.refused {
		d.refused[detail]++
		d.misses++
	}
	if len(p.stages) == 0 {
		t.Skip("no stage was accepted")
	}
	permit, err := g.bind(class, p.stages)
	if err != nil {
		t.Fatal(err)
	}
	asked := class + " " + value.OfArray(p.stages).String()
	got, ok := d.read(t, permit, asked)
	if !ok {
		return
	}
	want := d.records(t, d.oracle, permit, asked)
	if p.ended {
		want = inOrderOf(got, want)
	}
	if err := unlike(got, want, about); err != nil {
		t.Fatalf("%s\n%v\n%s", asked, err, d.Show(permit))
	}
	d.compared++
	d.rows += len(got)
	if !p.ended && g.chance("halves", 4) {
		d.halves(g, p)
	}
}

// inOrderOf returns want with the records that got also contains in the order of got. An unspecified order may be any
// order.
func inOrderOf(got, want []value.Value) []value.Value {
	rest := slices.Clone(want)
	var out []value.Value
	for _, g := range got {
		if i := slices.IndexFunc(rest, func(w value.Value) bool { return about(g, w) }); i >= 0 {
			out = append(out, rest[i])
			rest = slices.Delete(rest, i, i+1)
		}
	}
	return append(out, rest...)
}

// read reads a permit from the source. It reports whether the source supports the permit.
func (d *differential) read(t *rapid.T, permit policy.Permit, asked string) ([]value.Value, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	rows, err := collect(ctx, d.source, permit)
	switch p := problem.Of(err); {
	case err == nil:
		return rows, true
	case p.Code == problem.Unsupported && (d.Limits != nil || sourcetest.Transliterate("İ") != "İ"), p.Code == problem.InvalidQuery && strings.Contains(p.Detail, "compares with"): // the statement is too long
		d.unsupported[p.Detail]++
		return nil, false
	default:
		t.Fatalf("%s: %v: %v\n%s", asked, err, p.Err, d.Show(permit))
		return nil, false
	}
}

func (d *differential) records(t *rapid.T, from source.Source, permit policy.Permit, asked string) []value.Value {
	t.Helper()
	rows, err := collect(t.Context(), from, permit)
	if err != nil {
		t.Fatalf("the oracle: %s: %v: %v", asked, err, problem.Of(err).Err)
	}
	return rows
}

// halves tests that a condition either matches a record or doesn't, and never both. The records that it keeps and the
// records that it drops must together be all records. The groups must together count all records.
func (d *differential) halves(g *generator, p draft) {
	s := p.columns()
	if strings.Contains(value.OfArray(p.stages).String(), `"$sample"`) {
		return // another run would draw other records
	}
	var yes, no value.Value
	if g.chance("expression", 2) {
		x := g.expr(condition, s, 3)
		yes, no = object1("$expr", x), object1("$expr", object1("$not", list(x)))
	} else {
		yes = g.where(s, 2)
		no = object1("$not", yes)
	}
	closing := []value.Value{members("$skip", whole(0))}
	if g.chance("count", 2) {
		closing = []value.Value{object1("$group", members("_id", g.key(s), "n", object1("$sum", whole(1))))}
	}
	var found [3][]value.Value
	for i, where := range []value.Value{members(), yes, no} {
		stages := append(append(slices.Clone(p.stages), object1("$match", where)), closing...)
		permit, err := g.bind(p.class, stages)
		if err != nil {
			return // exceeds a limit of the language, or uses a type that isn't supported here
		}
		rows, ok := d.read(g.t, permit, value.OfArray(stages).String())
		if !ok {
			return
		}
		found[i] = rows
	}
	all, both := tally(found[0]), tally(append(found[1], found[2]...))
	if !maps.Equal(all, both) {
		g.t.Fatalf("%s %s, then %s and %s:\n%v\nbut in two parts\n%v", p.class, value.OfArray(p.stages), yes, closing[0], all, both)
	}
}

// tally counts records. A group with the member n counts as n records.
func tally(rows []value.Value) map[string]int64 {
	out := map[string]int64{}
	for _, r := range rows {
		n, counted := r.Get("n")
		if key, ok := r.Get("_id"); ok && counted && len(r.Members()) == 2 {
			if x, is := key.AsFloat(); is && x == 0 {
				key = value.OfInt(0) // -0 equals 0
			}
			out[key.String()] += n.Int()
			continue
		}
		out[r.String()]++
	}
	return out
}

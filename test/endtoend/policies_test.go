package endtoend

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Random policies. The test draws rules, a principal and data. It then changes the data in ways that the principal
// may not notice. This file computes what the principal may notice from the records, without package policy.

// holds evaluates a random condition for a record.
func holds(f query.Filter, r record) bool {
	same := func(path query.Path, v value.Value) bool {
		have := r[path[0]]
		if v.IsNull() || have == nil {
			return v.IsNull() && have == nil
		}
		return fmt.Sprint(have) == v.String()
	}
	switch f := f.(type) {
	case query.And:
		return !slices.ContainsFunc(f, func(part query.Filter) bool { return !holds(part, r) })
	case query.Or:
		return slices.ContainsFunc(f, func(part query.Filter) bool { return holds(part, r) })
	case query.In:
		return slices.ContainsFunc(f.Values, func(v value.Value) bool { return same(f.Path, v) }) != f.Not
	case query.Compare:
		return same(f.Path, f.Value) == (f.Op == query.Eq)
	}
	panic(fmt.Sprintf("no condition of this test: %T", f))
}

// inside reports whether r is in the principal's view of class. It checks the tenant, the principal's filters and,
// unless raw is set, the default filters.
func (d *drawn) inside(w world, class string, r record, raw bool) bool {
	rule := d.rules.Classes[class]
	canonical, said := d.said(rule.Canonical)
	if !said {
		return false // even if it is switched off
	}
	if t := rule.Tenant; t != nil && d.bypasses(t) {
		// all tenants are visible
	} else if t != nil && t.Through != "" {
		parent := leads[t.Through]
		if !slices.ContainsFunc(w[parent], func(p record) bool {
			return r[t.Through] != nil && p["id"] == r[t.Through] && d.inside(w, parent, p, raw)
		}) {
			return false
		}
	} else if t != nil {
		is := d.tenant(t)
		if is == "" || r[t.Field] != is {
			return false
		}
	}
	for _, n := range d.narrow {
		own, said := d.said(n.filters[class])
		if !said || own != nil && !holds(own, r) {
			return false
		}
		if f, ok := n.filters["default"].(query.Compare); ok && !decides(own, f.Path[0]) {
			if !slices.Contains(columnsOf(tables[slices.IndexFunc(tables, func(t table) bool { return t.name == class })]), f.Path[0]) {
				return false // a missing value refuses
			}
			if !holds(f, r) {
				return false
			}
		}
	}
	return raw || canonical == nil || holds(canonical, r)
}

// decides reports whether a condition on a class replaces the default condition on a field. Keys of the class have
// precedence.
func decides(own query.Filter, field string) bool {
	switch f := own.(type) {
	case query.And:
		return slices.ContainsFunc(f, func(part query.Filter) bool { return decides(part, field) })
	case query.In:
		return f.Path[0] == field
	case query.Compare:
		return f.Path[0] == field
	}
	return false
}

func (d *drawn) tenant(t *policy.TenantRule) string {
	switch region := d.claim("region").Text(); t.Is {
	case "principal.claims.region":
		return region
	case regionOrTenant:
		return cmp.Or(region, d.who.Tenant)
	}
	return d.who.Tenant
}

// shows reports whether the principal may see a class at all.
func (d *drawn) shows(class string) bool {
	rule, listed := d.rules.Classes[class]
	in := func(l []string) bool { return slices.Contains(l, class) || slices.Contains(l, "app."+class) }
	for _, n := range d.narrow {
		if n.classes.Only != nil && !in(n.classes.Only) || in(n.classes.Except) {
			return false
		}
	}
	return (listed || d.rules.Unlisted) && !rule.Hidden
}

// observation returns everything that the principal may notice of a world, as text. This is the visible fields of
// every record in its views, and whether each record passes the default filters.
func (d *drawn) observation(w world) string {
	var b strings.Builder
	for _, t := range tables {
		if !d.shows(t.name) {
			continue
		}
		rule := d.rules.Classes[t.name]
		var lines []string
		for _, r := range w[t.name] {
			if !d.inside(w, t.name, r, true) {
				continue
			}
			line := fmt.Sprint(d.inside(w, t.name, r, false))
			for _, name := range columnsOf(t) {
				if name != "password_hash" && !slices.Contains(rule.Denied, name) && (rule.Visible == nil || slices.Contains(rule.Visible, name)) {
					kind := rule.Mask[name]
					if but := rule.MaskBut[name]; but != "" && d.who.Has(but) {
						kind = ""
					}
					v := r[name]
					switch name { // triggers compute these from other columns
					case "lexemes":
						v = r["note"]
					case "whispers":
						v = fmt.Sprint(r["note"], " ", r["draft"])
					}
					line += "|" + masked(kind, v)
				}
			}
			lines = append(lines, line)
		}
		slices.Sort(lines)
		b.WriteString(t.name + "\n" + strings.Join(lines, "\n") + "\n")
	}
	return b.String()
}

// masked returns the part of a value that the principal may notice under a mask. Without a mask it is the whole
// value. A hash reveals which values are equal.
func masked(kind plan.MaskKind, v any) string {
	text, isText := v.(string)
	switch {
	case kind == plan.MaskNull, kind == plan.MaskPseudonym:
		return "?"
	case kind == plan.MaskPartial && isText:
		partial, err := plan.Mask{Kind: plan.MaskPartial}.Under(plan.MaskKey{})
		if err != nil {
			panic(err)
		}
		return partial(value.OfString(text)).Text()
	case kind == plan.MaskInside && isText:
		inside, err := plan.Mask{Kind: plan.MaskInside, Patterns: policy.Patterns()}.Under(plan.MaskKey{})
		if err != nil {
			panic(err)
		}
		return inside(value.OfString(text)).Text()
	}
	return fmt.Sprint(v)
}

// full draws a record of a table with all its columns.
func (m *maker) full(t table, n int) record {
	r := m.draw(t.name, n)
	if t.name == "orgs" && n <= 2 {
		r["id"] = []string{"acme", "globex"}[n-1]
	}
	for _, name := range columnsOf(t) {
		if _, ok := r[name]; !ok || name == "score" {
			r[name] = m.hidden(name, r["id"])
		}
	}
	switch t.name {
	case "comments":
		r["issue_id"] = pick[any](m.Rand, nil, uuid(1), uuid(2), uuid(3), uuid(4), uuid(5))
	case "parts":
		r["share_id"] = pick[any](m.Rand, nil, 1, 2, 3, 4, 5)
	}
	if m.IntN(6) == 0 {
		m.hostile(r)
	}
	return r
}

// hidden draws a value for a column that most rules hide.
func (m *maker) hidden(name string, id any) any {
	switch name {
	case "email":
		return fmt.Sprintf("%v-%d", id, m.IntN(1000)) // all values are different
	case "private":
		return pick[any](m.Rand, nil, true, false)
	case "rank", "pay", "score":
		return m.number()
	case "seen":
		return m.counted()
	case "origin":
		return m.address()
	case "spent":
		return m.money()
	case "lexemes", "whispers":
		return nil // set by triggers
	}
	return m.text()
}

// any draws a random world, without regard to visibility.
func (m *maker) any() world {
	w := world{}
	for _, t := range tables {
		for n := range 5 + m.IntN(8) {
			w[t.name] = append(w[t.name], m.full(t, n+1))
		}
	}
	return w
}

// unnoticed returns a copy of w with changes that d's principal may not notice, and the number of changes.
func (m *maker) unnoticed(w world, d *drawn) (world, int) {
	want, done := d.observation(w), 0
	for step := range 60 {
		t := pick(m.Rand, tables...)
		other := maps.Clone(w)
		rows := slices.Clone(w[t.name])
		at := 0
		if len(rows) > 0 {
			at = m.IntN(len(rows))
		}
		switch kind := m.IntN(4); {
		case kind == 0 || len(rows) == 0:
			rows = append(rows, m.full(t, 100+step))
		case kind == 1:
			rows = slices.Delete(rows, at, at+1)
		default:
			fresh, r := m.full(t, 100+step), maps.Clone(rows[at])
			name := pick(m.Rand, columnsOf(t)...)
			r[name] = fresh[name]
			if t.name == "shifts" && (name == "day" || name == "slot") {
				r["day"], r["slot"] = fresh["day"], fresh["slot"]
			}
			rows[at] = r
		}
		other[t.name] = rows
		if d.observation(other) == want {
			w, done = other, done+1
		}
	}
	out := world{}
	for name, rows := range w {
		out[name] = slices.Clone(rows)
	}
	m.shuffle(out)
	return out, done
}

func TestNonInterferencePoliciesSQLite(t *testing.T) {
	t.Parallel()
	interferePolicies(t, pairs(t, 20_000), func(name string) side { return sqliteSide(t, name, false) })
}

func TestNonInterferencePoliciesPostgres(t *testing.T) {
	t.Parallel()
	interferePolicies(t, pairs(t, 20_000), func(string) side { return postgresSide(t, false) })
}

func TestNonInterferencePoliciesMariaDB(t *testing.T) {
	t.Parallel()
	interferePolicies(t, pairs(t, mariadbPairs), func(string) side { return mariadbSide(t, false) })
}

// interferePolicies compares the answers in two worlds that the principal may not distinguish. It compares a fifth of
// most.
func interferePolicies(t *testing.T, most int, open func(name string) side) {
	sides := []side{open("one"), open("other")}
	const callsPerPolicy = 50
	differ, changes, got := 0, 0, tally{}
	for seed := firstSeed(t); got.pairs < max(most/5, 1) && differ < 3; seed++ {
		r := rand.New(rand.NewPCG(seed, 4))
		draw := &drawer{r}
		d := draw.policy()
		for sides[0].puts(t, d.rules) != nil { // draw until the rules don't contradict each other
			d = draw.policy()
		}
		if err := sides[1].puts(t, d.rules); err != nil {
			t.Fatal(err)
		}
		m := &maker{Rand: r}
		w := m.any()
		other, n := m.unnoticed(w, &d)
		changes += n
		for i, w := range []world{w, other} {
			if err := sides[i].exec(w.load(false)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		a := &asker{Rand: r}
		for range callsPerPolicy {
			if wrong := compare(sides, d.who, a.call(), &got); wrong != "" {
				t.Errorf("seed %d: %s\nrules %+v\nprincipal %+v", seed, wrong, d.rules, d.narrow)
				differ++
			}
		}
	}
	t.Logf("%+v, %d changes", got, changes)
	// The test would prove nothing if all calls were refused or all worlds were the same.
	if differ == 0 && (got.answered < got.calls/4 || got.records < got.calls/12 || changes < got.calls/10) {
		t.Errorf("too little was compared: %+v, %d changes", got, changes)
	}
}

// TestNonInterferencePoliciesCanFail checks that the comparison detects leaks. Each row loosens the active rules, but
// not the rules from which the worlds are created.
func TestNonInterferencePoliciesCanFail(t *testing.T) {
	for name, loosen := range map[string]func(*policy.ClassRule) bool{
		"no tenant": func(r *policy.ClassRule) bool { had := r.Tenant != nil; r.Tenant = nil; return had },
		"all tenants": func(r *policy.ClassRule) bool {
			if r.Tenant == nil {
				return false
			}
			t := *r.Tenant
			t.Bypass, r.Tenant = "true", &t
			return true
		},
		"more fields": func(r *policy.ClassRule) bool { had := r.Visible != nil; r.Visible = nil; return had },
		"not denied":  func(r *policy.ClassRule) bool { had := r.Denied != nil; r.Denied = nil; return had },
		"not masked":  func(r *policy.ClassRule) bool { had := r.Mask != nil; r.Mask, r.MaskBut = nil, nil; return had },
		"not hidden":  func(r *policy.ClassRule) bool { had := r.Hidden; r.Hidden = false; return had },
		"other parent": func(r *policy.ClassRule) bool {
			had := r.Tenant != nil && r.Tenant.Through != ""
			r.Tenant = nil
			return had
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := sqliteSide(t, "one", false)
			sides := []side{s, sqliteSide(t, "other", false)}
			for seed := range uint64(150) {
				r := rand.New(rand.NewPCG(seed, 5))
				draw := &drawer{r}
				d := draw.policy()
				for !putsLoose(t, sides, d.rules, loosen) { // draw until loosen changes the rules and the result has no contradictions
					d = draw.policy()
				}
				m := &maker{Rand: r}
				w := m.any()
				other, _ := m.unnoticed(w, &d)
				for i, w := range []world{w, other} {
					if err := sides[i].exec(w.load(false)); err != nil {
						t.Fatal(err)
					}
				}
				a := &asker{Rand: r}
				for range 50 {
					if compare(sides, d.who, a.call(), &tally{}) != "" {
						return
					}
				}
			}
			t.Error("no difference was found")
		})
	}
}

// putsLoose applies loosened rules on all sides. It returns false if no rule became looser, or if a side refuses the
// rules.
func putsLoose(t *testing.T, sides []side, rules policy.Rules, loosen func(*policy.ClassRule) bool) bool {
	looser := false
	rules.Classes = maps.Clone(rules.Classes)
	for _, class := range slices.Sorted(maps.Keys(rules.Classes)) {
		rule := rules.Classes[class]
		looser = loosen(&rule) || looser
		rules.Classes[class] = rule
	}
	for i := range sides {
		if !looser || sides[i].puts(t, rules) != nil {
			return false
		}
	}
	return true
}

package pipelines

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"pgregory.net/rapid"
)

// A generator draws one random pipeline. It binds each drawn stage immediately and draws the next stage from the
// resulting columns and types. Few stages are therefore refused.
type generator struct {
	t       *rapid.T
	d       *differential
	as      asker
	names   int // number of column names so far
	refused []string
}

// A column is a name that expressions can use. It is a column from earlier stages, or a variable. The name of a
// variable begins with a dollar.
type column struct {
	name string
	is   schema.Type
	list bool
	id   bool
}

// A scope contains the columns that an expression can use.
type scope []column

// A draft is the pipeline that has been drawn so far.
type draft struct {
	class  string
	stages []value.Value
	plan   policy.Plan
	as     asker
	ended  bool // later results would depend on an undefined order of objects or lists
}

func pick[T any](g *generator, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(g.t, label)
}

func (g *generator) times(label string, from, to int) int {
	return rapid.IntRange(from, to).Draw(g.t, label)
}

// chance returns true in about one of n cases. It returns false when rapid shrinks a failure.
func (g *generator) chance(label string, n int) bool { return g.times(label, 0, n-1) == n-1 }

// object1 returns an object with one member.
func object1(name string, v value.Value) value.Value {
	return value.OfObject([]value.Member{{Name: name, Value: v}})
}

func members(pairs ...any) value.Value {
	var out []value.Member
	for i := 0; i < len(pairs); i += 2 {
		if v, ok := pairs[i+1].(value.Value); ok {
			out = append(out, value.Member{Name: pairs[i].(string), Value: v})
			continue
		}
		out = append(out, value.Member{Name: pairs[i].(string), Value: value.OfString(pairs[i+1].(string))})
	}
	return value.OfObject(out)
}

func list(elements ...value.Value) value.Value { return value.OfArray(elements) }

func whole(n int) value.Value { return value.OfInt(int64(n)) }

// fresh returns a new column name. Some names contain special characters.
func (g *generator) fresh() string {
	g.names++
	return fmt.Sprintf("%s%d", pick(g, "name", "v", "v", "v", "ü \"", "it's"), g.names)
}

// bind binds stages on a class like policy. It returns an error for refused stages.
func (g *generator) bind(class string, stages []value.Value) (policy.Permit, error) {
	list, err := query.ParsePipeline(value.OfArray(stages), "/pipeline")
	if err != nil {
		return policy.Permit{}, err
	}
	return g.as.policy.Read(g.as.who, &query.Pipeline{Class: class, Stages: list, Limit: 200})
}

// pipeline draws 1 to n stages on a class. They follow the stages in before.
func (g *generator) pipeline(class string, before []value.Value, n int) draft {
	d := draft{as: g.as, class: class, stages: slices.Clip(before)}
	if permit, err := g.bind(class, append(d.stages, members("$match", members()))); err == nil {
		d.plan, _ = permit.Plan()
	} else {
		g.t.Fatalf("%s %s: %v", class, value.OfArray(d.stages), err)
	}
	for range g.times("stages", min(1, n), n) {
		for range 4 { // retry until a stage is accepted
			if d.ended {
				return d
			}
			stages := g.stage(&d, n > 2)
			permit, err := g.bind(class, append(d.stages, stages...))
			if err != nil {
				g.refusal(class, append(d.stages, stages...), err)
				continue
			}
			planned, err := permit.Plan()
			if err != nil {
				g.t.Fatal(err)
			}
			keyed, chosen := hasUndefinedOrder(planned.Program.Stages)
			if chosen || keyed && n <= 2 {
				continue
			}
			d.stages, d.plan, d.ended = append(d.stages, stages...), planned, keyed
			break
		}
	}
	return d
}

// hasUndefinedOrder reports two things about values whose order is undefined because they may be objects or lists.
// keyed is true if records are grouped by them, and chosen if a stage selects one of several.
func hasUndefinedOrder(stages []plan.Stage) (keyed, chosen bool) {
	loose := func(e plan.Expr) bool {
		_, exact := e.(plan.ToJSON)
		return e.Type() == schema.JSON && !exact
	}
	for _, st := range stages {
		var all []plan.Accumulator
		switch st := st.(type) {
		case *plan.Group:
			keyed = keyed || slices.ContainsFunc(st.Keys, loose)
			all = st.Accumulators
		case *plan.Buckets:
			chosen = chosen || loose(st.By)
			all = st.Accumulators
		}
		for _, a := range all {
			chosen = chosen || (a.Op == plan.Min || a.Op == plan.Max || a.Op == plan.AddToSet) && loose(a.X)
		}
	}
	return keyed, chosen
}

// refusal records a stage that can't be bound. It fails the test if the reason is an error of bind.
func (g *generator) refusal(class string, stages []value.Value, err error) {
	switch problem.CodeOf(err) {
	case problem.InvalidQuery, problem.Unsupported:
		p := problem.Of(err)
		g.refused = append(g.refused, p.Detail)
	default:
		g.t.Fatalf("%s %s: %v", class, value.OfArray(stages), err)
	}
}

// columns returns the columns that the next stage can use.
func (d draft) columns() scope {
	var out scope
	for _, c := range d.plan.Program.Out().Columns {
		if c.Path == nil || c.Tally != nil || slices.ContainsFunc(c.Path, func(p string) bool { return strings.ContainsAny(p, ".$") || strings.HasPrefix(p, deviation) }) {
			continue
		}
		out = append(out, column{c.Path.String(), c.Type, c.List, c.ID})
		if c.Class != "" && !c.Type.IsStructured() {
			out = append(out, d.behind(c.Key()+".", c.Class, 2)...)
		}
	}
	return out
}

// behind returns fields of the record that a pointer leads to. It also follows the pointers among these fields, for
// the given number of hops.
func (d draft) behind(prefix, class string, hops int) (out scope) {
	v, err := d.as.policy.View(d.as.who, class, "", false)
	if err != nil || hops == 0 {
		return nil
	}
	for _, f := range v.Fields() {
		if strings.ContainsAny(f.Name, ".$") || strings.HasPrefix(f.Name, deviation) || v.Mask(f.Name) != nil {
			continue
		}
		if f.Type != schema.Array && f.Type != schema.JSON {
			out = append(out, column{prefix + f.Name, f.Type, false, v.ID(f.Name)})
		}
		if p, ok := v.Pointer(f.Name); ok && !p.List {
			out = append(out, d.behind(prefix+f.Name+".", p.Target, hops-1)...)
		}
	}
	return out
}

// of returns the columns that satisfy a condition.
func (s scope) of(holds func(column) bool) scope {
	return slices.DeleteFunc(slices.Clone(s), func(c column) bool { return !holds(c) })
}

func (s scope) dynamic() scope {
	return s.of(func(c column) bool { return !c.list && (c.is == schema.JSON || c.is == schema.Any) })
}

func (s scope) lists() scope { return s.of(func(c column) bool { return c.list }) }

func (s scope) ofTypes(types ...schema.Type) scope {
	return s.of(func(c column) bool { return slices.Contains(types, c.is) })
}

// scalar returns the columns whose values have a defined order.
func (s scope) scalar() scope {
	return s.of(func(c column) bool { return c.is != schema.JSON && c.is != schema.Opaque && c.is != schema.Any })
}

// column draws a column of s, or returns "" if s is empty.
func (g *generator) column(s scope) string {
	if len(s) == 0 {
		return ""
	}
	return s[g.times("column", 0, len(s)-1)].name
}

// ref returns a reference to a column or a variable.
func ref(name string) value.Value { return value.OfString("$" + name) }

// step draws the name of a member of the objects in the datasets.
func (g *generator) step() string {
	return pick(g, "step", "a", "a", "b", "c", "k", "x", "s", "n", "t", "tags", "city", "0")
}

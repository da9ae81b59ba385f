package query

import (
	"strconv"

	"pgregory.net/rapid"

	"github.com/bailiwick-dev/bailiwick/value"
)

// A generator generates pipelines in canonical form, as a parser returns them.
type generator struct {
	*rapid.T
	vars   []string
	inside bool // of a stage, where $facet is not allowed
}

func (g generator) pick(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(g.T, label)
}

func (g generator) n(most int) int { return rapid.IntRange(0, most).Draw(g.T, "n") }

func (g generator) name() string { return g.pick("name", "a", "b", "c0", "é", "a b", "x/y~z", "_id") }

func (g generator) path() Path {
	p := Path{g.name()}
	for range g.n(2) {
		p = append(p, g.name())
	}
	return p
}

// names returns up to most names, none of which is a prefix of another.
func (g generator) names(least, most int) []string {
	all := []string{"a", "b", "c0", "é", "a b", "x/y~z"}
	return all[:least+g.n(min(most, len(all))-least)]
}

func (g generator) scalar() value.Value {
	switch g.n(6) {
	case 0:
		return value.OfBool(rapid.Bool().Draw(g.T, "bool"))
	case 1:
		return value.OfDecimal(g.pick("decimal", "1.5", "-0.10", "1e3"))
	case 2:
		return value.OfDate(rapid.Int64Range(-1e15, 1e15).Draw(g.T, "date"))
	case 3:
		return value.OfDay(86400e6 * int64(g.n(20000)))
	case 4:
		return value.OfString(g.pick("text", "", "x", "é\"\\", "a$b"))
	}
	return value.OfInt(rapid.Int64().Draw(g.T, "int"))
}

func (g generator) literal() Literal {
	switch g.n(5) {
	case 0:
		return Literal{}
	case 1:
		return Literal{Value: value.OfString(g.pick("text", "$", "$$x", "$a.b"))}
	case 2:
		return Literal{Value: value.OfArray([]value.Value{value.OfInt(1), value.OfString(g.pick("text", "x", "$x"))})}
	case 3:
		return Literal{Value: one(g.pick("member", "$add", "a.b", "a"), value.OfInt(1))}
	}
	return Literal{Value: g.scalar()}
}

func (g generator) exprs(least, most, depth int) []Expr {
	out := make([]Expr, least+g.n(most-least))
	for i := range out {
		out[i] = g.expr(depth)
	}
	return out
}

func (g generator) expr(depth int) Expr {
	kind := g.n(9)
	if depth == 0 {
		kind = g.n(2)
	}
	switch kind {
	case 0:
		return g.literal()
	case 1:
		if len(g.vars) > 0 {
			v := VariableRef{Name: g.pick("variable", g.vars...)}
			if g.n(1) == 0 {
				v.Path = g.path()
			}
			return v
		}
		return VariableRef{Name: "ROOT"}
	case 2:
		return FieldRef{Path: g.path()}
	case 3:
		var o ObjectExpr
		for _, n := range g.names(0, 2) {
			o.Members = append(o.Members, Computed{Name: Path{n}, Value: g.expr(depth - 1)})
		}
		return o
	case 4:
		return ListExpr{Elements: append(g.exprs(0, 1, depth-1), FieldRef{Path: g.path()})}
	case 5:
		s := Switch{Cond: g.n(1) == 0}
		for range 1 + g.n(1) {
			s.Cases = append(s.Cases, Case{If: g.expr(depth - 1), Then: g.expr(depth - 1)})
		}
		if s.Cond {
			s.Cases = s.Cases[:1]
		}
		if s.Cond || g.n(1) == 0 {
			s.Default = g.expr(depth - 1)
		}
		return s
	case 6:
		return g.lambda(depth)
	}
	sig := rapid.SampledFrom(Signatures).Draw(g.T, "op")
	if sig.Names == nil {
		most := sig.Max
		if most < 0 {
			most = sig.Min + 1
		}
		return Call{Op: sig.Op, Args: g.exprs(sig.Min, most, depth-1)}
	}
	args := make([]Expr, len(sig.Names))
	for i := range args {
		if i < sig.Min || g.n(1) == 0 {
			args[i] = g.expr(depth - 1)
		}
	}
	return Call{Op: sig.Op, Args: args}
}

func (g generator) lambda(depth int) Expr {
	if g.n(4) == 0 {
		name := g.pick("variable", "v", "w")
		vars := []Computed{{Name: Path{name}, Value: g.expr(depth - 1)}}
		g.vars = append(g.vars[:len(g.vars):len(g.vars)], name)
		return Let{Vars: vars, In: g.expr(depth - 1)}
	}
	l := Lambda{Op: g.pick("lambda", "$filter", "$map", "$reduce"), Input: g.expr(depth - 1), As: "this"}
	switch {
	case l.Op == "$reduce":
		l.Initial = g.expr(depth - 1)
	case g.n(1) == 0:
		l.As = "item"
	}
	if l.Op == "$filter" && g.n(1) == 0 {
		l.Limit = g.expr(depth - 1)
	}
	if g.vars = append(g.vars[:len(g.vars):len(g.vars)], l.As); l.Op == "$reduce" {
		g.vars = append(g.vars, "value")
	}
	l.Body = g.expr(depth - 1)
	return l
}

func (g generator) filter(depth int) Filter {
	kind := g.n(8)
	if depth == 0 {
		kind = g.n(3)
	}
	path := g.path()
	switch kind {
	case 0:
		return Exists{Path: path, Want: g.n(1) == 0}
	case 1:
		return In{Path: path, Values: []value.Value{g.scalar(), value.OfInt(1)}, Not: g.n(1) == 0}
	case 2:
		return Regex{Path: path, Pattern: "^a.*$", Options: g.pick("options", "", "i", "im")}
	case 3:
		return StartsWith{Path: path, Prefix: "x"}
	case 4:
		return Not{g.filter(depth - 1)}
	case 5:
		return Or{g.filter(depth - 1), g.filter(depth - 1)}
	case 6:
		return ElemMatch{Path: path, Match: Compare{Path: Path{}, Op: Lt, Value: g.scalar()}}
	case 7:
		q := InQuery{Path: path, Class: "users", Not: g.n(1) == 0}
		if g.n(1) == 0 {
			q.Where = g.filter(depth - 1)
		}
		if g.n(1) == 0 {
			q.Key = g.path()
		}
		return q
	}
	return And{g.filter(depth - 1), Compare{Path: path, Op: Op(g.n(5)), Value: g.scalar()}}
}

func (g generator) accumulators(least int) []Accumulator {
	var out []Accumulator
	for _, n := range g.names(least, 2) {
		a := Accumulator{Name: n, Op: g.pick("accumulator", Accumulators...)}
		if a.Op != "$count" {
			a.X = g.expr(1)
		}
		switch a.Op {
		case "$median":
			a.Points = []int64{500_000}
		case "$percentile":
			a.Points = []int64{0, int64(g.n(1_000_000)), 1_000_000}
		}
		out = append(out, a)
	}
	return out
}

func (g generator) stages(least, most, depth int) []Stage {
	out := make([]Stage, least+g.n(most-least))
	for i := range out {
		out[i] = g.stage(depth)
	}
	return out
}

func (g generator) stage(depth int) Stage {
	switch g.n(19) {
	case 0:
		m := Match{Where: g.filter(1)}
		if g.n(1) == 0 {
			m.If = g.expr(2)
		}
		return m
	case 1:
		p := Project{Drop: g.n(3) == 0}
		p.NoID = !p.Drop && g.n(1) == 0
		for _, n := range g.names(1, 4) {
			c := Computed{Name: Path{n, g.name()}}
			if !p.Drop && g.n(1) == 0 {
				c.Value = FieldRef{Path: g.path()}
				if x := g.expr(1); !isObject(x) {
					c.Value = x
				}
			}
			p.Fields = append(p.Fields, c)
		}
		return p
	case 2:
		var s AddFields
		for _, n := range g.names(1, 3) {
			s.Fields = append(s.Fields, Computed{Name: Path{n, "d"}, Value: Call{Op: "$add", Args: g.exprs(1, 2, 1)}})
		}
		return s
	case 3:
		return Group{Key: g.expr(2), Accumulators: g.accumulators(0)}
	case 4:
		var s SortStage
		for _, n := range g.names(1, 4) {
			s.Order = append(s.Order, Sort{Path: Path{n}, Desc: g.n(1) == 0})
		}
		return s
	case 5:
		return Skip{N: int64(g.n(9))}
	case 6:
		return Limit{N: 1 + int64(g.n(9))}
	case 7:
		return CountStage{Name: g.name()}
	case 8:
		return Unwind{Path: g.path(), Index: g.pick("index", "", "i"), Keep: g.n(1) == 0}
	case 9:
		return g.lookup(depth)
	case 10:
		s := GraphLookup{From: "users", Start: g.expr(1), ConnectFrom: g.path(), ConnectTo: g.path(), As: g.name(), MaxDepth: int64(g.n(MaxGraphDepth)), Depth: g.pick("depth", "", "n")}
		if g.n(1) == 0 {
			s.Restrict = g.filter(1)
		}
		return s
	case 11:
		s := UnionWith{Class: "users"}
		if depth > 0 {
			s.Stages = g.stages(0, 2, depth-1)
		}
		return s
	case 12:
		if g.inside {
			return ReplaceRoot{Root: g.expr(2)}
		}
		g.inside = true
		var s Facet
		for _, n := range g.names(1, 2) {
			s.Branches = append(s.Branches, Branch{Name: n, Stages: g.stages(1, 2, depth-1)})
		}
		return s
	case 13:
		s := Bucket{By: g.expr(1), Boundaries: []value.Value{value.OfInt(0), value.OfDecimal("1.5"), value.OfInt(9)}, Output: g.accumulators(0)}
		if g.n(1) == 0 {
			s.Default = value.OfString("other")
		}
		return s
	case 18:
		f := Fill{Order: []Sort{{Path: g.path(), Desc: g.n(1) == 0}}}
		if g.n(1) == 0 {
			f.By = FieldRef{Path: g.path()}
		}
		for _, n := range g.names(1, 3) {
			out := Filled{Name: Path{n}, Method: g.pick("method", "", LastValue, Linear)}
			if out.Method == "" {
				out.Value = g.expr(1)
			}
			f.Output = append(f.Output, out)
		}
		return f
	case 19:
		d := Densify{Field: g.path(), From: g.scalar(), To: g.scalar(), Step: value.OfDecimal("0.5"), Unit: g.pick("unit", "", "day", "month")}
		for _, n := range g.names(0, 2) {
			d.By = append(d.By, Path{n, g.name()})
		}
		return d
	case 14:
		return BucketAuto{By: g.expr(1), Buckets: 1 + int64(g.n(9)), Output: g.accumulators(0)}
	case 15:
		return SortByCount{By: g.expr(2)}
	case 16:
		return g.windows()
	}
	return Sample{N: 1 + int64(g.n(9))}
}

func (g generator) windows() Stage {
	s := SetWindowFields{Order: []Sort{{Path: Path{g.name()}, Desc: g.n(1) == 0}}}
	if g.n(1) == 0 {
		s.By = g.expr(1)
		if x, ok := s.By.(Literal); ok && x.Value.IsNull() { // null is read as no partition
			s.By = nil
		}
	}
	for _, n := range g.names(1, 3) {
		w := Window{Accumulator: Accumulator{Name: n, Op: g.pick("function", WindowFunctions...)}, First: true, Last: true}
		switch w.Op {
		case "$rank", "$denseRank", "$documentNumber":
		case "$shift":
			w.X, w.By, w.Default = g.expr(1), int64(g.n(4)-2), value.OfInt(1)
		default:
			if w.Op != "$count" {
				w.X = g.expr(1)
			}
			if w.First = g.n(1) == 0; !w.First {
				w.From = int64(g.n(4) - 5)
			}
			if w.Last = g.n(1) == 0; !w.Last {
				w.To = int64(g.n(4))
			}
		}
		s.Output = append(s.Output, w)
	}
	return s
}

// isObject reports whether x would be parsed as fields of an object.
func isObject(x Expr) bool { _, ok := x.(ObjectExpr); return ok }

func (g generator) lookup(depth int) Stage {
	s := Lookup{From: "users", As: g.name()}
	if g.n(1) == 0 || depth == 0 {
		s.Local, s.Foreign = g.path(), g.path()
	}
	if depth == 0 {
		return s
	}
	for i := range g.n(2) {
		v := "v" + strconv.Itoa(i)
		s.Let = append(s.Let, Computed{Name: Path{v}, Value: g.expr(1)})
	}
	for _, l := range s.Let {
		g.vars = append(g.vars[:len(g.vars):len(g.vars)], l.Name[0])
	}
	g.inside = true
	s.Stages = g.stages(0, 2, depth-1)
	return s
}

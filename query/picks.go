package query

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Picks are the accumulators of $group that take some records of a group. They are written with others: $topN is a $sort before the
// group, a $push in it, and a $slice behind it.
var Picks = []string{"$top", "$bottom", "$topN", "$bottomN", "$firstN", "$lastN", "$maxN", "$minN"}

// mostPicked is the most values that one pick takes.
const mostPicked = 1000

// A pick has the parts that an accumulator of Picks needs before and behind its group.
type pick struct {
	name    string
	op      string
	order   []Sort // of the records before the group. Nil to leave them as they are
	n       int64  // how many values of the list stay: the last ones if it is negative, or 0 for no list
	present bool   // nulls are left out
	at      string
}

// pick parses one of Picks as the accumulator that takes its place.
func (o operand) pick(name string) Accumulator {
	p := pick{name: name, op: o.name, at: o.at}
	a := Accumulator{Name: name, Op: "$push", At: o.at}
	switch o.name {
	case "$top", "$bottom":
		o.object("output", "sortBy")
		a.Op = map[string]string{"$top": "$first", "$bottom": "$last"}[o.name]
	case "$topN", "$bottomN":
		o.object("n", "output", "sortBy")
	default:
		o.object("input", "n")
	}
	if a.Op == "$push" {
		p.n = o.need("n").whole(1, mostPicked)
	}
	switch o.name {
	case "$top", "$bottom", "$topN", "$bottomN":
		p.order = o.need("sortBy").sort().(SortStage).Order
		a.X = o.need("output").expr()
	case "$maxN", "$minN":
		in := o.need("input")
		a.X = in.expr()
		field, ok := a.X.(FieldRef)
		if !ok && o.err == nil {
			o.refuse(hinted(in.at, o.name+" takes a field as its input", `Compute it in an $addFields before the group, and write "$name".`))
		}
		p.order, p.present = []Sort{{Path: field.Path, Desc: o.name == "$maxN"}}, true
	default:
		a.X = o.need("input").expr()
	}
	if o.name == "$bottomN" || o.name == "$lastN" {
		p.n = -p.n
	}
	o.picks = append(o.picks, p)
	return a
}

// around returns the stages that a $group is written with: its picks order the records before it, and cut lists behind it. A group has one
// order, so accumulators that depend on another are refused.
func (o operand) around(g Group) []Stage {
	picks := o.picks
	o.picks = nil
	if o.err != nil || len(picks) == 0 {
		return []Stage{g}
	}
	by := map[string]pick{}
	var first *pick // of those that order the records
	var cut []Computed
	for i, p := range picks {
		by[p.name] = p
		if p.order != nil && first == nil {
			first = &picks[i]
		}
		if p.n != 0 {
			cut = append(cut, Computed{Name: Path{p.name}, Value: p.list(), At: p.at})
		}
	}
	var out []Stage
	if first != nil {
		for _, a := range g.Accumulators {
			depends := slices.Contains([]string{"$first", "$last", "$push"}, a.Op)
			if depends && !slices.EqualFunc(by[a.Name].order, first.order, Sort.equal) {
				o.refuse(&problem.Error{Code: problem.Unsupported, Pointer: a.At,
					Detail:     fmt.Sprintf("%s orders the records of the group, and %s needs another order", first.op, problem.Cut(a.Name)),
					Suggestion: "Write two groups, in a $facet or in two calls."})
			}
		}
		out = append(out, SortStage{Order: first.order, At: first.at})
	}
	out = append(out, g)
	if cut != nil {
		out = append(out, AddFields{Fields: cut, At: o.at})
	}
	return out
}

// equal reports whether two terms of an order are the same.
func (s Sort) equal(other Sort) bool { return s.Desc == other.Desc && slices.Equal(s.Path, other.Path) }

// list returns the expression of the rest of the list of a pick.
func (p pick) list() Expr {
	list := Expr(FieldRef{Path: Path{p.name}, At: p.at})
	if p.present {
		list = Lambda{Op: "$filter", Input: list, As: "this", At: p.at,
			Body: Call{Op: "$ne", Args: []Expr{VariableRef{Name: "this", At: p.at}, Literal{At: p.at}}, At: p.at}}
	}
	return Call{Op: "$slice", Args: []Expr{list, Literal{Value: value.OfInt(p.n), At: p.at}}, At: p.at}
}

// firstN parses $firstN or $lastN of a list and returns the equivalent $slice.
func (o operand) firstN() Expr {
	o.object("input", "n")
	n := o.need("n").whole(1, mostPicked)
	if o.name == "$lastN" {
		n = -n
	}
	return Call{Op: "$slice", Args: []Expr{o.need("input").expr(), Literal{Value: value.OfInt(n), At: o.at}}, At: o.at}
}

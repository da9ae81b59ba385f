package query

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Picks are the accumulators of $group that select some records of a group. The parser replaces them by others: $topN
// becomes a $sort before the group, a $push in it, and a $slice after it.
var Picks = []string{"$top", "$bottom", "$topN", "$bottomN", "$firstN", "$lastN", "$maxN", "$minN"}

// mostPicked is the maximum number of values that one pick selects.
const mostPicked = 1000

// A pick has the parts that an accumulator of Picks requires before and after its group.
type pick struct {
	name    string
	op      string
	order   []Sort // the order of the records before the group. Nil keeps their order
	n       int64  // how many values of the list to keep: the last ones if negative, or 0 for no list
	present bool   // leave out nulls
	at      string
}

// pick parses one of Picks and returns the accumulator that replaces it.
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
			o.refuse(invalidWithHint(in.at, o.name+" takes a field as its input", `Compute it in an $addFields before the group, and write "$name".`))
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

// around returns g with the stages for its picks: they order the records before it and cut lists after it. A group can
// have only one order, so around refuses accumulators that depend on another order.
func (o operand) around(g Group) []Stage {
	picks := o.picks
	o.picks = nil
	if o.err != nil || len(picks) == 0 {
		return []Stage{g}
	}
	by := map[string]pick{}
	var first *pick // the first pick that orders the records
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

// list returns the expression for the kept part of a pick's list.
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

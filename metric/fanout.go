package metric

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// An edge is an equality between the fields of two items that holds for all records of the FROM in which both are set.
type edge struct {
	items  [2]int
	fields [2]string
}

// join adds the equalities of a join of the items left and right.
func (sc *scope) join(j *sqlparse.Join, left, right []int) {
	sides := func(x, y int) (within, across bool) {
		l, r := slices.Contains(left, x), slices.Contains(left, y)
		return l == r, l != r
	}
	for _, part := range sqlparse.Conjuncts(j.On) {
		e, ok := sc.equality(part)
		if !ok {
			continue
		}
		_, across := sides(e.items[0], e.items[1])
		first := slices.Contains(left, e.items[0])
		// An outer join keeps records for which its condition is false, so it says nothing about the records of one side.
		if across || j.Kind == "inner" || j.Kind == "left" && !first || j.Kind == "right" && first {
			sc.edges = append(sc.edges, e)
		}
	}
	for _, x := range left {
		for _, y := range right {
			for _, name := range sc.common(j, x, y) {
				sc.edges = append(sc.edges, edge{[2]int{x, y}, [2]string{name[0], name[1]}})
			}
		}
	}
}

// common returns the fields of two items that USING or NATURAL of a join names.
func (sc *scope) common(j *sqlparse.Join, x, y int) (out [][2]string) {
	left, right := sc.items[x].view, sc.items[y].view
	if left == nil || right == nil || j.Using == nil && !j.Natural {
		return nil
	}
	for _, f := range left.Fields() {
		if !j.Natural && !slices.ContainsFunc(j.Using, func(n sqlparse.Ident) bool { return strings.EqualFold(n.Text, f.Name) }) {
			continue
		}
		if other := fieldIn(right, f.Name); other != "" {
			out = append(out, [2]string{f.Name, other})
		}
	}
	return out
}

// fieldIn returns the field of v that name means, as in SQL, or "".
func fieldIn(v *policy.View, name string) string {
	var names []string
	for _, f := range v.Fields() {
		names = append(names, f.Name)
	}
	return exactly(name, names)
}

// equality returns a condition as an edge, if it compares the fields of two items.
func (sc *scope) equality(x sqlparse.Expr) (edge, bool) {
	b, ok := x.(*sqlparse.Binary)
	if !ok || b.Op != "=" {
		return edge{}, false
	}
	l, lf := sc.field(b.L)
	r, rf := sc.field(b.R)
	return edge{[2]int{l, r}, [2]string{lf, rf}}, l >= 0 && r >= 0 && l != r
}

// field returns the item and the field that an expression is, or -1.
func (sc *scope) field(x sqlparse.Expr) (int, string) {
	n, ok := x.(*sqlparse.Name)
	if !ok {
		return -1, ""
	}
	at, field := -1, ""
	for i, it := range sc.items {
		if it.view == nil || len(n.Parts) > 1 && !strings.EqualFold(n.Parts[len(n.Parts)-2].Text, it.alias) {
			continue
		}
		if name := fieldIn(it.view, n.Parts[len(n.Parts)-1].Text); name != "" {
			if at >= 0 {
				return -1, ""
			}
			at, field = i, name
		}
	}
	return at, field
}

// reach returns the items of which each record of item from meets at most one, with the path of pointers that leads
// there: "" for from itself, and "?" if the join isn't along pointers.
func (sc *scope) reach(from int) map[int]string {
	edges := sc.edges
	for _, part := range sqlparse.Conjuncts(sc.selected.Where) {
		if e, ok := sc.equality(part); ok {
			edges = append(slices.Clip(edges), e)
		}
	}
	out := map[int]string{from: ""}
	for again := true; again; {
		again = false
		for i, it := range sc.items {
			if _, done := out[i]; done || it.view == nil {
				continue
			}
			var fields []string
			path := "?"
			for _, e := range edges {
				for side := range 2 {
					near, known := out[e.items[1-side]]
					if e.items[side] != i || !known || !sc.injective(e, side) {
						continue
					}
					fields = append(fields, e.fields[side])
					of := sc.items[e.items[1-side]].view
					if to, ok := of.Pointer(e.fields[1-side]); ok && !to.List && near != "?" && to.TargetKey == e.fields[side] &&
						of.Behind(e.fields[1-side]).Class().FullName() == it.view.Class().FullName() {
						path = near + e.fields[1-side] + "."
					}
				}
			}
			if identified(it.view, fields) {
				out[i], again = path, true
			}
		}
	}
	return out
}

// injective reports whether different values of the field at one side of e can't equal the same value of the other
// side. A comparison of different types converts one of them.
func (sc *scope) injective(e edge, side int) bool {
	own, other := sc.items[e.items[side]].view.Field(e.fields[side]), sc.items[e.items[1-side]].view.Field(e.fields[1-side])
	return own != nil && other != nil && (own.Type == other.Type || own.Type == schema.Integer)
}

// identified reports whether at most one record of v has given values in fields.
func identified(v *policy.View, fields []string) bool {
	within := func(of []string) bool {
		return len(of) > 0 && !slices.ContainsFunc(of, func(f string) bool { return !slices.Contains(fields, f) })
	}
	c := v.Class()
	return within(c.Key) || slices.ContainsFunc(c.Indexes, func(x schema.Index) bool { return x.Unique && !x.More && within(x.Fields) })
}

package sqlgen

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// filter writes f over columns. The condition is true if f holds, and otherwise false or null. A Not turns false and
// null into true.
func (w *writer) filter(f query.Filter, over fields) error {
	return w.logic(f, func(f query.Filter, path query.Path) error { return w.condition(f, path, over) })
}

// logic writes And, Or and Not. It calls the function one for each other condition, with the path of the condition.
func (w *writer) logic(f query.Filter, one func(query.Filter, query.Path) error) error {
	switch f := f.(type) {
	case query.And:
		return w.all(f, " AND ", one)
	case query.Or:
		return w.all(f, " OR ", one)
	case query.Not:
		return w.not(func() error { return w.logic(f.Part, one) })
	case query.Never:
		w.Write(Never)
		return nil
	}
	path, ok := query.PathOf(f)
	if !ok {
		return problem.New(problem.InvalidQuery, fmt.Sprintf("compile knows no filter %T", f))
	}
	return one(f, path)
}

// condition writes one condition over columns.
func (w *writer) condition(f query.Filter, path query.Path, over fields) error {
	x := over(path[0])
	if x.Field == nil {
		return problem.New(problem.Internal, fmt.Sprintf("no field %s in what the plan filters", path[0]))
	}
	if x.Field.Type.IsStructured() {
		return w.inside(f, x, path[1:])
	}
	return w.atom(f, x)
}

// all writes conditions joined by op. An empty list is an error, because the parser never makes one.
func (w *writer) all(parts []query.Filter, op string, one func(query.Filter, query.Path) error) error {
	if len(parts) == 0 {
		return problem.New(problem.InvalidQuery, "an empty"+op+"of conditions")
	}
	w.Write("(")
	for i, p := range parts {
		if i > 0 {
			w.Write(op)
		}
		if err := w.logic(p, one); err != nil {
			return err
		}
	}
	w.Write(")")
	return nil
}

func (w *writer) not(write func() error) error {
	before, after := w.Negation()
	w.Write(before)
	err := write()
	w.Write(after)
	return err
}

// atom writes a condition on a column that isn't JSON.
func (w *writer) atom(f query.Filter, x Operand) error {
	switch f := f.(type) {
	case query.Compare:
		switch {
		case f.Value.IsNull() && f.Op == query.Ne:
			w.Write(x.Text, " IS NOT NULL")
			return nil
		case f.Value.IsNull():
			w.Write(w.Missing(x.Text, x.Field))
			return nil
		case f.Op == query.Ne:
			return w.not(func() error { return w.scalar(x, query.Eq, f.Value) })
		case f.Own && f.Value.Kind() == value.String:
			w.Own(&w.Writer, x, f.Value.Text())
			return nil
		}
		return w.scalar(x, f.Op, f.Value)
	case query.In:
		if f.Not {
			return w.not(func() error { return w.oneOf(x, f.Values) })
		}
		return w.oneOf(x, f.Values)
	case query.Exists:
		if f.Want {
			w.Write(x.Text, " IS NOT NULL")
		} else {
			w.Write(w.Missing(x.Text, x.Field))
		}
		return nil
	case query.Regex:
		return w.MatchText(&w.Writer, x, f)
	case query.StartsWith:
		w.Begins(&w.Writer, x, f.Prefix)
		return nil
	case query.GeoWithin:
		return w.On(&w.Writer, x, f)
	case query.InQuery:
		if f.Not {
			return w.not(func() error { return w.inQuery(f, x) })
		}
		return w.inQuery(f, x)
	}
	return problem.New(problem.Internal, fmt.Sprintf("compile can't write %T on %s", f, x.Field.Type))
}

// inQuery writes the condition that x is the key of a record in another view.
func (w *writer) inQuery(f query.InQuery, x Operand) error {
	if f.View < 1 || f.View > len(w.plan.Views) || len(f.Key) != 1 {
		return problem.New(problem.Internal, fmt.Sprintf("the plan has no view %d with a key %q", f.View, f.Key))
	}
	v := w.plan.Views[f.View-1]
	key := v.Class().Field(f.Key[0])
	if key == nil {
		return problem.New(problem.Internal, fmt.Sprintf("no field %s in the plan's view", f.Key))
	}
	alias := w.Alias("q")
	left, right := "", w.column(alias, key.Name)
	if x.Node() {
		left, right = w.Members(x, right, key)
	} else {
		left, right = w.Same(x.Text, x.Field, key), w.Same(right, key, x.Field)
	}
	w.Write(left, " IN (SELECT ", right, " FROM ")
	if err := w.writeDerivedTable(v, alias); err != nil {
		return err
	}
	if f.Where != nil {
		w.Write(" WHERE ")
		if err := w.filter(f.Where, w.of(v.Class(), alias)); err != nil {
			return err
		}
	}
	w.Write(")")
	return nil
}

var operators = [...]string{query.Eq: "=", query.Gt: ">", query.Gte: ">=", query.Lt: "<", query.Lte: "<="}

func (w *writer) scalar(x Operand, op query.Op, v value.Value) error {
	if x.Raw != "" { // a date, which is compared only with dates
		w.writeStoredComparison(x, operators[op], v.Micros())
		return nil
	}
	return w.CompareValue(&w.Writer, x, operators[op], Argument(v))
}

// oneOf writes the condition that x equals one of the given values. Texts, numbers and dates are each one comparison,
// if the dialect supports it.
func (w *writer) oneOf(x Operand, values []value.Value) error {
	var parts []func() error
	var lists [3][]value.Value // texts, numbers, dates
	null := false
	for _, v := range values {
		switch {
		case v.IsNull():
			null = true
		case v.Kind() == value.String:
			lists[0] = append(lists[0], v)
		case v.IsNumber():
			lists[1] = append(lists[1], v)
		case v.Kind() == value.Date || v.Kind() == value.Day:
			lists[2] = append(lists[2], v)
		default:
			parts = append(parts, func() error { return w.scalar(x, query.Eq, v) })
		}
	}
	for _, list := range lists {
		switch len(list) {
		case 0:
		case 1:
			parts = append(parts, func() error { return w.scalar(x, query.Eq, list[0]) })
		default:
			if x.Raw != "" {
				for _, v := range list {
					parts = append(parts, func() error { return w.scalar(x, query.Eq, v) })
				}
				continue
			}
			parts = append(parts, func() error { return w.Among(&w.Writer, x, list) })
		}
	}
	if null {
		parts = append(parts, func() error { w.Write(w.null(x)); return nil })
	}
	return w.Either(parts)
}

func (w *writer) null(x Operand) string {
	if x.Node() {
		return w.Is(x, "null")
	}
	return w.Missing(x.Text, x.Field)
}

// inside writes a condition on the value at path in the JSON of x. As in MongoDB, the path also continues into objects
// in arrays. A comparison applies to a node and, if the node is an array, to its elements too. The exception is
// query.Whole.
func (w *writer) inside(f query.Filter, x Operand, path query.Path) error {
	at := spot{x, path, false}
	switch f := f.(type) {
	case query.Compare:
		at.whole = f.Whole
		if f.Op == query.Ne {
			return w.not(func() error { return w.compareInside(query.Eq, f.Value, at) })
		}
		return w.compareInside(f.Op, f.Value, at)
	case query.In:
		at.whole = f.Whole
		if f.Not {
			return w.not(func() error { return w.inInside(f.Values, at) })
		}
		return w.inInside(f.Values, at)
	case query.Exists:
		there := func() error { return w.any(x, path, w.thereNode) }
		if f.Want {
			return there()
		}
		return w.not(there)
	case query.Regex:
		at.whole = f.Whole
		return w.some(at, func(n Operand) error { return w.MatchText(&w.Writer, n, f) })
	case query.StartsWith:
		at.whole = f.Whole
		return w.some(at, func(n Operand) error { w.Begins(&w.Writer, n, f.Prefix); return nil })
	case query.GeoWithin:
		at.whole = f.Whole
		return w.some(at, func(n Operand) error { return w.On(&w.Writer, n, f) })
	case query.Size:
		return w.any(x, path, func(n Operand) error {
			w.Write(w.Length(n), " = ")
			w.Put(f.N, "int8")
			return nil
		})
	case query.ElemMatch:
		return w.any(x, path, func(n Operand) error {
			return w.anyElement(n, func(e Operand) error { return w.element(f.Match, e) })
		})
	case query.InQuery:
		found := func() error {
			return w.some(at, func(n Operand) error { return w.inQuery(f, n) })
		}
		if f.Not {
			return w.not(found)
		}
		return found()
	}
	return problem.New(problem.Internal, fmt.Sprintf("compile can't write %T on JSON", f))
}

// A spot is the location in a JSON document to which a condition applies.
type spot struct {
	x     Operand
	path  query.Path
	whole bool // compare only the whole value: see query.Whole
}

// some writes the condition that a node at the spot, or one of its elements, satisfies another condition. The function
// holds writes that other condition. If the spot is a whole value, elements don't count, and the value must not be
// inside a list.
func (w *writer) some(at spot, holds func(Operand) error) error {
	if !at.whole {
		return w.any(at.x, at.path, w.orElement(holds))
	}
	return w.writeOutsideLists(at, func() error { return w.any(at.x, at.path, holds) })
}

// writeOutsideLists writes a condition. If the spot is a whole value, it first writes the condition that the path
// contains no list.
func (w *writer) writeOutsideLists(at spot, holds func() error) error {
	if !at.whole || len(at.path) == 0 {
		return holds()
	}
	w.Write("(")
	for n := range at.path {
		w.Write("NOT ")
		if err := w.any(at.x, at.path[:n], func(n Operand) error { w.Write(w.Is(n, "array")); return nil }); err != nil {
			return err
		}
		w.Write(" AND ")
	}
	err := holds()
	w.Write(")")
	return err
}

// compareInside writes a comparison at a spot. Null also equals a missing value.
func (w *writer) compareInside(op query.Op, v value.Value, at spot) error {
	if v.IsNull() {
		return w.inInside([]value.Value{v}, at)
	}
	return w.some(at, func(n Operand) error { return w.scalar(n, op, v) })
}

// inInside writes the condition that a value at a spot in a JSON document is one of the given values. As in MongoDB,
// null also matches if there is no value at the path.
func (w *writer) inInside(values []value.Value, at spot) error {
	if len(values) == 0 {
		w.Write(Never)
		return nil
	}
	return w.writeOutsideLists(at, func() error {
		w.Write("(")
		among := func(n Operand) error { return w.oneOf(n, values) }
		if !at.whole {
			among = w.orElement(among)
		}
		if err := w.any(at.x, at.path, among); err != nil {
			return err
		}
		if slices.ContainsFunc(values, value.Value.IsNull) {
			w.Write(" OR NOT ")
			if err := w.any(at.x, at.path, func(Operand) error { w.Write(always); return nil }); err != nil {
				return err
			}
		}
		w.Write(")")
		return nil
	})
}

func (w *writer) thereNode(n Operand) error {
	w.Write("NOT ", w.Is(n, "null"))
	return nil
}

// any writes the condition that some node at path in x satisfies another condition. The function holds writes that
// other condition.
func (w *writer) any(x Operand, path query.Path, holds func(Operand) error) error {
	w.Write("EXISTS (SELECT 1 FROM ")
	n, err := w.Nodes(&w.Writer, x, path)
	if err != nil {
		return err
	}
	w.Write("(")
	err = holds(n)
	w.Write("))")
	return err
}

// orElement extends a condition on a node to its elements.
func (w *writer) orElement(holds func(Operand) error) func(Operand) error {
	return func(n Operand) error {
		w.Write("(")
		if err := holds(n); err != nil {
			return err
		}
		w.Write(" OR ")
		if err := w.anyElement(n, holds); err != nil {
			return err
		}
		w.Write(")")
		return nil
	}
}

func (w *writer) anyElement(n Operand, holds func(Operand) error) error {
	w.Write("EXISTS (SELECT 1 FROM ")
	e := w.NodeElements(&w.Writer, n)
	w.Write(" WHERE ")
	err := holds(e)
	w.Write(")")
	return err
}

// element writes the filter of an $elemMatch over one element.
func (w *writer) element(f query.Filter, e Operand) error {
	return w.logic(f, func(f query.Filter, path query.Path) error { return w.inside(f, e, path) })
}

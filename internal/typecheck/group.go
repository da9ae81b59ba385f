package typecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

var id_ = query.Path{"_id"}

func (r *records) group(s query.Group) error {
	key, err := r.grouping(s.Key)
	if err != nil {
		return err
	}
	return r.addGroup(definition{path: id_, node: key, at: s.At}, s.Accumulators)
}

// grouping binds the key of a group. If the key is a plain path, it may be a field with pseudonyms. The records are
// then grouped by their key, which is returned as a pseudonym.
func (r *records) grouping(e query.Expr) (Node, error) {
	switch e := e.(type) {
	case query.FieldRef:
		n, err := r.find(e.Path, e.At, true)
		if err == nil && n.Column != nil && n.Column.Mask.Hides() || err == nil && n.IsObject() {
			return r.Field(e.Path, e.At)
		}
		return n, err
	}
	return bind(e, r)
}

// addGroup adds a Group by the columns of key. A constant key makes a single group of all records.
func (r *records) addGroup(key definition, accumulators []query.Accumulator) error {
	g := &plan.Group{}
	constant := key.node.Constant
	if constant {
		r.plain(key)
	} else {
		m := &mapping{records: r}
		if err := m.define(key.path, &key.node, key.at); err != nil {
			return err
		}
		for i, e := range m.stage.Columns {
			c := m.stage.Shape.Columns[i]
			if c.Type == schema.Opaque && c.Field != nil && c.Field.Form != "" { // grouped by its text in answers
				e, c.Type = plan.Convert{X: e, T: schema.String}, schema.String
			}
			k := Node{Expr: e, At: key.at}
			if err := k.CheckComputable(); err != nil {
				return err
			}
			c.Field, c.NotNull = nil, false
			if c.Type == schema.Any {
				e, c.Type = plan.ToJSON{X: e}, schema.JSON
			}
			g.Keys, g.Shape.Columns = append(g.Keys, e), append(g.Shape.Columns, c)
			g.Shape.Order = append(g.Shape.Order, plan.Place{Column: i})
		}
		g.Shape.Optional = m.stage.Shape.Optional
	}
	lists, err := r.accumulate(&g.Accumulators, &g.Shape, accumulators)
	if err != nil {
		return err
	}
	r.add(g)
	r.unknown, r.keep = r.unknownColumnError, nil
	defs := append(r.all(), lists...)
	if constant {
		defs = append([]definition{key}, defs...)
	}
	if constant || lists != nil {
		return r.project(defs)
	}
	return nil
}

// plain adds a note for a constant key that is the name of a field. Such a key makes a single group of all records.
func (r *records) plain(key definition) {
	c, _ := key.node.Expr.(plan.Const)
	if name := c.Value.Text(); name != "" && r.shape.Find(name) >= 0 {
		r.note(fmt.Sprintf("%s: %q is a text, the same for all records. The field is %q", key.at, name, "$"+name))
	}
}

// accumulate binds accumulators, each as a column. An accumulator of an object becomes one accumulator for each member.
// The function returns the lists of percentiles, whose elements are hidden columns of the stage.
func (r *records) accumulate(out *[]plan.Accumulator, shape *plan.Shape, accumulators []query.Accumulator) (lists []definition, err error) {
	for _, a := range accumulators {
		n := Node{At: a.At, Expr: plan.Const{T: schema.JSON}, Constant: true}
		if a.X != nil {
			if n, err = bind(a.X, r); err != nil {
				return nil, err
			}
		}
		path := query.Path{a.Name}
		for _, c := range shape.Columns {
			if begins(c.Path, path) {
				return nil, problem.Invalid(a.At, "%s is there already", a.Name)
			}
		}
		var list plan.List
		if err := accumulator(a, path, &n, func(acc plan.Accumulator, c plan.Column) {
			list.Elements = append(list.Elements, plan.ToJSON{X: plan.Ref{Column: len(shape.Columns), T: c.Type}})
			*out, shape.Columns = append(*out, acc), append(shape.Columns, c)
		}); err != nil {
			return nil, err
		}
		if a.Op == "$percentile" {
			lists = append(lists, definition{path: path, node: Node{Expr: list, List: true, At: a.At}, at: a.At})
		}
		if n.IsObject() && n.Optional && (a.Op == "$first" || a.Op == "$last") {
			shape.Optional = append(shape.Optional, path)
		}
	}
	return lists, nil
}

// accumulator binds a with its operand n. It calls add for each column at path: one for each point of a $percentile,
// otherwise one. A sum of 1 is a count. Sums have the type of their numbers, averages and deviations are Doubles, and
// lists are JSON.
func accumulator(a query.Accumulator, path query.Path, n *Node, add func(plan.Accumulator, plan.Column)) error {
	c := plan.Column{Path: path}
	acc := plan.Accumulator{}
	var err error
	switch a.Op {
	case "$count":
		acc.Op, c.Type, c.NotNull = plan.Count, schema.Integer, true
	case "$sum":
		acc.Op, c.Type, c.NotNull = plan.Sum, Number([]Node{*n}), false
		if n.Constant && value.Equal(n.Expr.(plan.Const).Value, value.OfInt(1)) {
			acc.Op, c.Type, c.NotNull = plan.Count, schema.Integer, true
			break
		}
		acc.X, err = n.Want(c.Type, a.Op)
	case "$avg":
		acc.Op, c.Type = plan.Avg, schema.Double
		acc.X, err = n.Want(Number([]Node{*n}), a.Op)
	case "$stdDevPop", "$stdDevSamp":
		acc.Op, c.Type = plan.StdDevPop, schema.Double
		if a.Op == "$stdDevSamp" {
			acc.Op = plan.StdDevSamp
		}
		acc.X, err = n.Want(schema.Double, a.Op)
	case "$percentile", "$median":
		acc.Op, c.Type = plan.Percentile, schema.Double
		if acc.X, err = n.Want(schema.Double, a.Op); err != nil {
			return err
		}
		acc.T = c.Type
		if a.Op == "$percentile" {
			c.Path = nil // a hidden column: see accumulate
		}
		for _, acc.Point = range a.Points {
			add(acc, c)
		}
		return nil
	case "$push", "$addToSet":
		acc.Op, c.Type, c.List, c.NotNull = plan.Push, schema.JSON, true, true
		if a.Op == "$addToSet" {
			acc.Op = plan.AddToSet
		}
		if err = n.CheckComputable(); err == nil {
			acc.X, c.Known = n.JSON(), plan.ListOf(n.Knowledge())
		}
	default:
		return bindSelection(a, path, n, add)
	}
	acc.T = c.Type
	if err == nil {
		add(acc, c)
	}
	return err
}

// bindSelection binds the accumulators that select one of the values. The type of the value stays.
func bindSelection(a query.Accumulator, path query.Path, n *Node, add func(plan.Accumulator, plan.Column)) error {
	ops := map[string]plan.Accumulate{"$min": plan.Min, "$max": plan.Max, "$first": plan.First, "$last": plan.Last}
	acc := plan.Accumulator{Op: ops[a.Op]}
	picks := acc.Op == plan.First || acc.Op == plan.Last
	if n.IsObject() {
		if !picks {
			return problem.Invalid(a.At, "%s takes a single value, not an object", a.Op)
		}
		for i := range n.Members {
			if err := bindSelection(a, append(slices.Clone(path), n.Members[i].Name), &n.Members[i].Node, add); err != nil {
				return err
			}
		}
		return nil
	}
	if err := n.CheckComputable(); err != nil {
		return err
	}
	c := columnFor(n, path)
	c.Field, c.NotNull = nil, false
	acc.X = n.Expr
	if n.Constant {
		acc.X = Constant(n.Expr.(plan.Const).Value, c.Type)
	}
	switch {
	case c.Type == schema.Any:
		acc.X, c.Type = n.JSON(), schema.JSON
	case c.Type == schema.Bytes && !picks:
		return problem.Invalid(a.At, "%s can't order bytes", a.Op)
	case n.List && !picks:
		return problem.Invalid(a.At, "%s takes a single value, not a list. $unwind the list first", a.Op)
	}
	acc.T = c.Type
	add(acc, c)
	return nil
}

// sortByCount binds $sortByCount as a group, sorted by its count, as MongoDB defines it.
func (r *records) sortByCount(s query.SortByCount) error {
	key, err := r.grouping(s.By)
	if err != nil {
		return err
	}
	count := []query.Accumulator{{Name: "count", Op: "$count", At: s.At}}
	if err := r.addGroup(definition{path: id_, node: key, at: s.At}, count); err != nil {
		return err
	}
	return r.sort(query.SortStage{Order: []query.Sort{{Path: query.Path{"count"}, Desc: true}}, At: s.At})
}

// outputOrCount returns output, or a count if output is empty.
func outputOrCount(output []query.Accumulator, at string) []query.Accumulator {
	if len(output) == 0 {
		return []query.Accumulator{{Name: "count", Op: "$count", At: at}}
	}
	return output
}

// bucket binds $bucket as a Group by a Case. The key of a group is the lower bound of its bucket. Without a default,
// MongoDB fails for a record outside of all buckets. Here such records are filtered out first, because no expression
// may fail because of a record's value.
func (r *records) bucket(s query.Bucket) error {
	by, err := bind(s.By, r)
	if err != nil {
		return err
	}
	bounds := boundaries(s)
	other := Node{Expr: plan.Const{Value: s.Default, T: Natural(s.Default)}, Constant: true, At: query.Pointer(s.At, "default")}
	var c plan.Case
	var inside []plan.Expr
	for i := 0; i+1 < len(bounds); i++ {
		from, lower, err := Alike(by, bounds[i], "$bucket")
		if err != nil {
			return err
		}
		until, upper, err := Alike(by, bounds[i+1], "$bucket")
		if err != nil {
			return err
		}
		c.If = append(c.If, plan.Apply{Op: plan.And, T: schema.Boolean, Args: []plan.Expr{
			plan.Apply{Op: plan.Gte, Args: []plan.Expr{from, lower}, T: schema.Boolean},
			plan.Apply{Op: plan.Lt, Args: []plan.Expr{until, upper}, T: schema.Boolean}}})
		if k, constant := lower.(plan.Const); constant {
			bounds[i].Become(k.Value, Natural(k.Value)) // the constant in its natural type
		} else {
			bounds[i].Compute(lower)
		}
	}
	inside = append(inside, c.If...)
	if s.Default.IsNull() {
		r.add(&plan.Filter{If: plan.Apply{Op: plan.Or, Args: inside, T: schema.Boolean}, Shape: *r.shape})
	}
	values, t, err := Together(append(slices.Clone(bounds[:len(bounds)-1]), other), "$bucket")
	if err != nil {
		return err
	}
	c.Then, c.Else, c.T = values[:len(values)-1], values[len(values)-1], t
	return r.addGroup(definition{path: id_, node: Node{Expr: c, At: s.At}, at: s.At}, outputOrCount(s.Output, s.At))
}

// bucketAuto binds $bucketAuto as Buckets. The result has the columns _id.min and _id.max and is ordered by _id.min.
func (r *records) bucketAuto(s query.BucketAuto) error {
	by, err := bind(s.By, r)
	if err != nil {
		return err
	}
	if by.IsObject() || by.List {
		return problem.Invalid(s.At, "$bucketAuto takes a single value, not %s", Describe(&by))
	}
	if err := by.CheckComputable(); err != nil {
		return err
	}
	b := &plan.Buckets{By: by.Expr, N: s.Buckets}
	c := columnFor(&by, id_)
	c.Field, c.NotNull = nil, false
	if c.Type == schema.Any {
		b.By, c.Type = by.JSON(), schema.JSON
	}
	for _, name := range strings.Fields("min max") {
		c.Path = query.Path{"_id", name}
		b.Shape.Columns = append(b.Shape.Columns, c)
	}
	b.Shape.Order = []plan.Place{{Column: 0}}
	lists, err := r.accumulate(&b.Accumulators, &b.Shape, outputOrCount(s.Output, s.At))
	if err != nil {
		return err
	}
	r.add(b)
	r.unknown, r.keep = r.unknownColumnError, nil
	if lists != nil {
		return r.project(append(r.all(), lists...))
	}
	return nil
}

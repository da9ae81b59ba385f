package bind

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

var id_ = query.Path{"_id"}

func (r *records) group(s query.Group) error {
	key, err := scope{records: r}.expr(s.Key)
	if err != nil {
		return err
	}
	return r.grouped(definition{path: id_, node: key, at: s.At}, s.Accumulators)
}

// grouped adds a Group by the columns of key. A key that is the same for all records makes one group of them.
func (r *records) grouped(key definition, accumulators []query.Accumulator) error {
	g := &algebra.Group{}
	constant := key.node.constant
	if !constant {
		m := &mapping{records: r}
		if err := m.define(key.path, &key.node, key.at); err != nil {
			return err
		}
		for i, e := range m.stage.Columns {
			k := node{expr: e, at: key.at}
			if err := k.shown(); err != nil {
				return err
			}
			c := m.stage.Shape.Columns[i]
			c.Field, c.NotNull = nil, false
			if c.Type == schema.Any {
				e, c.Type = algebra.ToJSON{X: e}, schema.JSON
			}
			g.Keys, g.Shape.Columns = append(g.Keys, e), append(g.Shape.Columns, c)
			g.Shape.Order = append(g.Shape.Order, algebra.Place{Column: i})
		}
		g.Shape.Optional = m.stage.Shape.Optional
	}
	if err := r.accumulate(&g.Accumulators, &g.Shape, accumulators); err != nil {
		return err
	}
	r.add(g)
	r.unknown, r.keep = r.computed, nil
	if constant {
		return r.project(append([]definition{key}, r.all()...))
	}
	return nil
}

// accumulate binds accumulators, each as a column. Those of an object are one for each of its members.
func (r *records) accumulate(out *[]algebra.Accumulator, shape *algebra.Shape, accumulators []query.Accumulator) error {
	for _, a := range accumulators {
		n := node{at: a.At, expr: algebra.Const{T: schema.JSON}, constant: true}
		if a.X != nil {
			var err error
			if n, err = (scope{records: r}).expr(a.X); err != nil {
				return err
			}
		}
		path := query.Path{a.Name}
		for _, c := range shape.Columns {
			if begins(c.Path, path) {
				return invalid(a.At, "%s is there already", a.Name)
			}
		}
		if err := accumulator(a, path, &n, func(acc algebra.Accumulator, c algebra.Column) {
			*out, shape.Columns = append(*out, acc), append(shape.Columns, c)
		}); err != nil {
			return err
		}
		if n.object() && n.optional && (a.Op == "$first" || a.Op == "$last") {
			shape.Optional = append(shape.Optional, path)
		}
	}
	return nil
}

func accumulator(a query.Accumulator, path query.Path, n *node, add func(algebra.Accumulator, algebra.Column)) error {
	c := algebra.Column{Path: path}
	acc := algebra.Accumulator{}
	var err error
	switch a.Op {
	case "$count":
		acc.Op, c.Type, c.NotNull = algebra.Count, schema.Integer, true
	case "$sum":
		acc.Op, c.Type, c.NotNull = algebra.Sum, number([]node{*n}), false
		if n.constant && value.Equal(n.expr.(algebra.Const).Value, value.OfInt(1)) {
			acc.Op, c.Type, c.NotNull = algebra.Count, schema.Integer, true
			break
		}
		acc.X, err = n.want(c.Type, a.Op)
	case "$avg":
		acc.Op, c.Type = algebra.Avg, schema.Double
		acc.X, err = n.want(number([]node{*n}), a.Op)
	case "$stdDevPop", "$stdDevSamp":
		acc.Op, c.Type = algebra.StdDevPop, schema.Double
		if a.Op == "$stdDevSamp" {
			acc.Op = algebra.StdDevSamp
		}
		acc.X, err = n.want(schema.Double, a.Op)
	case "$push", "$addToSet":
		acc.Op, c.Type, c.List, c.NotNull = algebra.Push, schema.JSON, true, true
		if a.Op == "$addToSet" {
			acc.Op = algebra.AddToSet
		}
		if err = n.shown(); err == nil {
			acc.X = n.json()
		}
	default:
		return chosen(a, path, n, add)
	}
	acc.T = c.Type
	if err == nil {
		add(acc, c)
	}
	return err
}

// chosen binds the accumulators that give one of the values: it stays what it is.
func chosen(a query.Accumulator, path query.Path, n *node, add func(algebra.Accumulator, algebra.Column)) error {
	ops := map[string]algebra.Accumulate{"$min": algebra.Min, "$max": algebra.Max, "$first": algebra.First, "$last": algebra.Last}
	acc := algebra.Accumulator{Op: ops[a.Op]}
	picks := acc.Op == algebra.First || acc.Op == algebra.Last
	if n.object() {
		if !picks {
			return invalid(a.At, "%s takes a single value, not an object", a.Op)
		}
		for i := range n.members {
			if err := chosen(a, append(slices.Clone(path), n.members[i].name), &n.members[i].node, add); err != nil {
				return err
			}
		}
		return nil
	}
	if err := n.shown(); err != nil {
		return err
	}
	c := n.named(path)
	c.Field, c.NotNull = nil, false
	acc.X = n.expr
	if n.constant {
		acc.X = constant(n.expr.(algebra.Const).Value, c.Type)
	}
	switch {
	case c.Type == schema.Any:
		acc.X, c.Type = n.json(), schema.JSON
	case c.Type == schema.Bytes && !picks:
		return invalid(a.At, "%s can't order bytes", a.Op)
	case n.list && !picks:
		return invalid(a.At, "%s takes a single value, not a list; $unwind the list first", a.Op)
	}
	acc.T = c.Type
	add(acc, c)
	return nil
}

func (r *records) sortByCount(s query.SortByCount) error {
	key, err := scope{records: r}.expr(s.By)
	if err != nil {
		return err
	}
	count := []query.Accumulator{{Name: "count", Op: "$count", At: s.At}}
	if err := r.grouped(definition{path: id_, node: key, at: s.At}, count); err != nil {
		return err
	}
	return r.sort(query.SortStage{Order: []query.Sort{{Path: query.Path{"count"}, Desc: true}}, At: s.At})
}

// counted is what a bucket tells when it isn't asked for anything else.
func counted(output []query.Accumulator, at string) []query.Accumulator {
	if len(output) == 0 {
		return []query.Accumulator{{Name: "count", Op: "$count", At: at}}
	}
	return output
}

func (r *records) bucket(s query.Bucket) error {
	by, err := scope{records: r}.expr(s.By)
	if err != nil {
		return err
	}
	bounds := boundaries(s)
	other := node{expr: algebra.Const{Value: s.Default, T: natural(s.Default)}, constant: true, at: query.Pointer(s.At, "default")}
	var c algebra.Case
	var inside []algebra.Expr
	for i := 0; i+1 < len(bounds); i++ {
		from, lower, err := alike(by, bounds[i], "$bucket")
		if err != nil {
			return err
		}
		until, upper, err := alike(by, bounds[i+1], "$bucket")
		if err != nil {
			return err
		}
		c.If = append(c.If, algebra.Apply{Op: algebra.And, T: schema.Boolean, Args: []algebra.Expr{
			algebra.Apply{Op: algebra.Gte, Args: []algebra.Expr{from, lower}, T: schema.Boolean},
			algebra.Apply{Op: algebra.Lt, Args: []algebra.Expr{until, upper}, T: schema.Boolean}}})
		bounds[i].expr = typed(lower)
	}
	inside = append(inside, c.If...)
	if s.Default.IsNull() {
		r.add(&algebra.Filter{If: algebra.Apply{Op: algebra.Or, Args: inside, T: schema.Boolean}, Shape: *r.shape})
	}
	values, t, err := together(append(slices.Clone(bounds[:len(bounds)-1]), other), "$bucket")
	if err != nil {
		return err
	}
	c.Then, c.Else, c.T = values[:len(values)-1], values[len(values)-1], t
	return r.grouped(definition{path: id_, node: node{expr: c, at: s.At}, at: s.At}, counted(s.Output, s.At))
}

// typed is a constant in the type that it was compared in.
func typed(e algebra.Expr) algebra.Expr {
	if c, ok := e.(algebra.Const); ok {
		return algebra.Const{Value: c.Value, T: natural(c.Value)}
	}
	return e
}

func (r *records) bucketAuto(s query.BucketAuto) error {
	by, err := scope{records: r}.expr(s.By)
	if err != nil {
		return err
	}
	if by.object() || by.list {
		return invalid(s.At, "$bucketAuto takes a single value, not %s", what(&by))
	}
	if err := by.shown(); err != nil {
		return err
	}
	b := &algebra.Buckets{By: by.expr, N: s.Buckets}
	c := by.named(id_)
	c.Field, c.NotNull = nil, false
	if c.Type == schema.Any {
		b.By, c.Type = by.json(), schema.JSON
	}
	for _, name := range strings.Fields("min max") {
		c.Path = query.Path{"_id", name}
		b.Shape.Columns = append(b.Shape.Columns, c)
	}
	b.Shape.Order = []algebra.Place{{Column: 0}}
	if err := r.accumulate(&b.Accumulators, &b.Shape, counted(s.Output, s.At)); err != nil {
		return err
	}
	r.add(b)
	r.unknown, r.keep = r.computed, nil
	return nil
}

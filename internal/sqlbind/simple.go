package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlexpr"
	"github.com/bailiwick-dev/bailiwick/internal/sqltext"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck/typed"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// simple returns e as a filter on a stored column, so that an index can serve it; nil if it is none.
func (r *rel) simple(e sqltext.Expr) (query.Filter, error) {
	switch e := e.(type) {
	case *sqltext.Binary:
		return r.simpleComparison(e)
	case *sqltext.Between:
		if e.Not || e.Symmetric {
			return nil, nil
		}
		low, err := r.simpleComparison(&sqltext.Binary{Op: ">=", L: e.X, R: e.Low, At: e.At})
		if err != nil || low == nil {
			return nil, err
		}
		high, err := r.simpleComparison(&sqltext.Binary{Op: "<=", L: e.X, R: e.High, At: e.At})
		if err != nil || high == nil {
			return nil, err
		}
		return query.And{low, high}, nil
	case *sqltext.In:
		return r.simpleIn(e)
	case *sqltext.Is:
		if c := r.stored(e.X); c != nil && e.What == "null" {
			return query.Exists{Path: c.Path, Want: e.Not}, nil
		}
	}
	return nil, nil
}

// stored returns the stored column that e names, which can be compared; nil if it is none.
func (r *rel) stored(e sqltext.Expr) *plan.Column {
	n, ok := e.(*sqltext.Name)
	if !ok || r.computed != nil {
		return nil
	}
	up, c, err := r.find(n)
	if err != nil || up > 0 || c.at < 0 {
		return nil
	}
	column := &r.shape.Columns[c.at]
	if column.Field == nil || column.Mask != nil || column.Path == nil {
		return nil
	}
	switch column.Type {
	case schema.String, schema.Integer, schema.Double, schema.Decimal, schema.Boolean, schema.Date, schema.UUID:
		r.tables.Named(column.Field)
		return column
	}
	return nil
}

var signs = map[string]query.Op{"=": query.Eq, "<>": query.Ne, "<": query.Lt, "<=": query.Lte, ">": query.Gt, ">=": query.Gte}

func (r *rel) simpleComparison(e *sqltext.Binary) (query.Filter, error) {
	sign, ok := signs[e.Op]
	if !ok {
		return nil, nil
	}
	x, y := e.L, e.R
	c := r.stored(x)
	if c == nil {
		if c = r.stored(y); c == nil {
			return nil, nil
		}
		x, y = y, x
		sign = map[query.Op]query.Op{query.Eq: query.Eq, query.Ne: query.Ne, query.Lt: query.Gt, query.Lte: query.Gte, query.Gt: query.Lt, query.Gte: query.Lte}[sign]
	}
	v, ok := r.operand(c, y)
	if !ok {
		return nil, nil
	}
	f := query.Compare{Path: c.Path, Op: sign, Value: v, At: sqlexpr.At(e.Pos())}
	if sign == query.Ne { // which holds for null in a filter
		return query.And{f, query.Exists{Path: c.Path, Want: true}}, nil
	}
	return f, nil
}

func (r *rel) simpleIn(e *sqltext.In) (query.Filter, error) {
	c := r.stored(e.X)
	if c == nil || e.Query != nil {
		return nil, nil
	}
	in := query.In{Path: c.Path, Not: e.Not, At: sqlexpr.At(e.Pos())}
	for _, item := range e.List {
		v, ok := r.operand(c, item)
		if !ok {
			return nil, nil
		}
		in.Values = append(in.Values, v)
	}
	if e.Not {
		return query.And{in, query.Exists{Path: c.Path, Want: true}}, nil
	}
	return in, nil
}

// operand returns a constant as a value of a column's type, and whether it is one that isn't null.
func (r *rel) operand(c *plan.Column, e sqltext.Expr) (value.Value, bool) {
	switch e.(type) {
	case *sqltext.Number, *sqltext.String, *sqltext.Word, *sqltext.Param, *sqltext.Unary, *sqltext.Cast, *sqltext.Call, *sqltext.Binary:
	default:
		return value.Value{}, false
	}
	n, err := r.exprs().Alone().Value(e)
	if err != nil || n.Span || !n.Constant {
		return value.Value{}, false
	}
	n.Node = typed.AsID(n.Node, c)
	x, err := n.Want(c.Type, "=")
	if err != nil {
		return value.Value{}, false
	}
	k, ok := x.(plan.Const)
	if !ok || k.Value.IsNull() {
		return value.Value{}, false
	}
	if c.Type == schema.Date { // a bare day is its midnight
		return value.OfDate(k.Value.Micros()), true
	}
	return k.Value, true
}

package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Columns are the columns that a condition may use.
type Columns interface {
	// StoredColumn returns the stored column to which e refers, if it can be compared, otherwise nil.
	StoredColumn(e sqlparse.Expr) *plan.Column

	// AllowedValues returns the values that a field may have, or nil for any values.
	AllowedValues(*schema.Field) []typecheck.Allowed

	// Note adds a note about a place to the answer.
	Note(at, text string)

	// Alone binds an expression without column names.
	Alone(e sqlparse.Expr) (node, error)
}

// comparable reports whether c is a stored column that can be compared with constants.
func comparable(c *plan.Column) bool {
	switch c.Type {
	case schema.String, schema.Integer, schema.Double, schema.Decimal, schema.Boolean, schema.Date, schema.UUID:
		return c.Field != nil && c.Mask == nil && c.Path != nil
	case schema.Opaque:
		return c.Field != nil && c.Field.Form != "" && c.Mask == nil && c.Path != nil
	case schema.Day: // only an Endless one, for values that no expression can contain: see special
		return c.Field != nil && c.Field.Endless && c.Mask == nil && c.Path != nil
	}
	return false
}

// noteImpossibleValues adds notes about values that a column is compared with for equality but never has.
func noteImpossibleValues(r Columns, c *plan.Column, at string, values ...value.Value) {
	for _, v := range values {
		if wrong := typecheck.UnknownValueNote(c.Field, r.AllowedValues(c.Field), v); wrong != "" {
			r.Note(at, wrong)
		}
	}
}

// filterOf returns e as a filter on a stored column of r, or nil.
func filterOf(r Columns, e sqlparse.Expr) (query.Filter, error) {
	switch e := e.(type) {
	case *sqlparse.Binary:
		if e.Op == "or" {
			return either(r, e)
		}
		return comparison(r, e)
	case *sqlparse.Between:
		if e.Not || e.Symmetric {
			return nil, nil
		}
		low, err := comparison(r, &sqlparse.Binary{Op: ">=", L: e.X, R: e.Low, At: e.At})
		if err != nil || low == nil {
			return nil, err
		}
		high, err := comparison(r, &sqlparse.Binary{Op: "<=", L: e.X, R: e.High, At: e.At})
		if err != nil || high == nil {
			return nil, err
		}
		return query.And{low, high}, nil
	case *sqlparse.In:
		return in(r, e)
	case *sqlparse.Any:
		if l := e.Among(); l != nil {
			return in(r, l)
		}
	case *sqlparse.Is:
		if c := r.StoredColumn(e.X); c != nil && e.What == "null" {
			return query.Exists{Path: c.Path, Want: e.Not}, nil
		}
	}
	return nil, nil
}

// either returns a filter for an OR in which a condition compares a column as no expression can. It returns nil for any
// other OR.
func either(r Columns, e *sqlparse.Binary) (query.Filter, error) {
	left, err := filterOf(r, e.L)
	if left == nil || err != nil {
		return nil, err
	}
	right, err := filterOf(r, e.R)
	if right == nil || err != nil || !sees(r, e.L) && !sees(r, e.R) {
		return nil, err
	}
	return query.Or{left, right}, nil
}

// sees reports whether a condition, which is a filter, can't be an expression. It compares a column of a type that only
// the database knows, or a date outside of the years that expressions support.
func sees(r Columns, e sqlparse.Expr) bool {
	var x, y sqlparse.Expr
	switch e := e.(type) {
	case *sqlparse.Binary:
		if e.Op == "or" {
			return sees(r, e.L) || sees(r, e.R)
		}
		x, y = e.L, e.R
	case *sqlparse.In:
		if len(e.List) == 0 {
			return false
		}
		x, y = e.X, e.List[0]
	default:
		return false
	}
	c, constant := r.StoredColumn(x), y
	if c == nil {
		c, constant = r.StoredColumn(y), x
	}
	if c == nil {
		return false
	}
	_, ok := special(c, constant)
	return ok
}

// special returns the text of a constant if no expression can compare the constant with the column. This applies to a
// column of a type that only the database knows, to NaN, infinities, and dates outside of the years 1 to 9999.
func special(c *plan.Column, e sqlparse.Expr) (value.Value, bool) {
	if cast, ok := e.(*sqlparse.Cast); ok {
		e = cast.X
	}
	text, ok := e.(*sqlparse.String)
	if !ok || c.Field == nil {
		return value.Value{}, false
	}
	if c.Type == schema.Opaque {
		return value.OfString(text.Text), true
	}
	if c.Type == schema.Double || c.Type == schema.Decimal {
		v, ok := schema.Number(c.Type, text.Text)
		return v, ok && v.Kind() == value.Float // NaN and the infinities
	}
	if c.Type != schema.Date && c.Type != schema.Day {
		return value.Value{}, false
	}
	v, ok := c.Field.ParseDate(text.Text)
	return v, ok && v.Kind() == value.String
}

// filterMidnight adds a note about the meaning of a day without a time in a comparison with a column of times.
func filterMidnight(r Columns, c *plan.Column, sign string, constant sqlparse.Expr) {
	if c.Type != schema.Date {
		return
	}
	if n, err := r.Alone(constant); err == nil {
		if note := midnight(c.Field.Name, sign, &n); note != "" {
			r.Note(At(constant.Pos()), note)
		}
	}
}

var written = map[query.Op]string{query.Eq: "=", query.Ne: "<>", query.Lte: "<=", query.Gt: ">"}

var signs = map[string]query.Op{"=": query.Eq, "<>": query.Ne, "<": query.Lt, "<=": query.Lte, ">": query.Gt, ">=": query.Gte}

// comparison returns a filter for a comparison of a stored column with a constant, for which an index can be used. The
// constant may be on either side. For any other e it returns nil, and e becomes an expression of the plan.
func comparison(r Columns, e *sqlparse.Binary) (query.Filter, error) {
	sign, ok := signs[e.Op]
	if !ok {
		return nil, nil
	}
	x, y := e.L, e.R
	c := r.StoredColumn(x)
	if c == nil {
		if c = r.StoredColumn(y); c == nil {
			return nil, nil
		}
		x, y = y, x
		sign = map[query.Op]query.Op{query.Eq: query.Eq, query.Ne: query.Ne, query.Lt: query.Gt, query.Lte: query.Gte, query.Gt: query.Lt, query.Gte: query.Lte}[sign]
	}
	v, ok := operand(r, c, y)
	if !ok || c.Type == schema.Opaque && sign > query.Ne && !c.Field.Ordered {
		return nil, nil
	}
	f := query.Compare{Path: c.Path, Op: sign, Value: v, At: At(e.Pos())}
	if sign <= query.Ne {
		noteImpossibleValues(r, c, f.At, v)
	}
	filterMidnight(r, c, written[sign], y)
	if sign == query.Ne { // in a filter, Ne also holds for null
		return query.And{f, query.Exists{Path: c.Path, Want: true}}, nil
	}
	return f, nil
}

// in returns a filter for IN over a stored column with constants, or nil if e is something else. In SQL, NOT IN doesn't
// hold for null, so the filter also has an Exists.
func in(r Columns, e *sqlparse.In) (query.Filter, error) {
	c := r.StoredColumn(e.X)
	if c == nil || e.Query != nil {
		return nil, nil
	}
	among := query.In{Path: c.Path, Not: e.Not, At: At(e.Pos())}
	for i, item := range e.List {
		v, ok := operand(r, c, item)
		if !ok {
			return nil, nil
		}
		if i == 0 {
			filterMidnight(r, c, "=", item)
		}
		among.Values = append(among.Values, v)
	}
	noteImpossibleValues(r, c, among.At, among.Values...)
	if e.Not {
		return query.And{among, query.Exists{Path: c.Path, Want: true}}, nil
	}
	return among, nil
}

// operand returns a constant as a value of a column's type. It returns false if e isn't a constant, or is null.
func operand(r Columns, c *plan.Column, e sqlparse.Expr) (value.Value, bool) {
	if v, ok := special(c, e); ok || c.Type == schema.Opaque || c.Type == schema.Day {
		return v, ok
	}
	switch e.(type) {
	case *sqlparse.Number, *sqlparse.String, *sqlparse.Word, *sqlparse.Param, *sqlparse.Unary, *sqlparse.Cast, *sqlparse.Call, *sqlparse.Binary:
	default:
		return value.Value{}, false
	}
	n, err := r.Alone(e)
	if err != nil || n.Span || !n.Constant {
		return value.Value{}, false
	}
	n.Node = typecheck.AsID(n.Node, c)
	x, err := n.Want(c.Type, "=")
	if err != nil {
		return value.Value{}, false
	}
	k, ok := x.(plan.Const)
	if !ok || k.Value.IsNull() {
		return value.Value{}, false
	}
	if c.Type == schema.Date { // a day without a time means its midnight
		return value.OfDate(k.Value.Micros()), true
	}
	return k.Value, true
}

// selectsOne reports whether the first stages of p keep at most one record, because they fix the value of the key.
func selectsOne(p *plan.Program) bool {
	if len(p.Base.Order) != 1 || p.From < 0 {
		return false
	}
	key := p.Base.Order[0].Column
	if !p.Base.Columns[key].NotNull {
		return false
	}
	for _, s := range p.Stages {
		f, ok := s.(*plan.Filter)
		if !ok {
			_, passes := s.(*plan.Map)
			if !passes {
				return false
			}
			continue
		}
		// The key equals a value of the outer record, in a correlated sub-query.
		tests := []plan.Expr{f.If}
		if a, ok := f.If.(plan.Apply); ok && a.Op == plan.And {
			tests = a.Args
		}
		for _, t := range tests {
			a, ok := t.(plan.Apply)
			if !ok || a.Op != plan.Same {
				continue
			}
			for i, x := range a.Args {
				ref, is := x.(plan.Ref)
				_, around := a.Args[1-i].(plan.Outer)
				if is && around && ref.Column == key {
					return true
				}
			}
		}
		where, and := f.Where.(query.And)
		if !and {
			where = query.And{f.Where}
		}
		for _, w := range where {
			if c, ok := w.(query.Compare); ok && c.Op == query.Eq && c.Path.String() == p.Base.Columns[key].Key() {
				return true
			}
		}
	}
	return false
}

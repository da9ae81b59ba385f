package typecheck

import (
	"math/big"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// densify binds $densify. It first adds a record for each value to each partition. Then it drops an added record if
// another record of the partition has the same value. The result is sorted by partition and field. Like all stages that
// make records, it omits masked columns.
func (r *records) densify(s query.Densify) error {
	if err := r.dropMaskedColumns(s.At); err != nil {
		return err
	}
	var by []Node
	for i, path := range append(slices.Clone(s.By), s.Field) {
		at := query.Pointer(s.At, "field")
		if i < len(s.By) {
			at = query.Pointer(query.Pointer(s.At, "partitionByFields"), path.String())
		}
		n, err := r.Field(path, at)
		if err == nil {
			err = n.CheckComputable()
		}
		if err == nil && (n.IsObject() || n.List || Dynamic(n.Expr.Type())) {
			err = problem.Invalid(at, "$densify takes a field of a known type: convert %s before, as in {\"$addFields\": {\"day\": {\"$toDate\": …}}}", path)
		}
		if err != nil {
			return err
		}
		by = append(by, n)
	}
	columns := r.addHiddenColumns(by)
	field := columns[len(columns)-1]
	values, err := series(s, r.shape.Columns[field].Type)
	if err != nil {
		return err
	}
	made := &generated{records: r, by: columns[:len(columns)-1], field: field, values: values}
	made.own = len(r.shape.Columns)
	if len(s.By) == 0 {
		made.appendValues()
	} else {
		made.joinValues()
	}
	made.settle()
	return nil
}

// generated is the input of a $densify and the records that it adds.
type generated struct {
	*records
	by     []int // the columns of the partition
	field  int
	values []value.Value
	own    int // the column that is 1 for an input record and 0 for an added record
}

// plain returns column i in a form that also fits added records: without a stored field, and possibly null.
func (g *generated) plain(i int) plan.Column {
	c := g.shape.Columns[i]
	return plan.Column{Path: c.Path, Type: c.Type, List: c.List, ID: c.ID, Class: c.Class, ClassKey: c.ClassKey}
}

// valueRows returns a program of rows with two columns: 1, and a value. With own, the first value is null and
// represents the input record.
func (g *generated) valueRows(own bool) *plan.Program {
	p := &plan.Program{From: plan.Listed, Base: plan.Shape{Columns: []plan.Column{{Type: schema.Integer, NotNull: true}, {Type: g.shape.Columns[g.field].Type}}}}
	if own {
		p.Rows = append(p.Rows, value.Row{value.OfInt(1), value.Value{}})
	}
	for _, v := range g.values {
		p.Rows = append(p.Rows, value.Row{value.OfInt(1), v})
	}
	p.Base.Order = []plan.Place{{Column: 1}}
	return p
}

func one(n int64) plan.Expr { return Constant(value.OfInt(n), schema.Integer) }

// inputColumn returns column i of an input record, or null for a masked column. Such a column came from a joined
// pointer and has no name here.
func inputColumn(i int, c plan.Column) plan.Expr {
	if c.Mask != nil {
		return plan.Const{T: c.Type}
	}
	return plan.Ref{Column: i, T: c.Type}
}

// appendValues appends a record for each value.
func (g *generated) appendValues() {
	u := &plan.Union{Right: g.valueRows(false)}
	for i, c := range g.shape.Columns {
		added := plan.Expr(plan.Const{T: c.Type})
		if i == g.field {
			added = plan.Ref{Column: 1, T: c.Type}
		}
		u.Left, u.Added = append(u.Left, inputColumn(i, c)), append(u.Added, added)
		u.Shape.Columns = append(u.Shape.Columns, g.plain(i))
	}
	n := len(u.Left)
	u.Left, u.Added = append(u.Left, one(1)), append(u.Added, one(0))
	whole := plan.Column{Type: schema.Integer, NotNull: true}
	u.Shape.Columns = append(u.Shape.Columns, whole, whole, whole)
	u.Shape.Order = []plan.Place{{Column: n + 1}, {Column: n + 2}}
	g.add(u)
}

// joinValues joins the values to the first record of each partition. A null value represents the input record.
func (g *generated) joinValues() {
	width := len(g.shape.Columns)
	w := &plan.Windows{By: g.by, Functions: []plan.Window{{Kind: plan.RowNumber, Accumulator: plan.Accumulator{T: schema.Integer}}}, Shape: *g.shape}
	w.Shape.Columns = append(slices.Clone(g.shape.Columns), plan.Column{Type: schema.Integer, NotNull: true})
	w.Shape.Order = append(slices.Clone(g.shape.Order), plan.Place{Column: width})
	g.add(w)

	right := g.valueRows(true)
	j := &plan.Join{Right: right, Keep: true, Shape: *g.shape,
		On: []plan.Pair{{Left: plan.Ref{Column: width, T: schema.Integer}, Right: plan.Ref{Column: 0, T: schema.Integer}}}}
	j.Shape.Columns = append(slices.Clone(g.shape.Columns), right.Base.Columns...)
	j.Shape.Columns[width+1].NotNull = false
	j.Shape.Order = append(slices.Clone(g.shape.Order), plan.Place{Column: width + 2})
	g.add(j)

	made := plan.Ref{Column: width + 2, T: right.Base.Columns[1].Type}
	own := plan.Apply{Op: plan.IsNull, Args: []plan.Expr{made}, T: schema.Boolean}
	m := &plan.Map{}
	choose := func(record, other plan.Expr, t schema.Type) plan.Expr {
		return plan.Case{If: []plan.Expr{own}, Then: []plan.Expr{record}, Else: other, T: t}
	}
	for i, c := range g.shape.Columns[:width] {
		ref := inputColumn(i, c)
		switch {
		case slices.Contains(g.by, i):
			m.Columns = append(m.Columns, ref)
		case i == g.field:
			m.Columns = append(m.Columns, choose(ref, made, c.Type))
		default:
			m.Columns = append(m.Columns, choose(ref, plan.Const{T: c.Type}, c.Type))
		}
		m.Shape.Columns = append(m.Shape.Columns, g.plain(i))
	}
	m.Columns = append(m.Columns, choose(one(1), one(0), schema.Integer))
	m.Shape.Columns = append(m.Shape.Columns, plan.Column{Type: schema.Integer, NotNull: true})
	for _, o := range g.shape.Order {
		if o.Column < width {
			m.Shape.Order = append(m.Shape.Order, o)
		}
	}
	m.Columns = append(m.Columns, made)
	m.Shape.Columns = append(m.Shape.Columns, plan.Column{Type: made.T})
	m.Shape.Order = append(m.Shape.Order, plan.Place{Column: width + 1})
	g.add(m)
}

// settle drops an added record if another record has the same value. Then it sorts the result.
func (g *generated) settle() {
	total := len(g.shape.Columns)
	own := plan.Ref{Column: g.own, T: schema.Integer}
	w := &plan.Windows{By: append(slices.Clone(g.by), g.field), Shape: *g.shape, Functions: []plan.Window{
		{Accumulator: plan.Accumulator{Op: plan.Sum, X: own, T: schema.Integer}, Frame: plan.Frame{First: true, Last: true}}}}
	w.Shape.Columns = append(slices.Clone(g.shape.Columns), plan.Column{Type: schema.Integer})
	var order []plan.Place
	for _, c := range w.By {
		order = append(order, plan.Place{Column: c})
	}
	w.Shape.Order = append(order, slices.DeleteFunc(slices.Clone(g.shape.Order), func(p plan.Place) bool { return slices.Contains(w.By, p.Column) })...)
	g.add(w)
	is := func(x plan.Expr, n int64) plan.Expr {
		return plan.Apply{Op: plan.Eq, Args: []plan.Expr{x, one(n)}, T: schema.Boolean}
	}
	alone := is(plan.Ref{Column: total, T: schema.Integer}, 0)
	g.add(&plan.Filter{If: plan.Apply{Op: plan.Or, Args: []plan.Expr{is(own, 1), alone}, T: schema.Boolean}, Shape: *g.shape})
	g.unknown = g.unknownColumnError
}

// series returns the values of a $densify in type t. They are in ascending order, at most query.MaxSeries.
func series(s query.Densify, t schema.Type) ([]value.Value, error) {
	at := query.Pointer(s.At, "range")
	bounds := query.Pointer(at, "bounds")
	ends := [2]value.Value{s.From, s.To}
	for i, v := range ends {
		n := Node{Expr: Constant(v, Natural(v)), Constant: true, At: query.Pointer(bounds, string(rune('0'+i)))}
		x, err := n.Want(t, "$densify")
		if err != nil {
			return nil, err
		}
		if ends[i] = x.(plan.Const).Value; t == schema.Date {
			ends[i] = value.OfDate(ends[i].Micros()) // a day becomes its midnight
		}
	}
	if c, alike := value.Compare(ends[0], ends[1]); !alike || c >= 0 {
		return nil, problem.Invalid(bounds, "the first bound is below the second, which is left out itself")
	}
	next, err := steps(s, t, ends[0])
	if err != nil {
		return nil, err
	}
	var out []value.Value
	for v := ends[0]; ; v = next(int64(len(out))) {
		if c, _ := value.Compare(v, ends[1]); c >= 0 {
			return out, nil
		}
		if len(out) == query.MaxSeries {
			return nil, problem.Invalid(at, "$densify makes at most %d values. Bring the bounds together, or use a longer step", query.MaxSeries)
		}
		out = append(out, v)
	}
}

// steps returns a function that computes the value n steps after the first value.
func steps(s query.Densify, t schema.Type, first value.Value) (func(n int64) value.Value, error) {
	at := query.Pointer(s.At, "range")
	size, ok := new(big.Rat).SetString(s.Step.String())
	if !ok || size.Sign() <= 0 {
		return nil, problem.Invalid(query.Pointer(at, "step"), "step takes a number above 0")
	}
	timed := t == schema.Date || t == schema.Day
	switch {
	case timed && s.Unit == "":
		return nil, problem.Invalid(at, "the range of times needs a unit, as in {\"step\": 1, \"unit\": \"day\", …}")
	case !timed && s.Unit != "":
		return nil, problem.Invalid(query.Pointer(at, "unit"), "a unit belongs to a field of times")
	case !size.IsInt() && (timed || t == schema.Integer):
		return nil, problem.Invalid(query.Pointer(at, "step"), "step takes a whole number here")
	case timed:
		return instants(s, t, first, size.Num())
	case !Numeric(t):
		return nil, problem.Invalid(query.Pointer(s.At, "field"), "$densify takes a field of numbers or times")
	}
	begin, _ := new(big.Rat).SetString(first.String())
	return func(n int64) value.Value {
		x := new(big.Rat).Mul(size, big.NewRat(n, 1))
		x.Add(x, begin)
		switch t {
		case schema.Integer:
			return value.OfInt(x.Num().Int64())
		case schema.Decimal:
			return value.OfDecimal(x.FloatString(decimals))
		}
		f, _ := x.Float64()
		return value.OfFloat(f)
	}, nil
}

// decimals is the number of decimal places of the decimals that $densify makes.
const decimals = 18

// instants returns the function of steps for dates, in UTC. A step of months or years from the last days of a month
// ends at the last day of a shorter month.
func instants(s query.Densify, t schema.Type, first value.Value, size *big.Int) (func(n int64) value.Value, error) {
	months := map[string]int64{"month": 1, "quarter": 3, "year": 12}[s.Unit]
	micros := map[string]int64{"millisecond": 1e3, "second": 1e6, "minute": 60e6, "hour": 3600e6, "day": 86400e6, "week": 7 * 86400e6}[s.Unit]
	at := query.Pointer(query.Pointer(s.At, "range"), "unit")
	switch {
	case months == 0 && micros == 0:
		return nil, problem.Invalid(at, "the unit is year, quarter, month, week, day, hour, minute, second or millisecond")
	case t == schema.Day && months == 0 && micros < 86400e6:
		return nil, problem.Invalid(at, "a field of days takes a unit of a day or longer")
	case !size.IsInt64() || size.Int64() > 1_000_000:
		return nil, problem.Invalid(query.Pointer(query.Pointer(s.At, "range"), "step"), "step takes at most 1000000 units")
	}
	begin := first.Micros()
	return func(n int64) value.Value {
		n *= size.Int64()
		x := begin + n*micros
		if months > 0 {
			x = plan.AddMonths(time.UnixMicro(begin).UTC(), int(n*months)).UnixMicro()
		}
		if t == schema.Day {
			return value.OfDay(x)
		}
		return value.OfDate(x)
	}, nil
}

package sqlbind

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// bindAggregate binds a call of an aggregate over the records of b. The second result has the flags of the aggregate's
// value.
func bindAggregate(b *Binder, c *sqlparse.Call) (Aggregate, node, error) {
	switch c.Name {
	case "percentile_cont", "percentile_disc", "median", "mode":
	default:
		if c.Within != nil {
			return Aggregate{}, node{}, invalid(c.At, "%s takes no WITHIN GROUP. An order stands within its parentheses", c.Name)
		}
	}
	return (&aggregateBinder{b}).aggregate(c)
}

// An aggregateBinder adds aggregates and window functions to the functions that a Binder binds.
type aggregateBinder struct{ *Binder }

func first(refs []plan.Expr) plan.Expr { return refs[0] }

// An Aggregate contains the accumulators that a group computes for a call.
type Aggregate struct {
	Accumulators []plan.Accumulator
	Value        func(refs []plan.Expr) plan.Expr // computes the value from the accumulators
	List         bool                             // the value is a list or null
}

func one(op plan.Accumulate, x plan.Expr, t schema.Type) Aggregate {
	return Aggregate{Accumulators: []plan.Accumulator{{Op: op, X: x, T: t}}, Value: func(refs []plan.Expr) plan.Expr { return refs[0] }}
}

// aggregate binds a call of an aggregate function by its name. The node has the flags of the value, such as a day or a
// length of time.
func (b *aggregateBinder) aggregate(c *sqlparse.Call) (Aggregate, node, error) {
	switch c.Name {
	case "percentile_cont", "percentile_disc", "median", "mode":
		return b.percentile(c)
	}
	args, err := b.arguments(c)
	if err != nil {
		return Aggregate{}, node{}, err
	}
	if c.Name == "count" {
		a, err := b.count(c, args)
		return a, node{Marks: whole}, err
	}
	if most := map[string]int{"string_agg": 2, "group_concat": 2, "listagg": 2, "max_by": 2, "min_by": 2}[c.Name]; len(args) == 0 || len(args) > max(1, most) {
		return Aggregate{}, node{}, invalid(c.At, "%s takes %d argument", c.Name, max(1, most))
	}
	x := args[0]
	switch c.Name {
	case "sum", "total", "avg", "stddev", "stddev_samp", "stddev_pop", "std", "variance", "var_samp", "var_pop":
		if c.Distinct {
			return Aggregate{}, node{}, unsupportedError(c.At, fmt.Sprintf("write SELECT %s(x) FROM (SELECT DISTINCT %s AS x FROM …) AS d", c.Name, "…"), "%s(DISTINCT …) isn't there", c.Name)
		}
		a, err := b.sums(c, &x)
		return a, node{Marks: Marks{Span: x.Span, Number: aggregateType(c.Name, x.Number.Of(x.Kind()))}}, err
	case "min", "max":
		op := plan.Min
		if c.Name == "max" {
			op = plan.Max
		}
		e := x.JSONOr()
		a := one(op, e, e.Type())
		a.List = x.List
		return a, node{Marks: x.Marks}, nil
	case "max_by", "min_by":
		a, err := b.extreme(c, args)
		return a, node{Marks: x.Marks}, err
	case "bool_and", "every", "bool_or":
		e, err := x.Want(schema.Boolean, c.Name)
		op := plan.Min
		if c.Name == "bool_or" {
			op = plan.Max
		}
		return one(op, e, schema.Boolean), node{}, err
	case "array_agg", "json_agg", "jsonb_agg", "json_group_array":
		a, err := b.bindArrayAgg(c, &x)
		return a, node{}, err
	case "string_agg", "group_concat", "listagg":
		a, err := b.bindStringAgg(c, args)
		return a, node{}, err
	}
	return Aggregate{}, node{}, unsupportedError(c.At, "", "%s isn't there", c.Name)
}

// bindArrayAgg binds array_agg: the list of all values including nulls, or null if there are no records.
func (b *aggregateBinder) bindArrayAgg(c *sqlparse.Call, x *node) (Aggregate, error) {
	op := plan.Push
	if c.Distinct {
		op = plan.AddToSet
	}
	if c.Filter != nil {
		return Aggregate{}, unsupportedError(c.At, "put the condition in WHERE", "%s takes no FILTER", c.Name)
	}
	limit, err := b.limit(c)
	if err != nil {
		return Aggregate{}, err
	}
	e, err := x.Element(c.Name)
	return Aggregate{List: true, Accumulators: []plan.Accumulator{{Op: op, X: e, T: schema.JSON}, {Op: plan.Count, T: schema.Integer}},
		Value: func(refs []plan.Expr) plan.Expr { return firstOf(someOf(refs, schema.JSON), limit, false) }}, err
}

// whole are the marks of a number of records.
var whole = Marks{Number: bigint}

// aggregateType returns the PostgreSQL type of the result of a numeric aggregate.
func aggregateType(aggregate string, of numberType) numberType {
	switch aggregate {
	case "sum":
		return of.Sum()
	case "total":
		return floating
	}
	return of.Average()
}

// extreme binds max_by and min_by: the first x in the order of y, or null if every y is null. Package sqlparse orders
// the records.
func (b *aggregateBinder) extreme(c *sqlparse.Call, args []node) (Aggregate, error) {
	if len(args) != 2 {
		return Aggregate{}, invalid(c.At, "%s takes 2 arguments", c.Name)
	}
	if c.Distinct || c.Filter != nil {
		return Aggregate{}, unsupportedError(c.At, "put the condition in WHERE", "%s takes no DISTINCT and no FILTER", c.Name)
	}
	x, y := args[0].JSONOr(), args[1].JSONOr()
	return Aggregate{List: args[0].List, Accumulators: []plan.Accumulator{{Op: plan.First, X: x, T: x.Type()}, {Op: plan.Count, X: y, T: schema.Integer}},
		Value: func(refs []plan.Expr) plan.Expr { return someOf(refs, x.Type()) }}, nil
}

// arguments binds the arguments of an aggregate. With FILTER, the first argument is null if the condition doesn't hold.
func (b *aggregateBinder) arguments(c *sqlparse.Call) ([]node, error) {
	var args []node
	var err error
	for _, e := range c.Args {
		if _, star := e.(*sqlparse.Star); star {
			return nil, invalid(e.Pos(), "%s takes an expression, not *", c.Name)
		}
		x, err := b.bindArgument(c, e)
		if err != nil {
			return nil, err
		}
		args = append(args, x)
	}
	if c.Name == "count" && c.Distinct && len(args) > 1 { // as in MySQL, a record doesn't count if one of its values is null
		var there []plan.Expr
		for i := range args {
			there = append(there, Not(args[i].Nothing()))
		}
		list, err := b.Value(&sqlparse.Array{Items: c.Args, At: c.At})
		if err != nil {
			return nil, err
		}
		list.Compute(plan.Case{If: []plan.Expr{All(there)}, Then: []plan.Expr{list.Expr}, Else: plan.Const{T: schema.JSON}, T: schema.JSON})
		args = []node{list}
	}
	if c.Star && c.Filter != nil {
		args = []node{literal(value.OfInt(1), c.At)}
	}
	if len(args) == 0 {
		return nil, nil
	}
	args[0], err = b.applyFilter(c, args[0])
	return args, err
}

// bindArgument binds an argument. count(DISTINCT (a, b)) counts lists of both values. A list isn't null if one of them
// is null.
func (b *aggregateBinder) bindArgument(c *sqlparse.Call, e sqlparse.Expr) (node, error) {
	if t, row := e.(*sqlparse.Tuple); row && c.Name == "count" && c.Distinct {
		return b.Value(&sqlparse.Array{Items: t.Items, At: t.At})
	}
	return b.Value(e)
}

// applyFilter returns x, or null if the condition of FILTER doesn't hold.
func (b *aggregateBinder) applyFilter(c *sqlparse.Call, x node) (node, error) {
	if c.Filter == nil {
		return x, nil
	}
	holds, err := b.Cond(c.Filter)
	if err != nil {
		return x, err
	}
	e := x.JSONOr()
	x.Compute(plan.Case{If: []plan.Expr{holds.Yes}, Then: []plan.Expr{e}, Else: plan.Const{T: e.Type()}, T: e.Type()})
	return x, nil
}

// count binds count(*), count(x) and count(DISTINCT x). A constant that isn't null counts all records.
func (b *aggregateBinder) count(c *sqlparse.Call, args []node) (Aggregate, error) {
	switch {
	case len(args) == 0:
		return one(plan.Count, nil, schema.Integer), nil
	case len(args) > 1:
		return Aggregate{}, unsupportedError(c.At, "count(DISTINCT (a, b)) counts the pairs that occur", "count takes one expression")
	}
	x := args[0].JSONOr()
	if k, constant := x.(plan.Const); constant && !k.Value.IsNull() && !c.Distinct {
		return one(plan.Count, nil, schema.Integer), nil
	}
	if c.Distinct {
		return one(plan.CountDistinct, x, schema.Integer), nil
	}
	return one(plan.Count, x, schema.Integer), nil
}

// someOf returns the first of refs, or null if the second, the number of values, is 0.
func someOf(refs []plan.Expr, t schema.Type) plan.Expr {
	none := plan.Apply{Op: plan.Same, Args: []plan.Expr{refs[1], Whole(0)}, T: schema.Boolean}
	return plan.Case{If: []plan.Expr{none}, Then: []plan.Expr{plan.Const{T: t}}, Else: refs[0], T: t}
}

// sums binds sum, avg, total, and the standard deviations and variances. In SQL, a sum of no values is null, but
// plan.Sum is 0. So a sum also counts the values. A variance is the square of the deviation.
func (b *aggregateBinder) sums(c *sqlparse.Call, x *node) (Aggregate, error) {
	if x.Span && c.Name[0] == 'v' {
		return Aggregate{}, unsupportedError(c.At, "extract(epoch FROM …) gives seconds", "%s can't take lengths of time", c.Name)
	}
	if x.Kind() == schema.String && !x.IsNull() {
		return Aggregate{}, unsupportedError(c.At, fmt.Sprintf("write %s(CAST(… AS double precision)) if the texts are numbers", c.Name), "%s takes numbers, not texts", c.Name)
	}
	if x.Kind() == schema.Boolean && (c.Name == "sum" || c.Name == "avg" || c.Name == "total") { // the number of true values, as in MySQL and SQLite
		x.Compute(plan.Convert{X: x.Expr, T: schema.Integer})
	}
	t := schema.Double
	if k := x.Kind(); k == schema.Integer || k == schema.Decimal {
		t = k
	}
	deviation := c.Name[0] == 's' && c.Name != "sum" || c.Name[0] == 'v'
	if deviation {
		t = schema.Double
	}
	e, err := x.Want(t, c.Name)
	if err != nil {
		return Aggregate{}, err
	}
	switch c.Name {
	case "avg":
		return one(plan.Avg, e, schema.Double), nil
	case "sum":
		return Aggregate{Accumulators: []plan.Accumulator{{Op: plan.Sum, X: e, T: t}, {Op: plan.Count, X: e, T: schema.Integer}}, Value: func(refs []plan.Expr) plan.Expr {
			return someOf(refs, t)
		}}, nil
	case "total": // SQLite's sum: a Double, and 0 for no values
		return one(plan.Sum, plan.Widen{X: e, T: schema.Double}, schema.Double), nil
	}
	op := plan.StdDevSamp
	if c.Name == "stddev_pop" || c.Name == "var_pop" || c.Name == "std" {
		op = plan.StdDevPop
	}
	a := one(op, e, schema.Double)
	if c.Name[0] == 'v' {
		a.Value = func(refs []plan.Expr) plan.Expr {
			return plan.Apply{Op: plan.Mul, Args: []plan.Expr{refs[0], refs[0]}, T: schema.Double}
		}
	}
	return a, nil
}

// mostSeparator is the maximum length of a separator, which limits how much separators add to the size of a list.
const mostSeparator = 32

// bindStringAgg binds string_agg: the texts that aren't null, in order, joined by a separator.
func (b *aggregateBinder) bindStringAgg(c *sqlparse.Call, args []node) (Aggregate, error) {
	separator := ","
	if len(args) == 2 {
		k, ok := args[1].Expr.(plan.Const)
		if !ok || k.Value.Kind() != value.String {
			return Aggregate{}, problem.Invalid(args[1].At, "%s takes a constant text as separator", c.Name)
		}
		if separator = k.Value.Text(); len(separator) > mostSeparator {
			return Aggregate{}, problem.UnsupportedError(args[1].At, "%s takes a separator of at most %d bytes", c.Name, mostSeparator)
		}
	}
	x, err := b.Text(&args[0], c.Name)
	if err != nil {
		return Aggregate{}, err
	}
	limit, err := b.limit(c)
	if err != nil {
		return Aggregate{}, err
	}
	op := plan.Push
	if c.Distinct {
		op = plan.AddToSet
	}
	a := one(op, plan.ToJSON{X: x}, schema.JSON)
	between := plan.Const{Value: value.OfString(separator), T: schema.String}
	a.Value = func(refs []plan.Expr) plan.Expr {
		return plan.Apply{Op: plan.JoinTexts, Args: []plan.Expr{firstOf(refs[0], limit, true), between}, T: schema.String}
	}
	return a, nil
}

// limit returns how many of its values an aggregate keeps, or 0 for all values.
func (b *aggregateBinder) limit(c *sqlparse.Call) (int64, error) {
	if c.Limit == nil {
		return 0, nil
	}
	v, err := b.Constant(c.Limit)
	if err != nil {
		return 0, err
	}
	n, ok := v.AsInt()
	if !ok || n < 1 {
		return 0, invalid(c.Limit.Pos(), "the LIMIT of %s is a whole number of 1 or more", c.Name)
	}
	return n, nil
}

// firstOf returns the first elements of a list, or all elements if limit is 0. With there, it skips nulls.
func firstOf(list plan.Expr, limit int64, there bool) plan.Expr {
	if limit == 0 {
		return list
	}
	body := plan.Expr(constantly(true))
	if there {
		body = Not(isNull(plan.Element{}))
	}
	return plan.Over{Do: plan.SelectEach, Input: list, Limit: Whole(limit), Body: body}
}

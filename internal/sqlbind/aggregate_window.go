package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Windowed contains the window functions that a stage computes for a call.
type Windowed struct {
	Functions []plan.Window
	Value     func(refs []plan.Expr) plan.Expr // computes the value from the functions
	Flags     node                             // the flags of the value
}

func windowFunction(flags node, value func([]plan.Expr) plan.Expr, fs ...plan.Window) Windowed {
	return Windowed{fs, value, flags}
}

// window binds a call over the window w of the records of b.
func window(b *Binder, c *sqlparse.Call, w *sqlparse.Window) (Windowed, error) {
	return (&aggregateBinder{b}).window(c, w)
}

func rankWindow(kind plan.Rank) plan.Window {
	return plan.Window{Kind: kind, Accumulator: plan.Accumulator{T: schema.Integer}}
}

// counting counts all records of a partition.
func counting() plan.Window {
	return plan.Window{Accumulator: plan.Accumulator{Op: plan.Count, T: schema.Integer}, Frame: plan.Frame{First: true, Last: true}}
}

// window binds a window function. By PostgreSQL's definitions, percent_rank is (rank - 1) / (records - 1), or 0 for a
// single record. cume_dist is the number of records up to the last peer, divided by the number of all records. Any
// other name is an aggregate over a frame.
func (b *aggregateBinder) window(c *sqlparse.Call, w *sqlparse.Window) (Windowed, error) {
	switch c.Name {
	case "row_number", "rank", "dense_rank":
		kind := map[string]plan.Rank{"row_number": plan.RowNumber, "rank": plan.Ranked, "dense_rank": plan.DenseRanked}[c.Name]
		return windowFunction(node{Marks: whole}, first, rankWindow(kind)), nil
	case "percent_rank":
		return windowFunction(node{}, func(refs []plan.Expr) plan.Expr {
			less := func(x plan.Expr) plan.Expr {
				return plan.Widen{X: plan.Apply{Op: plan.Sub, Args: []plan.Expr{x, Whole(1)}, T: schema.Integer}, T: schema.Double}
			}
			share := plan.Apply{Op: plan.Div, Args: []plan.Expr{less(refs[0]), less(refs[1])}, T: schema.Double}
			return plan.Apply{Op: plan.IfNull, Args: []plan.Expr{share, plan.Widen{X: Whole(0), T: schema.Double}}, T: schema.Double}
		}, rankWindow(plan.Ranked), counting()), nil
	case "cume_dist":
		upTo := counting()
		upTo.Frame = plan.Frame{First: true, Peers: true, Last: w.Order == nil}
		return windowFunction(node{}, func(refs []plan.Expr) plan.Expr {
			of := func(x plan.Expr) plan.Expr { return plan.Widen{X: x, T: schema.Double} }
			return plan.Apply{Op: plan.Div, Args: []plan.Expr{of(refs[0]), of(refs[1])}, T: schema.Double}
		}, upTo, counting()), nil
	case "ntile":
		return b.ntile(c)
	case "lag", "lead":
		return b.bindLagLead(c)
	case "first_value", "last_value", "nth_value":
		return b.end(c, w)
	}
	if !sqlparse.Aggregates[c.Name] {
		return Windowed{}, &problem.Error{Code: problem.InvalidQuery, Kind: "unknown_function", Pointer: At(c.At), Detail: "unknown window function " + problem.Cut(c.Name),
			Near: problem.Nearest(c.Name, append(WindowNames(), "sum", "avg", "count", "min", "max"), 3)}
	}
	return b.bindOverFrame(c, w)
}

// WindowNames returns the names of the functions that require a window.
func WindowNames() []string {
	return []string{"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value", "nth_value"}
}

// ntile divides a partition into ranges and returns the number of a record's range. The argument is the number of
// ranges. The first ranges are larger by one record if the division has a remainder.
func (b *aggregateBinder) ntile(c *sqlparse.Call) (Windowed, error) {
	n := int64(0)
	if len(c.Args) == 1 {
		v, err := b.Constant(c.Args[0])
		if err != nil {
			return Windowed{}, err
		}
		n, _ = v.AsInt()
	}
	if n < 1 {
		return Windowed{}, invalid(c.At, "ntile takes a constant whole number of 1 or more")
	}
	return windowFunction(node{}, func(refs []plan.Expr) plan.Expr {
		of := func(o plan.Op, a, b plan.Expr) plan.Expr {
			return plan.Apply{Op: o, Args: []plan.Expr{a, b}, T: schema.Integer}
		}
		at := of(plan.Sub, refs[0], Whole(1))
		size, rest := of(plan.Quo, refs[1], Whole(n)), of(plan.Mod, refs[1], Whole(n))
		large := of(plan.Mul, rest, of(plan.Add, size, Whole(1)))
		inLarge := of(plan.Quo, at, of(plan.Add, size, Whole(1)))
		inSmall := of(plan.Add, rest, of(plan.Quo, of(plan.Sub, at, large), size))
		number := plan.Case{If: []plan.Expr{Test(plan.Under, at, large)}, Then: []plan.Expr{inLarge}, Else: inSmall, T: schema.Integer}
		return of(plan.Add, number, Whole(1))
	}, rankWindow(plan.RowNumber), counting()), nil
}

// bindLagLead binds lag and lead.
func (b *aggregateBinder) bindLagLead(c *sqlparse.Call) (Windowed, error) {
	if len(c.Args) < 1 || len(c.Args) > 3 {
		return Windowed{}, invalid(c.At, "%s takes 1 to 3 arguments", c.Name)
	}
	x, err := b.Value(c.Args[0])
	if err != nil {
		return Windowed{}, err
	}
	f := plan.Window{Kind: plan.Shifted, Offset: 1}
	if len(c.Args) > 1 {
		v, err := b.Constant(c.Args[1])
		if err != nil {
			return Windowed{}, err
		}
		var ok bool
		if f.Offset, ok = v.AsInt(); !ok || f.Offset < 0 {
			return Windowed{}, invalid(c.Args[1].Pos(), "%s takes a constant whole number of 0 or more", c.Name)
		}
	}
	if c.Name == "lag" {
		f.Offset = -f.Offset
	}
	f.X = x.JSONOr()
	if len(c.Args) == 3 {
		other, err := b.Value(c.Args[2])
		if err != nil {
			return Windowed{}, err
		}
		k, err := other.Want(f.X.Type(), c.Name)
		if err != nil {
			return Windowed{}, err
		}
		if _, ok := k.(plan.Const); !ok {
			return Windowed{}, unsupportedError(c.Args[2].Pos(), "use coalesce("+c.Name+"(…), …)", "%s takes a constant as its default", c.Name)
		}
		f.Default = k
	}
	f.T = f.X.Type()
	return windowFunction(WithoutExpr(&x), first, f), nil
}

// end binds first_value, last_value and nth_value.
func (b *aggregateBinder) end(c *sqlparse.Call, w *sqlparse.Window) (Windowed, error) {
	want := 1
	if c.Name == "nth_value" {
		want = 2
	}
	if len(c.Args) != want {
		return Windowed{}, invalid(c.At, "%s takes %d argument%s", c.Name, want, "s"[:want-1])
	}
	x, err := b.Value(c.Args[0])
	if err != nil {
		return Windowed{}, err
	}
	frame, err := frameOf(w)
	if err != nil {
		return Windowed{}, err
	}
	e := x.JSONOr()
	f := plan.Window{Accumulator: plan.Accumulator{Op: plan.First, X: e, T: e.Type()}, Frame: frame}
	switch c.Name {
	case "last_value":
		f.Op = plan.Last
	case "nth_value":
		v, err := b.Constant(c.Args[1])
		if err != nil {
			return Windowed{}, err
		}
		n, ok := v.AsInt()
		if !ok || n < 1 {
			return Windowed{}, invalid(c.Args[1].Pos(), "nth_value takes a constant whole number of 1 or more")
		}
		if f.Offset = n - 1; frame.Peers { // in a frame up to the last of equal records, the order of the records is the order of the partition
			f.Frame = plan.Frame{First: true, Last: true}
			size := plan.Window{Accumulator: plan.Accumulator{Op: plan.Count, T: schema.Integer}, Frame: frame}
			return windowFunction(WithoutExpr(&x), func(refs []plan.Expr) plan.Expr {
				few := Test(plan.Under, refs[1], Whole(n))
				return plan.Case{If: []plan.Expr{few}, Then: []plan.Expr{plan.Const{T: e.Type()}}, Else: refs[0], T: e.Type()}
			}, f, size), nil
		}
	}
	return windowFunction(WithoutExpr(&x), first, f), nil
}

// bindOverFrame binds an aggregate over a frame.
func (b *aggregateBinder) bindOverFrame(c *sqlparse.Call, w *sqlparse.Window) (Windowed, error) {
	if c.Distinct || c.Order != nil || c.Within != nil {
		return Windowed{}, unsupportedError(c.At, "count(DISTINCT x) in a query with GROUP BY counts different values. Join with it", "%s over a window takes no DISTINCT and no order of its own", c.Name)
	}
	a, flags, err := b.aggregate(c)
	if err != nil {
		return Windowed{}, err
	}
	frame, err := frameOf(w)
	if err != nil {
		return Windowed{}, err
	}
	var fs []plan.Window
	for _, acc := range a.Accumulators {
		switch acc.Op {
		case plan.Push, plan.AddToSet, plan.CountDistinct, plan.Percentile:
			return Windowed{}, unsupportedError(c.At, "join with a grouped query", "%s isn't there over a window", c.Name)
		case plan.Min, plan.Max:
			if acc.X.Type() == schema.JSON {
				return Windowed{}, unsupportedError(c.At, "CAST the value", "%s over a window takes a value of a known type", c.Name)
			}
		}
		fs = append(fs, plan.Window{Accumulator: acc, Frame: frame})
	}
	return windowFunction(flags, a.Value, fs...), nil
}

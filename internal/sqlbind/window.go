package sqlbind

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlaggregate"
	"github.com/bailiwick-dev/bailiwick/internal/sqlexpr"
	"github.com/bailiwick-dev/bailiwick/internal/sqltext"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// windowed adds the window functions in a select list and its order: a stage for each partition and order.
func (r *rel) windowed(outputs []output, order []sqltext.Order) error {
	var calls []*sqltext.Call
	collect := func(x any) {
		sqltext.Walk(x, func(e sqltext.Expr) bool {
			c, ok := e.(*sqltext.Call)
			if ok && c.Over != nil {
				calls = append(calls, c)
			}
			return !ok || c.Over == nil
		})
	}
	for _, o := range outputs {
		collect(o.x)
	}
	collect(order)
	if calls == nil {
		return nil
	}
	if r.computed == nil {
		r.computed = map[string]sqlexpr.Node{}
	}
	done := map[string]bool{}
	for i, c := range calls {
		w, err := r.window(c)
		if err != nil {
			return err
		}
		k := r.windowKey(w)
		if done[k] {
			continue
		}
		done[k] = true
		var same []*sqltext.Call
		for _, other := range calls[i:] {
			if ow, err := r.window(other); err == nil && r.windowKey(ow) == k {
				same = append(same, other)
			}
		}
		if err := r.windowStage(w, same); err != nil {
			return err
		}
	}
	return nil
}

// window returns the window of a call, with a named one in its place.
func (r *rel) window(c *sqltext.Call) (*sqltext.Window, error) {
	w := c.Over
	if w.Base == nil {
		return w, nil
	}
	for _, n := range r.windows {
		if folded(*w.Base, n.Name.Text) {
			merged := n.Window
			if w.Order != nil {
				merged.Order = w.Order
			}
			if w.Frame != nil {
				merged.Frame = w.Frame
			}
			return &merged, nil
		}
	}
	var names []string
	for _, n := range r.windows {
		names = append(names, n.Name.Text)
	}
	return nil, &problem.Error{Code: problem.InvalidQuery, Pointer: sqlexpr.At(w.Base.At), Detail: fmt.Sprintf("unknown window %q", problem.Cut(w.Base.Text)), Near: names}
}

// windowKey returns a text that is the same for windows with the same partitions in the same order.
func (r *rel) windowKey(w *sqltext.Window) string {
	k := ""
	for _, e := range w.Partition {
		k += r.key(e) + ";"
	}
	for _, o := range w.Order {
		k += "/" + r.key(o.X) + fmt.Sprint(o.Desc, o.Nulls)
	}
	return k
}

// windowStage adds one stage for calls over w.
func (r *rel) windowStage(w *sqltext.Window, calls []*sqltext.Call) error {
	var by []sqlexpr.Node
	for _, e := range w.Partition {
		x, err := r.value(e)
		if err != nil {
			return err
		}
		by = append(by, x)
	}
	var terms []sqlexpr.Node
	var desc []bool
	for _, o := range w.Order {
		x, err := r.value(o.X)
		if err != nil {
			return err
		}
		if o.Nulls == "last" && !o.Desc || o.Nulls == "first" && o.Desc {
			null := x
			null.Expr, null.Column = sqlexpr.IsNull(x.JSONOr()), nil
			terms, desc = append(terms, null), append(desc, o.Desc)
		}
		terms, desc = append(terms, x), append(desc, o.Desc)
	}
	s := &windowing{rel: r, stage: &plan.Windows{}}
	for _, c := range calls {
		cw, err := r.window(c)
		if err != nil {
			return err
		}
		if err := s.function(c, cw); err != nil {
			return err
		}
	}
	at := r.extended(append(slices.Clone(by), terms...))
	s.stage.By = at[:len(by):len(by)]
	for i, c := range at[len(by):] {
		if !slices.ContainsFunc(s.stage.Order, func(p plan.Place) bool { return p.Column == c }) && !slices.Contains(s.stage.By, c) {
			s.stage.Order = append(s.stage.Order, plan.Place{Column: c, Desc: desc[i]})
		}
	}
	s.finish()
	return nil
}

// A windowing is a Windows under construction.
type windowing struct {
	*rel
	stage *plan.Windows
	made  []windowCall
}

// A windowCall is a call, with what makes its value of its columns.
type windowCall struct {
	key   string
	from  int
	n     int
	value func(refs []plan.Expr) plan.Expr
	flags sqlexpr.Node
	call  *sqltext.Call
}

// finish adds the stage, and what its calls are worth.
func (s *windowing) finish() {
	r := s.rel
	width := len(r.shape.Columns)
	s.stage.Shape = *r.shape
	s.stage.Shape.Columns = slices.Clone(r.shape.Columns)
	s.stage.Shape.Order = slices.Clone(r.shape.Order)
	for i, f := range s.stage.Functions {
		s.stage.Shape.Order = append(s.stage.Shape.Order, plan.Place{Column: width + i}) // records that are equal in all else differ in it
		s.stage.Shape.Columns = append(s.stage.Shape.Columns, plan.Column{Path: query.Path{fmt.Sprintf("window %d.%d", len(r.program.Stages), i)}, Type: f.T})
	}
	r.add(s.stage)
	for _, m := range s.made {
		refs := make([]plan.Expr, m.n)
		for i := range refs {
			refs[i] = plan.Ref{Column: width + m.from + i, T: s.stage.Functions[m.from+i].T}
		}
		x := m.flags
		x.Expr, x.At = m.value(refs), sqlexpr.At(m.call.At)
		if ref, ok := x.Expr.(plan.Ref); ok {
			c := &r.shape.Columns[ref.Column]
			if of := x.Column; of != nil {
				c.ID, c.Class, c.ClassKey = of.ID, of.Class, of.ClassKey
			}
			c.List, x.Column = x.List, c
		}
		r.computed[m.key] = x
	}
}

func first(refs []plan.Expr) plan.Expr { return refs[0] }

// add adds the functions of a call.
func (s *windowing) add(c *sqltext.Call, flags sqlexpr.Node, value func([]plan.Expr) plan.Expr, fs ...plan.Window) {
	s.made = append(s.made, windowCall{s.rel.key(c), len(s.stage.Functions), len(fs), value, flags, c})
	s.stage.Functions = append(s.stage.Functions, fs...)
}

func ranked(kind plan.Rank) plan.Window {
	return plan.Window{Kind: kind, Accumulator: plan.Accumulator{T: schema.Integer}}
}

// counting counts all records of a partition.
func counting() plan.Window {
	return plan.Window{Accumulator: plan.Accumulator{Op: plan.Count, T: schema.Integer}, Frame: plan.Frame{First: true, Last: true}}
}

func (s *windowing) function(c *sqltext.Call, w *sqltext.Window) error {
	switch c.Name {
	case "row_number", "rank", "dense_rank":
		kind := map[string]plan.Rank{"row_number": plan.RowNumber, "rank": plan.Ranked, "dense_rank": plan.DenseRanked}[c.Name]
		s.add(c, sqlexpr.Node{}, first, ranked(kind))
		return nil
	case "percent_rank":
		s.add(c, sqlexpr.Node{}, func(refs []plan.Expr) plan.Expr {
			less := func(x plan.Expr) plan.Expr {
				return plan.Widen{X: plan.Apply{Op: plan.Sub, Args: []plan.Expr{x, sqlexpr.Whole(1)}, T: schema.Integer}, T: schema.Double}
			}
			share := plan.Apply{Op: plan.Div, Args: []plan.Expr{less(refs[0]), less(refs[1])}, T: schema.Double}
			return plan.Apply{Op: plan.IfNull, Args: []plan.Expr{share, plan.Widen{X: sqlexpr.Whole(0), T: schema.Double}}, T: schema.Double}
		}, ranked(plan.Ranked), counting())
		return nil
	case "ntile":
		return s.ntile(c)
	case "lag", "lead":
		return s.shifted(c)
	case "first_value", "last_value":
		return s.end(c, w)
	}
	if !sqlexpr.Aggregates[c.Name] {
		return &problem.Error{Code: problem.InvalidQuery, Kind: "unknown_function", Pointer: sqlexpr.At(c.At), Detail: "unknown window function " + problem.Cut(c.Name),
			Near: problem.Nearest(c.Name, []string{"row_number", "rank", "dense_rank", "percent_rank", "ntile", "lag", "lead", "first_value", "last_value", "sum", "avg", "count", "min", "max"}, 3)}
	}
	return s.aggregate(c, w)
}

// ntile numbers as many ranges as asked for, of which the first ones are larger by one.
func (s *windowing) ntile(c *sqltext.Call) error {
	n := int64(0)
	if len(c.Args) == 1 {
		v, err := s.constant(c.Args[0])
		if err != nil {
			return err
		}
		n, _ = v.AsInt()
	}
	if n < 1 {
		return sqlexpr.Invalid(c.At, "ntile takes a constant whole number of 1 or more")
	}
	s.add(c, sqlexpr.Node{}, func(refs []plan.Expr) plan.Expr {
		of := func(o plan.Op, a, b plan.Expr) plan.Expr {
			return plan.Apply{Op: o, Args: []plan.Expr{a, b}, T: schema.Integer}
		}
		at := of(plan.Sub, refs[0], sqlexpr.Whole(1))
		size, rest := of(plan.Quo, refs[1], sqlexpr.Whole(n)), of(plan.Mod, refs[1], sqlexpr.Whole(n))
		large := of(plan.Mul, rest, of(plan.Add, size, sqlexpr.Whole(1)))
		inLarge := of(plan.Quo, at, of(plan.Add, size, sqlexpr.Whole(1)))
		inSmall := of(plan.Add, rest, of(plan.Quo, of(plan.Sub, at, large), size))
		number := plan.Case{If: []plan.Expr{sqlexpr.Test(plan.Under, at, large)}, Then: []plan.Expr{inLarge}, Else: inSmall, T: schema.Integer}
		return of(plan.Add, number, sqlexpr.Whole(1))
	}, ranked(plan.RowNumber), counting())
	return nil
}

// shifted binds lag and lead.
func (s *windowing) shifted(c *sqltext.Call) error {
	if len(c.Args) < 1 || len(c.Args) > 3 {
		return sqlexpr.Invalid(c.At, "%s takes 1 to 3 arguments", c.Name)
	}
	x, err := s.value(c.Args[0])
	if err != nil {
		return err
	}
	f := plan.Window{Kind: plan.Shifted, Offset: 1}
	if len(c.Args) > 1 {
		v, err := s.constant(c.Args[1])
		if err != nil {
			return err
		}
		var ok bool
		if f.Offset, ok = v.AsInt(); !ok || f.Offset < 0 {
			return sqlexpr.Invalid(c.Args[1].Pos(), "%s takes a constant whole number of 0 or more", c.Name)
		}
	}
	if c.Name == "lag" {
		f.Offset = -f.Offset
	}
	f.X = x.JSONOr()
	if len(c.Args) == 3 {
		other, err := s.value(c.Args[2])
		if err != nil {
			return err
		}
		k, err := other.Want(f.X.Type(), c.Name)
		if err != nil {
			return err
		}
		if _, ok := k.(plan.Const); !ok {
			return sqlexpr.Unsupported(c.Args[2].Pos(), "use coalesce("+c.Name+"(…), …)", "%s takes a constant as its default", c.Name)
		}
		f.Default = k
	}
	f.T = f.X.Type()
	s.add(c, sqlexpr.Kept(&x), first, f)
	return nil
}

// end binds first_value and last_value.
func (s *windowing) end(c *sqltext.Call, w *sqltext.Window) error {
	if len(c.Args) != 1 {
		return sqlexpr.Invalid(c.At, "%s takes 1 argument", c.Name)
	}
	x, err := s.value(c.Args[0])
	if err != nil {
		return err
	}
	frame, err := sqlaggregate.Frame(w)
	if err != nil {
		return err
	}
	op := plan.First
	if c.Name == "last_value" {
		op = plan.Last
	}
	e := x.JSONOr()
	s.add(c, sqlexpr.Kept(&x), first, plan.Window{Accumulator: plan.Accumulator{Op: op, X: e, T: e.Type()}, Frame: frame})
	return nil
}

// aggregate binds an aggregate over a frame.
func (s *windowing) aggregate(c *sqltext.Call, w *sqltext.Window) error {
	if c.Distinct || c.Order != nil || c.Within != nil {
		return sqlexpr.Unsupported(c.At, "", "%s over a window takes no DISTINCT and no order of its own", c.Name)
	}
	a, flags, err := sqlaggregate.Bind(s.exprs(), c)
	if err != nil {
		return err
	}
	frame, err := sqlaggregate.Frame(w)
	if err != nil {
		return err
	}
	var fs []plan.Window
	for _, acc := range a.Accumulators {
		switch acc.Op {
		case plan.Push, plan.AddToSet, plan.CountDistinct, plan.Percentile:
			return sqlexpr.Unsupported(c.At, "join with a grouped query", "%s isn't there over a window", c.Name)
		case plan.Min, plan.Max:
			if acc.X.Type() == schema.JSON {
				return sqlexpr.Unsupported(c.At, "CAST the value", "%s over a window takes a value of a known type", c.Name)
			}
		}
		fs = append(fs, plan.Window{Accumulator: acc, Frame: frame})
	}
	s.add(c, flags, a.Value, fs...)
	return nil
}

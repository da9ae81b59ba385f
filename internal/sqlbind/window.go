package sqlbind

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/query"
)

// addWindows adds the window functions of a select list, its order and its QUALIFY. It adds one stage for each
// partition and order.
func (r *rel) addWindows(outputs []output, order []sqlparse.Order, qualify sqlparse.Expr) error {
	var calls []*sqlparse.Call
	collect := func(x any) {
		sqlparse.Walk(x, func(e sqlparse.Expr) bool {
			c, ok := e.(*sqlparse.Call)
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
	collect(qualify)
	if calls == nil {
		return nil
	}
	if err := r.meter.Add(plan.CostlyWindow, len(calls), At(calls[0].At)); err != nil {
		return err
	}
	if r.computed == nil {
		r.computed = map[string]node{}
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
		var same []*sqlparse.Call
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

// window returns the window of a call. A named window is replaced by its definition.
func (r *rel) window(c *sqlparse.Call) (*sqlparse.Window, error) { return c.Over.Among(r.windows) }

// windowKey returns a text that is the same for windows with the same partition and order.
func (r *rel) windowKey(w *sqlparse.Window) string {
	k := ""
	for _, e := range w.Partition {
		k += r.key(e) + ";"
	}
	for _, o := range w.Order {
		k += "/" + r.key(o.X) + fmt.Sprint(o.Desc, o.Nulls)
	}
	return k
}

// windowStage adds one stage for the calls over w.
func (r *rel) windowStage(w *sqlparse.Window, calls []*sqlparse.Call) error {
	var by []node
	for _, e := range w.Partition {
		x, err := r.value(e)
		if err != nil {
			return err
		}
		by = append(by, x)
	}
	terms, desc, err := r.windowTerms(w.Order)
	if err != nil {
		return err
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
	at := r.ensureColumns(append(slices.Clone(by), terms...))
	s.stage.By = at[:len(by):len(by)]
	for i, c := range at[len(by):] {
		if !slices.ContainsFunc(s.stage.Order, func(p plan.Place) bool { return p.Column == c }) && !slices.Contains(s.stage.By, c) {
			s.stage.Order = append(s.stage.Order, plan.Place{Column: c, Desc: desc[i]})
		}
	}
	s.finish()
	return nil
}

// windowTerms returns the terms of the order of a window. They include terms that put nulls in the requested position.
func (r *rel) windowTerms(order []sqlparse.Order) (terms []node, desc []bool, err error) {
	for _, o := range order {
		x, err := r.value(o.X)
		if err != nil {
			return nil, nil, err
		}
		if o.Nulls == "last" && !o.Desc || o.Nulls == "first" && o.Desc {
			null := x
			null.Compute(isNull(x.JSONOr()))
			terms, desc = append(terms, null), append(desc, o.Desc)
		}
		terms, desc = append(terms, x), append(desc, o.Desc)
	}
	return terms, desc, nil
}

// A windowing is a Windows under construction.
type windowing struct {
	*rel
	stage *plan.Windows
	made  []windowCall
}

// A windowCall is a call with the index of its first function.
type windowCall struct {
	key  string
	from int
	of   Windowed
	call *sqlparse.Call
}

// function adds the window functions of a call.
func (s *windowing) function(c *sqlparse.Call, w *sqlparse.Window) error {
	of, err := window(s.exprs(), c, w)
	if err != nil {
		return err
	}
	s.made = append(s.made, windowCall{s.rel.key(c), len(s.stage.Functions), of, c})
	s.stage.Functions = append(s.stage.Functions, of.Functions...)
	return nil
}

// finish adds the stage and the values of its calls.
func (s *windowing) finish() {
	r := s.rel
	width := len(r.shape.Columns)
	s.stage.Shape = *r.shape
	s.stage.Shape.Columns = slices.Clone(r.shape.Columns)
	s.stage.Shape.Order = slices.Clone(r.shape.Order)
	for i, f := range s.stage.Functions {
		s.stage.Shape.Order = append(s.stage.Shape.Order, plan.Place{Column: width + i}) // records that are equal in all other columns may differ in it
		s.stage.Shape.Columns = append(s.stage.Shape.Columns, plan.Column{Path: query.Path{fmt.Sprintf("window %d.%d", len(r.program.Stages), i)}, Type: f.T})
	}
	r.add(s.stage)
	for _, m := range s.made {
		refs := make([]plan.Expr, len(m.of.Functions))
		for i := range refs {
			refs[i] = plan.Ref{Column: width + m.from + i, T: s.stage.Functions[m.from+i].T}
		}
		x := m.of.Flags
		x.Elsewhere(m.of.Value(refs))
		x.At = At(m.call.At)
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

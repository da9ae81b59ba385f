package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// OrderTerm returns a term of an order.
func (w *writer) OrderTerm(x string, f *schema.Field, desc bool) string {
	x, _ = w.Dialect.OrderTerm(x, f)
	if desc {
		x += " DESC"
	}
	return x + w.NullsClause(f, desc)
}

// near writes the distance of each record from a point, if the plan orders by distance.
func (w *writer) near() error {
	for _, o := range w.plan.Order {
		if o.Near == nil {
			continue
		}
		x := w.fieldOperand(o.Near.Path[0])
		if x.Field == nil {
			return problem.New(problem.Internal, "the plan orders by the distance of no field")
		}
		var err error
		if !x.Field.Type.IsStructured() {
			w.nearest, err = w.Distance(&w.Writer, x, *o.Near)
			return err
		}
		distance := ""
		nodes, err := w.Capture(func() error {
			n, err := w.Nodes(&w.Writer, x, o.Near.Path[1:])
			if err == nil {
				distance, err = w.Distance(&w.Writer, n, *o.Near)
			}
			return err
		})
		w.nearest = "(SELECT " + distance + " FROM " + nodes + always + " LIMIT 1)"
		return err
	}
	return nil
}

// place returns the column and the field of one part of the order.
func (w *writer) place(o policy.Order) (string, *schema.Field) {
	if o.Near != nil {
		return w.nearest, w.ComputedField(schema.Integer)
	}
	return w.column(view(o.Join), o.Field.Name), w.plan.Behind(o.Join, o.Field)
}

// places appends the values of the order that aren't selected yet. It sets the column of each value.
func (w *writer) places(xs []string) []string {
	for _, o := range w.plan.Order {
		column, f := w.place(o)
		x, millis := w.Dialect.OrderTerm(column, f)
		at := -1
		for i, c := range w.plan.Columns {
			if !millis && o.Near == nil && c.Join == o.Join && c.Field == o.Field && c.Part == nil && c.Piece == nil {
				at = i
			}
		}
		if at < 0 {
			at = len(w.columns)
			if !millis {
				x = column
			}
			xs = append(xs, x)
			if o.Near == nil {
				f = o.Field
			}
			w.columns = append(w.columns, Column{Field: f, Millis: millis})
		}
		w.order = append(w.order, at)
	}
	return xs
}

// goOn writes the condition that a record comes after the position in policy.Plan.After. It compares from part i of the
// order on.
func (w *writer) goOn(i int) error {
	o, v := w.plan.Order[i], w.plan.After[i]
	column, f := w.place(o)
	x, _ := w.Dialect.OrderTerm(column, f)
	var err error
	w.Write("(")
	switch {
	case v.IsNull() && o.Desc:
		w.Write(Never) // nulls are last, and no record with an equal value comes after the position
	case v.IsNull():
		w.Write(x, " IS NOT NULL")
	case o.Desc:
		w.Write("(")
		err = w.After(&w.Writer, x, f, "<", Argument(v))
		w.Write(" OR ", w.Missing(x, f), ")")
	default:
		err = w.After(&w.Writer, x, f, ">", Argument(v))
	}
	if err != nil {
		return err
	}
	if i+1 < len(w.plan.Order) {
		w.Write(" OR (")
		if v.IsNull() {
			w.Write(w.Missing(x, f))
		} else if err := w.After(&w.Writer, x, f, "=", Argument(v)); err != nil {
			return err
		}
		w.Write(" AND ")
		if err := w.goOn(i + 1); err != nil {
			return err
		}
		w.Write(")")
	}
	w.Write(")")
	return nil
}

// Limit returns the text of a limit or an offset.
func (w *writer) Limit(n int64) string { return w.Dialect.Limit(&w.Writer, n) }

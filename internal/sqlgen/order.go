package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Sorted writes a term of an order.
func (w *writer) Sorted(x string, f *schema.Field, desc bool) string {
	x, _ = w.sorted(x, f)
	if desc {
		x += " DESC"
	}
	return x + w.ordered(f, desc)
}

// place returns the column of a part of the order, and its field.
func (w *writer) place(o policy.Order) (string, *schema.Field) {
	return w.column(view(o.Join), o.Field.Name), w.plan.Behind(o.Join, o.Field)
}

// places appends the values of the order that no column holds, and sets the column of each.
func (w *writer) places(xs []string) []string {
	for _, o := range w.plan.Order {
		column, f := w.place(o)
		x, millis := w.sorted(column, f)
		at := -1
		for i, c := range w.plan.Columns {
			if !millis && c.Join == o.Join && c.Field == o.Field && c.Part == nil && c.Piece == nil {
				at = i
			}
		}
		if at < 0 {
			at = len(w.columns)
			if !millis {
				x = column
			}
			xs = append(xs, x)
			w.columns = append(w.columns, Column{Field: o.Field, Millis: millis})
		}
		w.order = append(w.order, at)
	}
	return xs
}

// goOn writes that a record comes after the position in plan.After, from part i of the order on.
func (w *writer) goOn(i int) error {
	o, v := w.plan.Order[i], w.plan.After[i]
	column, f := w.place(o)
	x, _ := w.sorted(column, f)
	var err error
	w.write("(")
	switch {
	case v.IsNull() && o.Desc:
		w.write(never) // nulls are last, and nothing with an equal value comes after
	case v.IsNull():
		w.write(x, " IS NOT NULL")
	case o.Desc:
		w.write("(")
		err = w.after(w, x, f, "<", argument(v))
		w.write(" OR ", w.missing(x, f), ")")
	default:
		err = w.after(w, x, f, ">", argument(v))
	}
	if err != nil {
		return err
	}
	if i+1 < len(w.plan.Order) {
		w.write(" OR (")
		if v.IsNull() {
			w.write(w.missing(x, f))
		} else if err := w.after(w, x, f, "=", argument(v)); err != nil {
			return err
		}
		w.write(" AND ")
		if err := w.goOn(i + 1); err != nil {
			return err
		}
		w.write(")")
	}
	w.write(")")
	return nil
}

package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/schema"
)

// inView returns the column of a field of a class inside of its view, in the type of the field. Nothing outside of the
// view knows how the source holds it. alias is the class, or a derived table of its columns as they are stored.
func (w *writer) inView(alias string, f *schema.Field) string {
	x := w.column(alias, f.Name)
	if f.Stored == nil {
		return x
	}
	return inDeclaredType(w.Dialect, statement{w}, x, f)
}

// inClass returns the fields of a class inside of its view.
func (w *writer) inClass(c *schema.Class, alias string) fields {
	return func(name string) Operand {
		f := c.Field(name)
		if f == nil {
			return Operand{}
		}
		x := Operand{Text: w.inView(alias, f), Field: f}
		if f.Unit() > 0 {
			x.Raw = w.column(alias, f.Name)
		}
		return x
	}
}

// fields returns the operand for the first name of a filter's path. An operand without a field means that no field has
// this name.
type fields func(name string) Operand

// of returns the fields of a class under an alias.
func (w *writer) of(class *schema.Class, alias string) fields {
	return func(name string) Operand {
		return w.operandOf(class, alias, class.Field(name))
	}
}

// fieldOperand returns the operand of the field that the plan calls name.
func (w *writer) fieldOperand(name string) Operand {
	join, f := w.plan.Column(name)
	v := w.plan.View
	if join >= 0 {
		v = w.plan.Joins[join].View
	}
	return w.operandOf(v.Class(), view(join), f)
}

// operandOf returns the operand of a field of c in a view, or none if f is nil.
func (w *writer) operandOf(c *schema.Class, alias string, f *schema.Field) Operand {
	if f == nil {
		return Operand{}
	}
	x := Operand{Text: w.column(alias, f.Name), Field: f}
	if raw := rawName(c, f); raw != "" {
		x.Raw = w.column(alias, raw)
	}
	return x
}

// rawName returns the name of the column of a view that holds a field's integer as it is stored. It returns "" if it
// counts no time, or no such name is free. Only statements use it.
func rawName(c *schema.Class, f *schema.Field) string {
	const longest = 63 // PostgreSQL cuts longer names
	if name := f.Name + " as stored"; f.Unit() > 0 && len(name) <= longest && c.Field(name) == nil {
		return name
	}
	return ""
}

// writeStoredComparison writes a comparison of a date with an instant, in microseconds since 1970, by the stored integer, which an
// index can serve. The date itself is null where the integer isn't one.
func (w *writer) writeStoredComparison(x Operand, op string, micros int64) {
	unit := x.Field.Unit()
	n := micros / unit
	if micros%unit < 0 {
		n--
	}
	if micros%unit != 0 { // between n and n + 1
		var some bool
		if op, some = AboveFloor(op); !some {
			w.Write(Never)
			return
		}
	}
	w.Write("(", x.Raw, " ", op, " ")
	w.Put(n, "int8")
	w.Write(" AND ", x.Text, " IS NOT NULL)")
}

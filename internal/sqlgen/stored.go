package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/schema"
)

// inView returns the column of a field inside the view of its class, converted to the field's type. Only the view
// depends on the form in which the source stores the field. alias names the class, or a derived table of its stored
// columns.
func (w *writer) inView(alias string, f *schema.Field) string {
	x := w.column(alias, f.Name)
	if f.Stored == nil {
		return x
	}
	return inDeclaredType(w.Dialect, statement{w}, x, f)
}

// inClass returns the operands of the fields of a class inside its view.
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

// fields returns the operand for the first name of a filter's path. An operand without a field means that there is no
// field with this name.
type fields func(name string) Operand

// of returns the operands of the fields of a class in the view named alias.
func (w *writer) of(class *schema.Class, alias string) fields {
	return func(name string) Operand {
		return w.operandOf(class, alias, class.Field(name))
	}
}

// fieldOperand returns the operand of the field with this name in the plan.
func (w *writer) fieldOperand(name string) Operand {
	join, f := w.plan.Column(name)
	v := w.plan.View
	if join >= 0 {
		v = w.plan.Joins[join].View
	}
	return w.operandOf(v.Class(), view(join), f)
}

// operandOf returns the operand of a field of c in a view. If f is nil, the operand is empty.
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

// rawName returns the name of the column in a view for a field's stored integer. It returns "" if the field doesn't
// count time, or if the name isn't free. Only statements use the column.
func rawName(c *schema.Class, f *schema.Field) string {
	const longest = 63 // PostgreSQL cuts longer names
	if name := f.Name + " as stored"; f.Unit() > 0 && len(name) <= longest && c.Field(name) == nil {
		return name
	}
	return ""
}

// writeStoredComparison writes a comparison of a date with an instant in microseconds since 1970. It compares the
// stored integer, for which the database can use an index. The date is null if the stored value is not an integer.
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

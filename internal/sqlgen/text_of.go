package sqlgen

import (
	"cmp"
	"slices"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Text is a statement under construction, for the packages that write statements other than the SELECT of a permit. It handles
// names, views and values in the same way: one function quotes, values are arguments.
type Text struct {
	Writes Writes // how its database is written

	w *writer
}

// NewText begins a statement of those that write. It fails for no dialect, and for one of a database that is only read.
func NewText(d Dialect) (*Text, error) {
	if d == nil {
		return nil, problem.New(problem.Internal, "a statement is written in no dialect")
	}
	ws := d.Writes()
	if ws.Missing() != nil {
		return nil, problem.New(problem.Unsupported, "statements that write are not supported by "+d.Name())
	}
	return &Text{Writes: ws, w: &writer{Dialect: d, plan: &policy.Plan{}}}, nil
}

// Write appends parts: keywords, names that Name and Table returned, and places that Arg returned.
func (t *Text) Write(parts ...string) { t.w.Write(parts...) }

// Name quotes a name.
func (t *Text) Name(name string) string { return t.w.Quote(name) }

// Table returns the quoted name of a class in its source. space is "" for the source's own schema.
func (t *Text) Table(space, table string) string { return t.w.table(space, table) }

// Tenant returns the schema of c, if its source has one schema per tenant, or "" for others.
func (t *Text) Tenant(c *schema.Class) string {
	if c == nil || c.Spaces == nil {
		return ""
	}
	return cmp.Or(c.Space, t.w.Home())
}

// Arg returns the place of a value that the source's driver takes: int64, float64, string, []byte or nil.
func (t *Text) Arg(v any) string { return t.w.Arg(v, "") }

// Read returns the text that selects a column x of field f, in the form that the source's adapter reads as f.
func (t *Text) Read(x string, f *schema.Field) string { return t.w.Read(x, f) }

// Size returns the text of the size in bytes of a column x of field f, or "" if its values can't be long.
func (t *Text) Size(x string, f *schema.Field) string {
	if !t.w.long(f) {
		return ""
	}
	return t.w.size(x, f)
}

// View appends the class of v with the predicate that every record of v satisfies, as "… AS t [WHERE …]". It returns
// the word before a further condition: " AND " or " WHERE ". InView returns its columns.
func (t *Text) View(v *policy.View) (next string, err error) {
	if len(v.Layers()) == 0 {
		return " WHERE ", t.w.writeClass(v)
	}
	return " AND ", t.w.writeClass(v)
}

// DerivedColumn returns the quoted name under which a derived table holds a field.
func (t *Text) DerivedColumn(name string) string { return t.w.Quote(t.w.ViewColumn(name)) }

// Not returns the texts around a condition that make it hold where the condition is false or null.
func (t *Text) Not() (before, after string) { return t.w.Negation() }

// Layers appends the condition that a record of a derived table, which holds all fields, is in v, as "[WHERE …]".
func (t *Text) Layers(v *policy.View, alias string) error { return t.w.layers(v, alias) }

// LayersBut is Layers without the conditions that but selects.
func (t *Text) LayersBut(v *policy.View, alias string, but func(policy.Layer) bool) error {
	return t.w.conditions(v, slices.DeleteFunc(slices.Clone(v.Layers()), but), alias)
}

// InView returns the column of a field after View.
func (t *Text) InView(f *schema.Field) string { return t.w.inView(class, f) }

// Equal appends the condition that a column x of field f equals v, a value of f's type that isn't null, exactly. Both
// sides have the types of an operator of the database itself, which takes precedence over any other.
func (t *Text) Equal(x string, f *schema.Field, v value.Value) error {
	if t.Writes.Exact != nil {
		x = t.Writes.Exact(x, f)
	}
	return t.w.CompareValue(&t.w.Writer, Operand{Text: x, Field: f}, "=", Argument(v))
}

// Fits reports whether a text is in the form of a field that only the source knows, as far as the dialect reads its type.
func (t *Text) Fits(f *schema.Field, text string) bool { return t.w.Fits(f, text) }

// EqualKey appends the condition that the column x, of the field f of a key, holds v or an equivalent of the id v: see
// schema.Field.Also. See schema.Field.Also.
func (t *Text) EqualKey(x string, f *schema.Field, v value.Value) error {
	fits := v.Kind() != value.String || f.Type == schema.String || f.Type == schema.UUID || f.Type == schema.Any
	also := f.Also(v.String(), fits)
	if also == nil {
		return t.Equal(x, f, v)
	}
	return t.w.oneOf(Operand{Text: x, Field: f}, append(also, v))
}

// Statement ends the text. columns describe its rows, or nil if it returns no rows.
func (t *Text) Statement(columns []Column) (Statement, error) {
	text, args, err := t.w.Writer.Statement(t.w.Dialect, MaxText)
	return Statement{Text: text, Args: args, Columns: columns}, err
}

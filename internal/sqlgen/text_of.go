package sqlgen

import (
	"cmp"
	"slices"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Text is a statement under construction, for packages that write statements other than the SELECT of a permit. It
// treats names, views and values in the same way as SQL. One function quotes names, and values are arguments.
type Text struct {
	Writes Writes // describes how to write to the database

	w *writer
}

// NewText begins a statement that writes. It fails without a dialect, or if the dialect's database is read-only.
func NewText(d Dialect) (*Text, error) {
	if d == nil {
		return nil, problem.New(problem.Internal, "a statement is written in no dialect")
	}
	ws := d.Writes()
	if ws.Missing() != nil {
		return nil, problem.New(problem.Unsupported, "statements that write are not supported by "+d.Name())
	}
	return &Text{Writes: ws, w: &writer{Dialect: d, plan: &policy.Plan{}, few: true}}, nil
}

// Write appends parts: keywords, names from Name and Table, and places from Arg.
func (t *Text) Write(parts ...string) { t.w.Write(parts...) }

// Name quotes a name.
func (t *Text) Name(name string) string { return t.w.Quote(name) }

// Table returns the quoted name of a class in its source. An empty space means the source's own schema.
func (t *Text) Table(space, table string) string { return t.w.table(space, table) }

// Tenant returns the schema of c if its source has one schema per tenant, otherwise "".
func (t *Text) Tenant(c *schema.Class) string {
	if c == nil || c.Spaces == nil {
		return ""
	}
	return cmp.Or(c.Space, t.w.Home())
}

// Arg returns the place of a value that the source's driver accepts: an int64, float64, string, []byte or nil.
func (t *Text) Arg(v any) string { return t.w.Arg(v, "") }

// Read returns the text that selects a column x of field f in the form that the source's adapter can decode.
func (t *Text) Read(x string, f *schema.Field) string { return t.w.Read(x, f) }

// Size returns the text of the size in bytes of a column x of field f. It returns "" if the values can't be long.
func (t *Text) Size(x string, f *schema.Field) string {
	if !t.w.long(f) {
		return ""
	}
	return t.w.size(x, f)
}

// View appends the class of v with the predicate of the view, as "… AS t [WHERE …]". It returns the word before a
// further condition: " AND " or " WHERE ". InView returns the columns of the view.
func (t *Text) View(v *policy.View) (next string, err error) {
	if len(v.Layers()) == 0 {
		return " WHERE ", t.w.writeClass(v, class)
	}
	return " AND ", t.w.writeClass(v, class)
}

// DerivedColumn returns the quoted name of a field's column in a derived table.
func (t *Text) DerivedColumn(name string) string { return t.w.Quote(t.w.ViewColumn(name)) }

// Not returns the texts before and after a condition that negate it. The result holds if the condition is false or
// null.
func (t *Text) Not() (before, after string) { return t.w.Negation() }

// Layers appends the condition that a record is in v, as "[WHERE …]". alias names a derived table with all fields of
// the class.
func (t *Text) Layers(v *policy.View, alias string) error { return t.w.layers(v, alias) }

// LayersBut is Layers without the conditions for which the function but returns true.
func (t *Text) LayersBut(v *policy.View, alias string, but func(policy.Layer) bool) error {
	return t.w.conditions(v, slices.DeleteFunc(slices.Clone(v.Layers()), but), alias)
}

// InView returns the column of a field in the class that View wrote.
func (t *Text) InView(f *schema.Field) string { return t.w.inView(class, f) }

// Equal appends the condition that a column x of field f exactly equals v. v has f's type and isn't null. Both sides
// are converted to types for which the database has its own operator. That operator takes precedence over any other.
func (t *Text) Equal(x string, f *schema.Field, v value.Value) error {
	if t.Writes.Exact != nil {
		x = t.Writes.Exact(x, f)
	}
	return t.w.CompareValue(&t.w.Writer, Operand{Text: x, Field: f}, "=", Argument(v))
}

// Fits reports whether a text is in the form of a field that only the source knows. It checks only types that the
// dialect can read.
func (t *Text) Fits(f *schema.Field, text string) bool { return t.w.Fits(f, text) }

// EqualKey appends the condition that a key's column x, of field f, contains the id v or an equivalent form of v (see
// schema.Field.Also).
func (t *Text) EqualKey(x string, f *schema.Field, v value.Value) error {
	fits := v.Kind() != value.String || f.Type == schema.String || f.Type == schema.UUID || f.Type == schema.Any
	also := f.Also(v.String(), fits)
	if also == nil {
		return t.Equal(x, f, v)
	}
	return t.w.oneOf(Operand{Text: x, Field: f}, append(also, v))
}

// Statement ends the text. columns describes the rows, or is nil if the statement returns no rows.
func (t *Text) Statement(columns []Column) (Statement, error) {
	text, args, err := t.w.Writer.Statement(t.w.Dialect, MaxText)
	return Statement{Text: text, Args: args, Columns: columns}, err
}

// Package sqlgen compiles a Permit to a statement that a source can run. It does no I/O.
//
// Wherever the plan names a class it writes the view, as a derived table of the visible fields under the view's
// predicate:
//
//	(SELECT t."id", t."title" FROM "issues" AS t WHERE t."org_id" = ?) AS v1
//
// so that hidden fields and records have no name in the rest of the statement. Values are never part of the text: they
// are arguments. Every expression is total: none can raise an error, whatever a hidden record holds. Text is
// deterministic, so that statements are prepared once and tests show query and SQL side by side. The package refuses
// what it can't translate.
package sqlgen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Dialect is a kind of SQL.
type Dialect uint8

// The dialects.
const (
	SQLite Dialect = iota
	PostgreSQL
	MySQL // MariaDB's dialect
)

// maxArguments is the most arguments of one statement: SQLite takes 32,766 of them, PostgreSQL 65,535.
const maxArguments = 30_000

// A Statement is SQL text, with every value apart from the text.
type Statement struct {
	Text    string
	Args    []any    // int64, float64, string, []byte, bool, []int64, []float64, []string
	Columns []Column // what a row holds; nil for a count, whose row is one integer
	Order   []int    // the columns that hold the values of the plan's order; nil if the order isn't unique

	// Bounded are the columns whose values may be of any length, and Most is the most bytes of one. If Bounded isn't
	// nil, a row has one more column: null, or, if any value is longer than Most and therefore null, the sizes in bytes
	// of all of them, separated by commas.
	Bounded []int
	Most    int
}

// A Column is one value of a row as the source returns it.
type Column struct {
	Field  *schema.Field
	Part   query.Path // the part of a JSON field to keep; nil for all of it
	Millis bool       // an integer: milliseconds since 1970
	Day    bool       // with Millis: of the midnight of a calendar date
}

// ColumnOf returns the column of a row that holds f. A column may have the declared type of milliseconds, but then it
// isn't a date.
func ColumnOf(f *schema.Field) Column {
	millis := f.Native == milliseconds && (f.Type == schema.Date || f.Type == schema.Day)
	return Column{Field: f, Millis: millis, Day: millis && f.Type == schema.Day}
}

// SQL compiles p to a SELECT.
func SQL(p policy.Permit, d Dialect) (Statement, error) {
	plan, err := p.Plan()
	if err != nil {
		return Statement{}, err
	}
	s, err := d.speaker()
	if err != nil {
		return Statement{}, err
	}
	return (&writer{speaker: s, plan: &plan}).statement()
}

// statement writes the plan.
func (w *writer) statement() (Statement, error) {
	w.text.Grow(1 << 10) // a class of 20 fields
	var err error
	switch {
	case w.plan.Program != nil:
		err = w.pipeline()
	case w.plan.Count:
		err = w.count()
	default:
		err = w.find()
	}
	if err != nil {
		return Statement{}, err
	}
	text, args, err := w.resolve(w.text.String())
	if err != nil {
		return Statement{}, err
	}
	return Statement{Text: text, Args: args, Columns: w.columns, Order: w.order, Bounded: w.bounded, Most: w.most}, nil
}

// A speaker is what differs between dialects. An operand x is the SQL text of a column or of a JSON node.
type speaker interface {
	// quote quotes a name. Names get into a statement only through it.
	quote(name string) string
	// held returns the name under which a derived table holds a column.
	held(name string) string
	// key returns the text of x, of a pointer or of the key other that it holds, for a comparison of the two.
	key(x string, f, other *schema.Field) string
	// same returns the text of x for a comparison with another field, of a type that can be equal to it.
	same(x string, f, other *schema.Field) string
	// members returns the text of x, a JSON node, and of key, of the field f, for a comparison of the two: x is null unless
	// it holds a value of f's kind.
	members(x operand, key string, f *schema.Field) (node, other string)
	// placeholder returns the placeholder of argument n, counted from 1, cast to a type of the dialect ("" for none).
	placeholder(n int, cast string) string
	// counts reports whether a placeholder names its argument, which then may be used several times.
	counts() bool
	// longest returns the most bytes of a pipeline's statement, at most maxText.
	longest() int
	// limit writes a placeholder that is a limit.
	limit(place string) string
	// expressions returns the dialect in which expressions of pipelines are written.
	expressions() expr.Dialect
	// computed describes a value of type t that an expression of sqlgen/expr computes, as if a field held it.
	computed(t schema.Type) *schema.Field
	// read returns the text that selects a column.
	read(x string, f *schema.Field) string
	// written returns a column as the text, or the bytes, in which its value is returned.
	written(x string, f *schema.Field) string
	// pieces returns the function that counts characters, and the most bytes of a value of which pieces can be cut; ""
	// for any.
	pieces() (characters, most string)
	// sorted returns the term that orders by a column, and whether its value is in milliseconds.
	sorted(x string, f *schema.Field) (term string, millis bool)
	// negation returns the texts around a condition that make it hold where the condition is false or null.
	negation() (before, after string)
	// missing returns a test that a column is null.
	missing(x string, f *schema.Field) string
	// ordered returns the NULLS clause of an order, "" if null comes first when ascending by default.
	ordered(f *schema.Field, desc bool) string
	// compare writes x op v for a non-null v of the field's kind; op is = > >= < or <=.
	compare(w *writer, x operand, op string, v any) error
	// among writes that x equals one of values, two or more of one kind: texts, numbers or dates.
	among(w *writer, x operand, values []value.Value) error
	// after writes a comparison with the value of the order at a position.
	after(w *writer, x string, f *schema.Field, op string, v any) error
	// matches writes that the text x matches a regular expression.
	matches(w *writer, x operand, r query.Regex) error
	// begins writes that the text x begins with a prefix.
	begins(w *writer, x operand, prefix string)
	// nodes writes the FROM clause of the JSON nodes that path leads to in x, the last of them as the returned operand.
	nodes(w *writer, x operand, path query.Path) (operand, error)
	// elements writes the FROM item of the elements of a node that is an array, as the returned operand.
	elements(w *writer, x operand) operand
	// is writes a test of a JSON node's type, such as "null" or "array".
	is(x operand, typ string) string
	// length returns the number of elements of a node that is an array, null for others.
	length(x operand) string
	// search writes that fields of the plan's class match a full-text search.
	search(w *writer, of *policy.Search) error
}

func (d Dialect) speaker() (speaker, error) {
	switch d {
	case SQLite:
		return sqlite{}, nil
	case PostgreSQL:
		return postgres{}, nil
	case MySQL:
		return mysql{}, nil
	}
	return nil, problem.New(problem.Internal, fmt.Sprintf("compile speaks no dialect %d", d))
}

type writer struct {
	speaker
	plan    *policy.Plan
	text    strings.Builder
	args    []arg
	aliases int
	columns []Column
	order   []int
	bounded []int
	most    int
	viewOf  map[string]*policy.View // by alias, of a program
}

func (w *writer) write(parts ...string) {
	for _, p := range parts {
		w.text.WriteString(p)
	}
}

// alias makes a name for a table that is unique in the statement.
func (w *writer) alias(prefix string) string {
	w.aliases++
	return prefix + strconv.Itoa(w.aliases)
}

// view returns the alias of the plan's class (-1) or of a join.
func view(join int) string { return "v" + strconv.Itoa(join+2) }

func (w *writer) count() error {
	w.write("SELECT count(*)")
	return w.from()
}

func (w *writer) find() error {
	w.columns = make([]Column, 0, len(w.plan.Columns)+len(w.plan.Order))
	xs := make([]string, 0, cap(w.columns))
	for _, c := range w.plan.Columns {
		x, f := w.column(view(c.Join), c.Field.Name), c.Field
		if c.Piece != nil {
			x, f = w.piece(x, f, c.Piece)
		}
		xs = append(xs, x)
		column := ColumnOf(f)
		column.Part = c.Part
		w.columns = append(w.columns, column)
	}
	if w.plan.Unique {
		xs = w.places(xs)
	}
	w.write("SELECT ", strings.Join(w.selected(xs), ", "))
	if err := w.from(); err != nil {
		return err
	}
	for i, o := range w.plan.Order {
		sep := ", "
		if i == 0 {
			sep = " ORDER BY "
		}
		x, f := w.place(o)
		w.write(sep, w.Sorted(x, f, o.Desc))
	}
	w.write(" LIMIT ", w.Limit(int64(w.plan.Limit)+1))
	if w.plan.Skip > 0 {
		w.write(" OFFSET ")
		w.arg(int64(w.plan.Skip), "")
	}
	return nil
}

// from writes the views, the caller's filter, the search and the position to continue from.
func (w *writer) from() error {
	w.write(" FROM ")
	if err := w.derived(w.plan.View, view(-1)); err != nil {
		return err
	}
	for i, j := range w.plan.Joins {
		w.write(" LEFT JOIN ")
		if err := w.derived(j.View, view(i)); err != nil {
			return err
		}
		from := w.plan.View
		if j.From >= 0 {
			from = w.plan.Joins[j.From].View
		}
		pointer, key := from.Class().Field(j.Field), j.View.Class().Field(j.Key)
		w.write(" ON ", w.key(w.column(view(i), j.Key), key, pointer), " = ", w.key(w.column(view(j.From), j.Field), pointer, key))
	}
	sep := " WHERE "
	if w.plan.Where != nil {
		w.write(sep)
		if err := w.filter(w.plan.Where, w.named); err != nil {
			return err
		}
		sep = " AND "
	}
	if w.plan.Search != nil {
		w.write(sep)
		if err := w.search(w, w.plan.Search); err != nil {
			return err
		}
		sep = " AND "
	}
	if w.plan.After != nil {
		w.write(sep)
		return w.goOn(0)
	}
	return nil
}

// derived writes a view as a derived table. Classes are named nowhere else.
func (w *writer) derived(v *policy.View, alias string) error {
	w.write("(SELECT ")
	for i, f := range v.Fields() {
		if i > 0 {
			w.write(", ")
		}
		w.write(w.inView(class, f))
		if held := w.held(f.Name); held != f.Name || f.Stored != nil {
			w.write(" AS ", w.quote(held))
		}
		if raw := rawName(v.Class(), f); raw != "" {
			w.write(", ", w.column(class, f.Name), " AS ", w.quote(w.held(raw)))
		}
	}
	w.write(" FROM ")
	if err := w.scoped(v); err != nil {
		return err
	}
	w.write(") AS ", alias)
	return nil
}

// scoped writes a class with the layers of its view.
func (w *writer) scoped(v *policy.View) error {
	c := v.Class()
	if c.Space != "" {
		w.write(w.quote(c.Space), ".")
	}
	w.write(w.quote(c.Table), " AS ", class)
	return w.layers(v, class)
}

// layers writes the conditions that hold for every record of a view, under the alias of its class or of a derived table
// of all its fields.
func (w *writer) layers(v *policy.View, alias string) error {
	c := v.Class()
	for i, l := range v.Layers() {
		sep := " AND "
		if i == 0 {
			sep = " WHERE "
		}
		w.write(sep)
		if l.Through != nil {
			pointer, key := c.Field(l.Through.Field), l.Through.View.Class().Field(l.Through.Key)
			w.write(w.key(w.inView(alias, pointer), pointer, key), " IN (SELECT ", w.key(w.inView(class, key), key, pointer), " FROM ")
			if err := w.scoped(l.Through.View); err != nil {
				return err
			}
			w.write(")")
			continue
		}
		if err := w.filter(l.Filter, w.inClass(c, alias)); err != nil {
			return err
		}
	}
	return nil
}

// class is the alias of a class inside its view. Every name is qualified: SQLite takes an unknown bare quoted name for a
// string.
const class = "t"

func (w *writer) column(alias, name string) string {
	if alias != class {
		name = w.held(name)
	}
	return alias + "." + w.quote(name)
}

// nameable returns name without NUL, which marks the places of values and which no database accepts in a name.
func nameable(name string) string { return strings.ReplaceAll(name, "\x00", "\uFFFD") }

// standard holds the standard SQL that SQLite and PostgreSQL share.
type standard struct{}

func (standard) quote(name string) string {
	return `"` + strings.ReplaceAll(nameable(name), `"`, `""`) + `"`
}

// Conditions that hold for every record and for none. The words TRUE and FALSE are no constants in SQLite: where a table
// has a column of that name, they are that column.
const always, never = "1=1", "1=0"

func (standard) held(name string) string { return name }

func (standard) missing(x string, _ *schema.Field) string { return x + " IS NULL" }

func unsupported(format string, args ...any) error {
	return problem.New(problem.Unsupported, fmt.Sprintf(format, args...))
}

// Package sqlgen compiles a Permit to a statement that a source can run. It does no I/O.
//
// Where the plan names a class, sqlgen writes the view: a derived table of the visible fields, filtered by the view's
// predicate.
//
//	(SELECT t."id", t."title" FROM "issues" AS t WHERE t."org_id" = ?) AS v1
//
// So hidden fields and records have no name in the rest of the statement. Values are arguments and never part of the
// text. Expressions never raise an error, whatever a hidden record contains. The text is deterministic, so that
// statements are prepared once and tests can show a query and its SQL side by side. The package refuses forms that it
// can't translate.
//
// The package compiles a plan in these steps:
//
//	SQL → views and their layers (layers.go) → columns, conditions and order (filter.go, order.go)  of a find or a count
//	    → stages (stage.go, relation.go)     → expressions (write.go, logic.go)                     of a pipeline
//	    → Writer.Statement: the text with placeholders, and the arguments
//
// Constructs that differ between databases are methods of Dialect. Each database adapter has a dialect in its own
// folder and passes it in. Standard contains the forms that most databases share. regex.go translates RE2 regular
// expressions to two other syntaxes.
//
// The text of an expression is a plain string. Scope.Arg puts a place into it for each value. So texts are joined
// like strings, and values stay separate. Stages become clauses of one SELECT if the meaning stays the same.
// Otherwise the stages so far become a derived table. Its columns are named by position, because names in a pipeline
// may be longer than a database accepts.
package sqlgen

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Statement is SQL text, with all values separate from the text.
type Statement struct {
	Text    string
	Args    []any    // int64, float64, string, []byte, bool, []int64, []float64, []string
	Columns []Column // the columns of a row, or nil for a count, whose row is one integer
	Foreign bool     // code of the application may run: triggers, defaults or the whole statement
	Tenant  string   // the schema that a Foreign statement writes to, if the source has one schema per tenant, or ""
	Order   []int    // the columns with the values of the plan's order, or nil if the order isn't unique

	// Bounded are the columns whose values may have any length. Most is the maximum size of such a value in bytes. A
	// longer value is null. If Bounded isn't nil, a row has one more column. That column is null unless a value is
	// longer than Most. Then it contains the sizes in bytes of the values in all Bounded columns, separated by
	// commas.
	Bounded []int
	Most    int

	// Ahead means that the statement tests only some of the first records of the class. If it finds fewer than the
	// plan's Limit and one more, there may be others, and a dialect without Ahead has to answer.
	Ahead bool
}

// A Column is one value of a row as the source returns it.
type Column struct {
	Field  *schema.Field
	Part   query.Path // the part of a JSON field to keep, or nil for all of it
	Millis bool       // an integer in milliseconds since 1970
	Day    bool       // with Millis: the midnight of a calendar date
}

// ColumnOf returns the column of a row that contains f. A column with the declared type Milliseconds contains
// milliseconds only if it is a date.
func ColumnOf(f *schema.Field) Column {
	millis := f.Native == Milliseconds && (f.Type == schema.Date || f.Type == schema.Day)
	return Column{Field: f, Millis: millis, Day: millis && f.Type == schema.Day}
}

// SQL compiles p to a SELECT.
func SQL(p policy.Permit, d Dialect) (Statement, error) {
	plan, err := p.Plan()
	if err != nil {
		return Statement{}, err
	}
	return (&writer{Dialect: d, plan: &plan, few: readsFew(&plan)}).statement()
}

// statement writes the plan. It fails without a dialect.
func (w *writer) statement() (Statement, error) {
	if w.Dialect == nil {
		return Statement{}, problem.New(problem.Internal, "a statement is written in no dialect")
	}
	var err error
	switch {
	case w.plan.Native != nil:
		err = w.native()
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
	text, args, err := w.Writer.Statement(w.Dialect, w.longest())
	if err != nil {
		return Statement{}, err
	}
	return Statement{Text: text, Args: args, Columns: w.columns, Order: w.order, Bounded: w.bounded, Most: w.most, Ahead: w.ahead}, nil
}

// longest returns the maximum size of the statement in bytes.
func (w *writer) longest() int {
	if w.plan.Program != nil {
		return w.Longest()
	}
	return MaxText
}

// A writer writes one statement. Its columns, order, bounded and most become the fields of the Statement.
type writer struct {
	Dialect
	Writer
	plan    *policy.Plan
	columns []Column
	order   []int
	bounded []int
	most    int
	viewOf  map[string]*policy.View // the views of a program, by alias
	nearest string                  // the distance by which the plan orders, or ""
	whole   bool                    // also select a program's hidden columns
	ahead   bool                    // becomes Statement.Ahead
	few     bool                    // the statement reads few records: see readsFew
}

// view returns the alias of a join, or, for -1, of the plan's class.
func view(join int) string { return "v" + strconv.Itoa(join+2) }

func (w *writer) count() error {
	w.Write("SELECT count(*)")
	return w.from()
}

// find writes the statement of a Find. It selects the columns and the values of the order, from which the next page
// continues. The views with their joins, the order and the limit follow. The limit is one record higher than the
// caller's, to detect that there are more.
func (w *writer) find() error {
	if w.ahead = w.looksAhead(); w.ahead {
		w.few = true
	}
	if err := w.near(); err != nil {
		return err
	}
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
	xs = w.selectTerms(xs)
	w.Grow(w.length(xs))
	for i, x := range xs {
		w.Write([]string{"SELECT ", ", "}[min(i, 1)], x)
	}
	if err := w.from(); err != nil {
		return err
	}
	for i, o := range w.plan.Order {
		sep := ", "
		if i == 0 {
			sep = " ORDER BY "
		}
		x, f := w.place(o)
		w.Write(sep, w.OrderTerm(x, f, o.Desc))
	}
	w.Write(" LIMIT ", w.Limit(int64(w.plan.Limit)+1))
	if w.plan.Skip > 0 {
		w.Write(" OFFSET ")
		w.Put(int64(w.plan.Skip), "")
	}
	return nil
}

// length estimates the length of the statement of a Find that selects xs. Without the estimate, each call would copy
// the growing text and leave garbage.
func (w *writer) length(xs []string) int {
	n := 512 // conditions and order
	for _, x := range xs {
		n += len(x) + 2
	}
	for _, f := range w.plan.View.Fields() {
		n += len(f.Name) + 6
	}
	for _, j := range w.plan.Joins {
		for _, f := range j.View.Fields() {
			n += len(f.Name) + 6
		}
		n += 256
	}
	return n
}

// from writes the views, the caller's filter, the search and the position from which the page continues.
func (w *writer) from() error {
	w.Write(" FROM ")
	if err := w.writeDerivedTable(w.plan.View, view(-1)); err != nil {
		return err
	}
	for i, j := range w.plan.Joins {
		w.Write(" LEFT JOIN ")
		if err := w.writeDerivedTable(j.View, view(i)); err != nil {
			return err
		}
		from := w.plan.View
		if j.From >= 0 {
			from = w.plan.Joins[j.From].View
		}
		pointer, key := from.Class().Field(j.Field), j.View.Class().Field(j.Key)
		at := w.JoinKey(w.column(view(j.From), j.Field), pointer, key)
		if j.From >= 0 {
			at = w.Optional(at)
		}
		w.Write(" ON ", w.JoinKey(w.column(view(i), j.Key), key, pointer), " = ", at)
	}
	sep := " WHERE "
	if w.plan.Where != nil {
		w.Write(sep)
		if err := w.filter(w.plan.Where, w.fieldOperand); err != nil {
			return err
		}
		sep = " AND "
	}
	if w.plan.Search != nil {
		w.Write(sep)
		if err := w.Search(searched{w}, w.plan.View.Class().Space, w.plan.Search); err != nil {
			return err
		}
		sep = " AND "
	}
	if w.plan.After != nil {
		w.Write(sep)
		if err := w.goOn(0); err != nil {
			return err
		}
		sep = " AND "
	}
	if w.ahead {
		w.Write(sep)
		return w.within()
	}
	return nil
}

// searched is a statement under construction for Dialect.Search. It covers the view of the plan's class.
type searched struct{ *writer }

// Column implements SearchedView.
func (s searched) Column(name string) string { return s.column(view(-1), name) }

// writeDerivedTable writes a view as a derived table. It is the only place that names classes.
func (w *writer) writeDerivedTable(v *policy.View, alias string) error {
	w.Write("(SELECT ")
	for i, f := range v.Fields() {
		if i > 0 {
			w.Write(", ")
		}
		w.Write(w.inView(class, f))
		if held := w.ViewColumn(f.Name); held != f.Name || f.Stored != nil {
			w.Write(" AS ", w.Quote(held))
		}
		if raw := rawName(v.Class(), f); raw != "" {
			w.Write(", ", w.column(class, f.Name), " AS ", w.Quote(w.ViewColumn(raw)))
		}
	}
	w.Write(" FROM ")
	if err := w.writeClass(v, class); err != nil {
		return err
	}
	w.Write(w.barrier(), ") AS ", alias)
	return nil
}

// writeClass writes a class under an alias, class or one that begins with hop, with the layers of its view.
func (w *writer) writeClass(v *policy.View, alias string) error {
	c := v.Class()
	w.Write(w.table(c.Space, c.Table), " AS ", alias)
	return w.layers(v, alias)
}

// table returns the quoted name of a class, qualified with its schema so that it can't refer to another table.
func (w *writer) table(space, table string) string { return TableName(w.Dialect, space, table) }

// TableName returns the quoted name of a table with its schema. An empty space means the home schema of the dialect.
func TableName(d Dialect, space, table string) string {
	if space = cmp.Or(space, d.Home()); space == "" {
		return d.Quote(table)
	}
	return d.Quote(space) + "." + d.Quote(table)
}

// class is the alias of a class inside its view. Every name is qualified, because SQLite reads an unknown quoted name
// without a qualifier as a string.
const class = "t"

// hop begins the aliases of classes that a view reaches by pointers, where the condition also names the record with the
// pointer.
const hop = "h"

func (w *writer) column(alias, name string) string {
	if alias != class && !strings.HasPrefix(alias, hop) {
		name = w.ViewColumn(name)
	}
	return alias + "." + w.Quote(name)
}

// Package sqlbind binds a SELECT statement to the views of one principal.
//
//	*sqlparse.Query ─Bind: names, types→ plan.Program
//
// A program is the same as for pipelines, so masks, tenants, canonical filters, limits and the test oracle apply to it
// too, and expressions never fail. Tables opens every table, as a view. The error for an unknown table or column is the
// same whether the name is hidden or doesn't exist.
//
// A Binder binds expressions. It resolves names with Names, which each SELECT implements for its records, and
// determines types with package typecheck. Conditions in SQL have three values. So a condition is bound as two
// conditions of package plan: one that holds if it is true, and one that holds if it is false.
//
// An Aggregate consists of the accumulators of plan that a call needs, and the expression that computes its value from
// them. Functions that plan lacks are written as expressions of plan, for texts, numbers, times, JSON and lists.
// Numbers follow PostgreSQL: for example, whether / gives a fraction. A path into JSON also becomes an expression:
//
//	x #> '{tags,0}', JSON_VALUE(x, '$.tags[0]') → element 0 of the member tags of x
//
// Conditions on stored columns also become filters, for which a source can use an index. The tables of
// information_schema and pg_catalog contain only views that the caller may read.
package sqlbind

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Options are the values that a statement doesn't contain.
type Options struct {
	Now    time.Time              // for now() and CURRENT_DATE
	Params map[string]value.Value // by name: "1" for $1, "status" for :status
	Bounds plan.Bounds            // the maximum number of each costly part
}

// A Bound is a statement bound to views.
type Bound struct {
	Program   *plan.Program
	Limit     int64 // the LIMIT at the end of the statement, or -1
	Single    bool  // the result has at most one record
	Catalogue bool  // the statement reads information_schema or pg_catalog
	Guards    []plan.Guard
	// Notes tell the caller how the statement was read. Gathered are the columns with a list or a joined text of a
	// group.
	Notes, Gathered []string
}

// Bind binds a statement. Errors contain the line and the column.
func Bind(q *sqlparse.Query, tables Tables, o Options) (Bound, error) {
	b := &binder{tables: tables, o: o, meter: plan.Meter{Bounds: o.Bounds}}
	r, err := b.query(q, nil, nil)
	if err != nil {
		return Bound{}, sqlparse.WithPlace(err)
	}
	out := Bound{Limit: -1, Single: r.single, Catalogue: b.catalogue}
	if n := len(r.program.Stages); n > 0 {
		if s, ok := r.program.Stages[n-1].(*plan.Slice); ok {
			out.Limit = s.Limit
		}
	}
	if m := selectMap(r.shape, r.flaggedColumns()); m != nil {
		r.add(&m.Map)
	}
	out.Guards = b.guards
	out.Program, out.Notes, out.Gathered = r.program, b.known.Notes, b.known.Gathered
	return out, nil
}

// flaggedColumns returns the columns of days or of lengths of time. It adds a note for each length of time.
func (r *rel) flaggedColumns() (out []Flagged) {
	for _, c := range r.cols {
		if c.Day || c.Span {
			out = append(out, Flagged{Name: c.name, Column: c.at, Day: c.Day})
		}
		if c.Span && !c.Day {
			r.known.Notes = append(r.known.Notes, c.name+" is a length of time, in seconds")
		}
	}
	return out
}

// The maximum numbers of queries and tables of a statement. A query in WITH counts each time it is named. SQLite can
// join 64 tables.
const maxQueries, maxTables = 200, 40

// A binder binds one statement.
type binder struct {
	tables Tables
	o      Options
	known  statement
	alias  int // the number of FROM items without a name
	asked  int // the number of queries bound so far: a query counts each time it is named
	opened int // the number of tables opened so far
	meter  plan.Meter

	keyless bool // a table has no key
	guards  []plan.Guard

	where     []sqlparse.Expr // the conditions of the SELECT while its FROM is bound
	catalogue bool            // a table of information_schema or pg_catalog is read
}

// with is a query of a WITH clause that can be named. The field around contains the other queries.
type with struct {
	sqlparse.CTE
	around *with
	scope  *with // the queries that the query itself can name
}

// A rel is a list of records with named columns. It contains a program under construction.
type rel struct {
	*binder
	program  *plan.Program
	shape    *plan.Shape
	cols     []col
	outer    *rel            // the outer record of a correlated sub-query, or nil
	with     *with           // the queries that sub-queries in expressions can name
	used     bool            // the program refers to outer
	single   bool            // there is at most one record
	computed map[string]node // the values that a group or a window has computed, by key
	windows  []sqlparse.NamedWindow
	affirmed bool // the condition to bind is only tested for being true
	depends  plan.Dependencies
}

// A col is a column with a name.
type col struct {
	Marks
	table    string // the alias of its FROM item
	name     string
	at       int  // its number in the shape, or -1 if a group has removed it
	key      bool // part of the key of its table
	hidden   bool // USING has merged it into another column, so only a qualified name finds it
	unlisted bool // a second name for a column, which * omits
}

func (b *binder) table(from *typecheck.Relation, alias string, outer *rel, w *with) *rel {
	shape := typecheck.Base(from)
	r := &rel{binder: b, program: &plan.Program{From: from.Number, Base: shape}, outer: outer, with: w}
	r.shape = &r.program.Base
	for i, f := range from.Fields {
		r.cols = append(r.cols, col{table: alias, name: f.Name, at: i, key: slices.Contains(from.Key, f.Name), Marks: ofColumn(f.Native)})
	}
	return r
}

// fromRows returns a rel over constant records.
func (b *binder) fromRows(rows []value.Row, types []schema.Type, outer *rel, w *with) *rel {
	r := &rel{binder: b, outer: outer, with: w, program: &plan.Program{From: plan.Listed, Rows: rows}, single: len(rows) == 1}
	for _, t := range types {
		r.program.Base.Columns = append(r.program.Base.Columns, plan.Column{Type: t})
	}
	r.shape = &r.program.Base
	if len(rows) > 1 { // the records keep their order
		n := len(types)
		r.shape.Columns = append(r.shape.Columns, plan.Column{Type: schema.Integer, NotNull: true})
		r.shape.Order = []plan.Place{{Column: n}}
		for i := range rows {
			rows[i] = append(rows[i][:n], value.OfInt(int64(i)))
		}
	}
	return r
}

func (r *rel) add(s plan.Stage) {
	r.program.Stages = append(r.program.Stages, s)
	r.shape = s.Out()
}

// column returns a reference to column i.
func (r *rel) column(i int, p sqlparse.Pos) typecheck.Node {
	c := &r.shape.Columns[i]
	return typecheck.Node{Expr: plan.Ref{Column: i, T: c.Type}, Column: c, List: c.List, At: At(p)}
}

// find returns the column for a name, and the number of queries between the name and the column's query.
func (r *rel) find(n *sqlparse.Name) (up int, c *col, err error) {
	parts := n.Parts
	for len(parts) > 2 { // schema.table.column
		parts = parts[1:]
	}
	for at := r; at != nil; at, up = at.outer, up+1 {
		found := at.matching(parts)
		if len(found) > 1 {
			var names []string
			for _, c := range found {
				names = append(names, c.table+"."+c.name)
			}
			return 0, nil, invalid(n.Pos(), "%s is in several tables: write one of %s", n.Written(), strings.Join(names, ", "))
		}
		if len(found) == 1 {
			return up, found[0], nil
		}
	}
	return 0, nil, r.unknownColumnError(n, parts)
}

// matching returns the columns to which parts refer.
func (r *rel) matching(parts []sqlparse.Ident) []*col {
	name := parts[len(parts)-1]
	for _, same := range []func(i sqlparse.Ident, s string) bool{exact, equalFold} {
		var found []*col
		for i := range r.cols {
			c := &r.cols[i]
			if same(name, c.name) && (len(parts) == 1 && !c.hidden || len(parts) == 2 && equalFold(parts[0], c.table)) {
				found = append(found, c)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

func exact(i sqlparse.Ident, s string) bool     { return i.Text == s }
func equalFold(i sqlparse.Ident, s string) bool { return strings.EqualFold(i.Text, s) }

// unknownColumnError returns the error for a name without a column.
func (r *rel) unknownColumnError(n *sqlparse.Name, parts []sqlparse.Ident) error {
	var names, tables []string
	for at := r; at != nil; at = at.outer {
		for _, c := range at.cols {
			if c.hidden && c.unlisted {
				continue
			}
			if !slices.Contains(tables, c.table) {
				tables = append(tables, c.table)
			}
			if len(parts) == 1 || equalFold(parts[0], c.table) {
				names = append(names, c.name)
			}
		}
	}
	if len(parts) == 2 && names == nil {
		return &problem.Error{Code: problem.InvalidQuery, Kind: "unknown_field", Pointer: At(n.Pos()), Near: problem.Nearest(parts[0].Text, tables, 3),
			Detail: fmt.Sprintf("unknown table or alias %q", problem.Cut(parts[0].Text))}
	}
	refusal := &problem.Error{Code: problem.InvalidQuery, Kind: "unknown_field", Pointer: At(n.Pos()), Near: problem.Nearest(parts[len(parts)-1].Text, names, 3),
		Detail: fmt.Sprintf("unknown column %q", n.Written())}
	if all := problem.ShortList(names); len(refusal.Near) == 0 && all != "" {
		refusal.Suggestion = "the columns here are " + all
	}
	return refusal
}

// Column implements Names. The column is in this query or in an outer one.
func (r *rel) Column(n *sqlparse.Name) (node, error) {
	x, err := r.PassColumn(n)
	if err == nil && x.Column != nil && x.Column.Mask != nil {
		return node{}, x.Column.Mask.Refuse(n.Written(), At(n.Pos()))
	}
	if err == nil && x.Column != nil && x.Column.Type == schema.Opaque && x.Column.Field != nil && x.Column.Field.Form != "" && !x.IsObject() {
		name := x.Column.Field.Name
		r.known.Note(At(n.Pos()), "opaque "+name, "%s is taken as the text that answers show: an order, min and max are those of texts", name)
		x.Compute(plan.Convert{X: x.Expr, T: schema.String})
	}
	if err == nil {
		err = x.CheckComputable()
	}
	return x, err
}

// PassColumn implements Names.
func (r *rel) PassColumn(n *sqlparse.Name) (node, error) {
	up, c, err := r.find(n)
	if err != nil {
		if last := n.Parts[len(n.Parts)-1]; len(n.Parts) == 1 && last.Quoted {
			r.known.Note(At(last.At), "quoted "+last.Text, `there is no column "%s", so it is taken as text; write it in single quotes`, problem.Cut(last.Text))
			return literal(value.OfString(last.Text), last.At), nil
		}
		return node{}, err
	}
	from := r
	for range up {
		from.used = true
		from = from.outer
	}
	if c.at < 0 {
		return node{}, unsupportedError(n.Pos(), "add it to GROUP BY, or take min("+n.Written()+")", "%s is neither in GROUP BY nor inside of an aggregate", n.Written())
	}
	x := from.column(c.at, n.Pos())
	if x.Column.Field != nil {
		r.tables.RecordUse(x.Column.Field)
	}
	if up > 0 {
		if x.Column.Mask != nil {
			return node{}, x.Column.Mask.Refuse(n.Written(), At(n.Pos()))
		}
		x.Elsewhere(plan.Outer{Up: up, Column: c.at, T: x.Column.Type})
	}
	return node{Node: x, Marks: c.Marks}, nil
}

// ensureColumns returns the numbers of the columns that contain xs. It adds hidden columns for values that are in no
// column.
func (r *rel) ensureColumns(xs []node) []int {
	out := make([]int, len(xs))
	m := r.same()
	for i, x := range xs {
		e := x.Expr
		if _, held := e.(plan.Ref); !held {
			e = x.JSONOr()
		}
		out[i] = m.Column(e, plan.Column{Type: e.Type(), List: x.List})
	}
	if len(m.Columns) > len(r.shape.Columns) {
		r.add(&m.Map)
	}
	return out
}

package sqldriver

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// FoundViews are the views of a database whose catalogue stores them as text.
type FoundViews struct {
	List     []*FoundTable            // all tables and views, including those that are not classes
	Texts    map[*FoundTable]string   // the SELECT of each view, or "" if it can't be read
	Space    string                   // how texts name the default schema, or "" if they don't
	Routines map[string]string        // the texts of user-defined functions, by name
	Unread   string                   // why a text can't be read
	kept     map[[2]string]bool       // the classes, by space and table
	done     map[*FoundTable][]origin // the origins of the columns of each view
}

// An origin contains the columns that a column of a query is computed from. It also has the column's name in the
// outer query.
type origin struct {
	name    string
	from    map[schema.Origin]bool
	unknown string // the part that wasn't understood, so that from is incomplete, or ""
	note    string // the reason why from may contain too many columns, or ""
}

// add adds the origin of another column.
func (o *origin) add(other origin) {
	if o.from == nil {
		o.from = map[schema.Origin]bool{}
	}
	maps.Copy(o.from, other.from)
	o.unknown, o.note = cmp.Or(o.unknown, other.unknown), cmp.Or(o.note, other.note)
}

// Trace sets the origins of the fields of views among classes. If a view can't be traced, its fields get the reason
// in Untraced, and all columns that the view's text names as Origins.
func (v *FoundViews) Trace(classes []schema.Class) {
	v.keep(classes)
	for _, f := range v.List {
		at := slices.IndexFunc(classes, func(c schema.Class) bool { return c.Space == f.Space && c.Table == f.Table })
		if !f.View || at < 0 {
			continue
		}
		for i, o := range v.columns(f) {
			field := classes[at].Field(f.Columns[i])
			if field == nil {
				continue
			}
			field.Untraced, field.Origins = cmp.Or(o.unknown, o.note), slices.SortedFunc(maps.Keys(o.from), compareOrigins)
		}
	}
}

// keep stores which tables and views are classes.
func (v *FoundViews) keep(classes []schema.Class) {
	v.kept, v.done = map[[2]string]bool{}, map[*FoundTable][]origin{}
	for i := range classes {
		v.kept[[2]string{classes[i].Space, classes[i].Table}] = true
	}
}

// compareOrigins orders origins by table and column.
func compareOrigins(a, b schema.Origin) int {
	return cmp.Or(cmp.Compare(a.Space, b.Space), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column))
}

var errShape = errors.New("its text has a form that isn't understood")

// columns returns the origins of the columns of a view, in order.
func (v *FoundViews) columns(f *FoundTable) []origin {
	if have, ok := v.done[f]; ok {
		return have
	}
	v.done[f] = make([]origin, len(f.Columns)) // guards against recursion. No view is made of itself
	text := v.Texts[f]
	ts, ok := LexSQL(text, AllQuotes)
	var out []origin
	why := cmp.Or(v.Unread, "its text can't be read")
	if ok && text != "" {
		q := &selecting{FoundViews: v, space: f.Space}
		found, err := q.query(ts, nil)
		if err == nil && len(found) == len(f.Columns) {
			out = found
		}
		why = errShape.Error()
	}
	if out == nil {
		out = make([]origin, len(f.Columns))
		for i := range out {
			out[i].unknown = why
		}
	}
	for i := range out {
		if out[i].unknown != "" {
			out[i].add(v.originOfText(ts))
		}
	}
	v.done[f] = out
	return out
}

// originOfText returns an origin with all columns of the tables and views that a text names. If the text names none,
// the origin is any column.
func (v *FoundViews) originOfText(ts []Token) origin {
	o := origin{from: map[schema.Origin]bool{}}
	for _, t := range ts {
		for _, f := range v.List {
			if t.Kind <= QuotedToken && LowerASCII(t.Text) == LowerASCII(f.Table) {
				o.add(v.whole(f))
			}
		}
	}
	if len(o.from) == 0 {
		o.from[schema.Origin{}] = true
	}
	return o
}

// whole returns an origin with all columns of a table or a view. If a view is not a class, whole returns the columns
// that the view reads.
func (v *FoundViews) whole(f *FoundTable) origin {
	o := origin{from: map[schema.Origin]bool{}}
	switch {
	case v.kept[[2]string{f.Space, f.Table}]:
		o.from[schema.Origin{Space: f.Space, Table: f.Table}] = true
	case f.View:
		for _, c := range v.columns(f) {
			o.add(c)
		}
	default:
		for _, name := range f.Columns {
			o.from[schema.Origin{Space: f.Space, Table: f.Table, Column: name}] = true
		}
	}
	return o
}

// table returns the columns of a table or a view as a query reads them.
func (v *FoundViews) table(f *FoundTable) []origin {
	if f.View && !v.kept[[2]string{f.Space, f.Table}] {
		out := slices.Clone(v.columns(f))
		for i := range out {
			out[i].name = f.Columns[i]
		}
		return out
	}
	out := make([]origin, len(f.Columns))
	for i, name := range f.Columns {
		out[i] = origin{name: name, from: map[schema.Origin]bool{{Space: f.Space, Table: f.Table, Column: name}: true}}
	}
	return out
}

// find returns the table or view with the name in a text, or nil if the list doesn't contain it.
func (v *FoundViews) find(space, name string) *FoundTable {
	if v.Space != "" && space == v.Space || v.Space == "" && strings.EqualFold(space, "main") {
		space = ""
	}
	i := slices.IndexFunc(v.List, func(f *FoundTable) bool {
		return LowerASCII(f.Table) == LowerASCII(name) && LowerASCII(f.Space) == LowerASCII(space)
	})
	if i < 0 {
		return nil
	}
	return v.List[i]
}

// call adds the tables that a function may read. These are the tables that its text names, and the tables of the
// functions that it calls. A function that runs dynamic SQL may read any table.
func (v *FoundViews) call(name string, o *origin, seen map[string]bool) {
	if seen[name] {
		return
	}
	seen[name] = true
	text, ok := v.Routines[name]
	ts, lexed := LexSQL(text, AllQuotes)
	if !ok || text == "" || !lexed || slices.ContainsFunc(ts, func(t Token) bool { return t.Is("PREPARE") || t.Is("EXECUTE") }) {
		o.add(origin{from: map[schema.Origin]bool{{}: true}, note: "it calls the function " + name + ", which may read any table"})
		return
	}
	for _, t := range ts {
		if t.Kind > QuotedToken {
			continue
		}
		for _, f := range v.List {
			if LowerASCII(t.Text) == LowerASCII(f.Table) {
				o.add(v.whole(f))
				o.note = cmp.Or(o.note, "it calls the function "+name+", which reads tables itself")
			}
		}
		for other := range v.Routines {
			if LowerASCII(t.Text) == LowerASCII(other) {
				v.call(other, o, seen)
			}
		}
	}
}

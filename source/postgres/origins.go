package postgres

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A tracer finds the columns from which the columns of views are computed.
type tracer struct {
	*reader
	classes   []schema.Class
	views     map[uint32]*traced   // by id: the views that are classes, and the views that these read
	relations map[uint32]*relation // by id: all tables and views that the views read
	functions map[uint32]*function // by id: the functions that the views call
	operators map[uint32]uint32    // the function of each operator, by the operator's id
	byClass   map[[2]string]*schema.Class
}

const selectTriggers = `
SELECT t.tgrelid, p.prosrc FROM pg_catalog.pg_trigger t
JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE t.tgrelid = ANY ($1::oid[]) AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND l.lanname = 'plpgsql'
ORDER BY t.tgrelid, t.tgname`

// triggers adds the columns from which triggers compute fields.
func (r *reader) triggers(ctx context.Context, classes []schema.Class) error {
	type row struct {
		Table uint32
		Text  string
	}
	rows, err := collect[row](ctx, r.conn, selectTriggers, r.oids)
	if err != nil || len(rows) == 0 {
		return err
	}
	v := &sqldriver.FoundViews{List: r.list(r.oids)}
	list := make([]sqldriver.FoundTrigger, len(rows))
	for i, x := range rows {
		list[i] = sqldriver.FoundTrigger{Of: &r.byOID[x.Table].FoundTable, Text: x.Text}
	}
	v.Triggers(classes, list, sqldriver.DoubleQuotes)
	return nil
}

// A traced is a view with the lineages of its columns.
type traced struct {
	columns []lineage
	reads   map[uint32]bool
	unknown bool // its query can't be read
}

// A relation is a table or a view that a view reads.
type relation struct {
	Space, Table string
	View         bool
	Columns      map[int]string // the column names, by number
}

// origins sets the origins of the fields of views.
func (r *reader) origins(ctx context.Context, classes []schema.Class) error {
	t := &tracer{reader: r, classes: classes, views: map[uint32]*traced{}, relations: map[uint32]*relation{}, functions: map[uint32]*function{},
		operators: map[uint32]uint32{}, byClass: map[[2]string]*schema.Class{}}
	for i := range classes {
		t.byClass[[2]string{classes[i].Space, classes[i].Table}] = &classes[i]
	}
	var pending []uint32
	for _, oid := range r.oids {
		if c := r.byOID[oid]; c.View && t.byClass[[2]string{c.Space, c.Table}] != nil {
			pending = append(pending, oid)
		}
	}
	for len(pending) > 0 {
		if err := t.queries(ctx, pending); err != nil {
			return err
		}
		var err error
		if pending, err = t.read(ctx); err != nil {
			return err
		}
	}
	if err := t.calls(ctx); err != nil {
		return err
	}
	for _, oid := range r.oids {
		c := r.byOID[oid]
		if class := t.byClass[[2]string{c.Space, c.Table}]; class != nil && t.views[oid] != nil {
			for number, name := range c.fields {
				if f := class.Field(name); f != nil {
					f.Origins, f.Untraced = t.field(oid, int(number))
				}
			}
		}
	}
	return nil
}

const selectQueries = `
SELECT r.ev_class, r.ev_action::text FROM pg_catalog.pg_rewrite r
WHERE r.ev_class = ANY ($1::oid[]) AND r.rulename = '_RETURN'`

// queries reads the queries of views, and traces their columns.
func (t *tracer) queries(ctx context.Context, views []uint32) error {
	type row struct {
		View  uint32
		Query string
	}
	rows, err := collect[row](ctx, t.conn, selectQueries, views)
	if err != nil {
		return err
	}
	for _, oid := range views {
		t.views[oid] = &traced{unknown: true}
	}
	for _, x := range rows {
		columns, reads, err := lineageOf(x.Query)
		delete(reads, x.View) // up to PostgreSQL 15, the query also names the view itself, without reading from it
		t.views[x.View] = &traced{columns: columns, reads: reads, unknown: err != nil}
	}
	return nil
}

const selectRead = `
SELECT c.oid, CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname::text END, c.relname::text,
	c.relkind IN ('v', 'm') AND left(n.nspname::text, 3) <> 'pg_' AND n.nspname <> 'information_schema',
	ARRAY(SELECT a.attnum::int FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum),
	ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = ANY ($1::oid[])`

// read describes the tables and views that views read. It returns those views among them whose queries must still be
// read. PostgreSQL's own views count as tables.
func (t *tracer) read(ctx context.Context) (pending []uint32, err error) {
	want := map[uint32]bool{}
	for _, v := range t.views {
		for oid := range v.reads {
			if t.relations[oid] == nil {
				want[oid] = true
			}
		}
	}
	if err := t.describe(ctx, slices.Sorted(maps.Keys(want))); err != nil {
		return nil, err
	}
	for oid := range want {
		if found := t.relations[oid]; found != nil && found.View && t.views[oid] == nil {
			pending = append(pending, oid)
		}
	}
	slices.Sort(pending)
	return pending, nil
}

// describe reads the names of tables and views, and the names of their columns.
func (t *tracer) describe(ctx context.Context, oids []uint32) error {
	type row struct {
		OID          uint32
		Space, Table string
		View         bool
		Numbers      []int
		Names        []string
	}
	if len(oids) == 0 {
		return nil
	}
	rows, err := collect[row](ctx, t.conn, selectRead, oids)
	for _, x := range rows {
		found := &relation{Space: x.Space, Table: x.Table, View: x.View, Columns: map[int]string{}}
		for i, n := range x.Numbers {
			found.Columns[n] = x.Names[i]
		}
		t.relations[x.OID] = found
	}
	return err
}

// A making collects the origins of a field.
type making struct {
	origins  map[schema.Origin]bool
	untraced string
	seen     map[attribute]bool
}

func (m *making) fails(why string) { m.untraced = cmp.Or(m.untraced, why) }

// field returns the origins of a column of a view. A view that is not a class is traced to the tables that it reads.
func (t *tracer) field(view uint32, number int) (_ []schema.Origin, untraced string) {
	m := &making{origins: map[schema.Origin]bool{}, seen: map[attribute]bool{}}
	t.column(view, number, m)
	out := slices.SortedFunc(maps.Keys(m.origins), func(a, b schema.Origin) int {
		return cmp.Or(cmp.Compare(a.Space, b.Space), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column))
	})
	return out, m.untraced
}

// column adds the origins of a column of a view. If the column's expression isn't understood, all columns that the
// view reads count as its origins.
func (t *tracer) column(view uint32, number int, m *making) {
	v := t.views[view]
	switch {
	case v.unknown || number > len(v.columns):
		m.fails("the query of the view can't be read")
		m.origins[schema.Origin{}] = true
		return
	case number == 0:
		for i := range v.columns {
			t.column(view, i+1, m)
		}
		return
	}
	l := v.columns[number-1]
	for at := range l.columns {
		t.attribute(at, m)
	}
	for id := range l.functions {
		t.call(id, m)
	}
	for id := range l.operators {
		t.call(t.operators[id], m)
	}
	if l.unknown != "" {
		m.fails("the query of the view has " + l.unknown)
		for oid := range v.reads {
			t.attribute(attribute{oid, 0}, m)
		}
	}
}

// attribute adds a column of a table, or of a view that is a class. For a column of another view, it adds the origins
// of that column.
func (t *tracer) attribute(at attribute, m *making) {
	if m.seen[at] {
		return
	}
	m.seen[at] = true
	found := t.relations[at.relation]
	if found == nil {
		m.fails("a table of the view isn't there")
		m.origins[schema.Origin{}] = true
		return
	}
	class := t.byClass[[2]string{found.Space, found.Table}]
	switch {
	case class == nil && t.views[at.relation] != nil:
		t.column(at.relation, at.number, m)
	case at.number != 0:
		m.origins[schema.Origin{Space: found.Space, Table: found.Table, Column: found.Columns[at.number]}] = true
	case class != nil:
		m.origins[schema.Origin{Space: found.Space, Table: found.Table}] = true
	default:
		for _, name := range found.Columns {
			m.origins[schema.Origin{Space: found.Space, Table: found.Table, Column: name}] = true
		}
	}
}

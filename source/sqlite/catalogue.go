package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// reader reads one schema of a SQLite database within one transaction.
type reader struct {
	tx       *sql.Tx
	space    string // SQLite's name of the schema: main for the default schema
	byName   map[string]*sqldriver.FoundTable
	list     []*sqldriver.FoundTable
	ddl      map[*sqldriver.FoundTable]string
	rowid    map[*sqldriver.FoundTable]string // the field that is an alias of the rowid
	strict   map[*sqldriver.FoundTable]bool
	foreign  bool // whether some DDL names a collation
	warnings []string
	triggers []sqldriver.FoundTrigger
}

// describe returns the classes of a SQLite database, sorted, with source as their source. It also returns warnings
// about omitted classes. Attached databases are spaces. Temporary tables aren't classes. A field's length is the
// declared length, which SQLite doesn't enforce.
func describe(ctx context.Context, db *sql.DB, source string, choice schema.Choice) ([]schema.Class, []string, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, nil, fmt.Errorf("describe %s: %w", source, err)
	}
	defer tx.Rollback()
	var spaces []string
	err = scan(ctx, tx, `SELECT name FROM pragma_database_list WHERE name <> 'temp' ORDER BY seq`, nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		spaces = append(spaces, name)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("describe %s: databases: %w", source, err)
	}
	var list []*sqldriver.FoundTable
	var warnings []string
	texts, triggers := map[*sqldriver.FoundTable]string{}, []sqldriver.FoundTrigger(nil)
	for _, space := range spaces {
		r := &reader{tx: tx, space: space, byName: map[string]*sqldriver.FoundTable{}, ddl: map[*sqldriver.FoundTable]string{}, rowid: map[*sqldriver.FoundTable]string{},
			strict: map[*sqldriver.FoundTable]bool{}}
		if err := r.read(ctx); err != nil {
			return nil, nil, fmt.Errorf("describe %s: database %s: %w", source, space, err)
		}
		list, warnings = append(list, r.list...), append(warnings, r.warnings...)
		r.selects(texts)
		triggers = append(triggers, r.triggers...)
	}
	all := slices.Clone(list)
	classes, more := sqldriver.SettleClasses(source, list, choice)
	views := &sqldriver.FoundViews{List: all, Texts: texts}
	views.Trace(classes)
	views.Triggers(classes, triggers, sqldriver.AllQuotes)
	warnings = append(warnings, more...)
	for i := range classes {
		for _, k := range classes[i].Key {
			field := classes[i].Field(k)
			field.Mixed = field.Typing != schema.Strict && field.Type != schema.String
		}
	}
	more, err = fullText(ctx, tx, classes)
	return classes, append(warnings, more...), err
}

// scan calls each for every row of a query.
func scan(ctx context.Context, tx *sql.Tx, query string, args []any, each func(*sql.Rows) error) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// read reads the schema. The steps depend on each other. The DDL comes last, because it adds only the facts that the
// pragmas lack.
func (r *reader) read(ctx context.Context) error {
	for _, step := range []func(context.Context) error{r.tables, r.columns, r.indexes, r.foreignKeys, r.code} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	for _, f := range r.list {
		r.settleTyping(f)
		r.settleDDL(f)
	}
	return nil
}

// from returns the FROM operand for the catalogue of this schema.
func (r *reader) from() string {
	return `"` + strings.ReplaceAll(r.space, `"`, `""`) + `".sqlite_schema AS s`
}

// tables reads the tables and views of the schema. SQLite's own tables, tables whose names begin with bailiwick_, and
// full-text indexes with their internal tables are not classes. The DDL of virtual tables contains no facts about
// columns, so it is dropped.
func (r *reader) tables(ctx context.Context) error {
	query := `SELECT s.name, l.type, coalesce(s.sql, ''), l.strict FROM ` + r.from() + `
		JOIN pragma_table_list AS l ON l.schema = ?1 AND l.name = s.name
		WHERE s.type IN ('table', 'view') AND l.type <> 'shadow'
		AND s.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND s.name NOT LIKE 'bailiwick\_%' ESCAPE '\'
		ORDER BY s.name`
	made := map[string]string{} // the virtual tables
	err := scan(ctx, r.tx, query, []any{r.space}, func(rows *sql.Rows) error {
		var name, kind, ddl string
		var strict bool
		if err := rows.Scan(&name, &kind, &ddl, &strict); err != nil {
			return err
		}
		f := &sqldriver.FoundTable{}
		f.Table, f.View = name, kind == "view"
		if r.space != "main" {
			f.Space = r.space
		}
		r.byName[sqldriver.LowerASCII(name)] = f
		r.list = append(r.list, f)
		if r.ddl[f], r.strict[f] = ddl, strict; kind == "virtual" {
			r.ddl[f], made[name] = "", ddl
		}
		r.foreign = r.foreign || strings.Contains(strings.ToUpper(ddl), "COLLATE")
		return nil
	})
	internal := textTables(made)
	r.list = slices.DeleteFunc(r.list, func(f *sqldriver.FoundTable) bool { return internal[sqldriver.LowerASCII(f.Table)] })
	maps.DeleteFunc(r.byName, func(name string, _ *sqldriver.FoundTable) bool { return internal[name] })
	return err
}

// columns reads the columns of all tables at once. Columns of views and virtual tables can't be read if a table that
// they depend on no longer exists. In that case, they are read one by one, and the broken ones are omitted.
func (r *reader) columns(ctx context.Context) error {
	base := `SELECT s.name, c.name, coalesce(c.type, ''), c."notnull", coalesce(c.dflt_value, ''), c.pk, c.hidden
		FROM ` + r.from() + `, pragma_table_xinfo(s.name, ?1) AS c WHERE s.type IN ('table', 'view') `
	if err := r.columnsOf(ctx, base+`AND s.type = 'table' AND s.rootpage > 0 ORDER BY s.name, c.cid`, r.space); err != nil {
		return err
	}
	warned := len(r.warnings)
	if r.columnsOf(ctx, base+`AND coalesce(s.rootpage, 0) = 0 ORDER BY s.name, c.cid`, r.space) == nil {
		return nil
	}
	r.warnings = r.warnings[:warned]
	for _, f := range slices.Clone(r.list) {
		if !f.View && r.ddl[f] != "" {
			continue
		}
		f.Fields, f.Columns = nil, nil
		err := r.columnsOf(ctx, base+`AND s.name = ?2 ORDER BY c.cid`, r.space, f.Table)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.warnings = append(r.warnings, fmt.Sprintf("class %s left out: %v", f.Place(), err))
			r.list = slices.DeleteFunc(r.list, func(x *sqldriver.FoundTable) bool { return x == f })
			delete(r.byName, sqldriver.LowerASCII(f.Table))
		}
	}
	return nil
}

// columnsOf adds the columns that query returns as fields, in order, and the primary keys. It omits hidden columns of
// virtual tables. Generated columns aren't required. A column that can't be a field causes a warning.
func (r *reader) columnsOf(ctx context.Context, query string, args ...any) error {
	type part struct {
		at   int
		name string
	}
	keys := map[*sqldriver.FoundTable][]part{}
	err := scan(ctx, r.tx, query, args, func(rows *sql.Rows) error {
		var table string
		var field schema.Field
		var pk, hidden int
		if err := rows.Scan(&table, &field.Name, &field.Native, &field.NotNull, &field.Default, &pk, &hidden); err != nil {
			return err
		}
		f := r.byName[sqldriver.LowerASCII(table)]
		if f == nil || hidden == 1 {
			return nil
		}
		field.Generated = hidden > 1
		field.Required = field.NotNull && !field.Generated && field.Default == ""
		field.Type, field.Length = typeOf(field.Native)
		field.Atomic = field.Type == schema.Any // SQLite stores JSON as text
		if field.Type == schema.Double {
			field.Beyond = "infinite"
		}
		if pk > 0 {
			keys[f] = append(keys[f], part{pk, field.Name})
		}
		if warning := f.Add(field); warning != "" {
			r.warnings = append(r.warnings, warning)
		}
		return nil
	})
	for f, parts := range keys {
		slices.SortFunc(parts, func(a, b part) int { return a.at - b.at })
		f.Primary = nil
		for _, p := range parts {
			f.Primary = append(f.Primary, p.name)
		}
		if len(parts) == 1 {
			r.rowid[f] = parts[0].name // removed later if the table has an index for its key
		}
	}
	return err
}

// An index is an index as the pragmas return it.
type index struct {
	of       *sqldriver.FoundTable
	name     string
	columns  []string // rowidColumn for the rowid, "" for an expression
	collated []string // the columns with a collation other than BINARY
	unique   bool
	partial  bool
}

const rowidColumn = "\x00rowid" // no column can have this name

// indexes reads the indexes of all tables, one row per column. If a table's primary key has its own index, its key
// isn't an alias of the rowid, since an INTEGER PRIMARY KEY has no index.
func (r *reader) indexes(ctx context.Context) error {
	var all []*index
	var last *index
	query := `SELECT s.name, i.name, i."unique" AND NOT i.partial, i.partial, i.origin = 'pk', c.cid, coalesce(c.name, ''), c.coll
		FROM ` + r.from() + `, pragma_index_list(s.name, ?1) AS i, pragma_index_xinfo(i.name, ?1) AS c
		WHERE s.type = 'table' AND c.key ORDER BY s.name, i.name, c.seqno`
	err := scan(ctx, r.tx, query, []any{r.space}, func(rows *sql.Rows) error {
		var table, name, column, collation string
		var unique, partial, primary bool
		var cid int
		if err := rows.Scan(&table, &name, &unique, &partial, &primary, &cid, &column, &collation); err != nil {
			return err
		}
		f := r.byName[sqldriver.LowerASCII(table)]
		if f == nil {
			return nil
		}
		if last == nil || last.of != f || last.name != name {
			last = &index{of: f, name: name, unique: unique, partial: partial}
			all = append(all, last)
		}
		if primary {
			delete(r.rowid, f)
		}
		if cid == -1 {
			column = rowidColumn
		}
		last.columns = append(last.columns, column)
		if !strings.EqualFold(collation, "BINARY") {
			last.collated = append(last.collated, column)
		}
		return nil
	})
	r.settleIndexes(all)
	return err
}

// settleIndexes adds the indexes after the aliases of the rowid are known.
func (r *reader) settleIndexes(all []*index) {
	for _, x := range all {
		for i, c := range x.columns {
			if c == rowidColumn {
				x.columns[i] = r.rowid[x.of]
			}
		}
		x.of.Index(x.name, x.columns, x.unique, x.partial)
		for _, c := range x.collated {
			r.foreign = true
			if field := x.of.Field(c); field != nil {
				field.Unordered = true
			}
		}
	}
	for f, name := range r.rowid {
		if r.ddl[f] == "" {
			continue // a virtual table
		}
		if field := f.Field(name); field != nil {
			field.Generated, field.Required, field.NotNull = true, false, true
		}
	}
}

// foreignKeys reads the foreign keys whose target is a class of this schema. Field names have the spelling of their
// tables. A foreign key without target columns refers to the primary key.
func (r *reader) foreignKeys(ctx context.Context) error {
	var last *sqldriver.FoundLink
	var lastOf *sqldriver.FoundTable
	lastID := -1
	query := `SELECT s.name, k.id, k."table", k."from", coalesce(k."to", ''), k.seq
		FROM ` + r.from() + `, pragma_foreign_key_list(s.name, ?1) AS k WHERE s.type = 'table' ORDER BY s.name, k.id, k.seq`
	return scan(ctx, r.tx, query, []any{r.space}, func(rows *sql.Rows) error {
		var table, target, from, to string
		var id, seq int
		if err := rows.Scan(&table, &id, &target, &from, &to, &seq); err != nil {
			return err
		}
		f, parent := r.byName[sqldriver.LowerASCII(table)], r.byName[sqldriver.LowerASCII(target)]
		if f == nil || parent == nil {
			return nil
		}
		if f != lastOf || id != lastID {
			f.Links = append(f.Links, sqldriver.FoundLink{To: parent})
			last, lastOf, lastID = &f.Links[len(f.Links)-1], f, id
		}
		if to == "" && seq < len(parent.Primary) {
			to = parent.Primary[seq]
		}
		last.Fields, last.Targets = append(last.Fields, spelt(f, from)), append(last.Targets, spelt(parent, to))
		return nil
	})
}

const selectReferences = `SELECT s.name, k.id, p.name, k."from", coalesce(k."to", (SELECT i.name FROM pragma_table_info(k."table", 'main') AS i WHERE i.pk = k.seq + 1)),
	k.on_delete, k.on_update
FROM main.sqlite_schema AS s, pragma_foreign_key_list(s.name, 'main') AS k JOIN main.sqlite_schema AS p ON p.type = 'table' AND lower(p.name) = lower(k."table")
WHERE s.type = 'table' ORDER BY s.name, k.id, k.seq`

// references returns the foreign keys of the tables of the main file.
func references(ctx context.Context, conn *sql.Conn) ([]schema.Reference, error) {
	rows, err := conn.QueryContext(ctx, selectReferences)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []schema.Reference
	last := ""
	for rows.Next() {
		var table, id, to, from, target, delete, update sql.NullString
		if err := rows.Scan(&table, &id, &to, &from, &target, &delete, &update); err != nil {
			return nil, err
		}
		if at := table.String + "\x00" + id.String; at != last || out == nil {
			last = at
			out = append(out, schema.Reference{Table: table.String, To: to.String, Delete: sqldriver.ReferenceRule(strings.ToUpper(delete.String)),
				Changed: sqldriver.ReferenceRule(strings.ToUpper(update.String))})
		}
		r := &out[len(out)-1]
		r.Fields, r.Targets = append(r.Fields, from.String), append(r.Targets, target.String)
	}
	return out, rows.Err()
}

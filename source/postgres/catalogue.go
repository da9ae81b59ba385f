package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A querier has the methods that describe needs: it is a connection, a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// reader reads a catalogue. It reads the classes first, then their columns, constraints and indexes.
type reader struct {
	conn     querier
	source   string
	choice   schema.Choice
	oids     []uint32
	byOID    map[uint32]*class
	warnings []string
}

// A class is a found class with additional facts of PostgreSQL.
type class struct {
	sqldriver.FoundTable
	foreign bool             // a foreign table, whose constraints aren't enforced in this database
	parent  bool             // its rows include the rows of child tables, which its indexes don't cover
	fields  map[int16]string // the names of fields by attribute number, without columns that aren't fields
}

// describe returns the classes of a PostgreSQL database that the role of conn may select from. They have source as
// their source and are sorted. It also returns warnings about omitted classes. If the role may select only some
// columns, the class has only those columns.
func describe(ctx context.Context, conn querier, source string, choice schema.Choice) ([]schema.Class, []string, error) {
	r := &reader{conn: conn, source: source, choice: choice, byOID: map[uint32]*class{}}
	if err := r.step(ctx, "classes", r.classes); err != nil {
		return nil, nil, err
	}
	return r.readClasses(ctx)
}

// step runs one step of describe and adds its name to errors.
func (r *reader) step(ctx context.Context, name string, read func(context.Context) error) error {
	if err := read(ctx); err != nil {
		return fmt.Errorf("describe %s: %s: %w", r.source, name, withGrantHint(err))
	}
	return nil
}

// readClasses reads all facts about the found classes, and returns the classes with the warnings.
func (r *reader) readClasses(ctx context.Context) ([]schema.Class, []string, error) {
	if err := r.rest(ctx); err != nil {
		return nil, nil, err
	}
	classes, more := sqldriver.SettleClasses(r.source, r.list(r.oids), r.choice)
	err := r.step(ctx, "full text", func(ctx context.Context) error { return fullText(ctx, r.conn, classes, r.oids) })
	if err == nil {
		err = r.step(ctx, "views", func(ctx context.Context) error { return r.origins(ctx, classes) })
	}
	if err == nil {
		err = r.step(ctx, "triggers", func(ctx context.Context) error { return r.triggers(ctx, classes) })
	}
	return classes, append(r.warnings, more...), err
}

// rest reads the columns, constraints and indexes of the found classes.
func (r *reader) rest(ctx context.Context) error {
	for _, oid := range r.oids {
		if c := r.byOID[oid]; c.parent {
			r.warnings = append(r.warnings, fmt.Sprintf("class %s has no key: tables inherit from it, and no index covers their rows", c.Place()))
		}
	}
	for _, step := range []struct {
		name string
		read func(context.Context) error
	}{{"columns", r.columns}, {"constraints", r.constraints}, {"indexes", r.indexes}} {
		if err := r.step(ctx, step.name, step.read); err != nil {
			return err
		}
	}
	return nil
}

// list returns the classes with these ids.
func (r *reader) list(oids []uint32) []*sqldriver.FoundTable {
	out := make([]*sqldriver.FoundTable, len(oids))
	for i, oid := range oids {
		out[i] = &r.byOID[oid].FoundTable
	}
	return out
}

// collect reads all rows of a query into structs. Columns are matched to fields by position.
func collect[T any](ctx context.Context, conn querier, query string, args ...any) ([]T, error) {
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}

const selectClasses = `
SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text, coalesce(d.description, ''),
	c.relkind IN ('r', 'f') AND EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid)
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_description d
	ON d.objoid = c.oid AND d.classoid = 'pg_catalog.pg_class'::regclass AND d.objsubid = 0
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
	AND left(n.nspname::text, 3) <> 'pg_' AND n.nspname <> 'information_schema' AND left(c.relname::text, 10) <> 'bailiwick_'
	AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend e
		WHERE e.classid = 'pg_catalog.pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
	AND has_schema_privilege(n.oid, 'USAGE')
	AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
ORDER BY 2, 3`

// classes finds the tables, views, materialized views, and foreign and partitioned tables of the chosen schemas.
func (r *reader) classes(ctx context.Context) error {
	type row struct {
		OID                           uint32
		Space, Table, Kind, Described string
		Parent                        bool
	}
	rows, err := collect[row](ctx, r.conn, selectClasses)
	for _, x := range rows {
		c := &class{foreign: x.Kind == "f", parent: x.Parent, fields: map[int16]string{}}
		c.Table, c.Description, c.View = x.Table, x.Described, x.Kind == "v" || x.Kind == "m"
		if x.Space != "public" {
			c.Space = x.Space
		}
		if name, _ := r.choice.Of(c.Space, c.Table); name == "" {
			continue
		}
		r.oids, r.byOID[x.OID] = append(r.oids, x.OID), c
	}
	return err
}

// selectColumns resolves each column's type to the base type of its domain. Money has the precision of a numeric with
// 18 digits. Its scale is the scale of the server's currency.
const selectColumns = `
WITH RECURSIVE a AS (
	SELECT * FROM pg_catalog.pg_attribute
	WHERE attrelid = ANY ($1::oid[]) AND attnum > 0 AND NOT attisdropped AND has_column_privilege(attrelid, attnum, 'SELECT')
), walk (start, oid, typmod, never, preset, depth) AS (
	SELECT DISTINCT atttypid, atttypid, -1, false, NULL::text, 0 FROM a
	UNION ALL
	SELECT w.start, t.typbasetype, CASE WHEN w.typmod = -1 THEN t.typtypmod ELSE w.typmod END,
		w.never OR t.typnotnull, coalesce(w.preset, t.typdefault COLLATE "default"), w.depth + 1
	FROM walk w JOIN pg_catalog.pg_type t ON t.oid = w.oid WHERE t.typtype = 'd'
)
SELECT a.attrelid, a.attnum, a.attname::text, t.typname::text, n.nspname::text, t.typtype::text, e.oid IS NOT NULL,
	CASE WHEN t.oid = 'pg_catalog.money'::regtype THEN (18 << 16 | scale(1::numeric::money::numeric)) + 4
		WHEN a.atttypmod = -1 THEN w.typmod ELSE a.atttypmod END,
	a.attnotnull AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint u WHERE u.conrelid = a.attrelid
		AND u.contype = 'n' AND u.conkey[1] = a.attnum AND NOT u.convalidated),
	a.attnotnull OR w.never, a.attidentity <> '' OR a.attgenerated <> '',
	coalesce(CASE WHEN a.attgenerated = '' THEN pg_get_expr(f.adbin, f.adrelid) END, w.preset, ''),
	coalesce(CASE WHEN a.attgenerated <> '' THEN pg_get_expr(f.adbin, f.adrelid) END, ''),
	coalesce(NOT o.collisdeterministic, false), coalesce(d.description, ''),
	CASE WHEN t.typtype = 'e' THEN ARRAY(SELECT l.enumlabel::text FROM pg_catalog.pg_enum l
		WHERE l.enumtypid = t.oid ORDER BY l.enumsortorder) END,
	CASE WHEN w.depth > 0 THEN ARRAY(SELECT pg_get_expr(k.conbin, 0) FROM walk v
		JOIN pg_catalog.pg_constraint k ON k.contypid = v.oid
		WHERE v.start = a.atttypid AND k.contype = 'c' AND k.convalidated ORDER BY v.depth DESC, k.conname) END,
	coalesce(e.typname::text, ''), coalesce(en.nspname::text, ''), coalesce(e.typtype::text, ''),
	CASE WHEN e.typtype = 'e' THEN ARRAY(SELECT l.enumlabel::text FROM pg_catalog.pg_enum l
		WHERE l.enumtypid = e.oid ORDER BY l.enumsortorder) END
FROM a
JOIN walk w ON w.start = a.atttypid
JOIN pg_catalog.pg_type t ON t.oid = w.oid AND t.typtype <> 'd'
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND e.typarray = t.oid
LEFT JOIN pg_catalog.pg_namespace en ON en.oid = e.typnamespace
LEFT JOIN pg_catalog.pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
LEFT JOIN pg_catalog.pg_collation o ON o.oid = a.attcollation
LEFT JOIN pg_catalog.pg_description d
	ON d.objoid = a.attrelid AND d.classoid = 'pg_catalog.pg_class'::regclass AND d.objsubid = a.attnum
ORDER BY a.attrelid, a.attnum`

// A column is a row of selectColumns. Never reports that no row has a null, because of the column's own NOT NULL.
// Given reports that writers must give a value, because of the NOT NULL of the column or of its domain.
type column struct {
	Class                           uint32
	At                              int16
	Name, Type, TypeSpace, TypeKind string
	Array                           bool
	Modifier                        int32
	Never, Given, Generated         bool
	Default, Computed               string
	Unordered                       bool
	Described                       string
	Labels, Checks                  []string
	// These describe the elements of a list. They are "" for other types.
	Element, ElementSpace, ElementKind string
	ElementLabels                      []string
}

// columns reads the fields of all classes, in order. A field is required if it has NOT NULL and no default. NotNull
// is stronger: it means that no record has a null. It is false where PostgreSQL doesn't enforce that.
func (r *reader) columns(ctx context.Context) error {
	rows, err := collect[column](ctx, r.conn, selectColumns, r.oids)
	for i := range rows {
		x, c := &rows[i], r.byOID[rows[i].Class]
		field := schema.Field{Name: x.Name, Description: x.Described, Generated: x.Generated, Default: x.Default, Unordered: x.Unordered}
		field.Required = x.Given && !x.Generated && x.Default == ""
		// A domain's NOT NULL restricts writers, but nulls can still occur. They can also occur in spite of NOT NULL
		// in a foreign or parent table.
		field.NotNull = x.Never && !c.foreign && !c.parent
		x.setType(&field)
		if warning := c.Add(field); warning != "" {
			r.warnings = append(r.warnings, warning)
			continue
		}
		c.fields[x.At] = x.Name
		if made, ok := sqldriver.LexSQL(x.Computed, sqldriver.DoubleQuotes); ok && x.Computed != "" {
			c.MadeBy(x.Name, made)
		} else if x.Computed != "" {
			at := c.Field(x.Name)
			at.Origins, at.Untraced = []schema.Origin{{Space: c.Space, Table: c.Table}}, "its expression can't be read"
		}
	}
	return err
}

func checkRules(expr string) []sqldriver.CheckRule {
	ts, ok := sqldriver.LexSQL(expr, sqldriver.DoubleQuotes)
	if !ok {
		return nil
	}
	return sqldriver.CheckRules(ts)
}

// restrict applies a rule to field. It ignores the rule if the field's comparison isn't by bytes, or if the field is
// an enum.
func restrict(field *schema.Field, said sqldriver.CheckRule) {
	if !said.JSON && !field.Unordered && field.Native != "enum" {
		sqldriver.RestrictField(field, said)
	}
}

// selectConstraints reads the checks that all rows satisfy, and the foreign keys that compare with plain equality.
const selectConstraints = `
SELECT k.conrelid, k.contype::text, coalesce(k.conkey, '{}'), k.confrelid, coalesce(k.confkey, '{}'),
	coalesce(pg_get_expr(k.conbin, k.conrelid), ''), k.connoinherit
FROM pg_catalog.pg_constraint k
WHERE k.conrelid = ANY ($1::oid[]) AND (k.contype = 'c' AND k.convalidated
	OR k.contype = 'f' AND NOT EXISTS (
		SELECT FROM unnest(k.conpfeqop) q JOIN pg_catalog.pg_operator o ON o.oid = q WHERE o.oprname <> '='))
ORDER BY k.conrelid, k.contype, k.conname`

// constraints reads foreign keys as links, and checks as rules of fields. It ignores checks of a foreign table, which
// aren't enforced here. It also ignores checks of a parent with NO INHERIT, which the rows of child tables may
// violate.
func (r *reader) constraints(ctx context.Context) error {
	type row struct {
		Class     uint32
		Kind      string
		Columns   []int16
		Target    uint32
		Targets   []int16
		Check     string
		NoInherit bool
	}
	rows, err := collect[row](ctx, r.conn, selectConstraints, r.oids)
	for _, x := range rows {
		c := r.byOID[x.Class]
		if x.Kind == "c" {
			if !c.foreign && !(c.parent && x.NoInherit) {
				c.check(x.Check)
			}
			continue
		}
		if to := r.byOID[x.Target]; to != nil {
			c.Links = append(c.Links, sqldriver.FoundLink{Fields: c.names(x.Columns), To: &to.FoundTable, Targets: to.names(x.Targets)})
		}
	}
	return err
}

// check applies the expression of a check constraint to the fields.
func (c *class) check(expr string) {
	for _, said := range checkRules(expr) {
		if slices.ContainsFunc([]sqldriver.Token{said.Column, said.With}, func(t sqldriver.Token) bool {
			return t.Kind == sqldriver.WordToken && t.Text != sqldriver.LowerASCII(t.Text)
		}) {
			continue // a keyword such as CURRENT_USER. PostgreSQL quotes the names of columns that contain capitals
		}
		if field := c.Field(said.Column.Text); field != nil {
			restrict(field, said)
		}
	}
}

// names returns the names of the fields at these attribute numbers. The name is "" if a column isn't a field.
func (c *class) names(at []int16) []string {
	out := make([]string, len(at))
	for i, n := range at {
		out[i] = c.fields[n]
	}
	return out
}

// selectIndexes reads the indexes that support equality on their leading columns, and all primary keys.
const selectIndexes = `
SELECT i.indrelid, c.relname::text, i.indisunique AND i.indpred IS NULL, i.indisprimary, i.indkey::int2[], i.indnkeyatts, i.indpred IS NOT NULL
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_am m ON m.oid = c.relam
WHERE i.indrelid = ANY ($1::oid[]) AND i.indisvalid AND (m.amname IN ('btree', 'hash') OR i.indisprimary)
ORDER BY i.indrelid, c.relname`

// indexes reads the indexes of all classes. An index of a parent table doesn't make values unique, because it doesn't
// cover the rows of child tables. A column that is an expression has the name "".
func (r *reader) indexes(ctx context.Context) error {
	type row struct {
		Class           uint32
		Name            string
		Unique, Primary bool
		Columns         []int16
		Keys            int16
		Partial         bool
	}
	rows, err := collect[row](ctx, r.conn, selectIndexes, r.oids)
	for _, x := range rows {
		c := r.byOID[x.Class]
		columns := c.names(x.Columns[:x.Keys])
		c.Index(x.Name, columns, x.Unique && !c.parent, x.Partial || int(x.Keys) < len(x.Columns))
		if x.Primary && !c.parent && !slices.Contains(columns, "") {
			c.Primary = columns
		}
	}
	return err
}

const selectReferences = `
SELECT k.conname::text, CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname::text END, c.relname::text,
	ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u (at, i)
		JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.at ORDER BY u.i),
	CASE m.nspname WHEN 'public' THEN '' ELSE m.nspname::text END, d.relname::text,
	ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS u (at, i)
		JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.at ORDER BY u.i),
	k.confdeltype::text, k.confupdtype::text
FROM pg_catalog.pg_constraint AS k
JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class AS d ON d.oid = k.confrelid JOIN pg_catalog.pg_namespace AS m ON m.oid = d.relnamespace
WHERE k.contype = 'f' AND k.conparentid = 0
ORDER BY 2, 3, 1`

// references returns the foreign keys of a PostgreSQL database.
func references(ctx context.Context, conn querier) ([]schema.Reference, error) {
	type row struct {
		Name, Space, Table string
		Fields             []string
		ToSpace, To        string
		Targets            []string
		Delete, Update     string
	}
	rows, err := collect[row](ctx, conn, selectReferences)
	out := make([]schema.Reference, 0, len(rows))
	for _, x := range rows {
		out = append(out, schema.Reference{Name: x.Name, Space: x.Space, Table: x.Table, Fields: x.Fields, ToSpace: x.ToSpace, To: x.To, Targets: x.Targets,
			Delete: sqldriver.ReferenceRule(x.Delete), Changed: sqldriver.ReferenceRule(x.Update)})
	}
	return out, err
}

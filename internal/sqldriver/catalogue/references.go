package catalogue

import (
	"context"
	"database/sql"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// referenceRules are the rules of foreign keys, as catalogues write them. Any other one refuses.
var referenceRules = map[string]schema.Rule{
	"CASCADE": schema.Cascade, "SET NULL": schema.SetNull, "SET DEFAULT": schema.SetNull, "c": schema.Cascade, "n": schema.SetNull, "d": schema.SetNull,
}

const sqliteReferences = `SELECT s.name, k.id, p.name, k."from", coalesce(k."to", (SELECT i.name FROM pragma_table_info(k."table") AS i WHERE i.pk = k.seq + 1)),
	k.on_delete, k.on_update
FROM main.sqlite_schema AS s, pragma_foreign_key_list(s.name) AS k JOIN main.sqlite_schema AS p ON p.type = 'table' AND lower(p.name) = lower(k."table")
WHERE s.type = 'table' ORDER BY s.name, k.id, k.seq`

// A Rower is what the readers of references need: a connection or transaction of database/sql.
type Rower interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// SQLiteReferences returns the foreign keys of the tables of the main file.
func SQLiteReferences(ctx context.Context, conn Rower) ([]schema.Reference, error) {
	rows, err := conn.QueryContext(ctx, sqliteReferences)
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
			out = append(out, schema.Reference{Table: table.String, To: to.String, Delete: referenceRules[strings.ToUpper(delete.String)],
				Changed: referenceRules[strings.ToUpper(update.String)]})
		}
		r := &out[len(out)-1]
		r.Fields, r.Targets = append(r.Fields, from.String), append(r.Targets, target.String)
	}
	return out, rows.Err()
}

const pgReferences = `
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

// PostgresReferences returns the foreign keys of a PostgreSQL database.
func PostgresReferences(ctx context.Context, conn Querier) ([]schema.Reference, error) {
	type row struct {
		Name, Space, Table string
		Fields             []string
		ToSpace, To        string
		Targets            []string
		Delete, Update     string
	}
	rows, err := collect[row](ctx, conn, pgReferences)
	out := make([]schema.Reference, 0, len(rows))
	for _, x := range rows {
		out = append(out, schema.Reference{Name: x.Name, Space: x.Space, Table: x.Table, Fields: x.Fields, ToSpace: x.ToSpace, To: x.To, Targets: x.Targets,
			Delete: referenceRules[x.Delete], Changed: referenceRules[x.Update]})
	}
	return out, err
}

const mysqlReferences = `
SELECT k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, r.DELETE_RULE, r.UPDATE_RULE
FROM information_schema.KEY_COLUMN_USAGE AS k
JOIN information_schema.REFERENTIAL_CONSTRAINTS AS r
	ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
WHERE k.TABLE_SCHEMA = DATABASE() AND k.REFERENCED_TABLE_SCHEMA = DATABASE()
ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`

// MySQLReferences returns the foreign keys within a MariaDB database.
func MySQLReferences(ctx context.Context, conn Rower) ([]schema.Reference, error) {
	rows, err := conn.QueryContext(ctx, mysqlReferences)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []schema.Reference
	for rows.Next() {
		var table, name, from, to, target, delete, update string
		if err := rows.Scan(&table, &name, &from, &to, &target, &delete, &update); err != nil {
			return nil, err
		}
		if n := len(out); n == 0 || out[n-1].Name != name || out[n-1].Table != table {
			out = append(out, schema.Reference{Name: name, Table: table, To: to, Delete: referenceRules[delete], Changed: referenceRules[update]})
		}
		r := &out[len(out)-1]
		r.Fields, r.Targets = append(r.Fields, from), append(r.Targets, target)
	}
	return out, rows.Err()
}

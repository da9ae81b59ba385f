package catalogue

import (
	"context"
	"database/sql"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// rules of foreign keys, as catalogues write them. What they don't have refuses.
var referenceRules = map[string]schema.Rule{
	"CASCADE": schema.Cascade, "SET NULL": schema.SetNull, "SET DEFAULT": schema.SetNull, "c": schema.Cascade, "n": schema.SetNull, "d": schema.SetNull,
}

const sqliteReferences = `SELECT s.name, k.id, p.name, k."from", coalesce(k."to", (SELECT i.name FROM pragma_table_info(k."table") AS i WHERE i.pk = k.seq + 1)),
	k.on_delete, k.on_update
FROM main.sqlite_schema AS s, pragma_foreign_key_list(s.name) AS k JOIN main.sqlite_schema AS p ON p.type = 'table' AND lower(p.name) = lower(k."table")
WHERE s.type = 'table' ORDER BY s.name, k.id, k.seq`

// A Rower is what the readers of references need of a connection of database/sql or a transaction.
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

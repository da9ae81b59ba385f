package sqldriver

import (
	"context"
	"database/sql"
)

// A Querier is a database of database/sql, or one of its connections.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// EachRow runs a query and passes each of its rows to take as texts, with "" for null.
func EachRow(ctx context.Context, db Querier, query string, take func([]string)) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		text := make([]string, len(cells))
		for i, c := range cells {
			text[i] = c.String
		}
		take(text)
	}
	return rows.Err()
}

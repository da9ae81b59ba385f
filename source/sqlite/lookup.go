package sqlite

import (
	"context"
	"database/sql"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// lookUp is like run, for a statement that names one record. If a database has samples of ANALYZE, SQLite would parse
// such a statement again for each key. That takes several times as long as reading the record.
func lookUp(ctx context.Context, db *sql.DB, st *sqlgen.Statement, plan *policy.Plan, yield func(value.Row, error) bool) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.Raw(func(c any) error {
		if f, ok := c.(*fileConn); ok {
			return f.Lookup(ctx, st.Text)
		}
		return nil
	}); err != nil {
		return err
	}
	rows, err := conn.QueryContext(ctx, st.Text, st.Args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return sqldriver.Stream(rows, st, plan, readValue, yield)
}

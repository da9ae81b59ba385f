package sqldriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/dml"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// errEnd makes database/sql end a connection.
var errEnd = driver.ErrBadConn

// marked creates the marker table if there is none. If the account may not create it, the error contains the statement
// to run.
func marked(ctx context.Context, name string, d sqlgen.Dialect, exec func(context.Context, string) error) error {
	if exec(ctx, dml.MarkerThere) == nil {
		return nil
	}
	err := exec(ctx, dml.MarkerTable(d))
	if err == nil {
		err = exec(ctx, dml.MarkerThere)
	}
	if err != nil {
		return fmt.Errorf("source %s: the table bailiwick_applied, which writing needs, can't be made (%w); make it by hand: %s",
			name, loggable(err), dml.MarkerTable(d))
	}
	return nil
}

// unwritable returns the error that refuses to write to a class.
func unwritable(c *schema.Class, why string) error {
	return &problem.Error{Code: problem.Unsupported, Kind: "unwritable", Detail: fmt.Sprintf("%s can't be written to: %s", c.Name, why)}
}

// A transaction is a connection of database/sql with an open transaction.
type transaction struct {
	conn   *sql.Conn
	decode decoder
	done   bool
	once   bool // the connection is closed with it
}

// Exec implements writing.Tx.
func (t *transaction) Exec(ctx context.Context, st sqlgen.Statement) (int64, error) {
	r, err := t.conn.ExecContext(ctx, st.Text, st.Args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Query implements writing.Tx.
func (t *transaction) Query(ctx context.Context, st sqlgen.Statement) ([]value.Row, error) {
	rows, err := t.conn.QueryContext(ctx, st.Text, st.Args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return gathered(rows, &st, t.decode)
}

// gathered reads all rows of a statement.
func gathered(rows *sql.Rows, st *sqlgen.Statement, decode decoder) ([]value.Row, error) {
	var out []value.Row
	cells, into := make([]any, len(st.Columns)), make([]any, len(st.Columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make(value.Row, len(cells))
		for i := range cells {
			row[i] = decode(&st.Columns[i], cells[i])
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// Commit implements writing.Tx. It isn't cancelled: then it would only be harder to know whether it happened.
func (t *transaction) Commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	_, err := t.conn.ExecContext(ctx, "COMMIT")
	if err == nil {
		t.done = true
		t.close()
	}
	return err
}

// commitTime is how long a commit or rollback may take.
const commitTime = 30 * time.Second

// Rollback implements writing.Tx. A connection that can't roll back is closed, which rolls back.
func (t *transaction) Rollback() {
	if t.done {
		return
	}
	t.done = true
	ctx, cancel := context.WithTimeout(context.Background(), commitTime)
	defer cancel()
	if _, err := t.conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.once = true
	}
	t.close()
}

// close returns the connection to the pool, or closes it.
func (t *transaction) close() {
	if t.once {
		t.conn.Raw(func(any) error { return errEnd })
	}
	t.conn.Close()
}

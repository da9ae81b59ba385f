package sqldriver

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// errEnd makes database/sql close a connection.
var errEnd = driver.ErrBadConn

// MakeMarker creates the marker table if it doesn't exist. If the account may not create it, the error contains the
// statement to run.
func MakeMarker(ctx context.Context, name string, db Database, exec func(context.Context, string) error) error {
	if exec(ctx, markerExists(db.Dialect())) == nil {
		return nil
	}
	err := exec(ctx, MarkerTable(db.Dialect()))
	there := exec(ctx, markerExists(db.Dialect())) // another replica may have just created it
	if there == nil {
		return nil
	}
	if err = cmp.Or(err, there); err != nil {
		return fmt.Errorf("source %s: the table bailiwick_applied, which writing needs, can't be made (%w). Make it by hand: %s",
			name, db.Errors().loggable(err, ""), MarkerTable(db.Dialect()))
	}
	return nil
}

// Unwritable returns the error for a write to a class that can't be written to.
func Unwritable(c *schema.Class, why string) error {
	return &problem.Error{Code: problem.Unsupported, Kind: "unwritable", Detail: fmt.Sprintf("%s can't be written to: %s", c.Name, why)}
}

// A Transaction is a connection of database/sql with an open transaction.
type Transaction struct {
	Conn   *sql.Conn
	Decode Decoder
	Once   bool // the connection is closed after the transaction
	done   bool
}

// Exec implements WriteTx.
func (t *Transaction) Exec(ctx context.Context, st sqlgen.Statement) (int64, error) {
	r, err := t.Conn.ExecContext(ctx, st.Text, st.Args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Query implements WriteTx.
func (t *Transaction) Query(ctx context.Context, st sqlgen.Statement) ([]value.Row, error) {
	rows, err := t.Conn.QueryContext(ctx, st.Text, st.Args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return readRows(rows, &st, t.Decode)
}

// readRows reads all rows of a statement.
func readRows(rows *sql.Rows, st *sqlgen.Statement, decode Decoder) ([]value.Row, error) {
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

// Commit implements WriteTx. It ignores cancellation, because a cancelled commit might still take effect.
func (t *Transaction) Commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CommitTime)
	defer cancel()
	_, err := t.Conn.ExecContext(ctx, "COMMIT")
	if err == nil {
		t.done = true
		t.close()
	}
	return err
}

// CommitTime is the time limit for a commit or rollback.
const CommitTime = 30 * time.Second

// Rollback implements WriteTx. If the rollback fails, the connection is closed, which also rolls back.
func (t *Transaction) Rollback() {
	if t.done {
		return
	}
	t.done = true
	ctx, cancel := context.WithTimeout(context.Background(), CommitTime)
	defer cancel()
	if _, err := t.Conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.Once = true
	}
	t.close()
}

// close returns the connection to the pool, or closes it.
func (t *Transaction) close() {
	if t.Once {
		t.Conn.Raw(func(any) error { return errEnd })
	}
	t.Conn.Close()
}

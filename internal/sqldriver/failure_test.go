package sqldriver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestFailure checks that operators see the kind of a database error, and its message only if it can hold no value.
func TestFailure(t *testing.T) {
	const secret = "swordfish"
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	_, sqlite := db.ExecContext(t.Context(), `CREATE TABLE a(b TEXT CHECK (b <> 'swordfish')); INSERT INTO a VALUES ('swordfish')`)
	if sqlite == nil || !strings.Contains(sqlite.Error(), secret) {
		t.Fatal("no error of SQLite with a value in it: ", sqlite)
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&pgconn.PgError{Code: "22P02", Message: `invalid input syntax for type integer: "swordfish"`, Detail: secret}, "SQLSTATE 22P02"},
		{fmt.Errorf("reading: %w", &pgconn.PgError{Code: "23505", Message: "duplicate key", Detail: "(a)=(swordfish)"}), "SQLSTATE 23505"},
		{&pgconn.PgError{Code: "42601", Message: `syntax error at or near "swordfish"`}, "SQLSTATE 42601"},
		{&pgconn.PgError{Code: "42501", Message: "permission denied for table issues", Where: secret}, "SQLSTATE 42501: permission denied for table issues"},
		{&pgconn.PgError{Code: "57P01", Message: "terminating connection due to administrator command"}, "SQLSTATE 57P01: terminating connection due to administrator command"},
		{&pgconn.PgError{Code: "", Message: secret}, "SQLSTATE "},
		{&mysql.MySQLError{Number: 1366, SQLState: [5]byte([]byte("22007")), Message: "Incorrect integer value: 'swordfish'"}, "MariaDB error 1366, SQLSTATE 22007"},
		{&mysql.MySQLError{Number: 1045, SQLState: [5]byte([]byte("28000")), Message: "Access denied for user 'ann'@'localhost'"}, "MariaDB error 1045, SQLSTATE 28000: Access denied for user 'ann'@'localhost'"},
		{sqlite, "SQLite error 275: Abort due to constraint violation (SQLITE_CONSTRAINT)"},
		{fmt.Errorf("cannot encode %q: %w", secret, errors.New(secret)), "an error of the driver (*errors.errorString)"},
		{fmt.Errorf("waiting for %s: %w", secret, context.DeadlineExceeded), "context deadline exceeded"},
		{fmt.Errorf("to %s: %w", secret, &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5432}, Err: errors.New("connection refused")}), "dial tcp 127.0.0.1:5432: connection refused"},
	} {
		p := problem.Of(refuse(t.Context(), &failure{tt.err, "0123"}))
		if got := p.Err.Error(); got != tt.want+" (statement 0123)" {
			t.Errorf("%q, want %q", got, tt.want)
		}
		if got := problem.Of(refuse(t.Context(), tt.err)).Err.Error(); got != tt.want || !errors.Is(p, tt.err) {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

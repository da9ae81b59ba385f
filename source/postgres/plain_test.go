package postgres

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestPlain checks that logs contain the kind of a database error. They contain the message only if it can't contain
// a value.
func TestPlain(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&pgconn.PgError{Code: "22P02", Message: `invalid input syntax for type integer: "swordfish"`, Detail: "swordfish"}, "SQLSTATE 22P02"},
		{fmt.Errorf("reading: %w", &pgconn.PgError{Code: "23505", Message: "duplicate key", Detail: "(a)=(swordfish)"}), "SQLSTATE 23505"},
		{&pgconn.PgError{Code: "42601", Message: `syntax error at or near "swordfish"`}, "SQLSTATE 42601"},
		{&pgconn.PgError{Code: "42501", Message: "permission denied for table issues", Where: "swordfish"}, "SQLSTATE 42501: permission denied for table issues"},
		{&pgconn.PgError{Code: "57P01", Message: "terminating connection due to administrator command"}, "SQLSTATE 57P01: terminating connection due to administrator command"},
		{&pgconn.PgError{Code: "", Message: "swordfish"}, "SQLSTATE "},
		{errors.New("swordfish"), ""},
	} {
		if got := plain(tt.err); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

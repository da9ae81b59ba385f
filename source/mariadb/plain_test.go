package mariadb

import (
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestPlain checks that logs contain the kind of a database error. They contain the message only if it can't contain
// a value.
func TestPlain(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&mysql.MySQLError{Number: 1366, SQLState: [5]byte([]byte("22007")), Message: "Incorrect integer value: 'swordfish'"}, "MariaDB error 1366, SQLSTATE 22007"},
		{&mysql.MySQLError{Number: 1045, SQLState: [5]byte([]byte("28000")), Message: "Access denied for user 'ann'@'localhost'"}, "MariaDB error 1045, SQLSTATE 28000: Access denied for user 'ann'@'localhost'"},
		{mysql.ErrInvalidConn, "invalid connection"},
		{errors.New("swordfish"), ""},
	} {
		if got := plain(tt.err); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

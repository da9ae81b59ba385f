package sqldriver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
)

// A failure is a database error in a form that may be logged: its kind, and the statement's digest. A database's
// messages can hold values of records and of rules ("duplicate key value (email)=(…)", "invalid input syntax: …"), so
// only messages that can't are repeated; the error itself is available to errors.As.
type failure struct {
	err       error
	statement string // the digest of its text; "" if there was none
}

func (f *failure) Error() string {
	text := plainly(f.err)
	if f.statement != "" {
		text += " (statement " + f.statement + ")"
	}
	return text
}

// LogText returns Error, for logs that leave out the text of other errors.
func (f *failure) LogText() string { return f.Error() }
func (f *failure) Unwrap() error   { return f.err }

// digest identifies the text of a statement, which can hold names that the caller chose. "bailiwick policy explain" and
// the scope explain show the text of a call, and equal texts have equal digests.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// plainly returns the kind of err without its message, or with it if it is about a connection or a missing right.
func plainly(err error) string {
	if e, ok := errors.AsType[*failure](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return said("SQLSTATE "+e.Code, e.Message, slices.Contains(tellingStates, e.Code) || slices.Contains(tellingClasses, e.Code[:min(2, len(e.Code))]))
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return said(fmt.Sprintf("MariaDB error %d, SQLSTATE %s", e.Number, e.SQLState[:]), e.Message, slices.Contains(tellingNumbers, e.Number))
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		meaning := cmp.Or(sqlite.ErrorCodeString[e.Code()], sqlite.ErrorCodeString[e.Code()&0xff]) // an extended code contains its primary code
		return said(fmt.Sprintf("SQLite error %d", e.Code()), meaning, meaning != "")
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Error()
	}
	for _, known := range []error{context.Canceled, context.DeadlineExceeded, io.ErrUnexpectedEOF, io.EOF, driver.ErrBadConn, sql.ErrConnDone, mysql.ErrInvalidConn} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return fmt.Sprintf("an error of the driver (%T)", innermost(err))
}

func said(code, words string, tell bool) string {
	if !tell {
		return code
	}
	return code + ": " + strings.ToValidUTF8(words, "\uFFFD")
}

func innermost(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}

// In these cases, databases' messages name hosts, users and tables, but no values.
var (
	tellingClasses = []string{"08", "28", "3D", "53", "57", "58"} // connection, authorisation, database, resources, operator, system
	tellingStates  = []string{"42501", "42P01"}                   // no right, no table
	tellingNumbers = []uint16{1040, 1044, 1045, 1046, 1049, 1053, 1129, 1130, 1142, 1146, 1205, 1213, 1317, 1969, 3024}
)

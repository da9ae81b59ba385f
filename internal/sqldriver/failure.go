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

// A failure is an error of a database as a log may have it: what kind it is, and of which statement. A database's own
// words can hold values of records and of rules ("duplicate key value (email)=(…)", "invalid input syntax: …"), so
// only those that can't are repeated; the error itself is left to errors.As.
type failure struct {
	err       error
	statement string // the digest of its text; "" when there was none
}

func (f *failure) Error() string {
	text := plainly(f.err)
	if f.statement != "" {
		text += " (statement " + f.statement + ")"
	}
	return text
}

// LogText is Error, for logs that keep the text of other errors out.
func (f *failure) LogText() string { return f.Error() }
func (f *failure) Unwrap() error   { return f.err }

// digest names the text of a statement, which can hold names that the asker chose. "bailiwick policy explain" and the
// scope explain tell the text of a call; the same one has the same digest.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// plainly says what err is without its words, unless these are about a connection or a right.
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
		meaning := cmp.Or(sqlite.ErrorCodeString[e.Code()], sqlite.ErrorCodeString[e.Code()&0xff]) // an extended code holds its kind
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

// What databases say in these cases names hosts, users and tables, and no value.
var (
	tellingClasses = []string{"08", "28", "3D", "53", "57", "58"} // connection, authorisation, database, resources, operator, system
	tellingStates  = []string{"42501", "42P01"}                   // no right, no table
	tellingNumbers = []uint16{1040, 1044, 1045, 1046, 1049, 1053, 1129, 1130, 1142, 1146, 1205, 1213, 1317, 1969, 3024}
)

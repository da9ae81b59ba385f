package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
)

// A pin is a setting of a session that changes the meaning or the result of a statement.
type pin struct{ name, value, why string }

// pins are the settings of every session. A role, a database, a URL or another client of a pooler may change these
// settings. So the gateway sets them itself: once per connection, or in each transaction if it connects through a
// pooler.
var pins = []pin{
	{"quote_all_identifiers", "off", "the expressions that the catalogue shows, and the texts of other settings"},
	{"search_path", "pg_catalog, pg_temp", "functions, operators and types are those of PostgreSQL"},
	{"client_encoding", "UTF8", "texts are converted from and to the encoding of the database"},
	{"TimeZone", "UTC", "times without a zone"},
	{"DateStyle", "ISO, YMD", "the texts of dates"},
	{"IntervalStyle", "iso_8601", "the texts of intervals"},
	{"extra_float_digits", "1", "all digits of floating-point numbers"},
	{"bytea_output", "hex", "the texts of bytes"},
	{"standard_conforming_strings", "on", "backslashes in literals"},
	{"array_nulls", "on", "NULL in the text of an array"},
	{"transform_null_equals", "off", "= NULL"},
	{"gin_fuzzy_search_limit", "0", "a search returns all that it finds"},
	{"row_security", "on", "policies of tables filter rows"},
	{"xmloption", "content", "the texts of XML"},
	{"default_text_search_config", "pg_catalog.simple", "searches that name no configuration"},
	{"lock_timeout", "0", "statement_timeout is the limit"},
	{"idle_in_transaction_session_timeout", "60000", "an abandoned transaction releases its locks, and no other is ended"},
}

// readPins are the additional settings of sessions that read.
var readPins = []pin{
	{"default_transaction_read_only", "on", "reads write nothing"},
	{"default_transaction_isolation", "read committed", "each statement sees what was committed before it"},
	{"default_transaction_deferrable", "off", "a read doesn't wait"},
	{"statement_timeout", milliseconds(sqldriver.MaxTime), "the server ends a statement that nobody waits for"},
}

// writePins are the additional settings of transactions that write.
var writePins = []pin{
	{"synchronous_commit", "on", "a commit is on disk"},
}

// A session contains the facts about a connection.
type session struct {
	pooled   bool   // through a pooler, settings hold for one transaction, and nothing is prepared
	path     string // the role's own search path, for the code of the application
	encoding string // the encoding of the database
}

const sessionKey = "bailiwick.session"

func sessionOf(c *pgx.Conn) *session {
	s, _ := c.PgConn().CustomData()[sessionKey].(*session)
	return s
}

// probe reads the facts about a session. Behind a pooler, the process that answers may differ from the process that
// the connection knows. The reset value of a setting comes from the server, the role, the database or the connection
// string.
const probe = `SELECT pg_catalog.pg_backend_pid()::pg_catalog.text, pg_catalog.current_setting('server_encoding'),
	(SELECT s.reset_val FROM pg_catalog.pg_settings AS s WHERE s.name OPERATOR(pg_catalog.=) 'search_path'),
	(SELECT s.reset_val FROM pg_catalog.pg_settings AS s WHERE s.name OPERATOR(pg_catalog.=) 'session_replication_role')`

// setUpSession pins the settings of a new connection. The pool calls it.
func setUpSession(ctx context.Context, c *pgx.Conn) error {
	results, err := c.PgConn().Exec(ctx, probe).ReadAll()
	if err != nil {
		return err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return errors.New("the server did not say what session this is")
	}
	row := results[0].Rows[0]
	s := &session{pooled: string(row[0]) != fmt.Sprint(c.PgConn().PID()), encoding: string(row[1]), path: string(row[2])}
	if err := s.acceptable(string(row[3])); err != nil {
		return err
	}
	c.PgConn().CustomData()[sessionKey] = s
	if s.pooled {
		return nil
	}
	_, err = c.PgConn().Exec(ctx, set(false, pins, readPins)).ReadAll()
	return err
}

// acceptable returns an error for a session in which statements would have another meaning.
func (s *session) acceptable(replication string) error {
	switch s.encoding {
	case "SQL_ASCII", "MULE_INTERNAL":
		return fmt.Errorf("the encoding of the database is %s, from which PostgreSQL can't convert texts to UTF-8. "+
			"Move the data to a database that was created with ENCODING 'UTF8'", s.encoding)
	}
	return inOrigin(replication)
}

// inOrigin returns an error for a session in which triggers and foreign keys don't run.
func inOrigin(replication string) error {
	if replication == "origin" {
		return nil
	}
	return fmt.Errorf("session_replication_role is %s, so that triggers and foreign keys don't run: "+
		"give the role origin, with ALTER ROLE … RESET session_replication_role", replication)
}

// set returns one statement that sets the pins of all lists in order. local limits them to the transaction. Otherwise
// the statement sets them for the session.
func set(local bool, lists ...[]pin) string {
	var b strings.Builder
	b.WriteString("SELECT ")
	for _, list := range lists {
		for _, p := range list {
			fmt.Fprintf(&b, "pg_catalog.set_config('%s', '%s', %t), ", p.name, p.value, local)
		}
	}
	return strings.TrimSuffix(b.String(), ", ")
}

// beginTransaction begins a transaction and pins all settings in it. A transaction that writes fails if another
// client of a pooler has turned triggers off. Only a superuser could turn them on again.
func beginTransaction(ctx context.Context, c *pgx.Conn, mode string, more []pin) error {
	results, err := c.PgConn().Exec(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED "+mode+"; "+
		set(true, pins, more, []pin{{"statement_timeout", milliseconds(sqldriver.ServerTime(ctx)), ""}})+"; SELECT pg_catalog.current_setting('session_replication_role')").ReadAll()
	if err != nil || mode == "READ ONLY" {
		return err
	}
	return inOrigin(string(results[len(results)-1].Rows[0][0]))
}

// A reads is a connection with pinned settings, for statements that read.
type reads struct {
	conn   *pgx.Conn
	pooled bool
}

// Query implements querier. Through a pooler, the next statement may use another connection to the server, without
// the prepared statement.
func (r reads) Query(ctx context.Context, text string, args ...any) (pgx.Rows, error) {
	if r.pooled {
		args = append([]any{pgx.QueryExecModeDescribeExec}, args...)
	}
	return r.conn.Query(ctx, text, args...)
}

// reading calls do with a connection whose settings are pinned.
func reading(ctx context.Context, pool *pgxpool.Pool, do func(reads) error) error {
	conn, err := acquire(ctx, pool)
	if err != nil {
		return err
	}
	defer conn.Release()
	s := sessionOf(conn.Conn())
	if !s.pooled {
		if err := limitTime(ctx, conn.Conn().PgConn()); err != nil {
			return err
		}
		return do(reads{conn.Conn(), false})
	}
	if err := beginTransaction(ctx, conn.Conn(), "READ ONLY", nil); err != nil {
		return err
	}
	defer rollBack(conn.Conn())
	return do(reads{conn.Conn(), true})
}

// rollBack rolls a transaction back. If the rollback fails, it closes the connection.
func rollBack(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := c.PgConn().Exec(ctx, "ROLLBACK").ReadAll(); err != nil {
		c.Close(ctx) // the server rolls back when its client disconnects
	}
}

// hasPinnedSettings checks a connection before the pool returns it. It reports whether the settings that the server
// reports to clients are still pinned. A function of the application can change them.
func hasPinnedSettings(_ context.Context, c *pgx.Conn) (bool, error) {
	s := sessionOf(c)
	if s == nil || s.pooled {
		return s != nil, nil
	}
	for _, name := range []string{"client_encoding", "TimeZone", "DateStyle", "IntervalStyle", "standard_conforming_strings", "default_transaction_read_only", "search_path"} {
		if told := c.PgConn().ParameterStatus(name); told != "" && told != pinValue(name) {
			return false, nil
		}
	}
	return true, nil
}

// pinValue returns the value of a pin.
func pinValue(name string) string {
	for _, list := range [][]pin{pins, readPins} {
		for _, p := range list {
			if p.name == name {
				return p.value
			}
		}
	}
	return ""
}

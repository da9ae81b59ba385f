package mariadb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
)

// A pin is a setting of a session that changes the meaning or the result of a statement. value is its value as SQL.
type pin struct{ name, value, why string }

// pins are the settings of every session. The server's configuration, its init_connect and a proxy may change these
// settings. The server truncates lists a little beyond 4 MiB. That is more than plan.ListBytes and plan.MostOver,
// beyond which statements return null. Texts are sorted by their first 16 KiB. Each text needs 15 times that size in
// the sort buffer.
var pins = []pin{
	{"sql_mode", "'STRICT_ALL_TABLES'", "quotes, escapes, invalid values and zero dates"},
	{"old_mode", "''", "the meaning of utf8, and of dates as numbers"},
	{"time_zone", "'+00:00'", "times without a zone"},
	{"timestamp", "DEFAULT", "the present time"},
	{"lc_time_names", "'en_US'", "the names of months and days"},
	{"default_week_format", "0", "the number of a week"},
	{"div_precision_increment", "4", "the digits of a quotient"},
	{"default_regex_flags", "''", "regular expressions"},
	{"system_versioning_asof", "DEFAULT", "tables with a history are read as they are now"},
	{"sql_select_limit", "18446744073709551615", "a statement returns all its rows"},
	{"sql_big_selects", "1", "a statement may read many rows"},
	{"max_join_size", "18446744073709551615", "a statement may read many rows"},
	{"sql_safe_updates", "0", "a write may name a record by any unique index"},
	{"sql_auto_is_null", "0", "= NULL"},
	{"sql_quote_show_create", "1", "the statements that the catalogue shows"},
	{"sql_if_exists", "0", "a class that exists is not created again in silence"},
	{"autocommit", "1", "a read sees what was committed before it"},
	{"completion_type", "0", "COMMIT ends a transaction and begins none"},
	{"max_statement_time", "300", "the server ends a statement that nobody waits for"},
	{"group_concat_max_len", "4194400", "lists of a group"},
	{"max_sort_length", "16384", "the order of long texts"},
	{"sort_buffer_size", "16777216", "sorts of long texts"},
	{"collation_connection", "'utf8mb4_nopad_bin'", "literals and arguments compare by their bytes"},
}

// writePins are the additional settings of sessions that write. The server ends an idle transaction, which releases
// its locks.
var writePins = []pin{
	{"foreign_key_checks", "1", "pointers lead to records"},
	{"unique_checks", "1", "unique indexes hold"},
	{"check_constraint_checks", "1", "constraints hold"},
	{"innodb_lock_wait_timeout", "20", "a write waits so many seconds for another one"},
	{"idle_transaction_timeout", "60", "an abandoned transaction releases its locks"},
}

// reads and writes are the statements that set the access of a session.
var (
	reads  = []string{"SET SESSION TRANSACTION READ ONLY"}
	writes = []string{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", set(writePins)}
)

// set returns the statement that sets pins.
func set(list []pin) string {
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = p.name + " = " + p.value
	}
	return "SET SESSION " + strings.Join(parts, ", ")
}

// A connector opens connections with these settings.
type connector struct {
	driver.Connector
	home   string   // the database of names without one
	access []string // reads or writes
}

// Connect implements driver.Connector. It closes a connection whose session can't be set up, since statements rely on
// the settings.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	able, ok := opened.(driverConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's connection is a %T, which lacks a method of database/sql", opened), opened.Close())
	}
	session := &conn{driverConn: able, time: sqldriver.MaxTime}
	if err := session.begin(ctx, append([]string{"USE " + quoteName(c.home)}, c.access...)); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return session, nil
}

// driverConn contains the interfaces of a driver's connection that database/sql uses.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// A conn is a connection with its id on the server, which KILL needs, and with the session's present time limit.
type conn struct {
	driverConn
	id   int64
	time time.Duration // 0 if unknown
}

// quoteName returns a name as a quoted identifier.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// begin sets the settings that statements rely on, with the access of reads or writes. It also reads the id of the
// connection on the server, which KILL needs.
func (c *conn) begin(ctx context.Context, access []string) error {
	for _, statement := range append([]string{"SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin", set(pins)}, access...) {
		if _, err := c.ExecContext(ctx, statement, nil); err != nil {
			return err
		}
	}
	rows, err := c.QueryContext(ctx, "SELECT CONNECTION_ID()", nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil {
		return err
	}
	switch id := row[0].(type) {
	case int64:
		c.id = id
	case []byte:
		c.id, err = strconv.ParseInt(string(id), 10, 64)
	default:
		err = fmt.Errorf("the id of a connection is a %T", id)
	}
	return err
}

// limitTime sets the server's time limit for a statement of ctx, unless it is already set.
func (c *conn) limitTime(ctx context.Context) error {
	want := sqldriver.ServerTime(ctx)
	if c.time == want {
		return nil
	}
	c.time = 0
	if _, err := c.ExecContext(ctx, "SET max_statement_time = "+strconv.Itoa(int(want/time.Second)), nil); err != nil {
		return err
	}
	c.time = want
	return nil
}

// hold prepares a connection for a statement of ctx, and returns the connection's id on the server.
func hold(ctx context.Context, c *sql.Conn) (id int64, err error) {
	err = c.Raw(func(raw any) error {
		session := raw.(*conn)
		id = session.id
		return session.limitTime(ctx)
	})
	return id, err
}

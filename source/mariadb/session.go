package mariadb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
)

// sessionSettings makes every session alike, whatever the server's configuration: UTC, and output, comparison and
// expressions that don't depend on modes. Lists are cut a little beyond 4 MiB, which is more than plan.ListBytes and
// plan.MostOver: statements return null for those. And texts are sorted by their first 16 KiB, each of which needs 15 times that in the sort buffer.
const sessionSettings = `SET SESSION sql_mode = 'STRICT_ALL_TABLES', time_zone = '+00:00', default_regex_flags = '', max_statement_time = 300,
	sql_select_limit = DEFAULT, sql_auto_is_null = 0, group_concat_max_len = 4194400, max_sort_length = 16384,
	sort_buffer_size = 16777216, collation_connection = 'utf8mb4_nopad_bin'`

// reads and writes set what a session may do. The server ends a transaction that is left idle, which releases
// its locks.
var (
	reads  = []string{"SET SESSION TRANSACTION READ ONLY"}
	writes = []string{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", `SET SESSION foreign_key_checks = 1, unique_checks = 1,
	innodb_lock_wait_timeout = 20, idle_transaction_timeout = 60`}
)

// A connector opens connections with these settings.
type connector struct {
	driver.Connector
	access []string // reads or writes
}

// Connect implements driver.Connector. A connection whose session can't be set up is closed, since statements rely on its settings.
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
	if err := session.begin(ctx, c.access); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return session, nil
}

// driverConn is all that database/sql requires of a connection of the driver.
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

// A conn is a connection that knows its server-side id, which KILL takes, and the current statement time limit.
type conn struct {
	driverConn
	id   int64
	time time.Duration // 0 if unknown
}

// begin makes the session what statements rely on, with the access of reads or writes, and asks for its id at the server, which KILL
// takes.
func (c *conn) begin(ctx context.Context, access []string) error {
	for _, statement := range append([]string{"SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin", sessionSettings}, access...) {
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

// limitTime tells the server how long a statement of ctx may run, unless that limit is already set.
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

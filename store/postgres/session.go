package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// settings are the settings of every session. If a process stops or disconnects during a transaction, its session
// must not hold locks for longer than callers wait for the database. A commit survives a power failure.
var settings = [][2]string{
	{"search_path", "pg_catalog, pg_temp"},
	{"timezone", "UTC"},
	{"datestyle", "ISO"},
	{"client_encoding", "UTF8"},
	{"default_transaction_isolation", "read committed"},
	{"default_transaction_read_only", "off"},
	{"statement_timeout", "10000"},
	{"lock_timeout", "0"},
	{"idle_in_transaction_session_timeout", "5000"},
}

// pinSettings sets the settings of a session. It uses statements, because poolers reject parameters of the
// connection.
func pinSettings(ctx context.Context, c *pgx.Conn) error {
	var b strings.Builder
	for _, s := range settings {
		value := "'" + s[1] + "'"
		if s[0] == "search_path" {
			value = s[1] // a list of names
		}
		b.WriteString("SET " + s[0] + " = " + value + "; ")
	}
	b.WriteString(`SELECT pg_catalog.set_config('synchronous_commit', 'on', false) WHERE pg_catalog.current_setting('synchronous_commit') = 'off'`)
	_, err := c.PgConn().Exec(ctx, b.String()).ReadAll()
	return err
}

// errPooled is the error for a pooler whose sessions don't last.
var errPooled = errors.New("a pooler in transaction mode stands before the database, through which replicas can't hear of each other's changes. " +
	"Give the store the address of PostgreSQL itself, or of a pooler in session mode")

// lasts returns an error if sessions with the database don't last, because a pooler in transaction mode gives each
// transaction another session. If the process that answers differs from the process that the connection knows, there
// is a pooler. Then lasts checks that a listening session receives a notification from another session. pooled
// reports whether there is a pooler.
func lasts(ctx context.Context, config *pgx.ConnConfig) (pooled bool, err error) {
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	rows, err := c.PgConn().Exec(ctx, `SELECT pg_catalog.pg_backend_pid()`).ReadAll()
	if err != nil {
		return false, err
	}
	if len(rows) == 1 && len(rows[0].Rows) == 1 && string(rows[0].Rows[0][0]) == fmt.Sprint(c.PgConn().PID()) {
		return false, nil
	}
	name := make([]byte, 8)
	rand.Read(name)
	channel := "bailiwick_probe_" + hex.EncodeToString(name)
	if _, err := c.PgConn().Exec(ctx, "LISTEN "+channel).ReadAll(); err != nil {
		return true, err
	}
	other, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return true, err
	}
	defer other.Close(context.WithoutCancel(ctx))
	if _, err := other.PgConn().Exec(ctx, "NOTIFY "+channel).ReadAll(); err != nil {
		return true, err
	}
	wait, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if _, err := c.WaitForNotification(wait); err != nil {
		if ctx.Err() == nil && wait.Err() != nil {
			return true, errPooled
		}
		return true, err
	}
	return true, nil
}

// refusedParameter reports whether a pooler rejected a parameter of the connection string.
func refusedParameter(err error) bool {
	return slices.Contains([]string{"08P01", "08000"}, state(err)) && strings.Contains(err.Error(), "startup parameter")
}

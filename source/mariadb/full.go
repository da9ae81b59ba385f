package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// fullWait is the pause before the next attempt if the server rejects a connection because of a limit on connections.
const fullWait = 50 * time.Millisecond

// full reports whether the server rejects a connection because of its own limit on connections, or because of a limit
// of the user.
func full(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return false
	}
	switch e.Number {
	case 1040, 1203: // too many connections, or too many of this user
		return true
	case 1226: // a limit of the account. Other such limits are per hour
		return strings.Contains(e.Message, "max_user_connections")
	}
	return false
}

// acquire returns a connection of a pool. If the server accepts no more connections, it waits until one is free.
func acquire(ctx context.Context, db *sql.DB) (*sql.Conn, error) {
	var refused error
	for {
		conn, err := db.Conn(ctx)
		switch {
		case err != nil && full(err):
			refused = err
		case err != nil && refused != nil && ctx.Err() != nil: // the context ended during another attempt
			return nil, refused
		default:
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, refused
		case <-time.After(fullWait):
		}
	}
}

// acquireSoon is like acquire, but waits at most ten seconds.
func acquireSoon(ctx context.Context, db *sql.DB) (*sql.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return acquire(ctx, db)
}

// version asks the server for its version.
func (s *Source) version(ctx context.Context) (version string, err error) {
	conn, err := acquireSoon(ctx, s.db)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	err = conn.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version)
	return version, err
}

package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bailiwick-dev/bailiwick/source"
)

// parseLinkURL parses a URL of connections that are made over a link.
func parseLinkURL(url string, link source.Link) (*pgxpool.Config, error) {
	cfg, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	if link.Dial != nil {
		cfg.ConnConfig.DialFunc = link.Dial
		cfg.ConnConfig.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil } // at the other end
	}
	account := link.Account(url)
	cfg.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		if user, password, ok := account(); ok {
			c.User, c.Password = user, password
		}
		return nil
	}
	return cfg, nil
}

// fullWait is how long a connection attempt is put off that the server refuses because of a limit on connections.
const fullWait = 50 * time.Millisecond

// full reports whether the server refuses a connection because of a limit on their number.
func full(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "53300"
}

// acquire takes a connection from a pool. If the server allows no more of them, it waits until one of them is free.
func acquire(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, error) {
	var refused error
	for {
		conn, err := pool.Acquire(ctx)
		switch {
		case err != nil && full(err):
			refused = err
		case err != nil && refused != nil && ctx.Err() != nil: // the time ended while it tried again
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

// ping asks the server for an answer. It waits at most ten seconds for a connection that the server doesn't allow yet.
func ping(ctx context.Context, pool *pgxpool.Pool) error {
	waiting, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := acquire(waiting, pool)
	if err != nil {
		return err
	}
	defer conn.Release()
	return conn.Ping(ctx)
}

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

// parseLinkURL parses a URL for connections over a link.
func parseLinkURL(url string, link source.Link) (*pgxpool.Config, error) {
	cfg, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	if link.Dial != nil {
		cfg.ConnConfig.DialFunc = link.Dial
		cfg.ConnConfig.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil } // the other end resolves the name
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

// fullWait is the pause before the next attempt if the server rejects a connection because of its limit on
// connections.
const fullWait = 50 * time.Millisecond

// full reports whether the server rejects a connection because of its limit on connections.
func full(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "53300"
}

// acquire returns a connection of a pool. If the server accepts no more connections, it waits until one is free.
func acquire(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, error) {
	var refused error
	for {
		conn, err := pool.Acquire(ctx)
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

// ping checks that the server answers. If the server accepts no more connections, it waits at most ten seconds for
// one.
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

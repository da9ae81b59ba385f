// Package postgres stores tokens, audit records, budgets, secrets, rates and changes in a PostgreSQL database, which
// several replicas can share.
//
// It implements the stores of packages identity, audit, limit, change, webhook and once. All data is in the schema
// "bailiwick", so the database may contain other data. A write returns when it is committed. It fails if it isn't
// possible, because nothing is queued. While the database is unreachable, the store assumes nothing. A store of a
// newer Bailiwick is rejected.
package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/limit"
)

const (
	// patience is the time limit of one operation.
	patience = 10 * time.Second
	// briefly is the time limit for checking a call's rate.
	briefly = 2 * time.Second
)

// A Store is a pool of connections to a database. It is safe for use by several goroutines, and reconnects
// automatically.
type Store struct {
	at      string // hosts and database, for messages
	pooled  bool   // whether a pooler in session mode is in front of the database
	pool    *pgxpool.Pool
	appends *store.RecordWriter
	renewed func() (user, password string, ok bool) // see Options
	shut    atomic.Bool
	tokens  store.TokenVersion
	probe   probe
	last    last

	latest   store.LatestChange
	recent   store.RecentChanges
	unlisten context.CancelFunc
	listened chan struct{} // closed when the listener has ended
}

var (
	_ audit.Log           = (*Store)(nil)
	_ audit.Reader        = (*Store)(nil)
	_ identity.TokenStore = (*Store)(nil)
	_ limit.Ledger        = (*Store)(nil)
	_ limit.Store         = (*Store)(nil)
	_ change.Store        = (*Store)(nil)
	_ webhook.Store       = (*Store)(nil)
	_ once.Store          = (*Store)(nil)
	_ health.ReplicaStore = (*Store)(nil)
)

// Open connects to the database at url, postgres://user:password@host/database, and migrates its store to the current
// version. If the schema "bailiwick" doesn't exist, Open creates it.
func Open(ctx context.Context, url string) (*Store, error) { return OpenWith(ctx, url, Options{}) }

// Options describe how to open a Store. The zero Options create a store if there is none, and keep the URL's user and
// password.
type Options struct {
	There bool // the store must exist. Otherwise the error wraps ErrNone
	// Renewed returns the user and the password for new connections. It returns false if the user and the password of
	// the URL are still valid. It may be nil.
	Renewed func() (user, password string, ok bool)
}

// OpenWith is Open with options. It starts the writer of the audit and the listener for events.
func OpenWith(ctx context.Context, url string, o Options) (*Store, error) {
	return openWith(ctx, url, o, files)
}

// openWith is OpenWith with the migrations in steps.
func openWith(ctx context.Context, url string, o Options, steps fs.FS) (*Store, error) {
	s, err := connectStore(ctx, url, o)
	if err != nil {
		return nil, err
	}
	if err = s.migrate(ctx, steps, o.There); err == nil {
		err = s.fillWords(ctx)
	}
	if err == nil {
		err = s.fillTokens(ctx)
	}
	if err != nil {
		s.pool.Close()
		return nil, s.operatorError("open", err)
	}
	s.appends = store.NewRecordWriter(s.appendBatch)
	listening, unlisten := context.WithCancel(context.WithoutCancel(ctx))
	s.unlisten, s.listened = unlisten, make(chan struct{})
	go s.listen(listening)
	return s, nil
}

// connectStore connects to the database and changes nothing. Its errors don't repeat the URL, which may contain a
// password.
func connectStore(ctx context.Context, url string, o Options) (*Store, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open the store: its URL can't be read: %w", health.Unreadable(err)) // the driver's error would repeat the password
	}
	c := cfg.ConnConfig
	s := &Store{at: place(c), renewed: o.Renewed}
	c.RuntimeParams["application_name"] = "bailiwick"
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 5 * time.Second
	}
	// When a context ends, the statement is cancelled on the server and the connection is kept.
	c.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: 2 * time.Second}
	}
	cfg.AfterConnect = pinSettings
	cfg.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error { s.renew(c); return nil }
	cfg.MaxConnIdleTime = 5 * time.Minute
	if s.pooled, err = lasts(ctx, c); err != nil {
		return nil, s.operatorError("open", err)
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, s.operatorError("open", err)
	}
	return s, nil
}

// renew sets the present user and password in c.
func (s *Store) renew(c *pgx.ConnConfig) {
	if s.renewed == nil {
		return
	}
	if user, password, ok := s.renewed(); ok {
		c.User, c.Password = user, password
	}
}

// Close waits for running appends, and closes all connections.
func (s *Store) Close() error {
	if s.shut.Swap(true) {
		return nil
	}
	s.appends.Close()
	s.unlisten()
	<-s.listened
	s.pool.Close()
	return nil
}

// try calls do once, with the time limit patience, and turns its error into an error for operators.
func (s *Store) try(ctx context.Context, doing string, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := do(ctx); err != nil {
		return s.operatorError(doing, err)
	}
	return nil
}

// again is like try, for an idempotent do, such as reading. It retries once after a lost connection, since a pooled
// connection may be older than a restart of the database.
func (s *Store) again(ctx context.Context, doing string, do func(context.Context) error) error {
	return s.try(ctx, doing, func(ctx context.Context) error {
		err := do(ctx)
		if isConnectionLoss(err) && ctx.Err() == nil {
			err = do(ctx)
		}
		return err
	})
}

// Secret returns the random key of 32 bytes with this name, and creates it on first use. All replicas get the same
// key.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	var key []byte
	fresh := make([]byte, 32)
	rand.Read(fresh)
	err := s.again(ctx, "read a secret", func(ctx context.Context) error {
		read := func() error {
			return s.pool.QueryRow(ctx, `SELECT key FROM bailiwick.secret WHERE name = $1`, name).Scan(&key)
		}
		if err := read(); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		_, err := s.pool.Exec(ctx, `INSERT INTO bailiwick.secret (name, key) VALUES ($1, $2) ON CONFLICT DO NOTHING`, name, fresh)
		if err != nil {
			return err
		}
		return read()
	})
	return key, err
}

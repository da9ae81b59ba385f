// Package sqlite stores tokens, audit records, budgets, secrets and changes in one SQLite file.
//
// It implements the stores of packages identity, audit, limit, change, webhook and once. Several processes may have
// the same file open. A write returns when it is on disk. It fails if it isn't possible, because nothing is queued. A
// file of a newer Bailiwick is rejected.
package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/parsed"
	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/limit"
	"modernc.org/sqlite"
)

// Memory is the path of a store in memory, which is lost on Close.
const Memory = ":memory:"

//go:embed migrations/*.sql
var files embed.FS

// A Store is an open file. It is safe for use by several goroutines.
type Store struct {
	path  string
	steps fs.FS       // the migrations
	file  os.FileInfo // of path when it was opened, or nil for Memory
	probe probe
	write *sql.DB // one connection. Every transaction takes the write lock at its start
	read  *sql.DB // equal to write for Memory

	// Transactions that arrive while others run share the next one. Each runs in its own savepoint. They share the
	// commit and the disk sync.
	group fair.Queue[*part]

	journal *store.Journal // of the audit. It is nil for Memory and on systems without file locks
	folding atomic.Bool    // whether a fold is scheduled
	appends *store.RecordWriter
	stepped atomic.Int64 // the time of the log's last step, in nanoseconds since 1970
	shut    atomic.Bool
	tokens  store.TokenVersion

	latest  store.LatestChange
	recent  store.RecentChanges
	unwatch context.CancelFunc
	watched chan struct{} // closed when the watcher has ended
}

var (
	_ audit.Log           = (*Store)(nil)
	_ audit.Reader        = (*Store)(nil)
	_ identity.TokenStore = (*Store)(nil)
	_ limit.Ledger        = (*Store)(nil)
	_ change.Store        = (*Store)(nil)
	_ webhook.Store       = (*Store)(nil)
	_ once.Store          = (*Store)(nil)
	_ health.ReplicaStore = (*Store)(nil)
)

// Open opens the file at path, makes it readable by its owner only, and migrates it to the current version. It
// creates the file if there is none. The folder must exist.
func Open(ctx context.Context, path string) (*Store, error) { return openWith(ctx, path, files) }

// openWith is Open with the migrations in steps.
func openWith(ctx context.Context, path string, steps fs.FS) (*Store, error) {
	s := &Store{path: path, steps: steps}
	s.group.Round, s.group.Most = s.logging, mostParts
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	s.appends = store.NewRecordWriter(s.appendBatch)
	watching, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	s.unwatch, s.watched = unwatch, make(chan struct{})
	if s.read == s.write { // no other process can open it
		close(s.watched)
		return s, nil
	}
	go s.watch(watching)
	return s, nil
}

// open opens and migrates the file. One connection writes, and up to eight connections read at the same time under
// WAL. A store in memory has only one connection, since each connection would have its own database. On an error it
// closes everything.
func (s *Store) open(ctx context.Context) error {
	if s.path == "" {
		return errors.New("open the store: no path is given")
	}
	if s.path != Memory {
		if err := regular(s.path); err != nil {
			return fmt.Errorf("open the store: %w", err)
		}
	}
	s.write = sql.OpenDB(connector{source(s.path, false), s.there})
	s.write.SetMaxOpenConns(1)
	s.read = s.write
	err := s.migrate(ctx)
	if err == nil {
		err = s.fillWords(ctx)
	}
	if err == nil {
		err = s.fillTokens(ctx)
	}
	if err != nil {
		s.write.Close()
		return s.operatorError("open", err)
	}
	if s.path == Memory {
		return nil
	}
	if s.file, err = os.Stat(s.path); err != nil {
		s.write.Close()
		return s.operatorError("open", err)
	}
	s.read = sql.OpenDB(connector{source(s.path, true), s.there})
	s.read.SetMaxOpenConns(8)
	s.read.SetMaxIdleConns(8)
	s.read.SetConnMaxIdleTime(30 * time.Second)
	if err := s.openJournal(); err != nil {
		s.read.Close()
		s.write.Close()
		return s.operatorError("open", err)
	}
	return nil
}

// regular checks that path is a regular file. If there is no file, it creates one that only its owner can read or
// write.
func regular(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	return err
}

// own makes the file readable only by its owner, and sets its journal mode to WAL, which allows reading during a
// write. Both changes are permanent, so own must not be called for the file of another program.
func (s *Store) own(ctx context.Context) error {
	if s.path != Memory {
		info, err := os.Stat(s.path)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(s.path, 0o600); err != nil {
				return err
			}
		}
	}
	_, err := s.write.ExecContext(ctx, `PRAGMA journal_mode = WAL`)
	return err
}

// source returns the driver's name for a connection. With FULL, a commit survives a power failure.
func source(path string, readOnly bool) string {
	q := url.Values{"_busy_timeout": {"10000"}, "_synchronous": {"FULL"}, "_pragma": {"cache_size(-1024)"}}
	if readOnly {
		q.Set("_query_only", "1")
	} else {
		q.Set("_txlock", "immediate")
	}
	name := Memory
	if path != Memory {
		name = "file:" + (&url.URL{Path: path}).EscapedPath()
		q.Set("mode", "rw") // a removed file isn't created again
	}
	return name + "?" + q.Encode()
}

// A connector opens connections by the driver's name. It rejects a connection that was opened while another file was
// at the path. Such a connection would fail for as long as it is kept, even after the file is put back.
type connector struct {
	name  string
	there func() error // see Store.there
}

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := errors.Join(ctx.Err(), c.there()); err != nil {
		return nil, err
	}
	opened, err := new(sqlite.Driver).Open(c.name)
	if err != nil {
		return nil, err
	}
	if err := c.there(); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return parsed.Steady(opened), nil
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return new(sqlite.Driver) }

// migrate updates the file to the current version, completely or not at all. Two processes that open a new file at
// the same time may collide when they set its journal mode. Then one of them retries and finds the migration done.
func (s *Store) migrate(ctx context.Context) error {
	for try := 1; ; try++ {
		err := s.migrateOnce(ctx)
		if err == nil || errors.Is(err, store.ErrNewer) || try == 10 || !transient(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(try*10+mathrand.IntN(20)) * time.Millisecond):
		}
	}
}

// migrateOnce migrates the file to the version of this program. It copies a file of an older version first.
func (s *Store) migrateOnce(ctx context.Context) error {
	newest, err := store.NewestVersion(s.steps)
	if err != nil {
		return err
	}
	now, err := version(ctx, s.write)
	if err == nil && now == 0 {
		err = foreign(ctx, s.write)
	}
	if err == nil {
		err = s.own(ctx)
	}
	if err != nil || now == newest { // the usual case, without the write lock
		return err
	}
	if now > 0 && now < newest {
		if err := s.beforeUpgrade(ctx, now); err != nil {
			return err
		}
	}
	return s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error { return store.Migrate(s.steps, target{ctx, tx}) })
}

// version returns the file's version, 0 for a new file.
func version(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (n int, err error) {
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = 'migration'`).Scan(&n); err != nil || n == 0 {
		return 0, err
	}
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM migration`).Scan(&n)
	return n, err
}

// foreign returns errOther if a file without a version contains tables, because they belong to another program.
func foreign(ctx context.Context, db *sql.DB) error {
	var tables, versions int
	err := db.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE name = 'migration') FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`).Scan(&tables, &versions)
	if err == nil && tables > 0 && versions == 0 {
		err = errOther
	}
	return err
}

// A target implements store.MigrationTarget.
type target struct {
	ctx context.Context //nolint:containedctx // of the one transaction
	tx  *sql.Tx
}

// Version implements store.MigrationTarget.
func (t target) Version() (int, error) {
	if err := t.Run(`CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, applied INTEGER NOT NULL) STRICT`); err != nil {
		return 0, err
	}
	return version(t.ctx, t.tx)
}

// Run implements store.MigrationTarget.
func (t target) Run(text string) error {
	_, err := t.tx.ExecContext(t.ctx, text)
	return err
}

// SetVersion implements store.MigrationTarget.
func (t target) SetVersion(version int) error {
	_, err := t.tx.ExecContext(t.ctx, `INSERT INTO migration (version, applied) VALUES (?, ?)`, version, time.Now().UnixMicro())
	return err
}

// Close waits for running appends, and closes the file.
func (s *Store) Close() error {
	if s.shut.Swap(true) {
		return nil
	}
	s.appends.Close()
	s.unwatch()
	<-s.watched
	if s.read == s.write {
		return s.write.Close()
	}
	return errors.Join(s.closeJournal(), s.read.Close(), s.write.Close())
}

// Secret returns the random key of 32 bytes with this name, and creates it on first use. All processes that have the
// file open get the same key.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	var key []byte
	err := s.read.QueryRowContext(ctx, `SELECT key FROM secret WHERE name = ?`, name).Scan(&key)
	if err == nil {
		return key, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return nil, s.operatorError("read a secret", err)
	}
	fresh := make([]byte, 32)
	rand.Read(fresh)
	err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO secret VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, name, fresh, time.Now().UnixMicro())
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT key FROM secret WHERE name = ?`, name).Scan(&key)
	})
	if err != nil {
		return nil, s.operatorError("make a secret", err)
	}
	return key, nil
}

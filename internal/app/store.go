package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/connect"
	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// A Store is the gateway's own store: a file, or a database that replicas share.
type Store interface {
	store.ArchiveStore
	store.BlockStore
	identity.TokenStore
	limit.Ledger
	change.Store
	webhook.Store
	source.Pinger
	once.Store
	connect.Store
	health.ReplicaStore
	Waiting(ctx context.Context) ([]store.Waiting, error)
	Secret(ctx context.Context, name string) ([]byte, error)
	io.Closer
}

// ErrNoStore is wrapped by the error of OpenStore for a missing store that must exist.
var ErrNoStore = errors.New("name it with --store sqlite:FILE, --store postgres://… or --config FILE")

// OpenStore opens the store at url. It creates a missing store. If there is true, the store must exist and can't be
// temporary.
func OpenStore(ctx context.Context, url string, there bool) (Store, error) {
	return openStore(ctx, url, postgres.Options{There: there})
}

// openStore does the work of OpenStore, with options for a store that replicas share.
func openStore(ctx context.Context, url string, o postgres.Options) (Store, error) {
	there := o.There
	if isPostgresURL(url) {
		s, err := postgres.OpenWith(ctx, url, o)
		if errors.Is(err, postgres.ErrNone) {
			return nil, noStore(url)
		}
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	path := storePath(url)
	if there && (path == sqlite.Memory || !Exists(path)) {
		return nil, noStore(url)
	}
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func noStore(url string) error {
	return fmt.Errorf("there is no store %s: %w", StoreName(url), ErrNoStore)
}

// isPostgresURL reports whether url names a database in PostgreSQL, which several replicas can use.
func isPostgresURL(url string) bool {
	scheme, _, _ := strings.Cut(url, ":")
	return scheme == "postgres" || scheme == "postgresql"
}

// storePath returns the file of a store, or sqlite.Memory for a temporary one.
func storePath(url string) string {
	if url == "" {
		url = config.DefaultStore
	}
	return strings.TrimPrefix(url, "sqlite:")
}

// StorePath returns the file of a store. It returns false if the store is a PostgreSQL database.
func StorePath(url string) (string, bool) { return storePath(url), !isPostgresURL(url) }

// StoreName returns a store's name for messages. This is its file, or its URL without the password.
func StoreName(text string) string {
	if !isPostgresURL(text) {
		return storePath(text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return "postgres://…" // a malformed URL may contain a password anywhere
	}
	user := ""
	if name := u.User.Username(); name != "" {
		user = url.User(name).String() + "@"
	}
	at := u.Path // for a socket in the default directory
	if u.Host != "" || u.Query().Has("host") {
		at = health.Place(text)
	}
	return u.Scheme + "://" + user + at
}

// openStore opens the configured store. If it creates a new one, it adds a warning. Otherwise an operator who moved
// the store would not notice that its tokens and audit are missing.
func (p *App) openStore(ctx context.Context) error {
	url := p.Config.Store
	if storePath(url) == sqlite.Memory {
		// This uses a temporary file instead of memory, because the audit of a long run could fill the memory.
		dir, err := os.MkdirTemp("", "bailiwick-")
		if err != nil {
			return fmt.Errorf("open the store: %w", err)
		}
		p.closers = append(p.closers, func() error { return os.RemoveAll(dir) })
		url = "sqlite:" + filepath.Join(dir, "bailiwick.db")
	}
	link := source.Link{Fresh: p.Config.Renewal("").URL}
	o := postgres.Options{There: true, Renewed: link.Account(url)}
	var err error
	p.Store, err = openStore(ctx, url, o)
	if errors.Is(err, ErrNoStore) {
		if storePath(p.Config.Store) != sqlite.Memory {
			p.Warnings = append(p.Warnings, fmt.Sprintf("the store %s is new: it has no tokens, no changes and no audit. If there was one, stop this server and put it back", StoreName(url)))
		}
		o.There = false
		p.Store, err = openStore(ctx, url, o)
	}
	if err != nil {
		return err
	}
	p.closers = append(p.closers, p.Store.Close)
	if file, ok := p.Store.(*sqlite.Store); ok && !file.SyncEvery(p.Config.Audit.Every) && p.Config.Audit.Every > 0 {
		p.Warnings = append(p.Warnings, "audit.durability has an interval, and this system has no journal of the audit: each call waits for a transaction of the store. Remove the key")
	}
	if shared, ok := p.Store.(*postgres.Store); ok {
		shared.OnLoss(func(gone audit.Head) {
			if p.log != nil {
				p.log.Error("the store lacks records that this server had written to it. It was restored or replaced while the server ran, or its end was removed. See audit verify", "record", gone.Seq)
			}
		})
	}
	if kept, ok := p.Store.(audit.Losses); ok {
		lost, err := kept.Losses(ctx)
		if err != nil {
			return err
		}
		for i := range lost {
			p.Warnings = append(p.Warnings, lost[i].Error())
		}
	}
	return nil
}

// ready returns a *problem.Error if a source doesn't answer, or if the store can't be written. Its Detail is public.
// It contains the name of the source but not the reason. Its Err contains the reason, for operators.
func (p *App) ready(ctx context.Context) error {
	sources, lost := p.Gateway.Ping(ctx), p.Store.Ping(ctx)
	var what []string
	if lost != nil {
		reason := "the store can't be written"
		if f, ok := errors.AsType[*store.Failure](lost); ok && f.Public != "" {
			reason += ": " + f.Public
		}
		what = append(what, reason)
	}
	switch {
	case sources != nil && what != nil:
		what = append(what, "A source doesn't answer")
	case sources != nil:
		what = append(what, "a source doesn't answer")
	}
	if what == nil {
		return nil
	}
	return &problem.Error{Code: problem.Upstream, Detail: problem.Sentences(what...), Err: errors.Join(lost, sources)}
}

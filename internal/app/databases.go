package app

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
)

// A database describes how this program uses the sources of one kind.
type database struct {
	kind    string         // its name in config.Kinds
	dialect sqlgen.Dialect // nil if it isn't an SQL database
	open    func(ctx context.Context, s config.Source, link source.Link) (source.Adapter, error)
	// Opens it for writing with the account in url, or with the account of s if url is "".
	write  func(ctx context.Context, s source.Adapter, url string) (writable, error)
	reason func(error) string // returns why it can't be opened
}

// databases returns the databases that this program can open. A new database needs a line here and one in
// config.Kinds.
func databases() []database {
	return []database{
		{"SQLite", sqlite.Dialect(), openSQLite, writeWith(writeSQLite), health.FaultText},
		{"PostgreSQL", postgres.Dialect(), openWith(postgres.OpenOverLink), writeWith((*postgres.Source).Writable), postgresReason},
		{"MariaDB", mariadb.Dialect(), openWith(mariadb.OpenOverLink), writeWith((*mariadb.Source).Writable), health.FaultReason},
		{"MongoDB", nil, openMongoDB, writeWith((*mongodb.Source).Writable), health.FaultText},
	}
}

// databaseOf returns the database of a source, or an otherwise empty database if the source isn't one.
func databaseOf(s config.Source) database {
	name := s.Kind().Name
	all := databases()
	if i := slices.IndexFunc(all, func(d database) bool { return d.kind == name }); i >= 0 {
		return all[i]
	}
	return database{reason: health.FaultText}
}

// openWith adapts the function that opens a database by its URL.
func openWith[S source.Adapter](open func(ctx context.Context, name, url string, link source.Link) (S, error)) func(context.Context, config.Source, source.Link) (source.Adapter, error) {
	return func(ctx context.Context, s config.Source, link source.Link) (source.Adapter, error) {
		return adapter(open(ctx, s.Name, s.URL, link))
	}
}

// adapter returns an open source. With an error, it returns a nil interface instead of an interface with a nil
// pointer.
func adapter[S source.Adapter](s S, err error) (source.Adapter, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// writeWith adapts the function that opens a database for writing.
func writeWith[S source.Adapter, W writable](open func(s S, ctx context.Context, url string) (W, error)) func(context.Context, source.Adapter, string) (writable, error) {
	return func(ctx context.Context, from source.Adapter, url string) (writable, error) {
		s, ok := from.(S)
		if !ok {
			return nil, errors.New("this version writes to no such source")
		}
		w, err := open(s, ctx, url)
		if err != nil {
			return nil, err
		}
		return w, nil
	}
}

func openSQLite(ctx context.Context, s config.Source, _ source.Link) (source.Adapter, error) {
	if _, err := sqlite.TemporaryFolder(); err != nil {
		return nil, err
	}
	path, _ := s.SQLite()
	return adapter(sqlite.Open(ctx, s.Name, path))
}

func writeSQLite(s *sqlite.Source, ctx context.Context, _ string) (*sqlite.WritableSource, error) {
	return s.Writable(ctx)
}

func openMongoDB(ctx context.Context, s config.Source, link source.Link) (source.Adapter, error) {
	return adapter(mongodb.Open(ctx, mongodb.Options{Name: s.Name, URL: s.URL, Current: link.Current, LocalRows: s.LocalRows, Collections: collectionsOf(s)}))
}

// postgresReason interprets only errors of connecting. Other errors are already worded by the adapter.
func postgresReason(err error) string {
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting {
		return health.FaultReason(err)
	}
	return health.FaultText(err)
}

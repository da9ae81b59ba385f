package writing_test

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // for database/sql

	"github.com/bailiwick-dev/bailiwick/internal/sourcetest/writing"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/testservices"
)

// outsiderAt opens a database on another connection and runs statements in it.
func outsiderAt(t testing.TB, d sqlgen.Dialect, at string, statements []string) *sql.DB {
	t.Helper()
	driver := [...]string{"sqlite", "pgx", "mysql"}[d]
	switch d {
	case sqlgen.SQLite:
		at = "file:" + at + "?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)"
	case sqlgen.MySQL:
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		password, _ := u.User.Password()
		at = u.User.Username() + ":" + password + "@tcp(" + u.Host + ")" + u.Path + "?clientFoundRows=true&charset=utf8mb4"
	}
	db, err := sql.Open(driver, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%v in %s", err, s)
		}
	}
	return db
}

// writingTarget returns the target of a kind of database; fresh returns the path or URL of an empty one.
func writingTarget(d sqlgen.Dialect, fresh func(testing.TB) string) writing.Target {
	return writing.Target{Dialect: d, Open: func(t testing.TB, statements []string) (writing.Writable, *sql.DB) {
		t.Helper()
		at := fresh(t)
		outside := outsiderAt(t, d, at, statements)
		w, err := openToWrite(t.Context(), d, at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.(interface{ Close() error }).Close() })
		return w, outside
	}}
}

// sqliteFile returns the path of a file that doesn't exist yet.
func sqliteFile(t testing.TB) string { return filepath.Join(t.TempDir(), "app.db") }

func TestSQLiteWriting(t *testing.T) {
	writing.Run(t, writingTarget(sqlgen.SQLite, sqliteFile))
}

func TestPostgresWriting(t *testing.T) {
	writing.Run(t, writingTarget(sqlgen.PostgreSQL, testservices.Postgres))
}

func TestMySQLWriting(t *testing.T) {
	writing.Run(t, writingTarget(sqlgen.MySQL, testservices.MariaDB))
}

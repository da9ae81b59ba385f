package sqldb_test

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // for database/sql

	"github.com/bailiwick-dev/bailiwick/compile"
	"github.com/bailiwick-dev/bailiwick/source/sourcetest/writing"
	"github.com/bailiwick-dev/bailiwick/source/sqldb"
	"github.com/bailiwick-dev/bailiwick/testservices"
)

// outsider opens a database as somebody else does and runs statements in it.
func outsider(t testing.TB, driver, dsn string, statements []string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
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

func openSQLiteToWrite(t testing.TB, statements []string) (writing.Writable, *sql.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.db")
	db := outsider(t, "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=foreign_keys(1)", statements)
	s, err := sqldb.OpenSQLite(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Writable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w, db
}

func openPostgresToWrite(t testing.TB, statements []string) (writing.Writable, *sql.DB) {
	t.Helper()
	at := testservices.Postgres(t)
	db := outsider(t, "pgx", at, statements)
	s, err := sqldb.OpenPostgres(t.Context(), "app", at)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Writable(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w, db
}

func openMySQLToWrite(t testing.TB, statements []string) (writing.Writable, *sql.DB) {
	t.Helper()
	at := testservices.MariaDB(t)
	parsed, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := parsed.User.Password()
	db := outsider(t, "mysql", parsed.User.Username()+":"+password+"@tcp("+parsed.Host+")"+parsed.Path+"?clientFoundRows=true&charset=utf8mb4", statements)
	s, err := sqldb.OpenMySQL(t.Context(), "app", at)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Writable(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w, db
}

func TestSQLiteWriting(t *testing.T) {
	writing.Run(t, writing.Target{Dialect: compile.SQLite, Open: openSQLiteToWrite})
}

func TestPostgresWriting(t *testing.T) {
	writing.Run(t, writing.Target{Dialect: compile.PostgreSQL, Open: openPostgresToWrite})
}

func TestMySQLWriting(t *testing.T) {
	writing.Run(t, writing.Target{Dialect: compile.MySQL, Open: openMySQLToWrite})
}

// Package services provides real servers to tests.
//
// Only tests import it. It uses the private servers that scripts/services has started. Without them it starts servers
// through that script, once for the test process. A test whose server is not available is skipped with a message that
// begins with "LEFT OUT:". Nothing is ever faked.
package services

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // for database/sql
	"github.com/jackc/pgx/v5"
)

const (
	postgresVariable = "BAILIWICK_TEST_POSTGRES"
	poolerVariable   = "BAILIWICK_TEST_PGBOUNCER"
	mariaDBVariable  = "BAILIWICK_TEST_MARIADB"
	chromiumVariable = "BAILIWICK_TEST_CHROMIUM"
	axeVariable      = "BAILIWICK_TEST_AXE"
	majorVariable    = "BAILIWICK_TEST_POSTGRES_MAJOR"
	encodingVariable = "BAILIWICK_TEST_ENCODING"
)

// Postgres returns the URL of a new, empty database on a private PostgreSQL, as a superuser of that server.
// The database is dropped when the test ends, with every session that is still connected to it. Its encoding is UTF-8, or the
// one that BAILIWICK_TEST_ENCODING names.
func Postgres(t testing.TB) string {
	t.Helper()
	if encoding := os.Getenv(encodingVariable); encoding != "" {
		at := PostgresWithEncoding(t, encoding)
		if err := exec(at, "ALTER DATABASE "+path.Base(at[:strings.IndexByte(at, '?')])+" SET client_encoding = 'UTF8'"); err != nil {
			t.Fatal(err)
		}
		return at
	}
	return newPostgres(t, "TEMPLATE template0")
}

// PostgresMajor returns the major version of the server that Postgres uses: Debian 12's, or the one that scripts/versions names.
func PostgresMajor() int {
	if n, err := strconv.Atoi(os.Getenv(majorVariable)); err == nil {
		return n
	}
	return 15
}

// Copy is Postgres with the content of the database at of the same server. Nobody may be connected to that.
func Copy(t testing.TB, at string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return newPostgres(t, "TEMPLATE "+strings.TrimPrefix(u.Path, "/"))
}

// newPostgres makes the database with further options.
func newPostgres(t testing.TB, options string) string {
	t.Helper()
	server, why := serverURL(postgresVariable)
	if why != "" {
		t.Skipf("LEFT OUT: PostgreSQL: %s", why)
	}
	name := newName(t)
	if err := exec(server, "CREATE DATABASE "+name+" "+options); err != nil {
		t.Fatalf("PostgreSQL at %s: %v", postgresVariable, err)
	}
	t.Cleanup(func() {
		if err := exec(server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return inDatabase(t, server, name)
}

// PooledURL returns the URL that leads to a database of Postgres through pgbouncer in transaction mode.
func PooledURL(t testing.TB, database string) string {
	t.Helper()
	pooler, why := serverURL(poolerVariable)
	if why != "" {
		t.Skipf("LEFT OUT: pgbouncer: %s", why)
	}
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	return inDatabase(t, pooler, strings.TrimPrefix(u.Path, "/"))
}

// PostgresWithEncoding is Postgres with the encoding given, such as LATIN1.
func PostgresWithEncoding(t testing.TB, encoding string) string {
	t.Helper()
	return newPostgres(t, "TEMPLATE template0 ENCODING '"+encoding+"' LC_COLLATE 'C' LC_CTYPE 'C'")
}

// MariaDB returns the URL of a new, empty database on a private MariaDB, as a user with all privileges there. The
// database is dropped when the test ends.
func MariaDB(t testing.TB) string {
	t.Helper()
	server, why := serverURL(mariaDBVariable)
	if why != "" {
		t.Skipf("LEFT OUT: MariaDB: %s", why)
	}
	name := newName(t)
	if err := execMariaDB(server, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("MariaDB at %s: %v", mariaDBVariable, err)
	}
	t.Cleanup(func() {
		if err := execMariaDB(server, "DROP DATABASE "+name); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return inDatabase(t, server, name)
}

func newName(t testing.TB) string {
	t.Helper()
	random := make([]byte, 8)
	if _, err := rand.Read(random); err != nil {
		t.Fatal(err)
	}
	return "test_" + hex.EncodeToString(random)
}

func inDatabase(t testing.TB, server, name string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

func execMariaDB(server, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	password, _ := u.User.Password()
	db, err := sql.Open("mysql", u.User.Username()+":"+password+"@tcp("+u.Host+")"+u.Path)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, statement)
	return err
}

func exec(server, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

// The servers that this process has started, if any.
var (
	mu      sync.Mutex
	started *servers
)

// serverURL returns the server in the environment variable, or why there is none.
func serverURL(variable string) (server, why string) {
	server = os.Getenv(variable)
	if server == "" {
		mu.Lock()
		defer mu.Unlock()
		if started == nil {
			s, err := start()
			if err != nil {
				return "", fmt.Sprintf("%s is not set, and %v", variable, err)
			}
			started = s
		}
		server = started.exports[variable]
	}
	if server != "" && server != "none" {
		return server, ""
	}
	why = "scripts/services could not start one"
	if started != nil {
		why += started.stderrText()
	}
	return "", why
}

// Stop stops the servers that this process has started and waits until they are gone. Calling it is optional: they stop
// however the process ends. A TestMain that looks for leaks calls it first.
func Stop() {
	mu.Lock()
	defer mu.Unlock()
	if started != nil {
		started.stop()
		started = nil
	}
}

package parsed_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/parsed"
)

// connector opens connections and counts the statements that they parse.
type connector struct {
	name   string
	parses *int
}

func (c connector) Connect(context.Context) (driver.Conn, error) {
	opened, err := new(sqlite.Driver).Open(c.name)
	if err != nil {
		return nil, err
	}
	return parsed.New(counting{opened, c.parses}), nil
}

func (connector) Driver() driver.Driver { return new(sqlite.Driver) }

type counting struct {
	driver.Conn
	parses *int
}

func (c counting) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	*c.parses++
	return c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, text)
}

func (c counting) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	*c.parses++
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, text, args)
}

func (c counting) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	*c.parses++
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, text, args)
}

func (c counting) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

func (c counting) ResetSession(ctx context.Context) error {
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

func (c counting) IsValid() bool { return c.Conn.(driver.Validator).IsValid() }

// opened returns a database with one connection and a table t of the numbers 1 to 3, and the number of its parses.
func opened(t *testing.T) (*sql.DB, *int) {
	t.Helper()
	parses := new(int)
	db := sql.OpenDB(connector{"file:" + filepath.Join(t.TempDir(), "a.db"), parses})
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.Exec(`CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1), (2), (3)`); err != nil {
		t.Fatal(err)
	}
	*parses = 0
	return db, parses
}

func sum(t *testing.T, db interface{ QueryRow(string, ...any) *sql.Row }, text string, args ...any) (n int) {
	t.Helper()
	if err := db.QueryRow(text, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestStatementsAreParsedOnce(t *testing.T) {
	db, parses := opened(t)
	for i := range 10 {
		if n := sum(t, db, `SELECT count(*) FROM t WHERE n <= ?`, i); n != min(i, 3) {
			t.Fatalf("%d numbers are at most %d", n, i)
		}
		if _, err := db.Exec(`UPDATE t SET n = n WHERE n = ?`, i); err != nil {
			t.Fatal(err)
		}
	}
	if *parses != 2 {
		t.Errorf("%d statements were parsed, not 2", *parses)
	}
}

// TestSchemaChanges checks that a cached statement returns new results after a change of the schema.
func TestSchemaChanges(t *testing.T) {
	db, _ := opened(t)
	const text = `SELECT sum(n) FROM t`
	if n := sum(t, db, text); n != 6 {
		t.Fatalf("the sum is %d", n)
	}
	if _, err := db.Exec(`DROP TABLE t; CREATE TABLE t (other TEXT, n INTEGER); INSERT INTO t VALUES ('a', 40)`); err != nil {
		t.Fatal(err)
	}
	if n := sum(t, db, text); n != 40 {
		t.Errorf("after another table took the place, the sum is %d", n)
	}
}

// TestInUse runs a statement again in the transaction while its rows are read. An error must leave the statement
// usable.
func TestInUse(t *testing.T) {
	db, _ := opened(t)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	const text = `SELECT n FROM t WHERE n >= ? ORDER BY n`
	outer, err := tx.Query(text, 1)
	if err != nil {
		t.Fatal(err)
	}
	var pairs []string
	for outer.Next() {
		var a int
		if err := outer.Scan(&a); err != nil {
			t.Fatal(err)
		}
		inner, err := tx.Query(text, a)
		if err != nil {
			t.Fatal(err)
		}
		for inner.Next() {
			var b int
			if err := inner.Scan(&b); err != nil {
				t.Fatal(err)
			}
			pairs = append(pairs, fmt.Sprint(a, b))
		}
		inner.Close()
	}
	outer.Close()
	if got := strings.Join(pairs, ","); got != "1 1,1 2,1 3,2 2,2 3,3 3" {
		t.Errorf("pairs: %s", got)
	}
	for range 2 {
		if _, err := tx.Exec(`INSERT INTO t SELECT abs(-9223372036854775808)`); err == nil {
			t.Error("an overflow is no error")
		}
	}
	if n := sum(t, tx, `SELECT sum(n) FROM t`); n != 6 {
		t.Errorf("the sum is %d", n)
	}
}

// TestBounds runs more statements than can be cached, and longer statements.
func TestBounds(t *testing.T) {
	db, parses := opened(t)
	for round := range 2 {
		for i := range 300 {
			if n := sum(t, db, fmt.Sprintf(`SELECT %d`, i)); n != i {
				t.Fatalf("SELECT %d gives %d", i, n)
			}
		}
		if round == 0 && *parses != 300 {
			t.Errorf("%d parses", *parses)
		}
	}
	long := `SELECT ` + strings.Repeat("1 + ", 20_000) + `1`
	for range 2 {
		*parses = 0
		if _, err := db.Exec(long); *parses != 1 {
			t.Errorf("a long statement (%v) was parsed %d times", err, *parses)
		}
	}
}

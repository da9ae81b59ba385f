package writing_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sourcetest/writing"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/testservices"
)

// executorVariable makes the test binary an executor: its value is the dialect, the database, the first change and the fence.
const executorVariable = "BAILIWICK_TEST_EXECUTOR"

func TestMain(m *testing.M) {
	if order := os.Getenv(executorVariable); order != "" {
		execute(order)
	}
	code := m.Run()
	testservices.Stop()
	os.Exit(code)
}

// execute runs the test binary as an executor: it never returns.
func execute(order string) {
	var d sqlgen.Dialect
	var at string
	var from int
	var fence int64
	if _, err := fmt.Sscan(order, &d, &at, &from, &fence); err != nil {
		panic(err)
	}
	w, err := openToWrite(context.Background(), d, at)
	if err == nil {
		err = writing.Execute(w, from, fence, os.Stdout)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// openToWrite opens a database for writing by its URL or path.
func openToWrite(ctx context.Context, d sqlgen.Dialect, at string) (writing.Writable, error) {
	switch d {
	case sqlgen.SQLite:
		s, err := sqldriver.OpenSQLite(ctx, "app", at)
		if err != nil {
			return nil, err
		}
		return s.Writable(ctx)
	case sqlgen.PostgreSQL:
		s, err := sqldriver.OpenPostgres(ctx, "app", at)
		if err != nil {
			return nil, err
		}
		return s.Writable(ctx, "")
	}
	s, err := sqldriver.OpenMySQL(ctx, "app", at)
	if err != nil {
		return nil, err
	}
	return s.Writable(ctx, "")
}

// killed kills and suspends executors, and has others write the same records: a few times, or as often as the soak
// requires.
func killed(t *testing.T, d sqlgen.Dialect, fresh func(testing.TB) string) {
	kills, stops, races := 20, 5, 40
	if soak := os.Getenv("BAILIWICK_SOAK"); soak != "" {
		n, err := strconv.Atoi(soak)
		if err != nil {
			t.Fatal(err)
		}
		kills, stops, races = max(kills, n/100), max(stops, n/2000), max(races, n/100)
	}
	process := func(at string) writing.Process {
		return func(from int, fence int64) *exec.Cmd {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), executorVariable+"="+fmt.Sprint(int(d), " ", at, " ", strconv.Itoa(from), " ", fence))
			return cmd
		}
	}
	t.Run("Outsiders", func(t *testing.T) { writing.Outsiders(t, writingTarget(d, fresh), races) })
	at := fresh(t)
	outside := outsiderAt(t, d, at, writing.Script(d))
	w, err := openToWrite(t.Context(), d, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.(interface{ Close() error }).Close() })
	t.Run("Kills", func(t *testing.T) { writing.Kills(t, outside, process(at), kills) })
	if _, err := outside.Exec("DELETE FROM hits"); err != nil {
		t.Fatal(err)
	}
	if _, err := outside.Exec("DELETE FROM bailiwick_applied"); err != nil {
		t.Fatal(err)
	}
	t.Run("Stops", func(t *testing.T) { writing.Stops(t, w, outside, process(at), stops) })
}

func TestSQLiteKilled(t *testing.T) {
	killed(t, sqlgen.SQLite, sqliteFile)
}

func TestPostgresKilled(t *testing.T) { killed(t, sqlgen.PostgreSQL, testservices.Postgres) }

func TestMySQLKilled(t *testing.T) { killed(t, sqlgen.MySQL, testservices.MariaDB) }

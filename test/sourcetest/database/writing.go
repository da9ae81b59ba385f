package database

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/writing"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// executorVariable is an environment variable that makes the test binary run as an executor. Its value contains the
// first change, the fence and the database.
const executorVariable = "BAILIWICK_TEST_EXECUTOR"

// Main is the TestMain of an adapter. It runs the tests. In a process that TestKilled has started, it runs the
// executor instead.
func (d *Database) Main(m *testing.M) {
	if order := os.Getenv(executorVariable); order != "" {
		fmt.Fprintln(os.Stderr, d.execute(order))
		os.Exit(1)
	}
	code := m.Run()
	services.Stop()
	os.Exit(code)
}

// execute applies changes until it is killed or fails.
func (d *Database) execute(order string) error {
	var from int
	var fence int64
	var at string
	if _, err := fmt.Sscan(order, &from, &fence, &at); err != nil {
		return err
	}
	w, err := d.Writable(context.Background(), at)
	if err != nil {
		return err
	}
	return writing.Executor{From: from, Each: 2, Fence: fence, Beside: writing.Beside}.Execute(w, os.Stdout)
}

// writable runs statements in an empty database and opens it for writing.
func (d *Database) writable(t testing.TB, at string, statements []string) (writing.Writable, *sql.DB) {
	t.Helper()
	outside := d.Outside(t, at, statements...)
	w, err := d.Writable(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.(interface{ Close() error }).Close() })
	return w, outside
}

func (d *Database) writingTarget() writing.Target {
	return writing.Target{Kind: d.Kind, Every: d.Every, Open: func(t testing.TB, statements []string) (writing.Writable, *sql.DB) {
		t.Helper()
		return d.writable(t, d.Fresh(t), statements)
	}}
}

// TestWriting runs the suite of package writing.
func (d *Database) TestWriting(t *testing.T) { writing.Run(t, d.writingTarget()) }

// TestKilled kills and suspends executors while other processes write the same records. It runs a few rounds, or as
// many as BAILIWICK_SOAK requires.
func (d *Database) TestKilled(t *testing.T) {
	kills, stops, races := 20, 5, 40
	if soak := os.Getenv("BAILIWICK_SOAK"); soak != "" {
		n, err := strconv.Atoi(soak)
		if err != nil {
			t.Fatal(err)
		}
		kills, stops, races = max(kills, n/100), max(stops, n/2000), max(races, n/100)
	}
	t.Run("Together", d.opensTogether)
	t.Run("Outsiders", func(t *testing.T) { writing.Outsiders(t, d.writingTarget(), races) })
	at := d.Fresh(t)
	w, outside := d.writable(t, at, writing.Script(d.Kind))
	process := func(from int, fence int64) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), executorVariable+"="+fmt.Sprint(from, " ", fence, " ", at))
		return cmd
	}
	t.Run("Kills", func(t *testing.T) { writing.Kills(t, writing.SQLHits(outside), process, kills) })
	for _, table := range []string{"hits", "bailiwick_applied"} {
		if _, err := outside.Exec("DELETE FROM " + table); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("Stops", func(t *testing.T) { writing.Stops(t, w, writing.SQLHits(outside), process, stops) })
}

// opensTogether opens an empty database for writing several times at once, like the replicas of a new gateway. Each
// of them finds no table of markers and creates it.
func (d *Database) opensTogether(t *testing.T) {
	const replicas, rounds = 6, 4
	for range rounds {
		at := d.Fresh(t)
		d.Outside(t, at, "CREATE TABLE a (id int PRIMARY KEY)")
		var all sync.WaitGroup
		for range replicas {
			all.Go(func() {
				w, err := d.Writable(t.Context(), at)
				if err != nil {
					t.Error(err)
					return
				}
				w.(interface{ Close() error }).Close()
			})
		}
		all.Wait()
	}
}

// A Preview creates a record of the class a in a new database and contains the expected preview.
type Preview struct {
	Name       string
	Statements []string
	Data, Want string
}

// TestPreviews previews writes that only this kind of database supports or refuses.
func (d *Database) TestPreviews(t *testing.T, rows []Preview) {
	for _, tt := range rows {
		t.Run(tt.Name, func(t *testing.T) {
			w, _ := d.writable(t, d.Fresh(t), tt.Statements)
			if got := PreviewCreate(t, w, tt.Data); got != tt.Want {
				t.Errorf("got %s\nwant %s", got, tt.Want)
			}
		})
	}
}

// PreviewCreate previews the creation of a record of the class a. It returns the record and the refusal, or the
// error.
func PreviewCreate(t *testing.T, w writing.Writable, data string) string {
	t.Helper()
	return previewWithRules(t, w, policy.Rules{Unlisted: true}, data)
}

// previewWithRules is like PreviewCreate under rules, for the tenant acme.
func previewWithRules(t *testing.T, w writing.Writable, rules policy.Rules, data string) string {
	t.Helper()
	classes, _, err := w.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rules.Gates.RawWrites = policy.On
	p, err := policy.New(rules, classes)
	if err != nil {
		t.Fatal(err)
	}
	fields, err := value.Read([]byte(data), 0)
	if err != nil {
		t.Fatal(err)
	}
	draft, err := writes.Propose(context.Background(), p, identity.Principal{ID: "a", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Write}},
		write.Request{Writes: []write.Write{&write.Create{Class: "a", Data: fields}}})
	if err != nil {
		return err.Error()
	}
	seen, err := w.Preview(t.Context(), draft)
	if err != nil {
		return err.Error()
	}
	return seen.Effects[0].After.String() + " " + seen.Refusal
}

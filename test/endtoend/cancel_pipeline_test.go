package endtoend

import (
	"bytes"
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/jackc/pgx/v5"
)

// slowPipelines take minutes on the table of endless, each for a different reason.
var slowPipelines = map[string]string{
	"a cross product": `[{"$lookup": {"from": "steps", "let": {"n": "$n"}, "as": "later",
		"pipeline": [{"$match": {"$expr": {"$eq": [{"$add": ["$n", "$next"]}, "$$n"]}}}]}},
		{"$match": {"$expr": {"$gt": [{"$size": "$later"}, 5]}}}, {"$count": "n"}]`,
	"a graph": `[{"$graphLookup": {"from": "steps", "startWith": "$next", "connectFromField": "next", "connectToField": "n", "as": "way", "maxDepth": 100}},
		{"$match": {"$expr": {"$lt": [{"$size": "$way"}, 0]}}}, {"$count": "n"}]`,
	"a join by no index": `[{"$lookup": {"from": "steps", "localField": "other", "foreignField": "other", "as": "same"}},
		{"$unwind": "$same"}, {"$group": {"_id": {"$add": ["$n", "$same.n"]}, "n": {"$sum": 1}}}, {"$sort": {"n": -1}}]`,
}

// endless fills a table whose records point to the next record.
const endless = "INSERT INTO steps WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 20000) SELECT i, i + 1, i % 3 FROM s"

const steps = "CREATE TABLE steps (n int PRIMARY KEY, next int, other int)"

// A watched source allows the test to inspect its server. The test counts the running statements and the open
// connections.
type watched struct {
	source      source.Source
	running     func() int
	connections func() int
}

// TestPipelineStops cancels slow pipelines, and lets others run into their timeout, on every database. Afterwards the
// statement must not be running on the server. The numbers of connections and goroutines must be as before.
func TestPipelineStops(t *testing.T) {
	for name, open := range map[string]func(*testing.T) watched{"SQLite": watchSQLite, "PostgreSQL": watchPostgres, "MariaDB": watchMariaDB} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			log := records{make(chan audit.Record, 8)}
			g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": w.source}, Rules: policy.Rules{Unlisted: true}, Audit: log})
			if err != nil {
				t.Fatal(err)
			}
			// The first pipeline of each kind opens connections that stay open.
			stopPipeline(t, w, g, log, slowPipelines["a graph"])
			connections, goroutines := w.connections(), runtime.NumGoroutine()
			for name, pipeline := range slowPipelines {
				t.Run(name, func(t *testing.T) {
					stopPipeline(t, w, g, log, pipeline)
					until(t, "connections", w.connections, func(n int) bool { return n <= connections })
					until(t, "goroutines", runtime.NumGoroutine, func(n int) bool { return n <= goroutines+1 }) // one more for the subtest
				})
			}
		})
	}
}

// stopPipeline cancels a pipeline while it is running, and then lets it run into its timeout.
func stopPipeline(t *testing.T, w watched, g *bailiwick.Gateway, log records, pipeline string) {
	t.Helper()
	args, err := value.Read([]byte(`{"class_name": "steps", "pipeline": `+pipeline+`}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		timeout time.Duration
		cancel  bool
		want    problem.Code
	}{{time.Minute, true, problem.Cancelled}, {time.Second, false, problem.Timeout}} {
		set, err := tool.NewSet(g, tool.Data(tool.Options{Timeouts: map[string]time.Duration{"aggregate": tt.timeout}})...)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			p := identity.Principal{ID: "a", Owner: "ann", Scopes: []identity.Scope{identity.Read}}
			_, err := set.Call(ctx, p, tool.Request{Name: "aggregate", Arguments: args})
			done <- err
		}()
		if tt.cancel {
			until(t, "running statements", w.running, func(n int) bool { return n == 1 })
			cancel()
		}
		if err := <-done; problem.CodeOf(err) != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
		cancel()
		until(t, "running statements", w.running, func(n int) bool { return n == 0 })
		if r := <-log.made; r.Tool != "aggregate" || r.Code != string(tt.want) {
			t.Errorf("recorded as %s %s, want aggregate %s", r.Tool, r.Code, tt.want)
		}
	}
}

// until waits until count returns a number that satisfies good.
func until(t *testing.T, what string, count func() int, good func(int) bool) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		n := count()
		if good(n) {
			return
		}
		if time.Since(start) > 10*time.Second {
			t.Fatalf("%d %s", n, what)
		}
	}
}

// watchSQLite counts the goroutines that execute SQLite code, because SQLite has no server and no visible
// connections.
func watchSQLite(t *testing.T) watched {
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{steps, endless} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	src, err := sqlite.Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	running := func() (n int) {
		stacks := make([]byte, 4<<20)
		for stack := range bytes.SplitSeq(stacks[:runtime.Stack(stacks, true)], []byte("\n\n")) {
			if bytes.Contains(stack, []byte("sqlite3_step")) {
				n++
			}
		}
		return n
	}
	return watched{src, running, func() int { return 0 }}
}

func watchPostgres(t *testing.T) watched {
	url := services.Postgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	for _, statement := range []string{steps, endless} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	src, err := postgres.Open(t.Context(), "app", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	count := func(where string) func() int {
		return func() (n int) {
			err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND "+
				"backend_type = 'client backend' AND "+where).Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return watched{src, count("state = 'active' AND query LIKE '%steps%'"), count("true")}
}

func watchMariaDB(t *testing.T) watched {
	u := services.MariaDB(t)
	parsed, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := parsed.User.Password()
	db, err := sql.Open("mysql", parsed.User.Username()+":"+password+"@tcp("+parsed.Host+")"+parsed.Path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	for _, statement := range []string{"SET max_recursive_iterations = 100000", steps, endless} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	src, err := mariadb.Open(t.Context(), "app", u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	count := func(where string) func() int {
		return func() (n int) {
			err := db.QueryRow("SELECT count(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID() AND " + where).Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return watched{src, count("COMMAND <> 'Sleep' AND INFO LIKE '%steps%'"), count("true")}
}

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/internal/testservices"
)

// TestFairness checks that 20 agents of other tenants get every answer while one agent has 400 slow calls in progress.
func TestFairness(t *testing.T) {
	a, _ := guarded(t, "limits: {concurrency: 16}\n")
	at := testservices.Postgres(t)
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `CREATE TABLE issues (id int PRIMARY KEY, org_id text NOT NULL);
		INSERT INTO issues SELECT g, 'tenant' || g % 21 FROM generate_series(1, 2100) g;
		CREATE VIEW slow AS SELECT g AS id FROM generate_series(1, 1) g WHERE pg_sleep(2) IS NOT NULL`); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(a.dir + "/bailiwick.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, "bailiwick.yaml", strings.NewReplacer(`sources: {local: {url: "sqlite:notes.db"}}`, `sources: {local: {url: "`+at+`"}}`,
		"classes: {notes: {}}", "classes: {issues: {tenant: {field: org_id}}, slow: {}}").Replace(string(config)))
	greedy := a.token(t, "--name", "greedy", "--tenant", "tenant0")
	var ordinary []string
	for i := range 20 {
		ordinary = append(ordinary, a.token(t, "--name", fmt.Sprint("ordinary", i), "--owner", fmt.Sprint("owner", i), "--tenant", fmt.Sprint("tenant", i+1)))
	}
	a.start(t)
	var over atomic.Bool
	var slow, busy atomic.Int64
	var all sync.WaitGroup
	for range 400 {
		all.Go(func() {
			for !over.Load() {
				if got := a.call(t, greedy, "count_objects", `{"class_name":"slow"}`); strings.Contains(got, `"text":"1"`) {
					slow.Add(1)
				} else {
					busy.Add(1)
					time.Sleep(100 * time.Millisecond)
				}
			}
		})
	}
	for end := time.Now().Add(time.Minute); slow.Load() == 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	var mu sync.Mutex
	var took []time.Duration
	var agents sync.WaitGroup
	for i, token := range ordinary {
		agents.Go(func() {
			for range 5 {
				start := time.Now()
				if got := a.call(t, token, "count_objects", `{"class_name":"issues"}`); !strings.Contains(got, `"text":"100"`) {
					t.Errorf("agent %d: %s", i, got)
				}
				mu.Lock()
				took = append(took, time.Since(start))
				mu.Unlock()
			}
		})
	}
	agents.Wait()
	over.Store(true)
	all.Wait()
	a.stop(t)
	slices.Sort(took)
	t.Logf("%d ordinary calls: median %s, slowest %s; of the greedy one %d were answered and %d refused", len(took),
		took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond), slow.Load(), busy.Load())
}

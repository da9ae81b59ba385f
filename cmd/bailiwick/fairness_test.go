package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/test/services"
)

// TestFairness checks that 20 agents of other tenants get every answer while one agent uses its limits fully. Its
// calls never end. They occupy places in the server's queue, connections to the database, and memory for answers.
func TestFairness(t *testing.T) {
	a, metrics := guarded(t, "limits: {concurrency: 16}\n")
	at := services.Postgres(t)
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `CREATE TABLE issues (id int PRIMARY KEY, org_id text NOT NULL);
		INSERT INTO issues SELECT g, 'tenant' || g % 21 FROM generate_series(1, 2100) g;
		CREATE VIEW slow AS SELECT g AS id FROM generate_series(1, 1) g WHERE pg_advisory_xact_lock_shared(7) IS NOT NULL;
		SELECT pg_advisory_lock(7)`); err != nil {
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
		tenant := i + 1
		if i < 4 {
			tenant = 0 // the tenant of the greedy agent
		}
		ordinary = append(ordinary, a.token(t, "--name", fmt.Sprint("ordinary", i), "--owner", fmt.Sprint("owner", i), "--tenant", fmt.Sprint("tenant", tenant)))
	}
	a.start(t)
	var over atomic.Bool
	var slow, busy atomic.Int64
	var all sync.WaitGroup
	for range 300 {
		all.Go(func() {
			for !over.Load() {
				if got := a.call(t, greedy, "count_objects", `{"class_name":"slow"}`); strings.Contains(got, `"text":"1"`) {
					slow.Add(1)
				} else {
					busy.Add(1)
					time.Sleep(time.Second)
				}
			}
		})
	}
	const held = 2        // of the 4 connections
	full := func() bool { // calls of the greedy agent wait for a place and for a connection
		var blocked int
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").Scan(&blocked); err != nil {
			t.Fatal(err)
		}
		return blocked == held && metric(t, metrics, "bailiwick_door_requests_waiting") > 0
	}
	for end := time.Now().Add(time.Minute); !full(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the greedy agent doesn't have all that it may have")
		}
	}
	var agents sync.WaitGroup
	for i, token := range ordinary {
		agents.Go(func() {
			for range 5 {
				if got := a.call(t, token, "count_objects", `{"class_name":"issues"}`); !strings.Contains(got, `"text":"100"`) {
					t.Errorf("agent %d: %s", i, got)
				}
			}
		})
	}
	agents.Wait()
	over.Store(true)
	if n := slow.Load(); n > 0 {
		t.Errorf("%d slow calls ended: nothing was shared", n)
	}
	if _, err := conn.Exec(t.Context(), "SELECT pg_advisory_unlock(7)"); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	if slow.Load() == 0 {
		t.Error("the greedy agent got no answer")
	}
	a.stop(t)
	t.Logf("of the greedy agent's calls %d were answered and %d refused", slow.Load(), busy.Load())
}

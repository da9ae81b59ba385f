package endtoend

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	postgressource "github.com/bailiwick-dev/bailiwick/source/postgres"
	sqlitesource "github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// deciderVariable is an environment variable that makes the test binary a decider: a process in which agents propose
// and people approve. Its value contains the address of the store and the path of the tracker.
const deciderVariable = "BAILIWICK_TEST_DECIDER"

// decider opens a gateway with a store and a tracker, as in each decider process. If audited is set, the records of
// steps are written to the log together with the steps. Otherwise they wait in the outbox.
func decider(ctx context.Context, place, tracker string, audited bool) (g *bailiwick.Gateway, kept keeper, err error) {
	if strings.HasPrefix(place, "postgres:") {
		kept, err = postgres.Open(ctx, place)
	} else {
		kept, err = sqlite.Open(ctx, place)
	}
	if err != nil {
		return nil, nil, err
	}
	app, err := writableTracker(ctx, tracker)
	if err != nil {
		return nil, nil, err
	}
	g, _, err = bailiwick.New(ctx, bailiwick.Options{Sources: map[string]source.Source{"app": app}, Audit: kept, History: kept,
		Changes: change.NewQueue(change.Options{Store: kept, Lease: callerLease, Most: 1 << 20, Rate: 1 << 20, Edit: true, Audited: audited}), Refresher: identity.Fixed{},
		Rules: policy.Rules{Version: "v1", Gates: policy.Gates{RawWrites: policy.Review}, Classes: map[string]policy.ClassRule{"issues": {}}}})
	return g, kept, err
}

// writableTracker opens the tracker at a path or in a PostgreSQL database.
func writableTracker(ctx context.Context, at string) (source.Source, error) {
	if strings.HasPrefix(at, "postgres:") {
		reads, err := postgressource.Open(ctx, "app", at)
		if err != nil {
			return nil, err
		}
		return reads.Writable(ctx, "")
	}
	reads, err := sqlitesource.Open(ctx, "app", at)
	if err != nil {
		return nil, err
	}
	return reads.Writable(ctx)
}

// beDecider runs the test binary as a decider until it is killed.
func beDecider(order string) {
	var place, tracker string
	var audited bool
	_, err := fmt.Sscan(order, &place, &tracker, &audited)
	ctx := context.Background()
	var g *bailiwick.Gateway
	if err == nil {
		g, _, err = decider(ctx, place, tracker, audited)
	}
	for begun := time.Now(); err != nil && time.Since(begun) < time.Minute; time.Sleep(100 * time.Millisecond) { // the machine may be busy
		g, _, err = decider(ctx, place, tracker, audited)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	go g.Execute(ctx, nil)
	failed := make(chan error)
	for n := range 4 { // enough goroutines that some wait for others and share a transaction with them
		go func() {
			for {
				// Another process may have changed the record or taken over the change. On a busy machine it may also
				// have the lock of the tracker whenever this process requests it.
				err := decideOnce(ctx, g, n%2+1)
				switch code := problem.CodeOf(err); {
				case err == nil:
					fmt.Println("approved")
				case code == problem.Conflict, code == problem.Timeout, errors.Is(err, context.DeadlineExceeded):
				case code == problem.RateLimited, code == problem.Upstream: // nothing was decided, and the same request may be sent again
				default:
					failed <- err
				}
			}
		}()
	}
	err = <-failed
	fmt.Fprintln(os.Stderr, err, errors.Unwrap(err)) // the error for agents doesn't contain the cause
	os.Exit(1)
}

// routes counts the changes that this process has begun. Each change uses the next of the possible sequences of
// decisions, so that a few changes cover all.
var routes = func() *atomic.Uint32 { n := &atomic.Uint32{}; n.Store(rand.Uint32N(5)); return n }()

// decideOnce proposes a change of an issue as an agent and approves it as a person. The approved version is the
// original, the original after a question and an answer, the agent's second version, or another person's edit.
func decideOnce(ctx context.Context, g *bailiwick.Gateway, issue int) error {
	bot := identity.Principal{ID: "token:bot", Kind: identity.Agent, Owner: "ana", Scopes: []identity.Scope{identity.Read, identity.Write}}
	person := func(name string) bailiwick.Reviewer {
		return g.Reviewer(identity.Principal{ID: "token:" + name, Kind: identity.Human, Owner: name, Scopes: []identity.Scope{identity.Read, identity.Review}}, "visit")
	}
	ben, cleo := person("ben"), person("cleo")
	var s *review.Sheet
	propose := func(replaces string) error {
		data := value.OfObject([]value.Member{{Name: "n", Value: value.OfInt(rand.Int64N(1 << 40))}})
		return g.Do(ctx, bot, bailiwick.CallSpec{Tool: "propose_changes", Needs: identity.Write, Writes: policy.WriteRaw, Proposes: true}, func(ctx context.Context, c *bailiwick.Call) (n int, err error) {
			s, err = c.Propose(ctx, write.Request{Tool: "propose_changes", Input: data, Replaces: replaces, Writes: []write.Write{&write.Update{Class: "issues", ID: strconv.Itoa(issue), Data: data}}})
			return 0, err
		})
	}
	err := propose("")
	route := int(routes.Add(1) % 5)
	if err == nil && (route == 1 || route == 2) {
		_, err = cleo.Ask(ctx, s.ID, "another number")
	}
	switch {
	case err != nil:
	case route == 1:
		err = g.Do(ctx, bot, bailiwick.CallSpec{Tool: "reply_to_change", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (n int, err error) {
			s, err = c.Answer(ctx, s.ID, "this one")
			return 0, err
		})
	case route == 2, route == 3:
		err = propose(s.ID)
	case route == 4:
		s, err = cleo.Edit(ctx, s.ID, review.Revision{Digest: s.Digest, Reason: "rounder", Edits: []review.Edit{{Field: "n", Value: value.OfInt(rand.Int64N(1 << 40))}}})
	}
	if err == nil {
		_, err = ben.Approve(ctx, s.ID, s.Digest, "")
	}
	return err
}

// decidersKilled returns the number of processes that TestDecisionsKilled kills. BAILIWICK_KILLS overrides it for
// long runs.
func decidersKilled() int {
	if n, err := strconv.Atoi(os.Getenv("BAILIWICK_KILLS")); err == nil {
		return n
	}
	return 15
}

// TestDecisionsKilled kills processes in which people decide. At any time, the audit must contain an earlier approval
// for every applied change, and a record for each step of each change. Each applied change must be written once, and
// other changes never.
func TestDecisionsKilled(t *testing.T) {
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			place := filepath.Join(t.TempDir(), "bailiwick.db")
			if name == "postgres" {
				place = services.Postgres(t)
			}
			tracker, effects := newTracker(t, name)
			killDeciders(t, place, tracker)
			g, kept, err := decider(t.Context(), place, tracker, true)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { g.Execute(ctx, nil); close(done) }()
			t.Cleanup(func() { stop(); <-done })
			wantDecided(t, kept)
			wantEffects(t, kept, effects)
		})
	}
}

// decidersAtOnce is the number of processes that decide concurrently. While one is killed and restarted, the other
// continues.
const decidersAtOnce = 2

// killDeciders starts decidersKilled processes and kills each at a random time.
func killDeciders(t *testing.T, place, tracker string) {
	t.Helper()
	numbers := make(chan int)
	var lanes sync.WaitGroup
	for range decidersAtOnce {
		lanes.Go(func() {
			for n := range numbers {
				if err := killDecider(fmt.Sprint(place, " ", tracker, " ", n%3 > 0)); err != nil { // a mix of records in the log and in the outbox, as during an upgrade
					t.Error(n, err)
				}
			}
		})
	}
	began, all := time.Now(), decidersKilled()
	for n := range all {
		numbers <- n
		if (n+1)%1000 == 0 {
			t.Logf("%d of %d were killed, after %v", n+1, all, time.Since(began).Round(time.Second))
		}
	}
	close(numbers)
	lanes.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// killDecider starts a decider process and kills it. The kill comes after up to two approvals and a short random
// delay.
func killDecider(order string) error {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), deciderVariable+"="+order)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for range 1 + rand.IntN(3) {
		if !lines.Scan() {
			err = errors.New("the process ended by itself")
		}
	}
	time.Sleep(rand.N(40 * time.Millisecond)) // the kill comes at a random point
	if err := child.Process.Kill(); err != nil {
		return err
	}
	_ = child.Wait() // it was killed
	return err
}

// wantDecided waits until all changes have ended. It then compares the changes with the audit.
func wantDecided(t *testing.T, kept keeper) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		counts, _, err := kept.Counts(t.Context(), change.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		held, err := change.Reconcile(t.Context(), kept, kept)
		if err != nil || len(held.Lacks) > 0 {
			t.Fatalf("%+v, %v", held, err)
		}
		if counts[change.Granted]+counts[change.Applying] == 0 && held.Waiting == 0 {
			t.Logf("%d kills, %d changes %v, %d steps, each recorded", decidersKilled(), held.Changes, counts, held.Steps)
			if counts[change.Applied] == 0 {
				t.Error("nothing was applied")
			}
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%v, %+v", counts, held)
		}
	}
	approved, applied := map[string]bool{}, map[string]bool{}
	err := kept.Records(t.Context(), audit.First, func(r audit.Record) bool {
		switch r.Tool {
		case "changes/approved":
			approved[r.Change] = true
		case "changes/claimed", "changes/applied":
			if !approved[r.Change] || r.Tool == "changes/applied" && applied[r.Change] {
				t.Errorf("%s of %s, approved before: %v", r.Tool, r.Change, approved[r.Change])
			}
			applied[r.Change] = applied[r.Change] || r.Tool == "changes/applied"
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	wantVersions(t, kept)
}

// wantVersions checks that each version is linked with its previous version in both directions, and that no replaced
// version was written.
func wantVersions(t *testing.T, kept keeper) {
	t.Helper()
	all := allChanges(t, kept)
	versions, edits := 0, 0
	for id, c := range all {
		if (c.State == change.Replaced) != (c.ReplacedBy != "") || c.ReplacedBy != "" && (all[c.ReplacedBy] == nil || all[c.ReplacedBy].Replaces != id) {
			t.Errorf("%s is %s and replaced by %q", id, c.State, c.ReplacedBy)
		}
		if c.Replaces == "" {
			continue
		}
		versions++
		if c.Asker != nil {
			edits++
		}
		if old := all[c.Replaces]; old == nil || old.ReplacedBy != id {
			t.Errorf("%s replaces %+v", id, old)
		}
		for _, step := range all[c.Replaces].History {
			if step.Event == change.EventClaimed || step.Event == change.EventApplied {
				t.Errorf("%s was replaced, and %s", c.Replaces, step.Event)
			}
		}
	}
	t.Logf("%d versions, %d of them edits of reviewers", versions, edits)
	if versions == edits || edits == 0 {
		t.Error("versions and edits were not tried")
	}
}

// allChanges returns all changes of a store by id.
func allChanges(t *testing.T, kept keeper) map[string]*change.Change {
	t.Helper()
	all := map[string]*change.Change{}
	f := change.Filter{Limit: 200}
	for more := true; more; {
		page, next, err := kept.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page {
			all[c.ID], f.Before = c, c.ID
		}
		more = next
	}
	return all
}

// wantEffects compares the changes with the writes that a trigger of the tracker has logged. An applied change must
// write once, and any other change never.
func wantEffects(t *testing.T, kept keeper, tracker *sql.DB) {
	t.Helper()
	rows, err := tracker.QueryContext(t.Context(), "SELECT n FROM effects")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	seen, total := map[string]int{}, 0
	for ; rows.Next(); total++ {
		var n string
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		seen[n]++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	applied, lost, doubled := 0, 0, 0
	for id, c := range allChanges(t, kept) {
		n := seen[c.Writes[0].Part([]string{"data", "n"}).String()]
		want := 0
		if c.State == change.Applied {
			want = 1
			applied++
		}
		if n != want {
			t.Errorf("%s is %s and was written %d times", id, c.State, n)
		}
		lost, doubled = lost+max(want-n, 0), doubled+max(n-want, 0)
	}
	if total != applied {
		t.Errorf("%d effects of %d applied changes", total, applied)
	}
	t.Logf("%d applied, %d effects: %d lost, %d doubled", applied, total, lost, doubled)
}

// counted contains the statements that make a database log each new value of an issue's number.
var counted = map[string]string{
	"sqlite": "PRAGMA journal_mode = WAL;" + officeTables + // without WAL, the journal of a killed writer would block readers
		"CREATE TABLE effects (n INTEGER NOT NULL); CREATE TRIGGER counted AFTER UPDATE OF n ON issues BEGIN INSERT INTO effects VALUES (new.n); END;",
	"postgres": strings.NewReplacer("id INTEGER", "id bigint", "n INTEGER", "n bigint").Replace(officeTables) +
		"CREATE TABLE effects (n bigint NOT NULL); CREATE FUNCTION counted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO effects VALUES (new.n); RETURN NULL; END $$;" +
		"CREATE TRIGGER counted AFTER UPDATE OF n ON issues FOR EACH ROW EXECUTE FUNCTION counted()",
}

// newTracker creates the tracker database of an office. It returns the address and a separate connection for the
// test.
func newTracker(t *testing.T, kind string) (at string, db *sql.DB) {
	t.Helper()
	driver := "sqlite"
	if kind == "postgres" {
		driver, at = "pgx", services.Postgres(t)
	} else {
		at = filepath.Join(t.TempDir(), "tracker.db")
	}
	db, err := sql.Open(driver, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.ExecContext(t.Context(), counted[kind]); err != nil {
		t.Fatal(err)
	}
	return at, db
}

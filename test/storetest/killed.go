package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Environment variables for a child process: the place of the store that it writes to, and the folder of its archive.
const (
	writesTo   = "BAILIWICK_TEST_WRITES_TO"
	archivesTo = "BAILIWICK_TEST_ARCHIVES_TO"
)

// Main is the TestMain for a store's tests. In a child process of CheckKills it writes to the store until it is
// killed. It prints what the store has confirmed.
func Main(m *testing.M, open func(ctx context.Context, place string) (Store, error)) {
	place := os.Getenv(writesTo)
	if place == "" {
		os.Exit(m.Run())
	}
	s, err := open(context.Background(), place)
	if err == nil {
		err = writeForever(s, os.Getenv(archivesTo))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// writeForever appends records, files and applies changes, creates and revokes tokens, and moves records to an
// archive in a folder.
func writeForever(s Store, folder string) error {
	ctx := context.Background()
	failed := make(chan error)
	for w := range 4 {
		go func() {
			for n := w; ; n++ {
				r := record("w", n)
				if err := s.Append(ctx, &r); err != nil {
					failed <- err
					return
				}
				fmt.Println("record", r.Seq)
			}
		}()
	}
	go func() {
		for {
			if err := liveOnce(ctx, s); err != nil {
				failed <- err
				return
			}
		}
	}()
	go func() {
		for {
			if err := tokenOnce(ctx, s); err != nil {
				failed <- err
				return
			}
		}
	}()
	go func() {
		for {
			_, err := store.MoveRecords(ctx, s, store.ArchiveOptions{Dir: folder, Before: time.Now(), By: "ops", PerFile: 30})
			if err != nil && !errors.Is(err, audit.ErrMoved) {
				failed <- err
				return
			}
			time.Sleep(3 * time.Millisecond) // gives the other goroutines time to use the store
		}
	}()
	return <-failed
}

// tokenOnce creates and revokes a token, like an operator.
func tokenOnce(ctx context.Context, s Store) error {
	tokens := identity.NewTokens(identity.TokenOptions{Store: s, Audit: s})
	made, _, err := tokens.Create(ctx, identity.Local("ops"), identity.Token{Name: "bot", Owner: "ana", Scopes: []identity.Scope{identity.Read, identity.Write}})
	if err != nil {
		return err
	}
	fmt.Println("token", made.ID, 1)
	if err := tokens.Revoke(ctx, identity.Local("ops"), made.ID); err != nil {
		return err
	}
	fmt.Println("token", made.ID, 2)
	return nil
}

// liveOnce files and applies a group that contains an action. It records the steps like an executor. Every second
// group is first replaced by another version.
func liveOnce(ctx context.Context, s Store) error {
	c := newGroupChange()
	c, err := s.Put(ctx, c, change.Filing{Life: time.Hour, Most: 1 << 30})
	if err != nil {
		return err
	}
	fmt.Println("change", c.ID, c.Version)
	if rand.IntN(2) == 0 {
		old, next := c, newGroupChange()
		next.Replaces = old.ID
		f := replacing(old, next.ID)
		f.Most, f.Replaces.History[1] = 1<<30, by("bot", change.Replaced, change.EventReplaced)
		if c, err = s.Put(ctx, next, f); err != nil {
			return err
		}
		fmt.Println("change", old.ID, old.Version+1)
		fmt.Println("change", c.ID, c.Version)
	}
	for _, to := range []change.Step{by("ben", change.Granted, change.EventApproved), by("bot", change.Applying, change.EventClaimed), by("bot", change.Applied, change.EventApplied)} {
		if to.Event == change.EventClaimed {
			if _, err := audit.Drain(ctx, s, c.ID, s); err != nil {
				return err
			}
		}
		c.State, c.History = to.State, append(c.History, to)
		if err := s.Swap(ctx, c, change.Guard{Recorded: to.Event == change.EventClaimed}); err != nil {
			return err
		}
		fmt.Println("change", c.ID, c.Version)
	}
	_, err = audit.Drain(ctx, s, c.ID, s)
	return err
}

// newGroupChange returns a new change of two writes. The first write belongs to an action.
func newGroupChange() *change.Change {
	c := changeWithActor(0)
	c.ID, c.Digest = fmt.Sprintf("%026d", rand.Int64()), fmt.Sprintf("%064d", rand.Int64())
	c.Writes, c.Origins = []value.Value{value.OfObject(nil), value.OfObject(nil)}, []write.Origin{{Action: "tracker.comments.remark"}, {}}
	return c
}

// writer starts a child process that writes to the store at place.
func writer(t *testing.T, place, folder string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writesTo+"="+place, archivesTo+"="+folder)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, bufio.NewScanner(pipe)
}

// kills returns the number of rounds of CheckKills. BAILIWICK_KILLS sets a higher number for long tests.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("BAILIWICK_KILLS")); err == nil {
		return n
	}
	return 6
}

// promises contains the data that child processes have reported as stored.
type promises struct {
	records map[int64]bool
	changes map[string]int64 // the reached version of each change, by id
	tokens  map[string]int64 // the state of each token, by id: 1 created, 2 revoked
}

// note parses a line printed by a child process.
func (p *promises) note(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	if len(words) == 0 {
		return
	}
	switch n, err := strconv.ParseInt(words[len(words)-1], 10, 64); {
	case err != nil: // an incomplete line
	case words[0] == "record" && p.records[n]:
		t.Fatalf("record %d was promised twice", n)
	case words[0] == "record":
		p.records[n] = true
	case words[0] == "change" && len(words) == 3 && len(words[1]) == 26:
		p.changes[words[1]] = n
	case words[0] == "token" && len(words) == 3:
		p.tokens[words[1]] = n
	}
}

// CheckKills repeatedly kills two processes that write to one store, at random times. The audit log must stay
// undamaged and contain confirmed records once. Each change must have its last confirmed version or the next version,
// with its events and the audit records of its steps. No change may be applied before its approval is in the log. If
// stop is set, every second round first suspends a process and checks that the store still works.
//
// The function place returns the place of a new store. Each store has at most 50 rounds, because every round verifies
// the whole log.
func CheckKills(t *testing.T, open Open, place func() string, stop bool) {
	const most = 50
	for left := kills(); left > 0; left -= most {
		runKillRounds(t, open, place(), stop, min(left, most))
	}
}

// runKillRounds runs rounds in which two child processes write until they are killed. With stop, one of them is
// suspended first, and another write must succeed meanwhile. After each round, all data that a child has reported as
// stored must exist.
func runKillRounds(t *testing.T, open Open, place string, stop bool, rounds int) {
	s := Handle(t, open, place)
	p := promises{map[int64]bool{}, map[string]int64{}, map[string]int64{}}
	folder := t.TempDir()
	for round := range rounds {
		a, outA := writer(t, place, folder)
		b, outB := writer(t, place, folder)
		lines := append(progress(t, outA, round), progress(t, outB, round)...)
		time.Sleep(2*time.Millisecond + rand.N(40*time.Millisecond))
		if stop && round%2 == 0 {
			if err := standStill(a.Process); err != nil {
				t.Fatal(err)
			}
			r := record("w", 1)
			began := time.Now()
			if err := s.Append(t.Context(), &r); err != nil || time.Since(began) > 30*time.Second {
				t.Errorf("beside one that stands still: %v after %v", err, time.Since(began))
			}
			p.records[r.Seq] = true
		}
		a.Process.Kill()
		b.Process.Kill()
		for _, out := range []*bufio.Scanner{outA, outB} {
			for out.Scan() {
				lines = append(lines, out.Text())
			}
		}
		a.Wait()
		b.Wait()
		for _, line := range lines {
			p.note(t, line)
		}
		report := wantWholeArchive(t, s, folder)
		for seq := range p.records {
			if seq > report.Records {
				t.Fatalf("record %d of %d was promised and is gone", seq, report.Records)
			}
		}
	}
	if base, err := s.Base(t.Context()); err != nil || base.Seq == 0 {
		t.Errorf("the archive ends at %d, %v", base.Seq, err)
	}
	t.Logf("promised: %d records, %d changes, %d tokens", len(p.records), len(p.changes), len(p.tokens))
	wantVersions(t, s, p.changes)
	wantTokens(t, s, p.tokens)
	wantStepRecords(t, s)
}

// progress reads lines of a writer until it has stored something. In the first round it waits for a change and a
// token. A fixed delay would not be enough on a slow machine.
func progress(t *testing.T, out *bufio.Scanner, round int) []string {
	t.Helper()
	var lines []string
	for seen := map[string]bool{}; len(lines) == 0 || round == 0 && !(seen["change"] && seen["token"]); {
		if !out.Scan() {
			t.Fatal("a process ended by itself")
		}
		lines = append(lines, out.Text())
		seen[strings.Fields(out.Text())[0]] = true
	}
	return lines
}

// wantWholeArchive fails unless the archive and the store together are the whole log, and the store itself is valid.
func wantWholeArchive(t *testing.T, s Store, folder string) audit.Report {
	t.Helper()
	joined, err := store.OpenArchive(s, nil, folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range []audit.Chain{s, joined} {
		if report, err := audit.Verify(t.Context(), log); err != nil || !report.Whole() {
			t.Fatalf("%+v, %v", report, err)
		}
	}
	report, err := audit.Verify(t.Context(), joined)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// wantTokens fails unless the store contains the promised tokens. Tokens with a promised revocation must be revoked.
// The log must contain a record of each.
func wantTokens(t *testing.T, s Store, promised map[string]int64) {
	t.Helper()
	all, err := s.FindTokens(t.Context(), identity.TokenFilter{})
	if err != nil || len(promised) == 0 {
		t.Fatal(len(promised), err)
	}
	for _, k := range all {
		n := promised[k.ID]
		delete(promised, k.ID)
		if n == 2 && k.Revoked.IsZero() {
			t.Errorf("token %s was revoked, and is good", k.ID)
		}
		for i, event := range []string{"created", "revoked"} {
			if _, ok, err := s.Find(t.Context(), "token:"+k.ID+":"+event); err != nil || int64(i) < n && !ok {
				t.Errorf("token %s: %d steps were promised, and the log lacks that it was %s (%v)", k.ID, n, event, err)
			}
		}
	}
	for id := range promised {
		t.Errorf("token %s was promised and is gone", id)
	}
}

// wantStepRecords fails unless each step of a change and of a token has an audit record. The record may still be in
// the outbox. It is in the log after the outbox is drained.
func wantStepRecords(t *testing.T, s Store) {
	t.Helper()
	held, err := change.Reconcile(t.Context(), s, s)
	if err != nil || len(held.Lacks) > 0 {
		t.Fatalf("%+v, %v", held, err)
	}
	tokens, err := identity.Reconcile(t.Context(), s, s)
	if err != nil || len(tokens.Lacks) > 0 || tokens.Older > 0 || tokens.Tokens == 0 {
		t.Fatalf("%+v, %v", tokens, err)
	}
	for left := 1; left > 0; left = len(outboxSteps(t, s, "")) {
		drain(t, s, "")
	}
	after, err := change.Reconcile(t.Context(), s, s)
	if err != nil || len(after.Lacks) > 0 || after.Waiting > 0 || after.Steps == 0 {
		t.Fatalf("%+v, %v", after, err)
	}
	if after, err := identity.Reconcile(t.Context(), s, s); err != nil || len(after.Lacks) > 0 || after.Waiting > 0 {
		t.Fatalf("%+v, %v", after, err)
	}
	t.Logf("%d changes, %d steps, %d tokens; %d and %d records were waiting", after.Changes, after.Steps, tokens.Tokens, held.Waiting, tokens.Waiting)
}

// wantVersions fails unless each change has at least its confirmed version and an event for each step.
func wantVersions(t *testing.T, s Store, promised map[string]int64) {
	t.Helper()
	if len(promised) == 0 {
		t.Fatal("no change was promised")
	}
	events := map[string]int64{}
	for after := int64(0); ; {
		page, err := s.Events(t.Context(), after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			if e.Seq != after+1 {
				t.Errorf("event %d stands behind %d", e.Seq, after)
			}
			events[e.Change]++
			after = e.Seq
		}
	}
	for id, version := range promised {
		c, err := s.Get(t.Context(), id)
		if err != nil || c.Version < version || c.Version > version+1 || events[id] != c.Version || len(c.Origins) != 2 {
			t.Errorf("change %s: %+v, %v; promised version %d, %d events", id, c, err, version, events[id])
			continue
		}
		for _, link := range [][2]string{{c.ReplacedBy, c.ID}, {c.ID, c.Replaces}} { // either both versions are stored, or neither
			if link[0] == "" || link[1] == "" {
				continue
			}
			next, err := s.Get(t.Context(), link[0])
			old, err2 := s.Get(t.Context(), link[1])
			if err != nil || err2 != nil || next.Replaces != old.ID || old.ReplacedBy != next.ID || old.State != change.Replaced {
				t.Errorf("version %s of %s: %+v, %v; %+v, %v", link[0], link[1], next, err, old, err2)
			}
		}
		if (c.State == change.Replaced) != (c.ReplacedBy != "") {
			t.Errorf("%s is %s and replaced by %q", id, c.State, c.ReplacedBy)
		}
	}
}

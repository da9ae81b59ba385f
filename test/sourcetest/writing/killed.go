package writing

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// An Executor runs in its own process. It applies the changes From, From+1, … with a fence until it is killed. Each
// change creates Each records of the class hits. The test can therefore detect a partly or doubly applied change.
type Executor struct {
	From, Each int
	Fence      int64
	Beside     int // number of changes applied concurrently. 0 means 1
	To         int // the last change. A few more may be applied. 0 means no limit
}

// Execute runs an executor and writes the result of each change to out.
func (e Executor) Execute(w Writable, out io.Writer) error {
	ctx := context.Background()
	classes, _, err := w.Describe(ctx)
	if err != nil {
		return err
	}
	p, err := policy.New(policy.Rules{Version: "1", Unlisted: true, Gates: policy.Gates{Writes: policy.On, RawWrites: policy.On}}, classes)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "ready")
	results, errs := make([]string, max(e.Beside, 1)), make([]error, max(e.Beside, 1))
	for n := e.From; e.To == 0 || n <= e.To; n += len(results) {
		var all sync.WaitGroup
		for i := range results {
			permit, err := e.hit(p, n+i)
			if err != nil {
				return err
			}
			all.Go(func() { results[i], errs[i] = outcomeWord(w.Apply(ctx, permit)) })
		}
		all.Wait()
		for i, result := range results {
			if errs[i] == nil {
				fmt.Fprintln(out, n+i, result)
			}
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// outcomeWord returns a word for the outcome of a change.
func outcomeWord(r change.Receipt, err error) (string, error) {
	switch {
	case errors.Is(err, change.ErrFenced):
		return "fenced", nil
	case err != nil:
		return "", err
	case r.Again:
		return "again", nil
	}
	return "applied", nil
}

// hit returns the permit for the n-th change.
func (e Executor) hit(p *policy.Policy, n int) (writes.Permit, error) {
	c := &change.Change{ID: hitID(n), State: change.Granted, Source: "app", Effects: make([]change.Effect, e.Each)}
	data := value.OfObject([]value.Member{{Name: "nr", Value: value.OfInt(int64(n))}})
	for range e.Each {
		c.Writes = append(c.Writes, write.Print(&write.Create{Class: "hits", Data: data}))
	}
	c.Digest, c.Lease.Fence = c.Sum(), e.Fence-1
	a, err := change.NewQueue(change.Options{Store: only{c: c}}).Claim(context.Background(), c.ID, "executor")
	if err != nil {
		return writes.Permit{}, err
	}
	return writes.Allow(context.Background(), p, asker, a)
}

func hitID(n int) string { return fmt.Sprintf("hit%d", n) }

// A Process returns the command that runs Execute in a separate process.
type Process func(from int, fence int64) *exec.Cmd

// An executor is a process that applies changes.
type executor struct {
	*exec.Cmd
	lines *bufio.Scanner
}

// start starts a process and waits until it starts to apply changes.
func start(t *testing.T, p Process, from int, fence int64) *executor {
	t.Helper()
	cmd := p(from, fence)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e := &executor{cmd, bufio.NewScanner(out)}
	if !e.lines.Scan() || e.lines.Text() != "ready" {
		cmd.Wait()
		t.Fatalf("an executor doesn't begin: %s %s", e.lines.Text(), said.String())
	}
	return e
}

// end kills the executor. It returns the number after the last change that the executor reported as done.
func (e *executor) end(t *testing.T, next int) int {
	t.Helper()
	e.Process.Kill()
	for e.lines.Scan() {
		next = e.after(next)
	}
	e.Wait()
	return next
}

// after returns the number after the change that a line reports as done. It returns next if the line reports none.
func (e *executor) after(next int) int {
	var n int
	var what string
	if _, err := fmt.Sscan(e.lines.Text(), &n, &what); err == nil && what != "fenced" {
		return n + 1
	}
	return next
}

// Hits reads the effects of executors on another connection. Of returns, for one moment, the number of records that
// the n-th change has created, and whether the change is marked as applied. Each is the number of records that a
// change creates. Records and marker must be written together or not at all, unless Loose is set.
type Hits struct {
	Of     func(t *testing.T, change string, n int) (made int, marked bool)
	Each   int
	Loose  bool
	Beside int // like Executor.Beside
}

// Beside is the number of changes that an executor of an SQL database applies concurrently.
const Beside = 6

// SQLHits returns the Hits for an SQL database.
func SQLHits(outside *sql.DB) Hits {
	return Hits{Each: 2, Beside: Beside, Of: func(t *testing.T, change string, n int) (made int, marked bool) {
		var marks int
		if err := outside.QueryRow(fmt.Sprintf(`SELECT (SELECT count(*) FROM hits WHERE nr = %d),
			(SELECT count(*) FROM bailiwick_applied WHERE change_id = '%s' AND receipt IS NOT NULL)`, n, change)).Scan(&made, &marks); err != nil {
			t.Fatal(err)
		}
		return made, marks == 1
	}}
}

func (h Hits) of(t *testing.T, n int) (made int, marked bool) { return h.Of(t, hitID(n), n) }

// Whole checks the changes that an executor has reported, and the 20 changes after each of them. Reported changes
// must be applied. The others must be applied completely or not at all. It returns the last change that was reported
// or applied.
func (h Hits) Whole(t *testing.T, from int, said string) (last int) {
	t.Helper()
	reported := map[int]bool{}
	for line := range strings.Lines(said) {
		var n int
		var what string
		if _, err := fmt.Sscan(line, &n, &what); err == nil {
			reported[n], last = true, max(last, n)
		}
	}
	for n := from; n <= max(last, from)+20; n++ {
		made, marked := h.of(t, n)
		if h.isTorn(made, marked) || reported[n] && !marked {
			t.Fatalf("change %d has made %d records, marked: %v, reported: %v", n, made, marked, reported[n])
		}
		if marked {
			last = max(last, n)
		}
	}
	return last
}

// isTorn reports whether the records and the marker of a change contradict each other.
func (h Hits) isTorn(made int, marked bool) bool {
	return made != map[bool]int{true: h.Each}[marked] && !(h.Loose && !marked && made == h.Each)
}

// Kills kills an executor in each round, 2 to 20 ms after its start or its first report. The next executor continues.
// No change may be lost or applied twice. Records and marker must be written together or not at all.
func Kills(t *testing.T, hits Hits, p Process, rounds int) {
	next, fence, between := 1, int64(0), 0
	for round := range rounds {
		fence++
		e := start(t, p, next, fence)
		if round%3 == 0 && e.lines.Scan() { // on a machine of any speed, some kills happen during changes
			next = e.after(next)
		}
		time.Sleep(2*time.Millisecond + rand.N(18*time.Millisecond))
		next = e.end(t, next)
		for n := next; n < next+max(hits.Beside, 1); n++ {
			made, marked := hits.of(t, n)
			if hits.isTorn(made, marked) {
				t.Fatalf("kill %d: change %d has made %d records, marked: %v", fence, n, made, marked)
			}
			if marked {
				between++ // the change was applied but not reported
			}
		}
	}
	fence++
	e := start(t, p, next, fence)
	for range max(hits.Beside, 1) {
		if e.lines.Scan() {
			next = e.after(next)
		}
	}
	next = e.end(t, next)
	var lost, doubled, whole int
	for n := 1; n < next; n++ {
		switch made, marked := hits.of(t, n); {
		case made == hits.Each && marked:
			whole++
		case made < hits.Each || !marked:
			lost++
			t.Logf("change %d was reported and has made %d records, marked: %v", n, made, marked)
		default:
			doubled++
		}
	}
	t.Logf("%d kills, %d changes: %d lost, %d doubled; %d were done when nobody was told", rounds, next-1, lost, doubled, between)
	if next == 1 {
		t.Error("no change was reported: the kills show nothing")
	}
	if lost > 0 || doubled > 0 || whole != next-1 {
		t.Errorf("%d of %d changes are whole", whole, next-1)
	}
}

// Stops suspends an executor at any moment, like a machine that is suspended for longer than its lease. It bars the
// changes that the executor may be applying, and lets the executor continue. A barred change must never be written,
// however far it had come.
func Stops(t *testing.T, w Writable, hits Hits, p Process, rounds int) {
	next, fence, barred := 1, int64(0), 0
	// If one lock covers the whole database, an executor may be suspended while it has the lock. Its change can't be
	// barred then, so another round follows.
	for round := 0; round < rounds || barred == 0 && round < 20*rounds; round++ {
		fence++
		e := start(t, p, next, fence)
		time.Sleep(2*time.Millisecond + rand.N(18*time.Millisecond))
		if err := e.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		kept := map[int]bool{}
		last := next + 60
		for n := next; n < last; n++ {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			_, applied, err := w.Bar(ctx, hitID(n), fence)
			cancel()
			if err != nil { // it was suspended with its locks. An unknown outcome isn't reported as barred
				break
			}
			if kept[n] = !applied; !applied {
				barred++
			}
		}
		if err := e.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
		e.end(t, next)
		for n := next; n < last; n++ {
			made, marked := hits.of(t, n)
			if hits.isTorn(made, marked) || kept[n] && made > 0 {
				t.Fatalf("stop %d: change %d has made %d records, marked: %v, barred: %v", fence, n, made, marked, kept[n])
			}
		}
		next = last
	}
	if t.Logf("%d stops: %d changes barred, none of them written", rounds, barred); barred == 0 {
		t.Error("nothing was barred")
	}
}

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
	"syscall"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/rules/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Execute runs an executor in a process of its own: it applies the changes number from, from+1, … with a fence, and writes
// the result of each to out, until it is killed. Each change creates two records, so that one of them alone, or four,
// would show.
func Execute(w Writable, from int, fence int64, out io.Writer) error {
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
	for n := from; ; n++ {
		permit, err := hit(p, n, fence)
		if err != nil {
			return err
		}
		r, err := w.Apply(ctx, permit)
		switch {
		case errors.Is(err, change.ErrFenced):
			fmt.Fprintln(out, n, "fenced")
		case err != nil:
			return err
		case r.Again:
			fmt.Fprintln(out, n, "again")
		default:
			fmt.Fprintln(out, n, "applied")
		}
	}
}

// hit returns the permit for change n.
func hit(p *policy.Policy, n int, fence int64) (writes.Permit, error) {
	c := &change.Change{ID: named(n), State: change.Granted, Source: "app", Effects: make([]change.Effect, 2)}
	data := value.OfObject([]value.Member{{Name: "nr", Value: value.OfInt(int64(n))}})
	for range 2 {
		c.Writes = append(c.Writes, write.Print(&write.Create{Class: "hits", Data: data}))
	}
	c.Digest, c.Lease.Fence = c.Sum(), fence-1
	a, err := change.NewQueue(change.Options{Store: only{c: c}}).Claim(context.Background(), c.ID, "executor")
	if err != nil {
		return writes.Permit{}, err
	}
	return writes.Allow(p, asker, a)
}

func named(n int) string { return fmt.Sprintf("hit%d", n) }

// A Process returns the command that runs Execute in a process of its own.
type Process func(from int, fence int64) *exec.Cmd

// An executor is a process that applies changes.
type executor struct {
	*exec.Cmd
	lines *bufio.Scanner
}

// start starts a process and waits until it begins to apply.
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

// end kills the executor and returns the number after the last change that it reported as done.
func (e *executor) end(t *testing.T, next int) int {
	t.Helper()
	e.Process.Kill()
	for e.lines.Scan() {
		var n int
		var what string
		if _, err := fmt.Sscan(e.lines.Text(), &n, &what); err == nil && what != "fenced" {
			next = n + 1
		}
	}
	e.Wait()
	return next
}

// hits returns how many records a change has created, and whether it is marked, at one moment.
func hits(t *testing.T, outside *sql.DB, n int) (made int, marked bool) {
	t.Helper()
	var marks int
	if err := outside.QueryRow(fmt.Sprintf(`SELECT (SELECT count(*) FROM hits WHERE nr = %d),
		(SELECT count(*) FROM bailiwick_applied WHERE change_id = '%s' AND receipt IS NOT NULL)`, n, named(n))).Scan(&made, &marks); err != nil {
		t.Fatal(err)
	}
	return made, marks == 1
}

// Kills kills an executor rounds times, 2 to 20 ms after it began, and lets the next one continue: no change is lost,
// none is applied twice, and its records are there with its marker or not at all.
func Kills(t *testing.T, outside *sql.DB, p Process, rounds int) {
	next, fence, between := 1, int64(0), 0
	for range rounds {
		fence++
		e := start(t, p, next, fence)
		time.Sleep(2*time.Millisecond + rand.N(18*time.Millisecond))
		next = e.end(t, next)
		made, marked := hits(t, outside, next)
		if made != map[bool]int{true: 2}[marked] {
			t.Fatalf("kill %d: change %d has made %d records, marked: %v", fence, next, made, marked)
		}
		if marked {
			between++ // it was done, but not reported
		}
	}
	fence++
	e := start(t, p, next, fence)
	e.lines.Scan()
	next = e.end(t, next)
	var lost, doubled, whole int
	for n := 1; n < next; n++ {
		switch made, marked := hits(t, outside, n); {
		case made == 2 && marked:
			whole++
		case made < 2 || !marked:
			lost++
		default:
			doubled++
		}
	}
	t.Logf("%d kills, %d changes: %d lost, %d doubled; %d were done when nobody was told", rounds, next-1, lost, doubled, between)
	if lost > 0 || doubled > 0 || whole != next-1 {
		t.Errorf("%d of %d changes are whole", whole, next-1)
	}
}

// Stops suspends an executor at any moment, as a machine may that is suspended for longer than its lease lasts, bars the
// changes that it may be applying, and lets it continue: a barred change is never written, however far it had come.
func Stops(t *testing.T, w Writable, outside *sql.DB, p Process, rounds int) {
	next, fence, barred := 1, int64(0), 0
	// If one lock covers the whole database, a change of an executor suspended while it holds the lock can't be barred:
	// then there is another round.
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
			_, applied, err := w.Bar(ctx, named(n), fence)
			cancel()
			if err != nil { // it is suspended with its locks held: an unknown outcome isn't reported as barred
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
			made, marked := hits(t, outside, n)
			if made != map[bool]int{true: 2}[marked] || kept[n] && made > 0 {
				t.Fatalf("stop %d: change %d has made %d records, marked: %v, barred: %v", fence, n, made, marked, kept[n])
			}
		}
		next = last
	}
	if t.Logf("%d stops: %d changes barred, none of them written", rounds, barred); barred == 0 {
		t.Error("nothing was barred")
	}
}

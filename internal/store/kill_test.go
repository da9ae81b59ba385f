//go:build unix

package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// The environment variables of a child process: the folder of the journal, and the name of its records with the head
// that they follow.
const (
	childOf   = "BAILIWICK_TEST_JOURNAL"
	childDoes = "BAILIWICK_TEST_JOURNAL_DOES"
)

// TestKilled kills processes in which 32 callers append, so that a sync of several records is nearly always running.
// Each record that was reported to a caller as being on the disk must be in the chain, exactly once. With each
// record, a process prints the number of batches of several records that it has synced.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(childOf); dir != "" {
		t.Fatal(appendForever(dir))
	}
	const most = 50 // per folder, because every round reads all records of the folder
	left := 12
	if n, err := strconv.Atoi(os.Getenv("BAILIWICK_KILLS")); err == nil {
		left = n
	}
	for ; left > 0; left -= most {
		killed(t, min(left, most))
	}
}

// killed starts one or two processes and kills them, for the given number of rounds.
func killed(t *testing.T, rounds int) {
	t.Helper()
	dir, to := filepath.Join(t.TempDir(), "audit"), &table{}
	var promised []string
	batches := 0
	for round := range rounds {
		var children []*appender
		for child := range 1 + round%2 { // one process, or two in parallel
			children = append(children, startAppender(t, dir, fmt.Sprint(round, ".", child), to.head))
		}
		for _, c := range children {
			for c.batches < 5 {
				if !c.read() {
					t.Fatal("a process ended by itself")
				}
			}
		}
		time.Sleep(rand.N(5 * time.Millisecond))
		for _, c := range children {
			c.cmd.Process.Kill()
		}
		for _, c := range children {
			for c.read() {
			}
			c.cmd.Wait()
			promised, batches = append(promised, c.promised...), batches+c.batches
		}
		if err := open(t, dir, to, JournalOptions{}).Close(); err != nil {
			t.Fatal(err)
		}
		to.wantChain(t, promised)
	}
	t.Logf("%d records promised and %d there after %d rounds, %d batches of several", len(promised), len(to.rows), rounds, batches)
}

// An appender is a process that appends to a journal.
type appender struct {
	cmd      *exec.Cmd
	out      *bufio.Scanner
	promised []string
	batches  int // the number of batches of several records
}

// startAppender starts a process that appends records to dir after head. Their names begin with name.
func startAppender(t *testing.T, dir, name string, head audit.Head) *appender {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKilled$")
	cmd.Env = append(os.Environ(), childOf+"="+dir, fmt.Sprintf("%s=%s %d %s", childDoes, name, head.Seq, head.Hash))
	out, err := cmd.StdoutPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	return &appender{cmd: cmd, out: bufio.NewScanner(out)}
}

// read reads a line of the process. It returns false at the end.
func (a *appender) read() bool {
	if !a.out.Scan() {
		return false
	}
	batches, name, _ := strings.Cut(a.out.Text(), " ")
	n, err := strconv.Atoi(batches)
	if a.promised = append(a.promised, name); err != nil {
		return false // the line is the reason why the process ended
	}
	a.batches = max(a.batches, n)
	return true
}

// appendForever appends to a journal after the records of the tests' table, without folding, and prints the records
// that are on the disk.
func appendForever(dir string) error {
	var name string
	var head audit.Head
	if _, err := fmt.Sscan(os.Getenv(childDoes), &name, &head.Seq, &head.Hash); err != nil && head.Seq > 0 {
		return err
	}
	var batches atomic.Int64
	j := &Journal{dir: dir, options: JournalOptions{Head: func() (audit.Head, error) { return head, nil }, open: openSegment}}
	w := NewRecordWriter(func(batch []*audit.Record) error {
		err := j.Append(batch)
		if len(batch) > 1 {
			batches.Add(1)
		}
		return err
	})
	failed := make(chan error)
	for caller := range 32 {
		go func() {
			for n := 0; ; n++ {
				r := batchOf(fmt.Sprint(name, ".", caller, ".", n))[0]
				if err := w.Append(context.Background(), r); err != nil {
					failed <- err
				}
				fmt.Println(batches.Load(), r.Correlation)
			}
		}()
	}
	return <-failed
}

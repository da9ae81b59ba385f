package postgres_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/testservices"
)

// TestMain lets the test binary be another replica: one that writes until it is killed, and prints what it was promised.
func TestMain(m *testing.M) {
	if url := os.Getenv("BAILIWICK_TEST_REPLICA"); url != "" {
		fmt.Fprintln(os.Stderr, writeForever(url))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForever appends records, and files and rejects changes.
func writeForever(url string) error {
	ctx := context.Background()
	s, err := postgres.Open(ctx, url)
	if err != nil {
		return err
	}
	failed := make(chan error)
	for w := range 4 {
		go func() {
			for n := w; ; n++ {
				r := record(n)
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
			c := pending(fmt.Sprintf("%026d", rand.Int64()))
			c, err := s.Put(ctx, c, time.Hour, 1<<30)
			if err == nil {
				fmt.Println("change", c.ID, "1")
				c.State, c.History = change.Rejected, append(c.History, change.Step{State: change.Rejected, Event: change.EventRejected})
				err = s.Swap(ctx, c, change.Guard{})
			}
			if err != nil {
				failed <- err
				return
			}
			fmt.Println("change", c.ID, "2")
		}
	}()
	return <-failed
}

// replica starts a process over the store at url.
func replica(t *testing.T, url string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BAILIWICK_TEST_REPLICA="+url)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(pipe)
}

// kills is how often TestKill kills; BAILIWICK_KILLS makes the long form.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("BAILIWICK_KILLS")); err == nil {
		return n
	}
	return 6
}

// TestKill kills or stops two replicas that write to one store, at any time, again and again: the audit stays whole, what
// was promised is in it once, and each change stands where its last promise says or one step further, with its events.
func TestKill(t *testing.T) {
	url := testservices.Postgres(t)
	s := open(t, url)
	defer s.Close()
	promised, versions := map[int64]bool{}, map[string]int64{}
	for round := range kills() {
		a, outA := replica(t, url)
		b, outB := replica(t, url)
		if !outA.Scan() || !outB.Scan() { // both are at work
			t.Fatal("a replica died by itself")
		}
		lines := []string{outA.Text(), outB.Text()}
		time.Sleep(2*time.Millisecond + rand.N(40*time.Millisecond))
		if round%2 == 0 {
			a.Process.Signal(syscall.SIGSTOP) // one that stands still holds nobody up
			r := record(1)
			began := time.Now()
			if err := s.Append(t.Context(), &r); err != nil || time.Since(began) > 5*time.Second {
				t.Errorf("beside one that stands still: %v after %v", err, time.Since(began))
			}
			promised[r.Seq] = true
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
			words := strings.Fields(line)
			switch n, err := strconv.ParseInt(words[len(words)-1], 10, 64); {
			case err != nil: // a line cut short
			case words[0] == "record" && promised[n]:
				t.Fatalf("record %d was promised twice", n)
			case words[0] == "record":
				promised[n] = true
			case words[0] == "change" && len(words) == 3 && len(words[1]) == 26:
				versions[words[1]] = n
			}
		}
		report, err := audit.Verify(t.Context(), s)
		if err != nil || !report.Whole() {
			t.Fatalf("%+v, %v", report, err)
		}
		for seq := range promised {
			if seq > report.Records {
				t.Fatalf("record %d of %d was promised and is gone", seq, report.Records)
			}
		}
	}
	wantVersions(t, s, versions)
	t.Logf("%d records and %d changes promised, none lost", len(promised), len(versions))
}

// wantVersions fails unless each change is as far as was promised, with an event for each step.
func wantVersions(t *testing.T, s *postgres.Store, promised map[string]int64) {
	t.Helper()
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
		if err != nil || c.Version < version || c.Version > version+1 || events[id] != c.Version {
			t.Errorf("change %s: %+v, %v; promised version %d, %d events", id, c, err, version, events[id])
		}
	}
}

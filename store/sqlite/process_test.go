package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// TestMain lets the test binary be another process: one that appends to a file until it is killed, and prints the
// number of each record that it was promised.
func TestMain(m *testing.M) {
	if path := os.Getenv("BAILIWICK_TEST_APPEND"); path != "" {
		fmt.Fprintln(os.Stderr, appendForever(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func appendForever(path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path)
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
				fmt.Println(r.Seq)
			}
		}()
	}
	return <-failed
}

// appender starts a process that appends to path.
func appender(t *testing.T, path string) (cmd *exec.Cmd, out *bufio.Scanner) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BAILIWICK_TEST_APPEND="+path)
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
	return 8
}

// TestKill kills two processes that append to one file, at any time, again and again: the log stays whole and every
// record that was promised is in it, once.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.db")
	promised := map[int64]bool{}
	for range kills() {
		a, outA := appender(t, path)
		b, outB := appender(t, path)
		if !outA.Scan() || !outB.Scan() { // both are at work
			t.Fatal("an appender died by itself")
		}
		first := []string{outA.Text(), outB.Text()}
		time.AfterFunc(2*time.Millisecond+rand.N(40*time.Millisecond), func() { a.Process.Kill(); b.Process.Kill() })
		for _, out := range []*bufio.Scanner{outA, outB} {
			for out.Scan() {
				first = append(first, out.Text())
			}
		}
		a.Wait()
		b.Wait()
		for _, text := range first {
			seq, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				continue // a line cut short
			}
			if promised[seq] {
				t.Fatalf("record %d was promised twice", seq)
			}
			promised[seq] = true
		}
		s := openFile(t, path)
		report, err := audit.Verify(t.Context(), s)
		if err != nil || !report.Whole() {
			t.Fatalf("%+v, %v", report, err)
		}
		for seq := range promised {
			if seq > report.Records {
				t.Fatalf("record %d of %d was promised and is gone", seq, report.Records)
			}
		}
		s.Close()
	}
	t.Logf("%d records promised, none lost", len(promised))
}

// TestDiskFull fills a small file system: the caller is told, the log stays whole, and when there is room again it
// goes on.
func TestDiskFull(t *testing.T) {
	dir := tmpfs(t, "size=512k")
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 128<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openFile(t, filepath.Join(dir, "b.db"))
	defer s.Close()
	kept := int64(0)
	for {
		r := record(int(kept))
		err := s.Append(t.Context(), &r)
		if err == nil {
			kept = r.Seq
			continue
		}
		if !strings.Contains(err.Error(), "the disk is full") || !strings.Contains(err.Error(), dir) {
			t.Fatal(err)
		}
		break
	}
	if report, err := audit.Verify(t.Context(), s); err != nil || !report.Whole() || report.Records != kept {
		t.Fatalf("full: %+v, %v; want %d records", report, err, kept)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	r := record(0)
	if err := s.Append(t.Context(), &r); err != nil || r.Seq != kept+1 {
		t.Fatal("room again:", r.Seq, err)
	}
	if report, err := audit.Verify(t.Context(), s); err != nil || !report.Whole() || report.Records != kept+1 {
		t.Fatalf("room again: %+v, %v; want %d records", report, err, kept+1)
	}
}

func TestDiskReadOnly(t *testing.T) {
	dir := tmpfs(t, "size=4m")
	path := filepath.Join(dir, "b.db")
	s := openFile(t, path)
	appendTo(t, s, 3)
	s.Close()
	if out, err := exec.Command("mount", "-o", "remount,ro", dir).CombinedOutput(); err != nil {
		t.Skipf("remount: %v %s", err, out)
	}
	if s, err := sqlite.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "read-only") || !strings.Contains(err.Error(), path) {
		if err == nil {
			s.Close()
		}
		t.Error(err)
	}
}

// tmpfs mounts a file system of the test's own.
func tmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("it needs the right to mount: %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	return dir
}

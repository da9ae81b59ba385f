package sqlite_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/storetest"
)

func TestMain(m *testing.M) {
	storetest.Main(m, func(ctx context.Context, path string) (storetest.Store, error) { return sqlite.Open(ctx, path) })
}

func TestKill(t *testing.T) {
	place := func() string { return filepath.Join(t.TempDir(), "b.db") }
	// A killed process may still hold the lock of the file.
	storetest.CheckKills(t, func(t *testing.T, path string) storetest.Store { return openFile(t, path) }, place, false)
}

// TestDiskFull fills a small file system. Writes must fail with an error, the log must stay undamaged, and the store
// must recover when there is room again.
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

// TestArchiveDiskFull fills the disk of an archive. No record may be lost, and the archive must continue when there
// is room again.
func TestArchiveDiskFull(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "b.db"))
	defer s.Close()
	appendTo(t, s, 200)
	dir := tmpfs(t, "size=64k")
	o := store.ArchiveOptions{Dir: filepath.Join(dir, "archive"), Before: time.Now(), By: "local:ops", PerFile: 60}
	wantWhole := func(when string) {
		t.Helper()
		joined, err := store.OpenArchive(s, nil, o.Dir)
		if err != nil {
			t.Fatal(err)
		}
		report, err := audit.Verify(t.Context(), joined)
		if err != nil || !report.Whole() || report.Records < 200 {
			t.Fatalf("%s: %+v, %v", when, report, err)
		}
	}
	moved, err := store.MoveRecords(t.Context(), s, o)
	if err == nil || !strings.Contains(err.Error(), "no space left") || moved.Base.Seq == 0 || moved.Base.Seq >= 200 {
		t.Fatalf("%+v, %v", moved, err)
	}
	wantWhole("full")
	if left, err := filepath.Glob(filepath.Join(o.Dir, "writing-*")); err != nil || left != nil {
		t.Error(left, err)
	}
	if out, err := exec.Command("mount", "-o", "remount,size=4m", dir).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v %s", err, out)
	}
	if moved, err = store.MoveRecords(t.Context(), s, o); err != nil || moved.Base.Seq < 200 {
		t.Fatalf("%+v, %v", moved, err)
	}
	wantWhole("room again")
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
	to := filepath.Join(t.TempDir(), "copy.db")
	if err := sqlite.Copy(path, to); err != nil {
		t.Fatal(err)
	}
	s = openFile(t, to)
	defer s.Close()
	if head, err := s.Head(t.Context()); err != nil || head.Seq != 3 {
		t.Errorf("the copy ends with record %d, %v", head.Seq, err)
	}
}

// tmpfs mounts a file system for the test.
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

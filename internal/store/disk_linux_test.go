package store

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFailingDisk syncs to a full disk. Each sync must return the error.
func TestFailingDisk(t *testing.T) {
	disk := segment{fullDisk(t)}
	for range 3 {
		if _, err := disk.WriteAt(make([]byte, 1<<20), 0); err != nil {
			t.Fatal(err)
		}
		if err := disk.Sync(); !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("1 MiB is synced on a disk of 64 KiB: %v", err)
		}
	}
}

// fullDisk returns a block device of 1 MiB with room for less than 64 KiB.
func fullDisk(t *testing.T) *os.File {
	t.Helper()
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Skipf("LEFT OUT: a disk that fails, which needs the right to make one: %s: %v %s", name, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir)
	t.Cleanup(func() { run("umount", dir) })
	image := filepath.Join(dir, "disk")
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 1<<20)); err != nil {
		t.Fatal(err)
	}
	device := run("losetup", "--find", "--show", image)
	t.Cleanup(func() { run("losetup", "--detach", device) })
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

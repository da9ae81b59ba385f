//go:build linux || darwin

package operate

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// freeBytes returns the disk space that this user can still use in a folder, in bytes.
func freeBytes(folder string) (free uint64, ok bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true //nolint:gosec // neither is negative
}

// sameDisk reports whether two folders are in the same file system.
func sameDisk(a, b string) bool {
	device := func(path string) (uint64, bool) {
		info, err := os.Stat(path)
		if err != nil {
			return 0, false
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return 0, false
		}
		return uint64(stat.Dev), true //nolint:gosec // only compared
	}
	one, known := device(a)
	other, also := device(b)
	return known && also && one == other
}

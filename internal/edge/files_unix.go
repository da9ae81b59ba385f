//go:build unix

package edge

import (
	"math"
	"syscall"
)

// openFiles returns the maximum number of open files of the process, at most math.MaxInt32.
func openFiles() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || uint64(l.Cur) > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(l.Cur)
}

//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

// JournalSupported reports whether this system has the locks that a Journal needs.
const JournalSupported = true

// HasName implements file.
func (s segment) HasName() bool {
	info, err := s.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 0
}

// tryLock takes the lock of f for this process. It returns false if another process has it.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return err == nil, err
	}
}

// unlockFile releases the lock of f. The end of the process also releases it.
func unlockFile(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

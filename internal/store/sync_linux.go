package store

import (
	"errors"
	"os"
	"syscall"
)

// syncData syncs the data of f, without the time of the last change.
func syncData(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

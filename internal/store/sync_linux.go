package store

import (
	"errors"
	"os"
	"syscall"
)

// syncData syncs the data of f, but not its modification time.
func syncData(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

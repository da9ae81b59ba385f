//go:build unix

package services

import (
	"os"
	"syscall"
)

// lock takes the lock of a file until it is closed, beside others that don't take it alone.
func lock(f *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	return syscall.Flock(int(f.Fd()), how)
}

// ownSession starts a process in a session of its own.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

//go:build unix

package services

import (
	"os"
	"syscall"
)

// lock locks a file until it is closed, exclusively or together with others that lock it so.
func lock(f *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	return syscall.Flock(int(f.Fd()), how)
}

// ownSession starts a process in a session of its own.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

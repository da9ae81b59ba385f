//go:build unix

package storetest

import (
	"os"
	"syscall"
)

// standStill stops a process, which keeps its locks.
func standStill(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

//go:build unix

package storetest

import (
	"os"
	"syscall"
)

// standStill suspends a process. The process keeps its locks.
func standStill(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

//go:build unix

package storetest

import (
	"os"
	"syscall"
)

// standStill stops a process, which keeps what it has locked.
func standStill(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

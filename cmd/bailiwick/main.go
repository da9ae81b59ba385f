// Command bailiwick lets AI agents work inside an application, within bounds its owners set.
//
// It reads flags, wires the packages together and prints results. It makes no decisions about data. It refuses an
// ambiguous command line, and an address reachable from other machines if no authentication is configured. Only the
// command writes to the terminal.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/bailiwick-dev/bailiwick/internal/terminal"
)

// memoryLimit is the soft memory limit of the garbage collector, in bytes.
const memoryLimit = 512 << 20

func main() {
	tuneMemory()
	os.Exit(run(os.Args[1:]))
}

// tuneMemory trades a few megabytes for twice the throughput. GOGC and GOMEMLIMIT override it.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

// run runs the command line and returns the exit code: 0 for success, 1 for a refusal or failure, 2 for wrong usage.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal requests shutdown; without the handler, the second one ends the process at once.
	context.AfterFunc(ctx, stop)
	t := terminal.New(os.Stdin, os.Stdout, os.Stderr)
	root := rootCommand(t)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	return t.Fail(cmd, err)
}

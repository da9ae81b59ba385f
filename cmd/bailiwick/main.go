// Command bailiwick lets AI agents work inside an application, within bounds its owners set.
//
// It is the last door, the one to the terminal: it reads flags, names the adapters, wires the packages together and
// says what they found. It decides nothing about data. It refuses a command line that it would have to guess about,
// and an address that others can reach when nobody would have to say who they are. No other package of ours writes
// to the terminal.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/bailiwick-dev/bailiwick/internal/terminal"
)

// memoryLimit is where the garbage collector begins to work harder, in bytes.
const memoryLimit = 512 << 20

func main() {
	tuneMemory()
	os.Exit(run(os.Args[1:]))
}

// tuneMemory trades a few megabytes for twice the throughput (design 07). What the environment says wins.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

// run runs the command line and returns the exit code: 0 done, 1 refused or failed, 2 wrong usage.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks for an end; with the handler gone, the second one ends the process at once.
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

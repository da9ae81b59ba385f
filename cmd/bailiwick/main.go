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
	"runtime"
	"syscall"
	"time"
	_ "time/tzdata" // for machines and containers that have no time zones

	"github.com/bailiwick-dev/bailiwick/internal/garbage"
	"github.com/bailiwick-dev/bailiwick/internal/terminal"
)

func main() {
	block := garbage.Bound()
	go garbage.GiveBack(context.Background(), 5*time.Second)
	code := run(os.Args[1:])
	runtime.KeepAlive(block)
	os.Exit(code)
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

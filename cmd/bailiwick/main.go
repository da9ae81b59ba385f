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

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/garbage"
	"github.com/bailiwick-dev/bailiwick/mcp"
)

func main() {
	block := garbage.TuneCollector()
	go garbage.GiveBack(context.Background(), 5*time.Second)
	code := run(os.Args[1:])
	runtime.KeepAlive(block)
	os.Exit(code)
}

// run runs the command line and returns the exit code: 0 for success, 1 for a refusal or failure, 2 for wrong usage.
func run(args []string) int {
	ctx, stop := untilSignal()
	defer stop()
	t := terminal.New(os.Stdin, os.Stdout, os.Stderr)
	root := rootCommand(t)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	return t.Fail(cmd, err)
}

// untilSignal returns a context that ends with the first SIGINT or SIGTERM. A person who interrupts the program is not kept waiting
// for a drain. The second signal ends the process at once.
func untilSignal() (_ context.Context, stop func()) {
	ctx, end := context.WithCancelCause(context.Background())
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-heard:
			signal.Stop(heard)
			if s == os.Interrupt {
				end(mcp.ErrNoDrain)
			}
			end(nil)
		case <-ctx.Done():
			signal.Stop(heard)
		}
	}()
	return ctx, func() { end(nil) }
}

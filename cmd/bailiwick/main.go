// Command bailiwick lets AI agents work inside an application, within limits that its owners set.
//
// It reads flags, connects the packages and prints results. It makes no decisions about data. It refuses an ambiguous
// command line. It also refuses an address that other machines can reach if no authentication is configured. Only
// this command writes to the terminal, and no other package does.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
	_ "time/tzdata" // for machines and containers without time zones

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

// untilSignal returns a context that ends at the first SIGINT or SIGTERM. After SIGINT, the server doesn't drain,
// because a person is waiting. The second signal ends the process at once.
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

package agentcmd_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/agentcmd"
)

// TestTimeout checks that every statement has a time limit. --timeout must be a duration, and it has a default.
func TestTimeout(t *testing.T) {
	o := agentcmd.ExportOptions{Usage: fmt.Errorf, Args: func(int, ...string) cobra.PositionalArgs { return cobra.ExactArgs(1) }}
	cmd := agentcmd.ExportSQL(o)
	cmd.SetArgs([]string{"SELECT 1", "--timeout", "0s"})
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	if err := cmd.Execute(); err == nil || err.Error() != "--timeout must be longer than 0s" {
		t.Errorf("--timeout 0s: %v", err)
	}
	if got := cmd.Flags().Lookup("timeout").DefValue; got != "5m0s" {
		t.Errorf("the default is %s", got)
	}
}

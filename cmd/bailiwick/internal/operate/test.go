package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// policyTest returns the command policy test. The files must be named, because there is no default location.
func policyTest(t *terminal.Terminal) *cobra.Command {
	var from app.Setup
	cmd := &cobra.Command{
		Use:   "test FILE...",
		Short: "Tell whether rules do what files expect of them",
		Long: "Tell whether rules do what files expect of them. A file says who asks (given), what (when), and what should come of it\n" +
			"(expect). The rules decide as for a call, over what the databases have. No records are read. Ends with code 1 when something\n" +
			"isn't as expected.",
		Example: "  bailiwick policy test policy/*.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return config.Usagef("name a FILE with tests at least")
			}
			return runTests(cmd.Context(), t, &from, args)
		},
	}
	from.Flags(cmd.Flags())
	return cmd
}

// runTests runs the tests of all files against one configuration. It parses all files first and prints the errors of
// all files together. The principals stdio and anonymous are available only if the configuration contains them.
func runTests(ctx context.Context, t *terminal.Terminal, from *app.Setup, names []string) error {
	var files []*policyops.TestFile
	faults := &yamlconf.Error{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			return fmt.Errorf("the tests %s can't be read: %w", name, p.Err)
		} else if err != nil {
			return fmt.Errorf("the tests %s can't be read: %w", name, err)
		}
		f, err := policyops.ParseTests(name, data)
		if e, ok := errors.AsType[*yamlconf.Error](err); ok {
			faults.Faults, faults.More = append(faults.Faults, e.Faults...), faults.More+e.More
			continue
		}
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	if faults.Faults != nil {
		return faults
	}
	c, err := from.Load()
	if err != nil {
		return err
	}
	s, err := policyLook(ctx, c)
	if err != nil {
		return err
	}
	s.printSamplingNote(t)
	known := map[string]identity.Principal{}
	for name, principal := range map[string]identity.Principal{"stdio": s.directory.Stdio, "anonymous": s.directory.Anonymous} {
		if principal.ID != "" {
			known[name] = principal
		}
	}
	var results []policyops.TestResult
	for _, f := range files {
		results = append(results, policyops.RunTests(s.Regime, f, known)...)
	}
	return printResults(t, results)
}

// printResults prints each test. For a failed test, it prints each difference between the expected and the actual
// result. It returns ErrSaid if a test failed.
func printResults(t *terminal.Terminal, results []policyops.TestResult) error {
	bad := 0
	for _, r := range results {
		if !r.Good() {
			bad++
		}
	}
	var failed error
	if bad > 0 {
		failed = terminal.ErrSaid
	}
	if t.JSON {
		if err := t.PrintJSON(struct {
			Tests   int                    `json:"tests"`
			Failed  int                    `json:"failed"`
			Results []policyops.TestResult `json:"results"`
		}{len(results), bad, append([]policyops.TestResult{}, results...)}); err != nil {
			return err
		}
		return failed
	}
	for _, r := range results {
		if r.Good() {
			t.Printf("%s  %s\n", terminal.Style(terminal.Green, "good"), terminal.Printable(r.Name))
			continue
		}
		t.Printf("%s  %s  (%s:%d)\n", terminal.Style(terminal.Red, "FAIL"), terminal.Printable(r.Name), r.File, r.Line)
		if r.Error != "" {
			t.Printf("      %s\n", r.Error)
		}
		for _, d := range r.Differs {
			t.Printf("      %s\n        expected  %s\n        got       %s\n", d.What, d.Expected, d.Got)
		}
		if !r.Verdict.Allowed && r.Verdict.Why != "" {
			t.Printf("      %s\n", terminal.Printable(r.Verdict.Why))
		}
	}
	t.Printf("%s, %d failed\n", terminal.Count(len(results), "test"), bad)
	return failed
}

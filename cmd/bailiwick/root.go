package main

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// rootCommand is the list of all commands.
func rootCommand(t *terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "bailiwick",
		Short: "Let AI agents work inside an application, within bounds its owners set",
		Long: "Bailiwick is an MCP server in front of an application's databases. Agents see views, never tables;\n" +
			"what is hidden does not exist for them, and every call is recorded.",
		Example:       "  bailiwick demo\n  bailiwick serve --source sqlite:app.db\n  bailiwick init sqlite:app.db --out bailiwick.yaml",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
	}
	root.SetOut(t.out)
	root.SetErr(t.err)
	root.SetIn(t.in)
	root.SetVersionTemplate("bailiwick {{.Version}}\n")
	root.PersistentFlags().BoolVar(&t.json, "json", false, "write results and errors as JSON on standard output")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	group(root)
	root.AddCommand(demoCommand(t), serveCommand(t), callCommand(t), toolsCommand(t), schemaCommand(t), exportCommand(t), tokenCommand(t),
		auditCommand(t), checkCommand(t), initCommand(t), conformanceCommand(t), versionCommand(t))
	return root
}

// version is what the build says: a release, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

func versionCommand(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  none,
		RunE: func(*cobra.Command, []string) error {
			if t.json {
				return t.printJSON(struct {
					Version string `json:"version"`
				}{version()})
			}
			t.printf("bailiwick %s\n", version())
			return nil
		},
	}
}

// group makes c a command that is only there for those below it.
func group(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs // so that RunE can name what is near
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		var names []string
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name())
			}
		}
		return usagef("there is no command %q%s", c.CommandPath()+" "+args[0], problem.DidYouMean(problem.Nearest(args[0], names, 1)))
	}
	return c
}

// none refuses all arguments.
func none(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%q is one argument too many", args[0])
	}
	return nil
}

// these wants one argument for each name, where those from optional on may be left out.
func these(optional int, names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < optional:
			return usagef("%s is missing", names[len(args)])
		case len(args) > len(names):
			return usagef("%q is one argument too many", args[len(names)])
		}
		return nil
	}
}

// A usageError is a command line that can't be run.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

func isUsage(err error) bool {
	_, ok := errors.AsType[*usageError](err)
	return ok
}

package terminal

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Group turns c into a command that only groups its subcommands.
func Group(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs // lets RunE suggest the nearest name
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return UnknownCommand(c, args[0])
	}
	return c
}

// UnknownCommand returns the error for an unknown subcommand of c, with the nearest name.
func UnknownCommand(c *cobra.Command, name string) error {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
		if slices.Contains(sub.SuggestFor, name) {
			return config.Usagef("there is no command %q%s", c.CommandPath()+" "+name, problem.DidYouMean([]string{sub.Name()}))
		}
	}
	return config.Usagef("there is no command %q%s", c.CommandPath()+" "+name, problem.DidYouMean(problem.Nearest(name, names, 1)))
}

// None refuses all arguments.
func None(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return config.Usagef("%q is one argument too many", args[0])
	}
	return nil
}

// These requires one argument for each name. Arguments from the index optional onwards may be omitted.
func These(optional int, names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < optional:
			return config.Usagef("%s is missing", names[len(args)])
		case len(args) > len(names):
			return config.Usagef("%q is one argument too many", args[len(names)])
		}
		return nil
	}
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/agentcmd"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/operate"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// rootCommand returns the root command with all commands.
func rootCommand(t *terminal.Terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "bailiwick",
		Short: "Let AI agents work inside an application, within bounds its owners set",
		Long: "Bailiwick is an MCP server in front of an application's databases. Agents see views, never tables.\n" +
			"Hidden data does not exist for them, and every call is recorded.",
		Example:       "  bailiwick demo\n  bailiwick serve --source sqlite:app.db\n  bailiwick init sqlite:app.db --out bailiwick.yaml",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       app.Version(),
	}
	root.SetOut(t.Out)
	root.SetErr(t.Err)
	root.SetIn(t.In)
	root.SetVersionTemplate("bailiwick {{.Version}}\n")
	root.PersistentFlags().BoolVar(&t.JSON, "json", false, "write results and errors as JSON on standard output")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return config.Usage(err) })
	terminal.Group(root)
	root.AddCommand(demoCommand(t), serveCommand(t), agentcmd.AskCommand(t), agentcmd.ChatCommand(t), agentcmd.ShellCommand(t), agentcmd.EvalCommand(t), agentcmd.CallCommand(t), agentcmd.ToolsCommand(t), agentcmd.SchemaCommand(t), agentcmd.ExportCommand(t), agentcmd.SQLCommand(t), agentcmd.QueryCommand(t), agentcmd.MetricsCommand(t), agentcmd.PromptsCommand(t), agentcmd.ResourcesCommand(t), agentcmd.DispatchCommand(t), operate.TokenCommand(t), operate.PeopleCommand(t), operate.ConnectCommand(t), operate.StoreCommand(t),
		operate.AuditCommand(t), operate.ReviewCommand(t), operate.PolicyCommand(t), checkCommand(t), configCommand(t), notifyCommand(t), initCommand(t), operate.Health(t), operate.Doctor(t), docsCommand(t), versionCommand(t))
	return root
}

// versionCommand returns the command version. It prints the version in Go's build information, which is a tag or a
// pseudo-version.
func versionCommand(t *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  terminal.None,
		RunE: func(*cobra.Command, []string) error {
			if t.JSON {
				return t.PrintJSON(struct {
					Version string `json:"version"`
				}{app.Version()})
			}
			t.Printf("bailiwick %s\n", app.Version())
			return nil
		},
	}
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/app"
)

// notifyCommand returns the commands about notifications.
func notifyCommand(t *terminal.Terminal) *cobra.Command {
	var path string
	test := &cobra.Command{
		Use:     "test NAME",
		Short:   "Send a test to a webhook or a recipient of the configuration",
		Long:    "Send a test to a webhook or a recipient of the configuration, once. Messages to others are not sent, and no server has to run.",
		Example: "  bailiwick notify test ops",
		Args:    terminal.These(1, "the name of a notification in the configuration"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := app.LoadFile(path)
			if err == nil {
				err = app.TestNotification(cmd.Context(), c, args[0])
			}
			if err == nil {
				t.Notef("sent to %s", args[0])
			}
			return err
		},
	}
	test.Flags().StringVar(&path, "config", "bailiwick.yaml", "the configuration `FILE`")
	cmd := terminal.Group(&cobra.Command{Use: "notify", Short: "Try out notifications"})
	cmd.AddCommand(test)
	return cmd
}

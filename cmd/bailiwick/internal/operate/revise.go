package operate

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// requestChanges returns the command changes request-changes.
func (d commands) requestChanges() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "request-changes ID --reason WORDS",
		Short: "Return a change to its agent, with what should be different",
		Args:  terminal.These(1, "the change's ID", "what should be different"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if reason == "" && len(args) > 1 {
				reason = args[1]
			}
			if reason == "" {
				return config.Usagef("--reason is missing")
			}
			return d.decide(cmd.Context(), args[0], "request_changes", map[string]any{"text": reason})
		},
	}
	reasonFlag(cmd, &reason, "comment")
	return cmd
}

// edit returns the command changes edit. VALUE is JSON if it is well-formed, otherwise text. The request contains the
// digest of the current version, so that two simultaneous edits don't overwrite each other.
func (d commands) edit() *cobra.Command {
	var reason string
	var item int
	cmd := &cobra.Command{
		Use:   "edit ID FIELD VALUE --reason WORDS",
		Short: "Replace a change by a version with another value, in which VALUE is JSON or a text",
		Args:  terminal.These(3, "the change's ID", "a field that it sets", "its value"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if reason == "" {
				return config.Usagef("--reason is missing")
			}
			sheet, _, err := d.sheet(cmd.Context(), http.MethodGet, args[0], "", nil)
			if err != nil {
				return err
			}
			var v any = args[2]
			if json.Valid([]byte(args[2])) {
				v = json.RawMessage(args[2])
			}
			edit := map[string]any{"item": item, "field": args[1], "value": v}
			return d.decide(cmd.Context(), args[0], "edit", map[string]any{"digest": sheet.Digest, "edits": []any{edit}, "reason": reason})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, in `WORDS`")
	cmd.Flags().IntVar(&item, "item", 0, "which record of the change, from `0`")
	return cmd
}

// reasonFlag adds the flag --reason, which all decisions accept. It also accepts older names of the flag, which the
// help doesn't show.
func reasonFlag(cmd *cobra.Command, reason *string, older ...string) {
	cmd.Flags().StringVar(reason, "reason", "", "`WORDS` for the agent and the record")
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if slices.Contains(older, name) {
			name = "reason"
		}
		return pflag.NormalizedName(name)
	})
}

package agentcmd

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// QueryCommand returns the command that runs a query that the owner declared, or lists them.
func QueryCommand(t *terminal.Terminal) *cobra.Command {
	var d dialer
	var input []string
	call := map[string]*string{}
	var limit int
	cmd := &cobra.Command{
		Use:   "query [NAME]",
		Short: "Run a query that the owner declared, or list the queries with their inputs",
		Example: "  bailiwick query --config bailiwick.yaml\n  bailiwick query open_orders --input customer=17 --input since=2026-01-01\n" +
			"  bailiwick query open_orders --input '{\"customer\": 17}' --url http://127.0.0.1:8420/mcp --token bw_…",
		Args: terminal.These(0, "NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && input != nil:
				return config.Usagef("--input needs the NAME of a query")
			case len(args) == 0:
				return d.list(cmd.Context(), t, listing{"run_query", "queries", "this caller has no declared query"})
			}
			given, err := readInput(t, input)
			if err != nil {
				return err
			}
			members := append([]value.Member{{Name: "name", Value: value.OfString(args[0])}, {Name: "input", Value: given}}, texts(call, "cursor", "format")...)
			if limit > 0 {
				members = append(members, value.Member{Name: "limit", Value: value.OfInt(int64(limit))})
			}
			absent := &problem.Error{Code: problem.NotFound, Detail: "there is no query \"" + problem.Cut(args[0]) + "\""}
			return d.ask(cmd.Context(), t, "run_query", members, absent)
		},
	}
	d.Flags(cmd.Flags())
	f := cmd.Flags()
	f.StringArrayVar(&input, "input", nil, "an argument of the query, `NAME=VALUE` (repeatable), or all of them as one JSON object")
	f.IntVar(&limit, "limit", 0, "at most `N` records (default that of the query)")
	call["cursor"] = f.String("cursor", "", "go on with the page of this `CURSOR`")
	call["format"] = f.String("format", "", "the answer as json, csv, markdown or table")
	return cmd
}

// MetricsCommand returns the command that computes metrics that the owner defined, or lists them.
func MetricsCommand(t *terminal.Terminal) *cobra.Command {
	var d dialer
	var by []string
	var where string
	var limit int
	var share, cumulative bool
	call := map[string]*string{}
	cmd := &cobra.Command{
		Use:     "metrics [NAME…]",
		Short:   "Compute metrics that the owner defined, or list the metrics with their definitions",
		Example: "  bailiwick metrics --config bailiwick.yaml\n  bailiwick metrics revenue orders --by placed_at:month --from 2026 --order -revenue",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return d.list(cmd.Context(), t, listing{"query_metrics", "metrics", "this caller has no metric"})
			}
			members := append([]value.Member{{Name: "metrics", Value: valuesOf(args)}}, texts(call, "from", "to", "order", "timezone", "format")...)
			if where != "" {
				object, err := readArguments(t, []string{where})
				if err != nil {
					return err
				}
				v, _ := value.Read(object, 0) // readArguments has read it
				members = append(members, value.Member{Name: "where", Value: v})
			}
			if by != nil {
				members = append(members, value.Member{Name: "by", Value: valuesOf(by)})
			}
			if limit > 0 {
				members = append(members, value.Member{Name: "limit", Value: value.OfInt(int64(limit))})
			}
			for name, is := range map[string]bool{"share": share, "cumulative": cumulative} {
				if is {
					members = append(members, value.Member{Name: name, Value: value.OfBool(true)})
				}
			}
			absent := &problem.Error{Code: problem.NotFound, Detail: "there is no metric \"" + problem.Cut(args[0]) + "\""}
			return d.ask(cmd.Context(), t, "query_metrics", members, absent)
		},
	}
	d.Flags(cmd.Flags())
	f := cmd.Flags()
	f.StringSliceVar(&by, "by", nil, "the `DIMENSIONS` to group by: status, customer_id.region, placed_at:month (repeatable, or with commas)")
	f.StringVar(&where, "where", "", "a further condition, as a `JSON` object")
	call["from"] = f.String("from", "", "the first `PERIOD`: 2026, 2026-Q3, 2026-07 or 2026-07-01")
	call["to"] = f.String("to", "", "the last `PERIOD`, included")
	call["order"] = f.String("order", "", "the `COLUMN` to sort by, such as -revenue")
	call["timezone"] = f.String("timezone", "", "the time `ZONE` of periods (default UTC)")
	call["format"] = f.String("format", "", "the answer as json, csv, markdown or table")
	f.IntVar(&limit, "limit", 0, "at most `N` groups")
	f.BoolVar(&share, "share", false, "also each group's share of the total")
	f.BoolVar(&cumulative, "cumulative", false, "also running totals over the periods")
	return cmd
}

// texts returns the arguments of a call that flags name.
func texts(given map[string]*string, names ...string) []value.Member {
	var out []value.Member
	for _, name := range names {
		if text := *given[name]; text != "" {
			out = append(out, value.Member{Name: name, Value: value.OfString(text)})
		}
	}
	return out
}

// valuesOf returns texts as a list.
func valuesOf(all []string) value.Value {
	out := make([]value.Value, len(all))
	for i, s := range all {
		out[i] = value.OfString(s)
	}
	return value.OfArray(out)
}

// readInput parses the arguments of a query: one JSON object, or NAME=VALUE each. The gateway converts a text to the type
// of its argument. A value that begins like JSON is JSON.
func readInput(t *terminal.Terminal, given []string) (value.Value, error) {
	if len(given) == 1 && (given[0] == "-" || strings.HasPrefix(given[0], "{")) {
		object, err := readArguments(t, given)
		if err != nil {
			return value.Value{}, err
		}
		return value.Read(object, 0)
	}
	var out []value.Member
	for _, text := range given {
		name, of, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return value.Value{}, config.Usagef("%q must be NAME=VALUE, or all arguments must be one JSON object", text)
		}
		v := value.OfString(of)
		if strings.HasPrefix(of, "[") || strings.HasPrefix(of, "{") {
			var err error
			if v, err = value.Read([]byte(of), 20); err != nil {
				return value.Value{}, config.Usagef("the value of %s is not JSON: %s", name, strings.TrimPrefix(err.Error(), "invalid_argument: "))
			}
		}
		out = append(out, value.Member{Name: name, Value: v})
	}
	return value.OfObject(out), nil
}

// ask calls a tool and prints its answer. A caller that doesn't have the tool gets absent, so that a query or a metric
// that is hidden and one that doesn't exist have the same words.
func (d *dialer) ask(ctx context.Context, t *terminal.Terminal, tool string, members []value.Member, absent error) error {
	return d.With(ctx, func(ctx context.Context, c *client.Client) error {
		a, err := c.Call(ctx, tool, json.RawMessage(value.OfObject(members).AppendJSON(nil)))
		if problem.CodeOf(err) == problem.UnknownTool {
			return absent
		}
		if err != nil {
			return err
		}
		return printAnswer(t, a)
	})
}

// A listing is a tool that lists, its member of the answer, and the words for a caller who doesn't have the tool.
type listing struct{ tool, member, none string }

// list prints what a tool lists when it is called without arguments.
func (d *dialer) list(ctx context.Context, t *terminal.Terminal, l listing) error {
	return d.With(ctx, func(ctx context.Context, c *client.Client) error {
		a, err := c.Call(ctx, l.tool, json.RawMessage("{}"))
		switch {
		case problem.CodeOf(err) != problem.UnknownTool:
			if err != nil {
				return err
			}
			return printAnswer(t, a)
		case t.JSON:
			return t.PrintJSON(map[string][]string{l.member: {}})
		}
		t.Notef("%s", l.none)
		return nil
	})
}

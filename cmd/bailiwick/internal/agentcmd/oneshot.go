package agentcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/value"
)

// maxArguments is the maximum size of a call's arguments, in bytes.
const maxArguments = 1 << 20

// CallCommand returns the command that calls one tool.
func CallCommand(t *terminal.Terminal) *cobra.Command {
	var d dialer
	cmd := &cobra.Command{
		Use:   "call TOOL [JSON|-]",
		Short: "Call one tool, of a running gateway or in this process",
		Example: "  bailiwick call query_class '{\"class_name\": \"issues\", \"limit\": 5}' --source sqlite:app.db\n" +
			"  bailiwick call query_sql - --url http://127.0.0.1:8420/mcp --token bw_… <arguments.json",
		Args: terminal.These(1, "the name of the tool", "JSON"),
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments, err := readArguments(t, args[1:])
			if err != nil {
				return err
			}
			return d.With(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				a, err := c.Call(ctx, args[0], arguments)
				if err != nil {
					return err
				}
				return printAnswer(t, a)
			})
		},
	}
	d.Flags(cmd.Flags())
	return cmd
}

// readArguments parses the JSON object in args. "-" means standard input. Without args it returns an empty object.
func readArguments(t *terminal.Terminal, args []string) (json.RawMessage, error) {
	if len(args) == 0 {
		return json.RawMessage("{}"), nil
	}
	text := []byte(args[0])
	if args[0] == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(t.In, maxArguments+1)); err != nil {
			return nil, fmt.Errorf("read the arguments: %w", err)
		}
	}
	if len(text) > maxArguments {
		return nil, config.Usagef("the arguments are larger than %d bytes", maxArguments)
	}
	v, err := value.Read(text, 20)
	if err != nil {
		return nil, config.Usagef("the arguments are not JSON: %s", strings.TrimPrefix(err.Error(), "invalid_argument: "))
	}
	if v.Kind() != value.Object {
		return nil, config.Usagef("the arguments must be a JSON object, such as '{\"class_name\": \"issues\"}'")
	}
	return v.AppendJSON(nil), nil
}

// printAnswer prints the text, or with --json the structured content.
func printAnswer(t *terminal.Terminal, a client.Answer) error {
	switch {
	case t.JSON && a.Structured == nil:
		return errors.New("the gateway sent no structured content, because its configuration omits it (results)")
	case t.JSON || a.Text == "":
		t.Print(string(a.Structured))
	default:
		t.Print(strings.TrimSuffix(a.Text, "\n"))
	}
	return nil
}

// ToolsCommand returns the command that lists tools.
func ToolsCommand(t *terminal.Terminal) *cobra.Command {
	var d dialer
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools that can be called",
		Args:  terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return d.With(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				all, err := c.Tools(ctx)
				if err != nil {
					return err
				}
				if t.JSON {
					return t.PrintJSON(map[string]any{"tools": all})
				}
				w := t.Table()
				for i, tool := range all {
					if tool.IsUnlisted() && (i == 0 || !all[i-1].IsUnlisted()) {
						if err := w.Flush(); err != nil {
							return err
						}
						t.Printf("\nNot in tools/list, but callable by name:\n")
						w = t.Table()
					}
					about, _, _ := strings.Cut(tool.Description, ". ")
					fmt.Fprintf(w, "%s\t%s\n", Line(tool.Name, 80), Line(strings.TrimSuffix(about, "."), 400))
				}
				return w.Flush()
			})
		},
	}
	d.Flags(cmd.Flags())
	return cmd
}

// SchemaCommand returns the command that shows classes.
func SchemaCommand(t *terminal.Terminal) *cobra.Command {
	var d dialer
	cmd := &cobra.Command{
		Use:     "schema [CLASS]",
		Short:   "Show the fields of a class, or all classes",
		Example: "  bailiwick schema --source sqlite:app.db\n  bailiwick schema issues --source sqlite:app.db",
		Args:    terminal.These(0, "CLASS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.With(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				tool, arguments := "get_all_schemas", []byte("{}")
				if len(args) == 1 {
					tool, arguments = "get_schema", append(value.AppendQuote([]byte(`{"format":"full","class_name":`), args[0]), '}')
				}
				a, err := c.Call(ctx, tool, bytes.Clone(arguments))
				if err != nil {
					return err
				}
				return printAnswer(t, a)
			})
		},
	}
	d.Flags(cmd.Flags())
	return cmd
}

// ExportCommand returns the command that writes the records of a class.
func ExportCommand(t *terminal.Terminal) *cobra.Command { return withOwnGateway(t, exportCommand) }

// SQLCommand returns the command that runs a SELECT statement.
func SQLCommand(t *terminal.Terminal) *cobra.Command { return withOwnGateway(t, ExportSQL) }

// withOwnGateway completes an export command with a gateway that is created in this process.
func withOwnGateway(t *terminal.Terminal, command func(ExportOptions) *cobra.Command) *cobra.Command {
	var d dialer
	cmd := command(ExportOptions{In: t.In, Out: t.Out, Err: t.Err, Sanitize: terminal.Guard, Usage: config.Usagef, Args: terminal.These,
		Open: func(ctx context.Context) (*bailiwick.Gateway, identity.Principal, io.Closer, error) {
			cfg, err := d.Load()
			if err != nil {
				return nil, identity.Principal{}, nil, err
			}
			principal, err := d.Principal(cfg.Stdio, "cli")
			if err != nil {
				return nil, principal, nil, err
			}
			p, err := app.Build(ctx, cfg)
			if err != nil {
				return nil, principal, nil, err
			}
			return p.Gateway, principal, p, nil
		}})
	d.Setup.Flags(cmd.Flags())
	d.StdioFlags.Flags(cmd.Flags(), "as")
	return cmd
}

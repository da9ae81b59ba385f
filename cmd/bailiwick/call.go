package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	bailiwick "github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/client"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/export"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// maxArguments bounds the arguments of a call, in bytes.
const maxArguments = 1 << 20

func callCommand(t *terminal) *cobra.Command {
	var d dialer
	cmd := &cobra.Command{
		Use:   "call TOOL [JSON|-]",
		Short: "Call one tool, of a running gateway or in this process",
		Example: "  bailiwick call query_class '{\"class_name\": \"issues\", \"limit\": 5}' --source sqlite:app.db\n" +
			"  bailiwick call count_objects - --url http://127.0.0.1:8420/mcp --token bw_… <arguments.json",
		Args: these(1, "the name of the tool", "JSON"),
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments, err := t.arguments(args[1:])
			if err != nil {
				return err
			}
			return d.with(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				a, err := c.Call(ctx, args[0], arguments)
				if err != nil {
					return err
				}
				return t.printAnswer(a)
			})
		},
	}
	d.flags(cmd.Flags())
	return cmd
}

// with runs do on a client.
func (d *dialer) with(ctx context.Context, do func(context.Context, *client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	c, end, err := d.dial(ctx)
	if err != nil {
		return advise(err)
	}
	return errors.Join(advise(do(ctx, c)), c.Close(), end())
}

// advise says which command helps with what a gateway refuses.
func advise(err error) error {
	p, ok := errors.AsType[*problem.Error](err)
	switch {
	case !ok || p.Suggestion != "":
	case p.Code == problem.Unauthorized:
		p.Suggestion = "give a good one with --token or BAILIWICK_TOKEN; \"bailiwick token list\" and \"bailiwick token create\" help"
	case p.Code == problem.UnknownTool:
		p.Suggestion = "\"bailiwick tools\" lists those that can be called"
	}
	return err
}

// closeAfter closes c, and tells of what fails there when nothing has failed before.
func closeAfter(c io.Closer, err *error) {
	if cerr := c.Close(); *err == nil {
		*err = cerr
	}
}

// arguments reads the JSON object in args, "-" for standard input; nothing is an empty object.
func (t *terminal) arguments(args []string) (json.RawMessage, error) {
	if len(args) == 0 {
		return json.RawMessage("{}"), nil
	}
	text := []byte(args[0])
	if args[0] == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(t.in, maxArguments+1)); err != nil {
			return nil, fmt.Errorf("read the arguments: %w", err)
		}
	}
	if len(text) > maxArguments {
		return nil, usagef("the arguments are larger than %d bytes", maxArguments)
	}
	v, err := value.Read(text, 20)
	if err != nil {
		return nil, usagef("the arguments are not JSON: %s", strings.TrimPrefix(err.Error(), "invalid_argument: "))
	}
	if v.Kind() != value.Object {
		return nil, usagef("the arguments must be a JSON object, such as '{\"class_name\": \"issues\"}'")
	}
	return v.AppendJSON(nil), nil
}

// printAnswer prints the text for people, or the structured content for programs.
func (t *terminal) printAnswer(a client.Answer) error {
	switch {
	case t.json && a.Structured == nil:
		return errors.New("the gateway sent no structured content; its configuration leaves it out (results)")
	case t.json || a.Text == "":
		t.printf("%s\n", a.Structured)
	default:
		t.printf("%s\n", strings.TrimSuffix(a.Text, "\n"))
	}
	return nil
}

func toolsCommand(t *terminal) *cobra.Command {
	var d dialer
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools that can be called",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return d.with(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				all, err := c.Tools(ctx)
				if err != nil {
					return err
				}
				if t.json {
					return t.printJSON(map[string]any{"tools": all})
				}
				w := tabwriter.NewWriter(t.out, 0, 8, 2, ' ', 0)
				for _, tool := range all {
					about, _, _ := strings.Cut(tool.Description, ". ")
					fmt.Fprintf(w, "%s\t%s\n", tool.Name, strings.TrimSuffix(about, "."))
				}
				return w.Flush()
			})
		},
	}
	d.flags(cmd.Flags())
	return cmd
}

func schemaCommand(t *terminal) *cobra.Command {
	var d dialer
	cmd := &cobra.Command{
		Use:     "schema [CLASS]",
		Short:   "Show the fields of a class, or all classes",
		Example: "  bailiwick schema --source sqlite:app.db\n  bailiwick schema issues --source sqlite:app.db",
		Args:    these(0, "CLASS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.with(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				tool, arguments := "get_all_schemas", []byte("{}")
				if len(args) == 1 {
					tool, arguments = "get_schema", append(value.AppendQuoted([]byte(`{"class_name":`), args[0]), '}')
				}
				a, err := c.Call(ctx, tool, bytes.Clone(arguments))
				if err != nil {
					return err
				}
				return t.printAnswer(a)
			})
		},
	}
	d.flags(cmd.Flags())
	return cmd
}

func exportCommand(t *terminal) *cobra.Command {
	var d dialer
	cmd := export.Command(export.Options{In: t.in, Out: t.out, Err: t.err, Usage: usagef, Args: these,
		Open: func(ctx context.Context) (*bailiwick.Gateway, identity.Principal, io.Closer, error) {
			cfg, err := d.load()
			if err != nil {
				return nil, identity.Principal{}, nil, err
			}
			who, err := d.principal(cfg.Stdio, "cli")
			if err != nil {
				return nil, who, nil, err
			}
			p, err := build(ctx, cfg)
			if err != nil {
				return nil, who, nil, err
			}
			return p.gateway, who, p, nil
		}})
	d.setup.flags(cmd.Flags())
	d.speaker.flags(cmd.Flags(), "as")
	return cmd
}

package agentcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// PromptsCommand returns the commands that list and render prompts.
func PromptsCommand(t *terminal.Terminal) *cobra.Command {
	var list, render dialer
	cmd := &cobra.Command{
		Use:   "prompts",
		Short: "List the prompts that an agent can be started with, and render one",
		Args:  terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return list.With(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				all, err := c.Prompts(ctx)
				if err != nil {
					return err
				}
				if t.JSON {
					return t.PrintJSON(map[string]any{"prompts": all})
				}
				return printPrompts(t, all)
			})
		},
	}
	list.Flags(cmd.Flags())
	sub := &cobra.Command{
		Use:     "render PROMPT [NAME=VALUE…]",
		Short:   "Print the text of a prompt",
		Example: "  bailiwick prompts render class_overview class_name=issues --source sqlite:app.db",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return config.Usagef("PROMPT is missing")
			}
			arguments, err := promptArguments(args[1:])
			if err != nil {
				return err
			}
			return render.With(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				text, err := c.Render(ctx, args[0], arguments)
				if err != nil {
					return err
				}
				if t.JSON {
					return t.PrintJSON(map[string]string{"prompt": args[0], "text": text})
				}
				t.Print(text)
				return nil
			})
		},
	}
	render.Flags(sub.Flags())
	cmd.AddCommand(sub)
	return cmd
}

// printPrompts lists prompts with their arguments. Optional arguments are in brackets.
func printPrompts(t *terminal.Terminal, all []client.Prompt) error {
	w := t.Table()
	for _, p := range all {
		var names []string
		for _, a := range p.Arguments {
			if a.Required {
				names = append(names, a.Name)
			} else {
				names = append(names, "["+a.Name+"]")
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", Line(p.Name, 80), Line(strings.Join(names, " "), 120), Line(p.Description, 200))
	}
	return w.Flush()
}

// promptArguments parses NAME=VALUE arguments, or one JSON object of strings.
func promptArguments(words []string) (map[string]string, error) {
	arguments := map[string]string{}
	if len(words) > 0 && strings.HasPrefix(words[0], "{") {
		if err := json.Unmarshal([]byte(strings.Join(words, " ")), &arguments); err != nil {
			return nil, config.Usagef("the arguments of a prompt must be a JSON object of texts, or NAME=VALUE")
		}
		return arguments, nil
	}
	for _, w := range words {
		name, v, ok := strings.Cut(w, "=")
		if !ok || name == "" {
			return nil, config.Usagef("%q must be NAME=VALUE", w)
		}
		arguments[name] = v
	}
	return arguments, nil
}

// ResourcesCommand returns the command that lists and reads documents.
func ResourcesCommand(t *terminal.Terminal) *cobra.Command {
	var d dialer
	cmd := &cobra.Command{
		Use:     "resources [URI]",
		Short:   "List the documents that an agent can read, or read one",
		Example: "  bailiwick resources bailiwick://tracker/issues/schema --url http://127.0.0.1:8420/mcp --token bw_…",
		Args:    terminal.These(0, "URI"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.With(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				if len(args) == 1 {
					text, err := c.Read(ctx, args[0])
					if err != nil {
						return err
					}
					if t.JSON {
						return t.PrintJSON(map[string]string{"uri": args[0], "text": text})
					}
					t.Print(text)
					return nil
				}
				all, err := c.Resources(ctx)
				if err != nil {
					return err
				}
				if t.JSON {
					return t.PrintJSON(map[string]any{"resources": all})
				}
				return printResources(t, all)
			})
		},
	}
	d.Flags(cmd.Flags())
	return cmd
}

// printResources lists documents and templates.
func printResources(t *terminal.Terminal, all []client.Resource) error {
	w := t.Table()
	for _, r := range all {
		fmt.Fprintf(w, "%s\t%s\n", Line(r.URI+r.Template, 200), Line(r.Description, 200))
	}
	return w.Flush()
}

// DispatchCommand returns the command that sends any request.
func DispatchCommand(t *terminal.Terminal) *cobra.Command {
	var d dialer
	cmd := &cobra.Command{
		Use:   "dispatch METHOD [JSON|-]",
		Short: "Send any MCP request, and print its result as it came",
		Example: "  bailiwick dispatch server/discover --source sqlite:app.db\n" +
			"  bailiwick dispatch prompts/get '{\"name\": \"conventions\"}' --url http://127.0.0.1:8420/mcp --token bw_…",
		Args: terminal.These(1, "METHOD", "JSON"),
		RunE: func(cmd *cobra.Command, args []string) error {
			params, err := readArguments(t, args[1:])
			if err != nil {
				return err
			}
			return d.With(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				result, err := c.Dispatch(ctx, args[0], params)
				if rpc, ok := errors.AsType[*client.RPCError](err); ok {
					if err := t.PrintJSON(map[string]any{"error": rpc}); err != nil {
						return err
					}
					return terminal.ErrSaid
				}
				if err != nil {
					return err
				}
				t.Print(indentJSON(t, result))
				return nil
			})
		},
	}
	d.Flags(cmd.Flags())
	return cmd
}

// indentJSON returns indented JSON, or the original with --json. It doesn't change the digits of numbers.
func indentJSON(t *terminal.Terminal, raw json.RawMessage) string {
	var b bytes.Buffer
	if t.JSON || json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

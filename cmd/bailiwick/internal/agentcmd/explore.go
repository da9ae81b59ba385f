package agentcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/assistant"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// ShellCommand returns the shell command.
func ShellCommand(t *terminal.Terminal) *cobra.Command {
	e := &explorer{Terminal: t}
	cmd := &cobra.Command{
		Use:        "shell",
		SuggestFor: []string{"console", "repl"}, // the console is the web pages
		Short:      "Try every tool by hand, as an agent would call it, without a model",
		Example:    "  bailiwick shell --source sqlite:app.db\n  bailiwick shell --url http://127.0.0.1:8420/mcp --token bw_…",
		Args:       terminal.None,
		RunE:       func(cmd *cobra.Command, _ []string) error { return e.run(cmd.Context()) },
	}
	e.Flags(cmd.Flags())
	return cmd
}

// An explorer is one session of the shell command.
type explorer struct {
	dialer
	*terminal.Terminal
	client   *client.Client
	end      func() error
	lines    *Lines
	expanded bool // print one line per field
	raw      bool // print the original JSON
	names    names
	model    *assistant.Assistant // created at the first ask
}

// A command is a command within the shell. usage shows its arguments.
type command struct {
	name, usage, help string
	run               func(e *explorer, ctx context.Context, rest string) error
}

// commands returns all commands of the shell.
func commands() []command {
	return []command{
		{"tools", "", "list the tools that can be called", (*explorer).tools},
		{"schemas", "", "list the classes", func(e *explorer, ctx context.Context, _ string) error {
			return e.call(ctx, "get_all_schemas", map[string]any{})
		}},
		{"schema", "CLASS", "the fields of a class", func(e *explorer, ctx context.Context, rest string) error {
			return e.call(ctx, "get_schema", map[string]any{"class_name": rest})
		}},
		{"q", "CLASS [{where}]", "the first records of a class that match", (*explorer).query},
		{"count", "CLASS [{where}]", "how many records match", (*explorer).count},
		{"sql", "SELECT…", "run a SELECT over the classes as tables", func(e *explorer, ctx context.Context, rest string) error {
			return e.call(ctx, "query_sql", map[string]any{"sql": rest})
		}},
		{"t", "TOOL [{arguments}]", "call any tool", (*explorer).tool},
		{"dispatch", "METHOD [{params}]", "send any MCP request", (*explorer).dispatch},
		{"prompts", "", "list the prompts", (*explorer).prompts},
		{"render", "PROMPT [NAME=VALUE…]", "the text of a prompt", (*explorer).render},
		{"resources", "[URI]", "list the documents, or read one", (*explorer).resources},
		{"as", "TOKEN|TENANT", "go on as somebody else", (*explorer).as},
		{"ask", "QUESTION", "ask a model, where LLM_PROVIDER names one", (*explorer).ask},
		{`\x`, "", "one line a field, or tables again", func(e *explorer, _ context.Context, _ string) error { return e.toggle(&e.expanded, "expanded") }},
		{".json", "", "results as JSON, or for people again", func(e *explorer, _ context.Context, _ string) error { return e.toggle(&e.raw, "JSON") }},
		{"help", "", "this list", (*explorer).help},
		{"exit", "", "end. So do quit and Ctrl-D", nil},
	}
}

// run connects and runs commands until exit or the end of the input. The error of a command is printed and doesn't
// end the session.
func (e *explorer) run(ctx context.Context) error {
	// Ctrl-C must end a call but not the program.
	ctx = context.WithoutCancel(ctx)
	if err := e.connect(ctx); err != nil {
		return err
	}
	e.lines = newLines(e.In, e.Interactive(), "shell_history")
	defer e.lines.Close()
	e.lines.Complete(func(before string) (int, []string) { return e.complete(ctx, before) })
	e.raw = e.JSON
	if !e.JSON {
		e.Printf("%s  %s\n", terminal.Style(terminal.Bold, "Bailiwick shell"), terminal.Style(terminal.Faint, "help lists the commands, Tab completes, Ctrl-D ends"))
	}
	for {
		line, err := e.lines.Next("bailiwick> ")
		switch {
		case errors.Is(err, errInterrupt):
			continue
		case errors.Is(err, io.EOF):
			return e.close()
		case err != nil:
			return errors.Join(fmt.Errorf("read the line: %w", err), e.close())
		}
		if line = strings.TrimSpace(line); line == "exit" || line == "quit" {
			return e.close()
		}
		if line == "" {
			continue
		}
		if err := e.do(ctx, line); err != nil {
			e.fail(err)
		}
	}
}

func (e *explorer) connect(ctx context.Context) error {
	c, end, err := e.Open(ctx)
	if err != nil {
		return advise(err)
	}
	e.client, e.end, e.names, e.model = c, end, names{}, nil
	return nil
}

func (e *explorer) close() error { return errors.Join(e.client.Close(), e.end()) }

// do runs one line. Ctrl-C cancels it.
func (e *explorer) do(ctx context.Context, line string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if name == "as" {
		e.lines.Secret(line)
	}
	var known []string
	for _, c := range commands() {
		if c.name == name {
			if c.usage != "" && c.usage[0] != '[' && rest == "" {
				return fmt.Errorf("%s wants %s", name, c.usage)
			}
			return c.run(e, ctx, rest)
		}
		known = append(known, c.name)
	}
	return fmt.Errorf("there is no command %q%s (help lists all)", name, problem.DidYouMean(problem.Nearest(name, known, 1)))
}

// fail prints an error in the same form as tools and commands.
func (e *explorer) fail(err error) {
	if refusal, ok := errors.AsType[*client.Refusal](err); ok && refusal.Raw != nil && e.raw {
		e.Printf("%s\n", sanitize(string(refusal.Raw)))
		return
	}
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		e.Printf("%s\n", terminal.Style(terminal.Red, sanitize(err.Error())))
		return
	}
	e.Printf("%s\n", terminal.Style(terminal.Red, sanitize(p.Error())))
	for _, f := range p.Faults {
		e.Printf("  %s\n", sanitize(strings.TrimPrefix(f.Pointer+": ", ": ")+f.Message))
	}
	if len(p.Near) > 0 {
		e.Printf("  near: %s\n", sanitize(strings.Join(p.Near, ", ")))
	}
	if p.Suggestion != "" {
		e.Printf("  → %s\n", sanitize(p.Suggestion))
	}
}

func (e *explorer) toggle(what *bool, name string) error {
	*what = !*what
	e.Printf("%s\n", terminal.Style(terminal.Faint, name+": "+map[bool]string{true: "on", false: "off"}[*what]))
	return nil
}

func (e *explorer) help(context.Context, string) error {
	for _, c := range commands() {
		e.Printf("  %-32s %s\n", strings.TrimSpace(c.name+" "+c.usage), c.help)
	}
	return nil
}

// tools prints the name of each tool, whether it only reads, and the first sentence of its description.
func (e *explorer) tools(ctx context.Context, _ string) error {
	all, err := e.client.Tools(ctx)
	if err != nil {
		return err
	}
	rows := [][]string{{"tool", "", "what it does"}}
	for _, t := range all {
		about, _, _ := strings.Cut(t.Description, ". ")
		rows = append(rows, []string{t.Name, map[bool]string{true: "reads", false: "proposes"}[t.Reads()], about})
	}
	slices.SortFunc(rows[1:], func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	e.Printf("%s%s\n", Table(rows), terminal.Style(terminal.Faint, fmt.Sprintf("%d tools", len(all))))
	return nil
}

// classAnd parses CLASS [{where}].
func (e *explorer) classAnd(rest string) (map[string]any, error) {
	class, where, _ := strings.Cut(rest, " ")
	arguments := map[string]any{"class_name": class}
	if where = strings.TrimSpace(where); where != "" {
		object, err := readArguments(e.Terminal, []string{where})
		if err != nil {
			return nil, err
		}
		arguments["where"] = object
	}
	return arguments, nil
}

func (e *explorer) query(ctx context.Context, rest string) error {
	arguments, err := e.classAnd(rest)
	if err != nil {
		return err
	}
	arguments["limit"] = 20
	return e.call(ctx, "query_class", arguments)
}

func (e *explorer) count(ctx context.Context, rest string) error {
	arguments, err := e.classAnd(rest)
	if err != nil {
		return err
	}
	return e.call(ctx, "count_objects", arguments)
}

// tool calls the tool that is the first word of rest. The arguments follow as JSON or as name=value.
func (e *explorer) tool(ctx context.Context, rest string) error {
	name, text, _ := strings.Cut(rest, " ")
	var words []string
	if text = strings.TrimSpace(text); text != "" {
		words = []string{text}
	}
	arguments, err := readArguments(e.Terminal, words)
	if err != nil {
		return err
	}
	return e.show(e.client.Call(ctx, name, arguments))
}

func (e *explorer) call(ctx context.Context, tool string, arguments map[string]any) error {
	encoded, err := json.Marshal(arguments)
	if err != nil {
		return fmt.Errorf("encode the arguments: %w", err)
	}
	return e.show(e.client.Call(ctx, tool, encoded))
}

func (e *explorer) dispatch(ctx context.Context, rest string) error {
	method, text, _ := strings.Cut(rest, " ")
	result, err := e.client.Dispatch(ctx, method, json.RawMessage(strings.TrimSpace(text)))
	if err != nil {
		return err
	}
	e.Printf("%s\n", sanitize(indentJSON(e.Terminal, result)))
	return nil
}

func (e *explorer) prompts(ctx context.Context, _ string) error {
	all, err := e.client.Prompts(ctx)
	if err != nil {
		return err
	}
	return printPrompts(e.Terminal, all)
}

// render prints the prompt whose name is the first word of rest, with the arguments that follow. The caller must
// check that rest isn't empty.
func (e *explorer) render(ctx context.Context, rest string) error {
	words := strings.Fields(rest)
	arguments, err := promptArguments(words[1:])
	if err != nil {
		return err
	}
	text, err := e.client.Render(ctx, words[0], arguments)
	if err != nil {
		return err
	}
	e.Printf("%s\n", sanitize(text))
	return nil
}

// resources prints the resource with the URI rest. If rest is "", it lists all resources.
func (e *explorer) resources(ctx context.Context, rest string) error {
	if rest != "" {
		text, err := e.client.Read(ctx, rest)
		if err != nil {
			return err
		}
		e.Printf("%s\n", sanitize(text))
		return nil
	}
	all, err := e.client.Resources(ctx)
	if err != nil {
		return err
	}
	return printResources(e.Terminal, all)
}

// as connects as another principal and closes the old connection. If that fails, it keeps the old connection.
func (e *explorer) as(ctx context.Context, rest string) error {
	c, end, n, m := e.client, e.end, e.names, e.model
	e.As(rest)
	if err := e.connect(context.WithoutCancel(ctx)); err != nil {
		e.client, e.end, e.names, e.model = c, end, n, m
		return err
	}
	e.Printf("%s\n", terminal.Style(terminal.Faint, "You are somebody else now."))
	return errors.Join(c.Close(), end())
}

// ask continues the conversation with a model. It doesn't make calls that propose changes. A person can make them by
// hand.
func (e *explorer) ask(ctx context.Context, rest string) error {
	if e.model == nil {
		p, err := provider()
		if err != nil {
			return err
		}
		if e.model, err = assistant.New(assistant.Options{Client: e.client, Provider: p,
			Hooks: assistant.Hooks{OnCall: func(c assistant.Call) {
				e.Printf("%s\n", terminal.Style(terminal.Faint, "→ "+Line(c.Name+" "+string(c.Arguments), 96)))
			}}}); err != nil {
			return err
		}
	}
	answer, err := e.model.Reply(ctx, rest)
	if err != nil {
		return err
	}
	m := Markdown{Out: e.Out}
	m.Write(answer.Text)
	m.Close()
	return nil
}

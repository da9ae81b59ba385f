package agentcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/assistant"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// ChatCommand returns the command for a conversation.
func ChatCommand(t *terminal.Terminal) *cobra.Command {
	c := &chat{session: session{Terminal: t}}
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk with a model about the application",
		Long: "Talk with a model about the application. It calls the gateway's tools as an agent would, and asks before it proposes\n" +
			"a write. LLM_PROVIDER names the model's provider. Without it, the command says how to set one up.",
		Example: "  bailiwick chat --url http://127.0.0.1:8420/mcp --token bw_…\n  bailiwick chat --source sqlite:app.db",
		Args:    terminal.None,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	c.flags(cmd.Flags())
	return cmd
}

// A chat is one conversation at a terminal.
type chat struct {
	session
	assistant *assistant.Assistant
	end       func() error // closes the connection
	lines     *Lines
	spinner   Spinner
	markdown  Markdown
	last      assistant.Usage // of the previous answer
}

// talkCommands lists the slash commands for /help.
var talkCommands = [][2]string{
	{"/reset", "forget the conversation"},
	{"/compact", "replace the conversation with a summary. One request"},
	{"/tools", "list the tools that can be called"},
	{"/trace", "show the arguments and results of calls, or no more"},
	{"/cost", "tokens and cost of the session and of the last answer"},
	{"/history", "the conversation so far, in short"},
	{"/as", "TOKEN|TENANT: go on as somebody else, in a new conversation"},
	{"/exit", "end. So do /quit and Ctrl-D"},
}

// run connects and reads questions until the end of the input. It stores the lines in the history file chat_history.
func (c *chat) run(ctx context.Context) error {
	if c.JSON {
		return config.Usagef("a chat is for people. For programs, use \"bailiwick ask --json\"")
	}
	// Ctrl-C must end an answer but not the program, so signals are handled here. The command's own context would end
	// at the first signal.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(heard)
	if err := c.connect(ctx); err != nil {
		return err
	}
	c.lines = newLines(c.In, c.Interactive(), "chat_history")
	defer c.lines.Close()
	c.lines.Complete(completeCommands)
	c.markdown.Out = c.Out
	c.spinner = Spinner{Out: c.Out, Shown: c.OutIsTerminal()}
	c.Printf("%s  %s\n", terminal.Style(terminal.Bold, "Bailiwick chat"), terminal.Style(terminal.Faint, c.assistant.Model()+"; /help lists the commands, Ctrl-D ends"))
	err := c.loop(ctx, heard)
	return errors.Join(err, c.end())
}

func (c *chat) connect(ctx context.Context) error {
	a, end, err := c.open(ctx, assistant.Hooks{OnText: c.text, OnCall: c.call, OnResult: c.result, OnNotice: c.notice, Confirm: c.confirm})
	if err != nil {
		return err
	}
	c.assistant, c.end = a, end
	return nil
}

// loop reads lines until the end of the input or /exit.
func (c *chat) loop(ctx context.Context, heard chan os.Signal) error {
	for {
		line, err := c.lines.Next("> ")
		switch {
		case errors.Is(err, errInterrupt):
			c.Printf("%s\n", terminal.Style(terminal.Faint, "Ctrl-D or /exit ends the chat."))
			continue
		case errors.Is(err, io.EOF):
			if c.Interactive() {
				c.Printf("\n")
			}
			return nil
		case err != nil:
			return fmt.Errorf("read the line: %w", err)
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case line == "/exit" || line == "/quit":
			return nil
		case line[0] == '/':
			err = c.command(ctx, line)
		default:
			var ended bool
			if ended, err = c.question(ctx, heard, line); ended {
				return nil
			}
		}
		if err != nil {
			c.Notef("%s", terminal.Style(terminal.Red, sanitize(err.Error())))
		}
	}
}

// question answers one question. ended is true if the program should end.
func (c *chat) question(ctx context.Context, heard chan os.Signal, line string) (ended bool, err error) {
	var answer *assistant.Answer
	ended, err = c.interruptible(ctx, heard, func(ctx context.Context) error {
		c.spinner.Start("thinking")
		answer, err = c.assistant.Reply(ctx, line)
		c.spinner.Stop()
		c.markdown.Close()
		return err
	})
	if answer == nil {
		return ended, err
	}
	c.last = answer.Usage
	for _, change := range answer.Changes {
		c.Printf("%s %s %s\n", terminal.Style(terminal.Amber, "waits for a person:"), Line(change.ID+" "+change.Summary, 120), terminal.Style(terminal.Blue, Line(change.URL, 200)))
	}
	switch answer.Stop {
	case assistant.Length:
		c.Printf("%s\n", terminal.Style(terminal.Faint, "(cut at the model's limit of tokens)"))
	case assistant.Declined:
		c.Printf("%s\n", terminal.Style(terminal.Faint, "(declined)"))
	case assistant.Rounds:
		c.Printf("%s\n", terminal.Style(terminal.Faint, "(all rounds of calls are used. --max-rounds allows more)"))
	}
	return ended, nil
}

// errInterrupted is the reason for which Ctrl-C ends an answer.
var errInterrupted = errors.New("interrupted")

// interruptible runs do until it returns or a signal arrives. ended is true after SIGTERM.
func (c *chat) interruptible(ctx context.Context, heard chan os.Signal, do func(context.Context) error) (ended bool, err error) {
	select {
	case <-heard: // drop a signal that arrived before the question
	default:
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	for {
		select {
		case err := <-done:
			if errors.Is(err, errInterrupted) {
				c.Printf("%s\n", terminal.Style(terminal.Faint, "(stopped)"))
				err = nil
			}
			return ended, err
		case s := <-heard:
			ended = s == syscall.SIGTERM
			cancel(errInterrupted)
		}
	}
}

func (c *chat) text(piece string) {
	c.spinner.Stop()
	c.markdown.Write(piece)
}

func (c *chat) call(call assistant.Call) {
	c.markdown.Close()
	c.spinner.Start(Line(call.Name, 40))
}

func (c *chat) result(call assistant.Call) {
	c.spinner.Stop()
	c.Printf("%s\n", callLines(call, c.trace))
	c.spinner.Start("thinking")
}

func (c *chat) notice(n assistant.Notice) {
	c.spinner.Stop()
	c.markdown.Close()
	c.Printf("%s\n", terminal.Style(terminal.Faint, Line(n.Text, 200)))
	c.spinner.Start("thinking")
}

// confirm asks before a write is proposed.
func (c *chat) confirm(ctx context.Context, call assistant.Call) (bool, error) {
	if c.yes || !c.Interactive() {
		return c.session.confirm(ctx, call)
	}
	c.spinner.Stop()
	c.markdown.Close()
	c.Printf("%s\n", proposal(call))
	line, err := c.lines.Answer("Propose it? A person decides about it then. [y/N] ")
	if errors.Is(err, errInterrupt) || errors.Is(err, io.EOF) {
		return false, nil
	}
	c.spinner.Start("thinking")
	return isYes(line), err
}

// command runs a slash command. An error is printed and doesn't end the chat.
func (c *chat) command(ctx context.Context, line string) error {
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch name {
	case "/help":
		for _, cmd := range talkCommands {
			c.Printf("  %-9s %s\n", cmd[0], cmd[1])
		}
	case "/reset":
		c.assistant.Reset()
		c.Printf("%s\n", terminal.Style(terminal.Faint, "The conversation begins anew."))
	case "/compact":
		return c.compact(ctx)
	case "/tools":
		return c.tools(ctx)
	case "/trace":
		c.trace = !c.trace
		c.Printf("%s\n", terminal.Style(terminal.Faint, "trace: "+map[bool]string{true: "on", false: "off"}[c.trace]))
	case "/cost":
		c.Printf("session: %s\nlast:    %s\n", c.assistant.Usage(), c.last)
	case "/history":
		for _, m := range c.assistant.History() {
			text := m.Text
			for _, call := range m.Calls {
				text += " → " + call.Name + " " + call.Result
			}
			c.Printf("%-9s  %s\n", m.Role, Line(strings.TrimSpace(text), 120))
		}
	case "/as":
		return c.as(ctx, line, rest)
	default:
		names := []string{"/help"}
		for _, cmd := range talkCommands {
			names = append(names, cmd[0])
		}
		return fmt.Errorf("there is no command %s%s", name, problem.DidYouMean(problem.Nearest(name, names, 1)))
	}
	return nil
}

// compact lets the model summarise the conversation. It prints the cost and the beginning of the summary.
func (c *chat) compact(ctx context.Context) error {
	before := c.assistant.Usage()
	c.spinner.Start("summarising")
	summary, err := c.assistant.Compact(ctx)
	c.spinner.Stop()
	if err != nil {
		return err
	}
	if summary == "" {
		c.Printf("%s\n", terminal.Style(terminal.Faint, "There is nothing to compact yet."))
		return nil
	}
	after := c.assistant.Usage()
	c.Printf("%s\n%s\n", terminal.Style(terminal.Faint, fmt.Sprintf("compacted with %d tokens in, %d out:", after.Input-before.Input, after.Output-before.Output)), Line(summary, 400))
	return nil
}

// tools prints the names of the tools that the model may call.
func (c *chat) tools(ctx context.Context) error {
	all, err := c.assistant.Tools(ctx)
	if err != nil {
		return err
	}
	for _, name := range all {
		c.Printf("  %s\n", Line(name, 80))
	}
	c.Printf("%s\n", terminal.Style(terminal.Faint, fmt.Sprintf("%d tools", len(all))))
	return nil
}

// as continues as another principal. It drops the conversation, because the previous principal may have seen more.
func (c *chat) as(ctx context.Context, line, who string) error {
	if who == "" {
		return errors.New("/as wants a token, or a tenant where the gateway is in this process")
	}
	c.lines.Secret(line)
	before, end := c.assistant, c.end
	c.As(who)
	if err := c.connect(ctx); err != nil {
		c.assistant, c.end = before, end
		return err
	}
	c.Printf("%s\n", terminal.Style(terminal.Faint, "You are somebody else now. The conversation begins anew."))
	return end()
}

// completeCommands completes slash commands.
func completeCommands(before string) (int, []string) {
	var all []string
	for _, cmd := range talkCommands {
		if strings.HasPrefix(before, "/") && strings.HasPrefix(cmd[0], before) {
			all = append(all, cmd[0])
		}
	}
	return 0, all
}

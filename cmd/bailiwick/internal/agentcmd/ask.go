package agentcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bailiwick-dev/bailiwick/assistant"
	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// maxQuestion is the maximum size of a question from standard input, in bytes.
const maxQuestion = 1 << 20

// A session contains the flags of ask and chat.
type session struct {
	dialer
	*terminal.Terminal
	trace     bool
	yes       bool
	system    string
	rounds    int
	compactAt int
}

func (s *session) flags(f *pflag.FlagSet) {
	s.Flags(f)
	f.BoolVar(&s.trace, "trace", os.Getenv("BAILIWICK_CHAT_TRACE") == "true", "show the arguments and results of each call (default $BAILIWICK_CHAT_TRACE)")
	f.BoolVar(&s.yes, "yes", false, "propose writes without asking. People still decide about each")
	f.StringVar(&s.system, "system", "", "`TEXT` that the model gets beside how to work here")
	f.IntVar(&s.rounds, "max-rounds", 0, "at most `N` rounds of calls for one question (default 8)")
	f.IntVar(&s.compactAt, "compact-at", 0, "compact the conversation from `N` tokens on (default never)")
}

// open connects to the gateway and returns an assistant for it. The function end closes both.
func (s *session) open(ctx context.Context, hooks assistant.Hooks) (a *assistant.Assistant, end func() error, err error) {
	p, err := provider()
	if err != nil {
		return nil, nil, err
	}
	c, endGateway, err := s.Open(ctx)
	if err != nil {
		return nil, nil, advise(err)
	}
	end = func() error { return errors.Join(c.Close(), endGateway()) }
	a, err = assistant.New(assistant.Options{Client: c, Provider: p, System: s.system, MaxRounds: s.rounds, CompactAt: s.compactAt, Hooks: hooks})
	if err != nil {
		return nil, nil, errors.Join(config.Usage(err), end())
	}
	return a, end, nil
}

// AskCommand returns the command that asks one question.
func AskCommand(t *terminal.Terminal) *cobra.Command {
	s := &session{Terminal: t}
	cmd := &cobra.Command{
		Use:   "ask QUESTION|-",
		Short: "Ask a model one question about the application",
		Long:  "Ask a model one question about the application. It calls the gateway's tools as an agent would. The answer is on\nstandard output, the calls are on standard error. LLM_PROVIDER names the model's provider.",
		Example: "  bailiwick ask \"How many critical bugs are open?\" --source sqlite:app.db\n" +
			"  echo \"Who has the most open work?\" | bailiwick ask - --json --url http://127.0.0.1:8420/mcp --token bw_…",
		Args: terminal.These(1, "QUESTION"),
		RunE: func(cmd *cobra.Command, args []string) error { return s.ask(cmd.Context(), args[0]) },
	}
	s.flags(cmd.Flags())
	return cmd
}

// ask answers one question. "-" means the question on standard input. Calls and notices are written to standard
// error, so that standard output contains only the answer. The exit code is 1 if the model declined to answer.
func (s *session) ask(ctx context.Context, question string) error {
	if question == "-" {
		text, err := io.ReadAll(io.LimitReader(s.In, maxQuestion+1))
		if err != nil {
			return fmt.Errorf("read the question: %w", err)
		}
		if question = strings.TrimSpace(string(text)); len(text) > maxQuestion {
			return config.Usagef("the question is larger than %d bytes", maxQuestion)
		}
	}
	if strings.TrimSpace(question) == "" {
		return config.Usagef("the question is empty")
	}
	hooks := assistant.Hooks{
		OnResult: func(c assistant.Call) { s.Notef("%s", callLines(c, s.trace)) },
		OnNotice: func(n assistant.Notice) { s.Notef("%s", terminal.Style(terminal.Faint, Line(n.Text, 200))) },
		Confirm:  s.confirm,
	}
	a, end, err := s.open(ctx, hooks)
	if err != nil {
		return err
	}
	answer, err := a.Ask(ctx, question)
	if err = errors.Join(err, end()); err != nil {
		return err
	}
	switch {
	case s.JSON:
		err = s.PrintJSON(answer)
	case s.OutIsTerminal():
		m := Markdown{Out: s.Out}
		m.Write(answer.Text)
		m.Close()
	default:
		s.Printf("%s\n", sanitize(answer.Text))
	}
	if s.trace {
		s.Notef("%s", terminal.Style(terminal.Faint, answer.Usage.String()))
	}
	if err == nil && answer.Stop == assistant.Declined {
		return terminal.ErrSaid
	}
	return err
}

// confirm asks the person at the terminal whether to make a call that proposes a write. Without a terminal, it
// confirms only with --yes.
func (s *session) confirm(_ context.Context, c assistant.Call) (bool, error) {
	if s.yes {
		return true, nil
	}
	if !s.Interactive() {
		s.Notef("%s", terminal.Style(terminal.Amber, "not proposed: "+Line(c.Name+" "+string(c.Arguments), 160)+" (--yes proposes without asking)"))
		return false, nil
	}
	fmt.Fprint(s.Err, proposal(c)+" [y/N] ")
	line, err := bufio.NewReader(s.In).ReadString('\n')
	return isYes(line), ignoreEOF(err)
}

// proposal returns the confirmation question for a call that proposes a write.
func proposal(c assistant.Call) string {
	return "Propose " + terminal.Style(terminal.Amber, Line(c.Name, 64)) + " " + sanitize(string(c.Arguments)) + " ?"
}

func isYes(line string) bool {
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes"
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// maxTraced is the maximum number of lines shown of one result in a trace.
const maxTraced = 12

// callLines returns a call on one line. With trace it also returns the arguments and the result.
func callLines(c assistant.Call, trace bool) string {
	mark := ""
	if c.Refused {
		mark = terminal.Style(terminal.Amber, " refused")
	}
	took := c.Duration.Round(100 * time.Microsecond).String()
	if !trace {
		return terminal.Style(terminal.Faint, "→ "+Line(c.Name+" "+string(c.Arguments), 84)+"  "+took) + mark
	}
	text := terminal.Style(terminal.Blue, "→ "+sanitize(c.Name+" "+string(c.Arguments))) + terminal.Style(terminal.Faint, "  "+took) + mark
	lines := strings.Split(strings.TrimRight(sanitize(c.Result), "\n"), "\n")
	for i, line := range lines {
		if i == maxTraced && i < len(lines)-1 {
			return text + "\n" + terminal.Style(terminal.Faint, fmt.Sprintf("  … %d more lines", len(lines)-i))
		}
		text += "\n" + terminal.Style(terminal.Faint, "  "+Line(line, 160))
	}
	return text
}

// Package terminal is where the command line reads and writes: results on standard output, as text or as JSON, and all
// else on standard error.
//
// It stands below the commands, which all speak through it, so that errors look the same everywhere. What a command
// line says wrongly is a usage error, which ends the program with code 2. It refuses nothing itself.
package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Terminal is where commands read and write: results on out, all else on err.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	JSON     bool // machine output, on Out alone
	shown    bool // Out is a terminal
}

// Interactive reports whether a person is at both ends: what is written goes to a terminal, and what is read comes from one.
func (t *Terminal) Interactive() bool {
	in, ok := t.In.(*os.File)
	return ok && t.shown && term.IsTerminal(in.Fd())
}

// Shown reports whether standard output is a terminal.
func (t *Terminal) Shown() bool { return t.shown }

// New drops colours where NO_COLOR says so, and all styles where no terminal shows them.
func New(in io.Reader, out, err io.Writer) *Terminal {
	env := os.Environ()
	file, ok := out.(*os.File)
	return &Terminal{shown: ok && term.IsTerminal(file.Fd()), In: in, Out: colorprofile.NewWriter(out, env), Err: colorprofile.NewWriter(err, env)}
}

// The styles of text for people; a terminal that can't show them gets the bare text.
const (
	plain = "\x1b[0m"
	Bold  = "\x1b[1m"
	Faint = "\x1b[2m"
	Red   = "\x1b[31m"
	Green = "\x1b[32m"
	Amber = "\x1b[33m"
	Blue  = "\x1b[36m"
)

// Styled returns text in a style.
func Styled(style, text string) string { return style + text + plain }

// Printf writes to standard output. One that has gone can't be told so.
func (t *Terminal) Printf(format string, args ...any) { fmt.Fprintf(t.Out, format, args...) }

// Notef writes a line to standard error.
func (t *Terminal) Notef(format string, args ...any) { fmt.Fprintf(t.Err, format+"\n", args...) }

// PrintJSON writes v as one line of JSON.
func (t *Terminal) PrintJSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	t.Printf("%s\n", b)
	return nil
}

// ErrSaid ends a command with exit code 1 that has said already what is wrong.
var ErrSaid = errors.New("")

// Fail says err, once, and returns the exit code.
func (t *Terminal) Fail(cmd *cobra.Command, err error) int {
	code := 1
	if IsUsage(err) {
		code = 2
	}
	switch {
	case errors.Is(err, ErrSaid):
	case t.JSON:
		t.Printf("%s\n", failureJSON(err))
	default:
		fmt.Fprint(t.Err, failureText(err))
		if code == 2 {
			t.Notef("%s", Styled(Faint, "Try: "+cmd.CommandPath()+" --help"))
		}
	}
	return code
}

// failureText says err to a person: what is wrong, and then what to do about it.
func failureText(err error) string {
	if e, ok := errors.AsType[*config.Error](err); ok {
		n := len(e.Faults) + e.More
		s := "s"
		if n == 1 {
			s = ""
		}
		return fmt.Sprintf("%s\n%s\n", e.Error(), Styled(Red, fmt.Sprintf("%d fault%s in the configuration", n, s)))
	}
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return Styled(Red, "Error: ") + err.Error() + "\n"
	}
	var b strings.Builder
	b.WriteString(Styled(Red, string(p.Code)+": ") + strings.Join(p.Lines(), "\n  ") + "\n")
	if p.Code == problem.Internal && p.Err != nil {
		b.WriteString("  " + p.Err.Error() + "\n") // who runs the command is the operator
	}
	return b.String()
}

// details say where in the arguments something is wrong, as every door writes them (design 04).
type details struct {
	Errors  []problem.Fault `json:"errors,omitempty"`
	Pointer string          `json:"pointer,omitempty"`
	Near    []string        `json:"near,omitempty"`
	Scope   string          `json:"scope,omitempty"`
	*problem.Denial
	*problem.Reply
}

// failureJSON is err as every door writes it (design 04), with what only a command line adds.
func failureJSON(err error) []byte {
	if e, ok := errors.AsType[*client.Refusal](err); ok && e.Raw != nil {
		return e.Raw
	}
	out := struct {
		Error      string         `json:"error"`
		Code       problem.Code   `json:"error_code"`
		Details    *details       `json:"details,omitempty"`
		Faults     []config.Fault `json:"faults,omitempty"`
		Retryable  bool           `json:"retryable"`
		Suggestion string         `json:"suggestion,omitempty"`
	}{Error: err.Error(), Code: problem.Internal}
	if e, ok := errors.AsType[*config.Error](err); ok {
		out.Error, out.Code, out.Faults = "the configuration is not right", "invalid_configuration", e.Faults
	} else if p, ok := errors.AsType[*problem.Error](err); ok {
		out.Error, out.Code, out.Retryable, out.Suggestion = p.Detail, p.Code, p.Retryable(), p.Suggestion
		if p.Pointer != "" || p.Near != nil || p.Faults != nil || p.Scope != "" || p.Denial != nil || p.Reply != nil {
			out.Details = &details{Errors: p.Faults, Pointer: p.Pointer, Near: p.Near, Scope: p.Scope, Denial: p.Denial, Reply: p.Reply}
		}
	} else if IsUsage(err) {
		out.Code = "usage"
	} else {
		out.Code = "failed"
	}
	b, _ := json.Marshal(out) // plain strings always encode
	return b
}

// Printable makes control characters in what an agent wrote harmless to a terminal.
func Printable(s string) string {
	if strings.ContainsFunc(s, func(c rune) bool { return !strconv.IsPrint(c) }) {
		return strconv.Quote(s)
	}
	return s
}

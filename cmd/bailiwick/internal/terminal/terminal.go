// Package terminal handles the input and output of the command line. Results are written to standard output as text
// or JSON. Everything else is written to standard error.
//
// All commands use this package, so that their errors look the same. An invalid command line is a usage error of
// package config, with exit code 2.
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

// A Terminal is the input and output of a command. Results are written to Out and everything else to Err.
type Terminal struct {
	In            io.Reader
	Out, Err      io.Writer
	JSON          bool // write machine-readable output, only to Out
	shown         bool // Out is a terminal
	errIsTerminal bool
}

// Interactive reports whether both standard input and standard output are terminals.
func (t *Terminal) Interactive() bool {
	in, ok := t.In.(*os.File)
	return ok && t.shown && term.IsTerminal(in.Fd())
}

// OutIsTerminal reports whether standard output is a terminal.
func (t *Terminal) OutIsTerminal() bool { return t.shown }

// ErrIsTerminal reports whether standard error is a terminal that a person reads.
func (t *Terminal) ErrIsTerminal() bool { return t.errIsTerminal }

// New returns a Terminal. It removes colours if NO_COLOR is set, and all styles if the output is not a terminal.
func New(in io.Reader, out, err io.Writer) *Terminal {
	env := os.Environ()
	return &Terminal{shown: isTerminal(out), errIsTerminal: isTerminal(err), In: in, Out: colorprofile.NewWriter(out, env), Err: colorprofile.NewWriter(err, env)}
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(file.Fd())
}

// Styles of text for people. They are removed if the terminal doesn't support them.
const (
	plain = "\x1b[0m"
	Bold  = "\x1b[1m"
	Faint = "\x1b[2m"
	Red   = "\x1b[31m"
	Green = "\x1b[32m"
	Amber = "\x1b[33m"
	Blue  = "\x1b[36m"
)

// Style returns text in a style.
func Style(style, text string) string { return style + text + plain }

// Printf writes to standard output. Write errors are ignored.
func (t *Terminal) Printf(format string, args ...any) { fmt.Fprintf(t.Out, format, args...) }

// Notef writes a line to standard error.
func (t *Terminal) Notef(format string, args ...any) { fmt.Fprintf(t.Err, format+"\n", args...) }

// Count returns a number with its noun. thing is the noun in the singular. Examples are "1 place" and "2 classes".
func Count[N int | int64](n N, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "s"):
		thing += "es"
	default:
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// PrintJSON writes v as one line of JSON.
func (t *Terminal) PrintJSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	t.Print(string(b))
	return nil
}

// ErrSaid ends a command with exit code 1 after the command has printed its own error.
var ErrSaid = errors.New("")

// Fail prints err and returns the exit code.
func (t *Terminal) Fail(cmd *cobra.Command, err error) int {
	code := 1
	if config.IsUsage(err) {
		code = 2
	}
	switch {
	case errors.Is(err, ErrSaid):
	case t.JSON:
		t.Print(string(failureJSON(err)))
	default:
		fmt.Fprint(t.Err, failureText(err))
		if code == 2 {
			t.Notef("%s", Style(Faint, "Try: "+cmd.CommandPath()+" --help"))
		}
	}
	return code
}

// failureText returns err as text for a person, with the problem first and then the next step. Text from others
// within it can't control the terminal.
func failureText(err error) string {
	if e, ok := errors.AsType[*config.Error](err); ok {
		n := len(e.Faults) + e.More
		s := "s"
		if n == 1 {
			s = ""
		}
		return fmt.Sprintf("%s\n%s\n", Sanitize(e.Error()), Style(Red, fmt.Sprintf("%d fault%s in the configuration", n, s)))
	}
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return Style(Red, "Error: ") + Sanitize(err.Error()) + "\n"
	}
	var b strings.Builder
	b.WriteString(Style(Red, string(p.Code)+": ") + Sanitize(strings.Join(p.Lines(), "\n  ")) + "\n")
	if (p.Code == problem.Internal || p.Store) && p.Err != nil {
		b.WriteString("  " + Sanitize(p.Err.Error()) + "\n") // the user is the operator and may see the cause
	}
	return b.String()
}

// A details locates an error in the arguments, in the same form as all transports.
type details struct {
	Errors  []problem.Fault `json:"errors,omitempty"`
	Pointer string          `json:"pointer,omitempty"`
	Near    []string        `json:"near,omitempty"`
	Scope   string          `json:"scope,omitempty"`
	*problem.Denial
	*problem.Reply
}

// failureJSON returns err in the same form as all transports, with additional members for the command line.
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
	} else if config.IsUsage(err) {
		out.Code = "usage"
	} else {
		out.Code = "failed"
	}
	b, _ := json.Marshal(out) // can't fail for plain data
	return b
}

// Printable quotes s if it contains control characters, which could affect the terminal.
func Printable(s string) string {
	if strings.ContainsFunc(s, func(c rune) bool { return !strconv.IsPrint(c) }) {
		return strconv.Quote(s)
	}
	return s
}

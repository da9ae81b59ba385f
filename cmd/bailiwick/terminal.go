package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/client"
	"github.com/bailiwick-dev/bailiwick/config"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A terminal is where commands read and write: results on out, all else on err.
type terminal struct {
	in       io.Reader
	out, err io.Writer
	json     bool // machine output, on out alone
}

// newTerminal drops colours where NO_COLOR says so, and all styles where no terminal shows them.
func newTerminal(in io.Reader, out, err io.Writer) *terminal {
	env := os.Environ()
	return &terminal{in: in, out: colorprofile.NewWriter(out, env), err: colorprofile.NewWriter(err, env)}
}

// The styles of text for people; a terminal that can't show them gets the bare text.
const (
	plain = "\x1b[0m"
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	amber = "\x1b[33m"
	blue  = "\x1b[36m"
)

func styled(style, text string) string { return style + text + plain }

// printf writes to standard output. One that has gone can't be told so.
func (t *terminal) printf(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }

// notef writes a line to standard error.
func (t *terminal) notef(format string, args ...any) { fmt.Fprintf(t.err, format+"\n", args...) }

// printJSON writes v as one line of JSON.
func (t *terminal) printJSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	t.printf("%s\n", b)
	return nil
}

// errSaid ends a command with exit code 1 that has said already what is wrong.
var errSaid = errors.New("")

// fail says err, once, and returns the exit code.
func (t *terminal) fail(cmd *cobra.Command, err error) int {
	code := 1
	if isUsage(err) {
		code = 2
	}
	switch {
	case errors.Is(err, errSaid):
	case t.json:
		t.printf("%s\n", failureJSON(err))
	default:
		fmt.Fprint(t.err, failureText(err))
		if code == 2 {
			t.notef("%s", styled(faint, "Try: "+cmd.CommandPath()+" --help"))
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
		return fmt.Sprintf("%s\n%s\n", e.Error(), styled(red, fmt.Sprintf("%d fault%s in the configuration", n, s)))
	}
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return styled(red, "Error: ") + err.Error() + "\n"
	}
	var b strings.Builder
	detail := p.Detail
	switch {
	case len(p.Faults) > 1:
		detail = fmt.Sprintf("%d faults in the arguments", len(p.Faults))
		for _, f := range p.Faults {
			detail += "\n  " + strings.TrimPrefix(f.Pointer+": ", ": ") + f.Message
		}
	case p.Pointer != "":
		detail += " (at " + p.Pointer + ")"
	}
	b.WriteString(styled(red, string(p.Code)+": ") + detail + "\n")
	if len(p.Near) > 0 {
		b.WriteString("  near: " + strings.Join(p.Near, ", ") + "\n")
	}
	if p.Suggestion != "" {
		b.WriteString("  → " + p.Suggestion + "\n")
	}
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
		if p.Pointer != "" || p.Near != nil || p.Faults != nil || p.Scope != "" {
			out.Details = &details{Errors: p.Faults, Pointer: p.Pointer, Near: p.Near, Scope: p.Scope}
		}
	} else if isUsage(err) {
		out.Code = "usage"
	} else {
		out.Code = "failed"
	}
	b, _ := json.Marshal(out) // plain strings always encode
	return b
}

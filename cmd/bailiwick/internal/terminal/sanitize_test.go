package terminal_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/spf13/cobra"
)

const hostile = "é\x1b[31mred\x1b]0;title\x07\u009b2J\u202eabc\u2028\r\n日本\rend"

// TestGuard checks that data can't control a terminal, whatever the size of the pieces written.
func TestGuard(t *testing.T) {
	for size := 1; size < len(hostile); size++ {
		var out bytes.Buffer
		w := terminal.Guard(&out)
		for rest := []byte(hostile); len(rest) > 0; {
			n, err := w.Write(rest[:min(size, len(rest))])
			if err != nil || n == 0 {
				t.Fatal(n, err)
			}
			rest = rest[n:]
		}
		if want := "é\ufffd[31mred\ufffd]0;title\ufffd\ufffd2J\ufffdabc \n日本 end"; out.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, out.String(), want)
		}
	}
}

// TestTable checks that data in a table can't control a terminal.
func TestTable(t *testing.T) {
	var out, err bytes.Buffer
	term := terminal.New(os.Stdin, &out, &err)
	term.Out = &out
	w := term.Table()
	if _, err := w.Write([]byte("NAME\tKIND\n" + "Cl\u202eedua\u202c\x1b[31m\u200b\tagent\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.ContainsAny(got, "\u202e\u202c\u200b\x1b") || !strings.Contains(got, "edua") || !strings.Contains(got, "agent") {
		t.Errorf("%q", got)
	}
}

// TestPrint checks that data is written unchanged to a file or a program.
func TestPrint(t *testing.T) {
	var out, err bytes.Buffer
	term := terminal.New(os.Stdin, &out, &err)
	term.Out = &out // bypass the writer for styles, which would also change the data
	term.Print(hostile)
	if out.String() != hostile+"\n" {
		t.Errorf("%q", out.String())
	}
	term.Fail(&cobra.Command{}, &problem.Error{Code: problem.NotFound, Detail: "there is no " + hostile, Suggestion: hostile})
	if strings.ContainsAny(strings.ReplaceAll(err.String(), "\x1b[", ""), "\x1b\x07\u009b\u202e") || strings.Contains(err.String(), "[31mred") && !strings.Contains(err.String(), "\ufffd[31mred") {
		t.Errorf("%q", err.String())
	}
}

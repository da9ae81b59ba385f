package operate

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
)

// streamPage is the number of rows that a table aligns together. A longer list is printed in parts.
const streamPage = 1000

// streamTable prints a heading and a row for each element of a list, without their number in memory.
func streamTable[T any](t *terminal.Terminal, heading string, all iter.Seq2[T, error], row func(io.Writer, T)) error {
	w, n := t.Table(), 0
	fmt.Fprintln(w, heading)
	for one, err := range all {
		if err != nil {
			return err
		}
		if row(w, one); n%streamPage == streamPage-1 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
		n++
	}
	return w.Flush()
}

// streamJSON prints a list under a name as one line of JSON, without its number in memory.
func streamJSON[T any](t *terminal.Terminal, name string, all iter.Seq2[T, error], form func(T) any) error {
	out := t.Out
	if t.OutIsTerminal() {
		out = terminal.Guard(t.Out)
	}
	between := fmt.Sprintf("{%q:[", name)
	for one, err := range all {
		if err != nil {
			return err
		}
		b, err := json.Marshal(form(one))
		if err != nil {
			return fmt.Errorf("encode the answer: %w", err)
		}
		if _, err := fmt.Fprintf(out, "%s%s", between, b); err != nil {
			return err
		}
		between = ","
	}
	if between != "," {
		fmt.Fprint(out, between)
	}
	_, err := fmt.Fprintln(out, "]}")
	return err
}

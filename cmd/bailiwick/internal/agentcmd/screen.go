package agentcmd

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
)

// sanitize is a short name for terminal.Sanitize.
func sanitize(text string) string { return terminal.Sanitize(text) }

// Line returns text on one line of at most the given number of columns.
func Line(text string, columns int) string {
	return displaywidth.TruncateString(strings.ReplaceAll(sanitize(text), "\n", " "), columns, "…")
}

// A Spinner shows at a terminal that an operation is in progress.
type Spinner struct {
	Out   io.Writer
	Shown bool // set if the output is a terminal

	mu   sync.Mutex
	stop chan struct{} // closed by Stop. Nil while nothing is shown
	done chan struct{} // closed when the spinner has ended
}

// Start shows the text what until Stop or the next Start.
func (s *Spinner) Start(what string) {
	s.Stop()
	if !s.Shown {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stop, done := make(chan struct{}), make(chan struct{})
	s.stop, s.done = stop, done
	go func() {
		defer close(done)
		tick := time.NewTicker(120 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				fmt.Fprint(s.Out, "\r\x1b[K")
				return
			case <-tick.C:
				fmt.Fprintf(s.Out, "\r%s\x1b[K", terminal.Style(terminal.Faint, string([]rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[i%10])+" "+what))
			}
		}
	}()
}

// Stop removes the spinner and returns after it has disappeared.
func (s *Spinner) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		close(s.stop)
		<-s.done
		s.stop = nil
	}
}

// Table formats rows as a table. The first row is the header. Cells are cut to maxCell columns.
func Table(rows [][]string) string {
	const maxCell = 48
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			row[i] = Line(cell, maxCell)
			widths[i] = max(widths[i], displaywidth.String(row[i]))
		}
	}
	var b strings.Builder
	for n, row := range rows {
		for i, cell := range row {
			if i > 0 {
				b.WriteString(" │ ")
			}
			if i < len(row)-1 {
				cell += strings.Repeat(" ", widths[i]-displaywidth.String(cell))
			}
			if n == 0 {
				cell = terminal.Style(terminal.Bold, cell)
			}
			b.WriteString(cell)
		}
		b.WriteByte('\n')
		if n == 0 {
			for i, w := range widths {
				if i > 0 {
					b.WriteString("─┼─")
				}
				b.WriteString(strings.Repeat("─", w))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

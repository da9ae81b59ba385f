// Package screen is how conversations look in a terminal: lines that a person edits, Markdown as it is written, tables, and
// a sign that something is under way.
//
// The interactive commands share it. It refuses to let data control the terminal: what isn't printable is replaced.
package screen

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/mattn/go-runewidth"

	"github.com/bailiwick-dev/bailiwick/internal/terminal"
)

// Inert returns text that does nothing to a terminal but show itself: line feeds stay, tabs become spaces, and what can't be
// printed, the marks that turn the direction of text around among it, becomes U+FFFD.
func Inert(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || unicode.IsPrint(c):
			return c
		case c == '\t' || unicode.IsSpace(c):
			return ' '
		}
		return unicode.ReplacementChar
	}, text)
}

// Line returns text in one line of at most so many columns.
func Line(text string, columns int) string {
	return runewidth.Truncate(strings.ReplaceAll(Inert(text), "\n", " "), columns, "…")
}

// A Spinner shows that something is under way, where a person looks at a terminal.
type Spinner struct {
	Out   io.Writer
	Shown bool // whether there is a terminal

	mu   sync.Mutex
	stop chan struct{}
	done chan struct{}
}

// Start shows what is under way, until Stop or another Start.
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
				fmt.Fprintf(s.Out, "\r%s\x1b[K", terminal.Styled(terminal.Faint, string([]rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[i%10])+" "+what))
			}
		}
	}()
}

// Stop takes the sign away, and returns once it is gone.
func (s *Spinner) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		close(s.stop)
		<-s.done
		s.stop = nil
	}
}

// Table returns rows as a table whose first row is the head, with columns of at most maxCell.
func Table(rows [][]string) string {
	const maxCell = 48
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			row[i] = Line(cell, maxCell)
			widths[i] = max(widths[i], runewidth.StringWidth(row[i]))
		}
	}
	var b strings.Builder
	for n, row := range rows {
		for i, cell := range row {
			if i > 0 {
				b.WriteString(" │ ")
			}
			if i < len(row)-1 {
				cell = runewidth.FillRight(cell, widths[i])
			}
			if n == 0 {
				cell = terminal.Styled(terminal.Bold, cell)
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

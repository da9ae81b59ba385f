package terminal

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// Sanitize returns text without terminal control: line feeds stay, other white space becomes spaces, and unprintable
// characters, including marks of text direction, become U+FFFD.
func Sanitize(text string) string {
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

// Print writes data and a line feed to standard output. It writes them unchanged for a file or a program, and through
// Sanitize for a terminal.
func (t *Terminal) Print(data string) {
	if t.shown {
		data = Sanitize(data)
	}
	fmt.Fprintln(t.Out, data)
}

// Table returns a writer of lines to standard output, whose columns are divided by tabs. It removes control characters
// from the data of others, such as the names that programs give themselves. Flush writes it.
func (t *Terminal) Table() *tabwriter.Writer {
	return tabwriter.NewWriter(Guard(t.Out), 0, 8, 2, ' ', 0)
}

// Guard returns a writer that writes to w what is written to it, as Sanitize leaves it. A character may come in several pieces.
func Guard(w io.Writer) io.Writer { return &guard{w: w} }

// A guard is a writer of sanitized text.
type guard struct {
	w    io.Writer
	rest []byte // the beginning of a character, or a carriage return that a line feed may follow
}

// Write implements io.Writer.
func (g *guard) Write(data []byte) (int, error) {
	text := append(g.rest, data...)
	whole := len(text)
	for i := 1; i <= min(utf8.UTFMax, len(text)); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-i:]) || i == 1 && c == '\r' {
				whole -= i
			}
			break
		}
	}
	_, err := io.WriteString(g.w, Sanitize(string(text[:whole])))
	g.rest = append([]byte(nil), text[whole:]...)
	return len(data), err
}

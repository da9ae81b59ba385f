package terminal

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// Sanitize returns text that can't control a terminal. Line feeds stay, and other white space becomes spaces.
// Unprintable characters, including marks of text direction, become U+FFFD.
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

// Print writes data and a line feed to standard output. For a terminal it sanitizes the data. For a file or a program
// it writes the data unchanged.
func (t *Terminal) Print(data string) {
	if t.shown {
		data = Sanitize(data)
	}
	fmt.Fprintln(t.Out, data)
}

// Table returns a writer for a table on standard output. Its columns are separated by tabs. It sanitizes the data,
// because names may come from other programs. The caller must call Flush.
func (t *Terminal) Table() *tabwriter.Writer {
	return tabwriter.NewWriter(Guard(t.Out), 0, 8, 2, ' ', 0)
}

// Guard returns a writer that writes sanitized text to w. A character may be split between several writes.
func Guard(w io.Writer) io.Writer { return &guard{w: w} }

// A guard is a writer of sanitized text.
type guard struct {
	w    io.Writer
	rest []byte // the beginning of a character, or a carriage return that may be followed by a line feed
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

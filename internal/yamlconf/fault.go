package yamlconf

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A PositionFault is a fault at a position in a file.
type PositionFault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`    // from 1, or 0 if the fault concerns the file as a whole
	Column  int    `json:"column"`  // from 1, in characters
	Path    string `json:"path"`    // the keys that lead to the position, separated by dots. "" at the top
	Message string `json:"message"` // the fault and how to correct it
	Excerpt string `json:"excerpt"` // the line, with passwords in URLs masked, and a caret below the column
}

// String returns the fault as text: the position and the message, then the excerpt.
func (f PositionFault) String() string {
	s := f.File
	if f.Line > 0 {
		s += fmt.Sprintf(":%d:%d", f.Line, f.Column)
	}
	s += ": "
	if f.Path != "" {
		s += f.Path + ": "
	}
	s += f.Message
	if f.Excerpt != "" {
		s += "\n" + f.Excerpt
	}
	return s
}

// An Error contains all faults of a document, in the document's order.
type Error struct {
	Faults   []PositionFault // at most 100
	More     int             // the number of further faults
	Document Document        // as far as it could be read
}

const maxFaults = 100

// Error returns the faults, one after the other.
func (e *Error) Error() string {
	var b strings.Builder
	for i, f := range e.Faults {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(f.String())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\nand %d more", e.More)
	}
	return b.String()
}

// A Position is a line and column in a file, both from 1. Line 0 means the file as a whole.
type Position struct {
	file         *file
	Line, Column int
}

// File returns the name of the file, or "" for the zero Position.
func (p Position) File() string {
	if p.file == nil {
		return ""
	}
	return p.file.name
}

// Wrong reports a fault at position p. The argument at is the JSON pointer of the place. The message contains the
// fault and how to correct it.
func (r *Reader) Wrong(p Position, at, format string, args ...any) {
	if len(r.faults) == maxFaults {
		r.more++
		return
	}
	// Excerpts are added at the end, because masking a wide line takes time.
	r.faults = append(r.faults, noted{PositionFault{File: p.File(), Line: p.Line, Column: p.Column, Path: dottedPath(at), Message: fmt.Sprintf(format, args...)}, p.file})
}

// WrongAt reports a fault at the JSON pointer at, or at the deepest existing key above it.
func (r *Reader) WrongAt(at, message string) { r.Wrong(locate(r.places, at), at, "%s", message) }

// locate returns the position of the JSON pointer at. If it doesn't exist, locate returns the position of the deepest
// existing key above it.
func locate(places map[string]Position, at string) Position {
	for {
		if p, ok := places[at]; ok || at == "" {
			return p
		}
		at = at[:strings.LastIndexByte(at, '/')]
	}
}

// A noted fault has no excerpt yet.
type noted struct {
	PositionFault
	in *file
}

// error returns the faults of d in the document's order, or nil if there are none.
func (r *Reader) error(d Document) error {
	slices.SortStableFunc(r.faults, func(a, b noted) int {
		return cmp.Or(cmp.Compare(a.in.order, b.in.order), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	type line struct {
		in *file
		n  int
	}
	shown := map[line][]rune{}
	out := make([]PositionFault, len(r.faults))
	for i, f := range r.faults {
		out[i] = f.PositionFault
		if f.Line < 1 || f.Line > len(f.in.lines) {
			continue
		}
		of := line{f.in, f.Line}
		if _, ok := shown[of]; !ok {
			shown[of] = f.in.maskedLine(f.Line)
		}
		out[i].Excerpt = excerpt(shown[of], Position{f.in, f.Line, f.Column})
	}
	return &Error{out, r.more, d}
}

// dottedPath converts a JSON pointer to names separated by dots.
func dottedPath(at string) string {
	parts := strings.Split(strings.TrimPrefix(at, "/"), "/")
	for i, p := range parts {
		parts[i] = problem.Cut(strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~"))
	}
	return strings.Join(parts, ".")
}

// passwords match the places in a line that may contain a password: before the @ in a URL, and in a parameter.
var passwords = []*regexp.Regexp{
	regexp.MustCompile(`(://[^:/?#\s]*:)([^\s"']*)@`),
	regexp.MustCompile(`(?i)(password=)([^\s"'&]*)`),
	regexp.MustCompile(`(?i)(\bsecret["']?:\s+)([^$,}\n][^,}\n]*)`),
}

// starPasswords returns line with a star for each character of its passwords. References such as ${…} are not
// replaced.
func starPasswords(line string) string {
	for _, p := range passwords {
		line = p.ReplaceAllStringFunc(line, func(found string) string {
			m := p.FindStringSubmatch(found)
			if strings.HasPrefix(m[2], "${") && strings.HasSuffix(m[2], "}") {
				return found
			}
			return m[1] + strings.Repeat("*", utf8.RuneCountInString(m[2])) + found[len(m[1])+len(m[2]):]
		})
	}
	return line
}

// excerpt returns the text of p's line with its number, and a caret below the column.
func excerpt(text []rune, p Position) string {
	at := min(max(p.Column-1, 0), len(text))
	// A line that is too wide for a terminal is shown partially.
	const before, after = 90, 60
	lead, tail, wide := "", "", len(text) > before+after
	if wide && len(text)-at > after {
		text, tail = text[:at+after], "…"
	}
	if wide && at > before {
		text, lead, at = text[at-before:], "…", before
	}
	shown := strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return '→' // visible, and as wide as the column says
		case r < ' ' || r == 0x7f:
			return '�'
		}
		return r
	}, string(text))
	return fmt.Sprintf("%5d | %s%s%s\n      | %s^", p.Line, lead, shown, tail, strings.Repeat(" ", utf8.RuneCountInString(lead)+at))
}

// LogText returns the faults without excerpts of the file.
func (e *Error) LogText() string {
	faults := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		f.Excerpt = ""
		faults[i] = f.String()
	}
	return problem.Sentences(faults...)
}

package agentcmd

import (
	"io"
	"strings"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
)

// A Markdown writes Markdown to a terminal while it arrives. Headings and bold text become bold, code is coloured,
// and lists get bullets. Tables are buffered until their last row, because only then the column widths are known.
type Markdown struct {
	Out io.Writer

	line  strings.Builder // buffered text of a line of unknown kind, or of a table row
	kind  kind
	table [][]string
	fence bool   // inside a code block
	style string // of the current text
	star  bool   // a pending * that may be the start of **
	run   strings.Builder
	in    string // the style of run, the buffered text
}

// A kind is the kind of a line, determined by its first characters.
type kind int

const (
	open kind = iota // not known yet
	prose
	heading
	row
	code
	fenceLine
)

// Write adds a piece of text. The text can't control the terminal.
func (m *Markdown) Write(piece string) {
	for _, c := range sanitize(piece) {
		if c == '\n' {
			m.endLine()
			continue
		}
		if m.kind == open {
			m.line.WriteRune(c)
			m.decide()
			continue
		}
		m.rune(c)
	}
	m.flush()
}

// Close ends the text. It writes buffered text and moves the cursor to the start of a line.
func (m *Markdown) Close() {
	if m.kind != open || m.line.Len() > 0 {
		m.endLine()
	}
	m.flushTable()
	m.flush()
	*m = Markdown{Out: m.Out}
}

// decide determines the kind of the line once enough of it is known, and writes the buffered text.
func (m *Markdown) decide() {
	held := m.line.String()
	text := strings.TrimLeft(held, " ")
	indent := held[:len(held)-len(text)]
	switch {
	case text == "" || !m.fence && (text == "#" || text == "##" || text == "###" || text == "####" || text == "-" || text == "*") || text == "`" || text == "``":
		return // not enough text yet
	case strings.HasPrefix(text, "```"):
		m.kind = fenceLine
		return
	case m.fence:
		m.kind = code
		m.appendText(terminal.Blue, held)
	case text[0] == '|':
		m.kind = row
		return
	case strings.HasPrefix(strings.TrimLeft(text, "#"), " "):
		m.kind = heading
	case strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "* "):
		m.kind = prose
		m.flushTable()
		m.put(indent + "• ")
	default:
		m.kind = prose
		m.flushTable()
		m.put(indent)
		m.line.Reset()
		for _, c := range text {
			m.rune(c)
		}
	}
	m.line.Reset()
}

// rune writes one character of a line of known kind.
func (m *Markdown) rune(c rune) {
	switch m.kind {
	case row, fenceLine:
		m.line.WriteRune(c)
		return
	case code:
		m.appendText(terminal.Blue, string(c))
		return
	case heading:
		m.flushTable()
		m.appendText(terminal.Bold, string(c))
		return
	}
	switch {
	case c == '*' && m.style != terminal.Blue && !m.star:
		m.star = true
	case c == '*' && m.star:
		m.star = false
		m.toggle(terminal.Bold)
	default:
		m.putStar()
		if c == '`' {
			m.toggle(terminal.Blue)
			return
		}
		m.appendText(m.style, string(c))
	}
}

func (m *Markdown) toggle(style string) {
	if m.style == style {
		style = ""
	}
	m.style = style
}

// appendText appends text in a style to the buffered run. The style may be "".
func (m *Markdown) appendText(style, text string) {
	if style != m.in {
		m.flush()
		m.in = style
	}
	m.run.WriteString(text)
}

// flush writes the buffered run.
func (m *Markdown) flush() {
	text := m.run.String()
	m.run.Reset()
	if text == "" {
		return
	}
	if m.in != "" {
		text = terminal.Style(m.in, text)
	}
	_, _ = io.WriteString(m.Out, text) // write errors are ignored
}

// putStar writes a * that is not part of a pair.
func (m *Markdown) putStar() {
	if m.star {
		m.star = false
		m.appendText(m.style, "*")
	}
}

// endLine ends the current line. It buffers rows of a table. At a line of another kind, it first prints the buffered
// table.
func (m *Markdown) endLine() {
	held := m.line.String()
	switch m.kind {
	case row:
		m.table = append(m.table, cells(held))
	case fenceLine:
		m.flushTable()
		m.fence = !m.fence
	default:
		m.flushTable()
		m.put(held)
		m.putStar()
		m.put("\n")
	}
	m.kind, m.style = open, ""
	m.line.Reset()
}

// cells returns the cells of a row, without inline markup.
func cells(line string) []string {
	all := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	for i, c := range all {
		all[i] = strings.NewReplacer("**", "", "`", "").Replace(strings.TrimSpace(c))
	}
	return all
}

// flushTable writes the buffered table without the row of dashes below the header.
func (m *Markdown) flushTable() {
	if m.table == nil {
		return
	}
	rows := m.table[:1:1]
	for _, r := range m.table[1:] {
		if strings.Trim(strings.Join(r, ""), "-: ") != "" {
			rows = append(rows, r)
		}
	}
	m.table = nil
	m.put(Table(rows))
}

func (m *Markdown) put(text string) { m.appendText("", text) }

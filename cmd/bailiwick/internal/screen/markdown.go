package screen

import (
	"io"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/terminal"
)

// A Markdown writes Markdown to a terminal while it comes: headings and bold text stand out, code is coloured, lists have
// dots, and tables are held back until their last row so that their columns line up.
type Markdown struct {
	Out io.Writer

	line  strings.Builder // what is held back of a line whose kind is open, or that is a row of a table
	kind  kind
	table [][]string
	fence bool   // within a block of code
	style string // of the text being written
	star  bool   // one * has come, of which nothing is written yet
	run   strings.Builder
	in    string // the style of run, what is to be written next
}

// A kind is what a line is, which its first characters say.
type kind int

const (
	open kind = iota // not known yet
	prose
	heading
	row
	code
	fenceLine
)

// Write takes the next piece. What it holds can't control the terminal.
func (m *Markdown) Write(piece string) {
	for _, c := range Inert(piece) {
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

// Close ends the text: what is held back is written, and the cursor is at the begin of a line.
func (m *Markdown) Close() {
	if m.kind != open || m.line.Len() > 0 {
		m.endLine()
	}
	m.flushTable()
	m.flush()
	*m = Markdown{Out: m.Out}
}

// decide finds out what the line is, once enough of it has come, and writes what it held back.
func (m *Markdown) decide() {
	held := m.line.String()
	text := strings.TrimLeft(held, " ")
	indent := held[:len(held)-len(text)]
	switch {
	case text == "" || !m.fence && (text == "#" || text == "##" || text == "###" || text == "####" || text == "-" || text == "*") || text == "`" || text == "``":
		return // not enough
	case strings.HasPrefix(text, "```"):
		m.kind = fenceLine
		return
	case m.fence:
		m.kind = code
		m.styled(terminal.Blue, held)
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

// rune writes one character of a line whose kind is known.
func (m *Markdown) rune(c rune) {
	switch m.kind {
	case row, fenceLine:
		m.line.WriteRune(c)
		return
	case code:
		m.styled(terminal.Blue, string(c))
		return
	case heading:
		m.flushTable()
		m.styled(terminal.Bold, string(c))
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
		m.styled(m.style, string(c))
	}
}

func (m *Markdown) toggle(style string) {
	if m.style == style {
		style = ""
	}
	m.style = style
}

// styled adds text in a style, "" for none, to what is written next.
func (m *Markdown) styled(style, text string) {
	if style != m.in {
		m.flush()
		m.in = style
	}
	m.run.WriteString(text)
}

// flush writes the run.
func (m *Markdown) flush() {
	text := m.run.String()
	m.run.Reset()
	if text == "" {
		return
	}
	if m.in != "" {
		text = terminal.Styled(m.in, text)
	}
	_, _ = io.WriteString(m.Out, text) // a terminal that has gone can't be told
}

// putStar writes a * that was no half of a pair.
func (m *Markdown) putStar() {
	if m.star {
		m.star = false
		m.styled(m.style, "*")
	}
}

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

// cells returns the cells of a row, without the marks of inline text.
func cells(line string) []string {
	all := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	for i, c := range all {
		all[i] = strings.NewReplacer("**", "", "`", "").Replace(strings.TrimSpace(c))
	}
	return all
}

// flushTable writes the table that has come, without the row of dashes below its head.
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

func (m *Markdown) put(text string) { m.styled("", text) }

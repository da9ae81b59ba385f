package agentcmd

import (
	"io"
	"strings"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
)

// A Markdown writes Markdown to a terminal as it arrives. Headings and bold text are bold, code is coloured, and lists
// have bullets. Tables are held back until their last row so that columns are aligned.
type Markdown struct {
	Out io.Writer

	line  strings.Builder // held back text of a line of unknown kind or of a table row
	kind  kind
	table [][]string
	fence bool   // inside a code block
	style string // of the current text
	star  bool   // a pending * that may start a **
	run   strings.Builder
	in    string // the style of run, the text to write next
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

// Write adds a piece of text. It can't control the terminal.
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

// Close ends the text: held back text is written, and the cursor is at the start of a line.
func (m *Markdown) Close() {
	if m.kind != open || m.line.Len() > 0 {
		m.endLine()
	}
	m.flushTable()
	m.flush()
	*m = Markdown{Out: m.Out}
}

// decide determines the kind of the line when enough of it is known, and writes the held back text.
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

// appendText appends text to the run. The style may be "".
func (m *Markdown) appendText(style, text string) {
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

// endLine ends the line that was begun. Rows of a table are kept until a line of another kind comes, which prints the table first.
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

// flushTable writes the collected table, without the row of dashes below its head.
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

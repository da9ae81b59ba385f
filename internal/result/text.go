package result

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/value"
)

// A Format is a text format for records.
type Format string

// The text formats.
const (
	JSON      Format = "json"
	JSONLines Format = "jsonl" // one JSON object per line
	CSV       Format = "csv"   // RFC 4180, with a header line
	Markdown  Format = "markdown"
	Table     Format = "table" // aligned columns
)

// AppendLines appends a header line and one line per record: the text sent with structured results. It writes values as
// JSON scalars and null as nothing, except in a record of one column.
func (p *Page) AppendLines(dst []byte) []byte {
	dst = slices.Grow(dst, len(p.json)+p.Count+1024) // lines have no names, and are seldom longer than the JSON, for which the memory is used next
	for i, c := range p.Columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, c...)
	}
	for _, row := range p.rows {
		dst = append(dst, '\n')
		for i, v := range row {
			if i > 0 {
				dst = append(dst, ',')
			}
			if !v.IsNull() || len(row) == 1 { // an empty line would not be a record
				dst = v.AppendJSON(dst)
			}
		}
	}
	return dst
}

// AppendFields appends record i as "field: value" lines, without null fields unless all are null.
func (p *Page) AppendFields(dst []byte, i int) []byte {
	dst = slices.Grow(dst, len(p.Record(i)))
	first := true
	none := !slices.ContainsFunc(p.rows[i], func(v value.Value) bool { return !v.IsNull() })
	for j, v := range p.rows[i] {
		if v.IsNull() && !none {
			continue
		}
		if !first {
			dst = append(dst, '\n')
		}
		first = false
		dst = append(append(dst, p.Columns[j]...), ": "...)
		dst = v.AppendJSON(dst)
	}
	return dst
}

// Text returns the page as CSV, Markdown or a Table.
func (p *Page) Text(f Format) string { return TextOf(f, p.Columns, p.rows) }

// TextOf returns rows as CSV, Markdown or a Table.
func TextOf(f Format, columns []string, rows []value.Row) string {
	s := &sheet{format: f}
	dst := s.append(nil, header(columns))
	for _, row := range rows {
		dst = s.append(dst, row)
	}
	return string(s.end(dst))
}

// header returns the names of columns as the first line of a sheet.
func header(names []string) []value.Value {
	out := make([]value.Value, len(names))
	for i, n := range names {
		out[i] = value.OfString(n)
	}
	return out
}

// A sheet encodes lines of cells as CSV, Markdown or a Table. The first line is the header.
type sheet struct {
	format Format
	lines  int
	held   [][]string // the lines of a Table, whose widths are known only at the end
}

// append appends one line.
func (s *sheet) append(dst []byte, cells []value.Value) []byte {
	s.lines++
	switch s.format {
	case CSV:
		if len(cells) == 1 && cells[0].IsNull() { // an empty line would not be a record
			return append(dst, "\"\"\r\n"...)
		}
		for i, v := range cells {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCSV(dst, v)
		}
		return append(dst, "\r\n"...)
	case Markdown:
		dst = append(dst, '|')
		for _, v := range cells {
			dst = append(dst, ' ')
			dst = append(dst, markdown(v.String())...)
			dst = append(dst, " |"...)
		}
		dst = append(dst, '\n')
		if s.lines == 1 {
			dst = append(append(append(dst, '|'), strings.Repeat(" --- |", len(cells))...), '\n')
		}
		return dst
	}
	texts := make([]string, len(cells))
	for i, v := range cells {
		texts[i] = strings.Map(visible, v.String())
	}
	s.held = append(s.held, texts)
	return dst
}

// end appends a Table's lines.
func (s *sheet) end(dst []byte) []byte {
	var widths []int
	for _, line := range s.held {
		for i, c := range line {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for _, line := range s.held {
		spaces := 0
		for i, c := range line {
			if c != "" {
				dst = append(append(dst, strings.Repeat(" ", spaces)...), c...)
				spaces = 0
			}
			spaces += widths[i] - utf8.RuneCountInString(c) + 2
		}
		dst = append(dst, '\n')
	}
	return dst
}

// appendCSV appends v as a cell, in quotes if it needs them (RFC 4180).
func appendCSV(dst []byte, v value.Value) []byte {
	from := len(dst)
	return quoteCSV(v.AppendText(dst), from, v)
}

// quoteCSV makes a cell of the text of v, which dst has from there on.
func quoteCSV(dst []byte, from int, v value.Value) []byte {
	if runs(dst[from:]) && !(v.IsNumber() && dst[len(dst)-1] <= '9') { // numbers are safe, except -Infinity
		dst = slices.Insert(dst, from, '\'')
	}
	special := false
	for _, c := range dst[from:] {
		if c == '"' || c == ',' || c == '\r' || c == '\n' {
			special = true
			break
		}
	}
	if !special {
		return dst
	}
	quoted := strings.ReplaceAll(string(dst[from:]), `"`, `""`)
	return append(append(append(dst[:from], '"'), quoted...), '"')
}

// runs reports whether a spreadsheet could run a cell, as a formula or by an effect of its beginning on the cells
// beside it. Spreadsheets skip spaces and invisible characters at the beginning, and take the full width forms of the
// signs where people write with them.
func runs(cell []byte) bool {
	if len(cell) == 0 || cell[0] >= '0' && cell[0] <= '9' || cell[0] >= 'A' && cell[0] <= 'Z' || cell[0] >= 'a' && cell[0] <= 'z' {
		return false // as most begin
	}
	if strings.IndexByte("\t\r\n", cell[0]) >= 0 {
		return true
	}
	cell = bytes.TrimLeftFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) })
	r, _ := utf8.DecodeRune(cell)
	return strings.ContainsRune("=+-@＝＋－＠", r)
}

// markdown returns data as Markdown that shows it as it is.
func markdown(text string) string {
	return markdownEscapes.Replace(entities.ReplaceAllString(text, "&amp;$1"))
}

// entities finds texts that Markdown would read as one character: "&colon;" can complete an address that is made a
// link.
var entities = regexp.MustCompile(`&(#[0-9xX]|[A-Za-z][A-Za-z0-9]{0,31};)`)

// markdownEscapes keeps data from being rendered as anything but text. Links can mislead readers. The reader's program
// fetches images, which reveals data in their addresses. Bare addresses become links in most readers as well.
var markdownEscapes = strings.NewReplacer("\\", `\\`, "|", `\|`, "\r\n", "<br>", "\n", "<br>", "\r", "<br>", "<", "&lt;", "[", `\[`, "]", `\]`, "`", "\\`",
	"://", `\://`, "www.", `www\.`, "WWW.", `WWW\.`, "mailto:", `mailto\:`, "xmpp:", `xmpp\:`)

// visible replaces characters that would move the cursor, or turn the direction of the line, by a space.
func visible(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
		return ' '
	}
	return r
}

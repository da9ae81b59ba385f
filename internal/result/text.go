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

// AppendLines appends a header line and one line per record. It is the text that accompanies structured results. It
// writes values as JSON scalars. Null is empty, except in a record with a single column.
func (p *Page) AppendLines(dst []byte) []byte {
	dst = slices.Grow(dst, len(p.json)+p.Count+1024) // lines have no names, so they are usually shorter than the JSON, which uses the same memory next
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

// AppendFields appends record i as "field: value" lines. It omits null fields unless all fields are null.
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
	held   [][]string // the lines of a Table: their widths are known only at the end
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

// appendCSV appends v as a cell, in quotes if necessary (RFC 4180).
func appendCSV(dst []byte, v value.Value) []byte {
	from := len(dst)
	return quoteCSV(v.AppendText(dst), from, v)
}

// quoteCSV turns the text of v into a cell. The text begins at position from of dst and ends with dst.
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

// runs reports whether a spreadsheet could execute a cell as a formula, or whether the beginning of the cell could
// affect the next cells. Spreadsheets skip spaces and invisible characters at the beginning. Some also accept
// full-width signs.
func runs(cell []byte) bool {
	if len(cell) == 0 || cell[0] >= '0' && cell[0] <= '9' || cell[0] >= 'A' && cell[0] <= 'Z' || cell[0] >= 'a' && cell[0] <= 'z' {
		return false // most cells begin like this
	}
	if strings.IndexByte("\t\r\n", cell[0]) >= 0 {
		return true
	}
	cell = bytes.TrimLeftFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) })
	r, _ := utf8.DecodeRune(cell)
	return strings.ContainsRune("=+-@＝＋－＠", r)
}

// markdown returns text as Markdown that shows it unchanged.
func markdown(text string) string {
	return markdownEscapes.Replace(entities.ReplaceAllString(text, "&amp;$1"))
}

// entities matches texts that Markdown reads as one character. For example, "&colon;" can complete an address that
// becomes a link.
var entities = regexp.MustCompile(`&(#[0-9xX]|[A-Za-z][A-Za-z0-9]{0,31};)`)

// markdownEscapes prevents data from being rendered as anything except text. Links can mislead readers. Images reveal
// data, because a reader's program fetches their addresses. In most readers, addresses also become links.
var markdownEscapes = strings.NewReplacer("\\", `\\`, "|", `\|`, "\r\n", "<br>", "\n", "<br>", "\r", "<br>", "<", "&lt;", "[", `\[`, "]", `\]`, "`", "\\`",
	"://", `\://`, "www.", `www\.`, "WWW.", `WWW\.`, "mailto:", `mailto\:`, "xmpp:", `xmpp\:`)

// visible replaces a character by a space if it would move the cursor or change the text direction.
func visible(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
		return ' '
	}
	return r
}

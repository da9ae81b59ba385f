package shape

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/value"
)

// A Format is a form of text for records.
type Format string

// The formats. Lines is what goes beside structured results: one header line, then a line a record.
const (
	JSON     Format = "json"
	CSV      Format = "csv"
	Markdown Format = "markdown"
	Table    Format = "table"
)

// AppendLines appends one header line and one line a record, values as JSON scalars, null as nothing.
func (p *Page) AppendLines(dst []byte) []byte {
	dst = slices.Grow(dst, len(p.json)+512) // lines have no names, and seldom take more than the JSON
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
			if !v.IsNull() {
				dst = v.AppendJSON(dst)
			}
		}
	}
	return dst
}

// AppendFields appends record i as "field: value" lines, without the fields that are null.
func (p *Page) AppendFields(dst []byte, i int) []byte {
	dst = slices.Grow(dst, len(p.Record(i)))
	first := true
	for j, v := range p.rows[i] {
		if v.IsNull() {
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

// Text writes the page in a format other than JSON.
func (p *Page) Text(f Format) string {
	switch f {
	case CSV:
		return p.csv()
	case Markdown:
		return p.markdown()
	}
	return p.table()
}

func (p *Page) csv() string {
	var b strings.Builder
	line := func(cells []string) {
		for i, c := range cells {
			if i > 0 {
				b.WriteByte(',')
			}
			if strings.ContainsAny(c, "\",\r\n") {
				c = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
			}
			b.WriteString(c)
		}
		b.WriteString("\r\n") // RFC 4180
	}
	p.each(line, func(v value.Value) string {
		cell := v.String()
		// A spreadsheet would run what begins so. Numbers are safe.
		if !v.IsNumber() && cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
			return "'" + cell
		}
		return cell
	})
	return b.String()
}

func (p *Page) markdown() string {
	var b strings.Builder
	lines := 0
	line := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + c + " |")
		}
		b.WriteString("\n")
		if lines++; lines == 1 {
			b.WriteString("|" + strings.Repeat(" --- |", len(cells)) + "\n")
		}
	}
	escape := strings.NewReplacer("\\", `\\`, "|", `\|`, "\r\n", "<br>", "\n", "<br>", "\r", "<br>", "<", "&lt;")
	p.each(line, func(v value.Value) string { return escape.Replace(v.String()) })
	return b.String()
}

func (p *Page) table() string {
	var rows [][]string
	widths := make([]int, len(p.Columns))
	p.each(func(cells []string) {
		rows = append(rows, append([]string(nil), cells...))
		for i, c := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}, func(v value.Value) string {
		return strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return ' '
			}
			return r
		}, v.String())
	})
	var b strings.Builder
	for _, cells := range rows {
		var line strings.Builder
		for i, c := range cells {
			if i > 0 {
				line.WriteString("  ")
			}
			line.WriteString(c + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// each gives the header and then the cells of each record to line.
func (p *Page) each(line func([]string), cell func(value.Value) string) {
	line(p.Columns)
	cells := make([]string, len(p.Columns))
	for _, row := range p.rows {
		for i, v := range row {
			cells[i] = cell(v)
		}
		line(cells)
	}
}

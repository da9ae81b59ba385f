package result

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/value"
)

// ListValues returns the distinct values in the lists of column i, in the order of the records.
func (p *Page) ListValues(i int) []value.Value {
	var out []value.Value
	seen := map[string]bool{}
	for _, row := range p.whole[:p.Count] {
		for _, v := range row[i].List() {
			if text := v.String(); (v.Kind() == value.String || v.Kind() == value.Int) && !seen[text] {
				seen[text] = true
				out = append(out, v)
			}
		}
	}
	return out
}

// Embed replaces the values in the lists of column i by records. records contains the records by the text of the value.
// Embed stops before the page exceeds its budget. It returns the number of values that stay for lack of room. Values
// without a record stay as well.
func (p *Page) Embed(i int, records map[string]value.Value) (left int) {
	room := p.budget - len(p.json)
	sizes := make(map[string]int, len(records))
	for text, record := range records {
		sizes[text] = len(record.AppendJSON(nil))
	}
	place := 0 // the index of the column in rows
	for _, shown := range p.shown[:i] {
		if shown {
			place++
		}
	}
	for n, row := range p.whole[:p.Count] {
		list := slices.Clone(row[i].List())
		for j, v := range list {
			text := v.String()
			record, ok := records[text]
			switch {
			case !ok:
			case room < sizes[text]:
				left++
			default:
				list[j], room = record, room-sizes[text]
			}
		}
		if list != nil {
			row[i] = value.OfArray(list)
			if p.shown[i] {
				p.rows[n][place] = row[i]
			}
		}
	}
	p.json = p.json[:0]
	for n, row := range p.whole[:p.Count] {
		p.json = p.tree.append(p.json, row)
		p.ends[n] = len(p.json)
	}
	return left
}

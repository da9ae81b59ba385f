package review

import (
	"cmp"
	"slices"
	"strings"
)

// A Table shows the records of one or more changes. It has one row for each record and one column for each field.
// Unusual rows come first.
type Table struct {
	Columns []Column `json:"columns"`
	Rows    []Line   `json:"rows"`
	Named   bool     `json:"named,omitzero"` // at least one record has a label
	Mixed   bool     `json:"mixed,omitzero"` // not all rows have the same class and operation
}

// A Column is a field that at least one row of a Table sets.
type Column struct {
	Path string `json:"path"`
	Same bool   `json:"same,omitzero"` // all rows have the same value after the change
}

// A Line is a record in a Table.
type Line struct {
	Change string  `json:"change_id"`
	Item   int     `json:"item"` // its index in Sheet.Items
	Op     string  `json:"op"`
	Class  string  `json:"class"`
	Key    string  `json:"key,omitzero"`
	Label  string  `json:"label,omitzero"`
	Link   string  `json:"link,omitzero"`   // see Item
	Action string  `json:"action,omitzero"` // see Item
	Says   string  `json:"says,omitzero"`
	Cells  []*Cell `json:"cells"` // by column. Nil for a field that the record's write doesn't set
	Hidden int     `json:"hidden_fields,omitzero"`
	Odd    bool    `json:"odd,omitzero"` // it differs from most rows

	score int
}

// A Cell is a field of a record.
type Cell struct {
	Field
	Place int  `json:"field"`        // its index in Item.Fields
	Odd   bool `json:"odd,omitzero"` // most rows have another value
}

// maxColumns is the maximum number of fields for which records are shown as a table.
const maxColumns = 8

// Tabular reports whether the items of sheets are clearer as one table than separately. There must be several items.
// Together they must set only a few fields, and no field may have an unread part.
func Tabular(sheets ...*Sheet) bool {
	items, paths := 0, map[string]bool{}
	for _, s := range sheets {
		items += len(s.Items)
		for _, item := range s.Items {
			if ordered := item.Op == "call" && len(s.Items) > 1; ordered || len(item.About) > 0 || item.Denied > 0 || item.Moved != "" {
				return false
			}
			for _, f := range item.Fields {
				if f.Unread > 0 || f.Now != nil {
					return false
				}
				if !f.Source {
					paths[f.Path] = true
				}
			}
		}
	}
	return items >= 3 && len(paths) <= maxColumns
}

// TableOf returns the table of all items of sheets. It omits fields that only the source sets.
func TableOf(sheets ...*Sheet) Table {
	var t Table
	at := map[string]int{}
	for _, s := range sheets {
		for i, item := range s.Items {
			for _, f := range item.Fields {
				if _, known := at[f.Path]; !known && !f.Source {
					at[f.Path] = len(t.Columns)
					t.Columns = append(t.Columns, Column{Path: f.Path})
				}
			}
			t.Rows = append(t.Rows, Line{Change: s.ID, Item: i, Op: item.Op, Class: item.Class, Key: item.Key, Label: item.Label, Link: item.Link, Action: item.Action, Says: item.Says, Hidden: item.Hidden})
		}
	}
	for _, row := range t.Rows {
		t.Named = t.Named || row.Label != ""
		t.Mixed = t.Mixed || row.Op != t.Rows[0].Op || row.Class != t.Rows[0].Class
	}
	n := 0
	for _, s := range sheets {
		for _, item := range s.Items {
			row := &t.Rows[n]
			row.Cells = make([]*Cell, len(t.Columns))
			for k, f := range item.Fields {
				if !f.Source {
					row.Cells[at[f.Path]] = &Cell{Field: f, Place: k}
				}
			}
			n++
		}
	}
	t.outliers()
	return t
}

// outliers marks the cells and rows that differ from most, and moves these rows to the front.
func (t *Table) outliers() {
	mark := func(of func(Line) string, odd func(*Line)) (alike bool) {
		count := map[string]int{}
		for _, r := range t.Rows {
			count[of(r)]++
		}
		usual := ""
		for v, n := range count {
			if n*2 > len(t.Rows) {
				usual = v
			}
		}
		if usual == "" {
			return false
		}
		for i := range t.Rows {
			if of(t.Rows[i]) != usual {
				t.Rows[i].Odd, t.Rows[i].score = true, t.Rows[i].score+1
				odd(&t.Rows[i])
			}
		}
		return len(count) == 1
	}
	mark(func(r Line) string { return strings.Join([]string{"o", r.Op, r.Class, r.Action}, "\x00") }, func(*Line) {})
	for i := range t.Columns {
		odd := func(r *Line) {
			if r.Cells[i] != nil {
				r.Cells[i].Odd = true
			}
		}
		t.Columns[i].Same = mark(func(r Line) string { return r.Cells[i].value(func(f Field) Shown { return f.After }) }, odd)
		mark(func(r Line) string { return r.Cells[i].value(func(f Field) Shown { return f.Before }) }, odd)
	}
	slices.SortStableFunc(t.Rows, func(a, b Line) int { return cmp.Compare(b.score, a.score) })
}

// value returns a string that identifies one side of the cell, for comparison.
func (c *Cell) value(side func(Field) Shown) string {
	if c == nil {
		return "none"
	}
	s := side(c.Field)
	return "v" + s.Kind + "\x00" + s.Text + "\x00" + s.Digest
}

package result

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Selection is a column of an export: the value at Path in a record. The path leads through objects, included records
// and JSON.
type Selection struct {
	Path   []string
	Header string // "" means Path
	At     string // the JSON pointer of the selection, for messages
}

// ExportOptions configure an Export.
type ExportOptions struct {
	Format   Format            // CSV, Markdown, Table or JSONLines. A Table is in memory until the end
	Columns  []Selection       // nil means all columns
	Budget   int               // the maximum size of the output in bytes. 0 means no limit
	Progress func(records int) // called after each record. It may be nil
}

// Exported describes the output.
type Exported struct {
	Headers []string
	Count   int  // the number of written records
	More    bool // more records exist than the plan's limit
	Notes   []string
}

// Export writes rows to out, one at a time. If the output exceeds the budget, it stops with a problem.BudgetExceeded
// that lists the columns by size. For an unknown column, it returns a problem.InvalidArgument.
func Export(out io.Writer, rows redact.Rows, o ExportOptions) (Exported, error) {
	plan := rows.Plan()
	if plan == nil {
		return Exported{}, problem.New(problem.PermissionDenied, "no rows may leave")
	}
	if plan.Lists != nil {
		return Exported{}, &problem.Error{Code: problem.Unsupported, Detail: plan.Lists[0].Path.String() + " is a list of pointers, and an export has no records inside of a record",
			Suggestion: "export the class that it leads to by itself, or a pipeline that begins with $unwind"}
	}
	e := &exporter{ExportOptions: o, out: out, plan: plan, tree: treeOf(plan), sheet: &sheet{format: o.Format}}
	if err := e.choose(); err != nil {
		return Exported{}, err
	}
	e.done.Notes = slices.Clone(plan.Notes)
	if o.Format != JSONLines {
		if err := e.write(e.sheet.append(nil, header(e.done.Headers))); err != nil {
			return e.done, err
		}
	}
	counts := make([]int64, len(rows.Tallies()))
	for row, err := range rows.All() {
		if err != nil {
			return e.done, err
		}
		if e.done.Count == plan.Limit {
			e.done.More = true
			break
		}
		if err := e.add(row.Values); err != nil {
			return e.done, err
		}
		addCounts(counts, row.Counts)
	}
	for _, i := range e.missing {
		e.done.Notes = append(e.done.Notes, nullOf(plan.Columns[i].Path.String()))
	}
	e.done.Notes = append(e.done.Notes, unread(rows.Tallies(), counts)...)
	if note := maskedToNull(plan); note != "" && e.done.Count > 0 {
		e.done.Notes = append(e.done.Notes, note)
	}
	return e.done, e.write(e.sheet.end(nil))
}

// An exporter is the state of one export.
type exporter struct {
	ExportOptions
	out     io.Writer
	plan    *policy.Plan
	tree    *node
	sheet   *sheet
	columns []selected
	sizes   []size        // the size of the output, by column
	whole   bool          // records are written as JSON, without selected columns
	missing []int         // the columns with lists and joined texts of groups that are null in some record
	written int           // the number of written bytes
	line    []byte        // reused for each record
	cells   []value.Value // reused for each record
	text    []byte        // reused for each cell
	done    Exported
}

// selected is a resolved Selection: a member of the record, and a path inside its JSON.
type selected struct {
	node *node
	part []string
}

// choose resolves the selected columns. By default it selects all shown columns. Headers are unique. JSON lines without
// selected columns contain the records unchanged.
func (e *exporter) choose() error {
	if e.Columns == nil {
		e.whole = e.Format == JSONLines
		for i, c := range e.plan.Columns {
			if e.tree.showsColumn(i) {
				e.columns = append(e.columns, selected{node: e.tree.find(c.Path)})
				e.done.Headers = append(e.done.Headers, c.Path.String())
			}
		}
	}
	for _, c := range e.Columns {
		s, ok := e.find(c.Path)
		if !ok {
			return e.unknownColumnError(c)
		}
		name := c.Header
		if name == "" {
			name = strings.Join(c.Path, ".")
		}
		if slices.Contains(e.done.Headers, name) {
			return &problem.Error{Code: problem.InvalidArgument, Pointer: c.At, Detail: fmt.Sprintf("two columns are called %q", problem.Cut(name))}
		}
		e.columns, e.done.Headers = append(e.columns, s), append(e.done.Headers, name)
	}
	if e.whole {
		for _, n := range e.tree.children {
			e.sizes = append(e.sizes, size{name: n.name})
		}
	} else {
		for _, name := range e.done.Headers {
			e.sizes = append(e.sizes, size{name: name})
		}
	}
	e.cells = make([]value.Value, len(e.columns))
	return nil
}

// find resolves path to a member of the record or to a part of a JSON member.
func (e *exporter) find(path []string) (selected, bool) {
	for i := len(path); i > 0; i-- {
		n := e.tree.find(path[:i])
		if n == nil {
			continue
		}
		return selected{n, path[i:]}, i == len(path) || n.column >= 0 && n.children == nil && e.plan.Columns[n.column].Field.Type.IsStructured()
	}
	return selected{}, false
}

// unknownColumnError returns the error for an unknown column. It contains similar names, or the first twenty names if
// there are none.
func (e *exporter) unknownColumnError(c Selection) error {
	var names []string
	for i, column := range e.plan.Columns {
		if e.tree.showsColumn(i) {
			names = append(names, column.Path.String())
		}
	}
	for _, n := range e.tree.children {
		if !slices.Contains(names, n.name) {
			names = append(names, n.name)
		}
	}
	name := strings.Join(c.Path, ".")
	near := problem.Nearest(name, names, 3)
	p := &problem.Error{Code: problem.InvalidArgument, Pointer: c.At, Near: near,
		Detail: fmt.Sprintf("the records have no column %q", problem.Cut(name))}
	if len(near) == 0 {
		p.Suggestion = "they have " + strings.Join(names[:min(len(names), 20)], ", ")
	}
	return p
}

// add writes one record.
func (e *exporter) add(row value.Row) error {
	if err := e.tooLong(row); err != nil {
		return err
	}
	for i, v := range row {
		if v.IsNull() && !slices.Contains(e.missing, i) && slices.Contains(e.plan.Gathered, e.plan.Columns[i].Path.String()) {
			e.missing = append(e.missing, i)
		}
	}
	line := e.line[:0]
	if e.whole {
		line = append(e.tree.append(line, row), '\n')
		if e.Budget > 0 {
			for i, m := range e.tree.sizes(row) {
				e.sizes[i].bytes += m.bytes
			}
		}
	} else {
		line = e.appendColumns(line, row)
	}
	e.line = line
	if err := e.write(line); err != nil {
		return err
	}
	e.done.Count++
	if e.Progress != nil {
		e.Progress(e.done.Count)
	}
	return nil
}

// appendColumns appends the selected columns of a record and measures their texts. For CSV, the most frequent format,
// it creates each text only once.
func (e *exporter) appendColumns(dst []byte, row value.Row) []byte {
	for i, c := range e.columns {
		v := c.node.value(row).Part(c.part)
		switch {
		case e.Format == CSV:
			if i > 0 {
				dst = append(dst, ',')
			}
			from := len(dst)
			dst = v.AppendText(dst)
			e.sizes[i].bytes += len(dst) - from + 1
			dst = quoteCSV(dst, from, v)
		case e.Budget > 0:
			e.text = v.AppendText(e.text[:0])
			e.sizes[i].bytes += len(e.text) + 1
		}
		e.cells[i] = v
	}
	switch e.Format {
	case CSV:
		return append(dst, "\r\n"...)
	case JSONLines:
		return e.object(dst)
	}
	return e.sheet.append(dst, e.cells)
}

// tooLong returns an error for a record with a truncated value, because an export must be complete.
func (e *exporter) tooLong(row value.Row) error {
	for i, v := range row {
		if v.Kind() != value.Cut || !e.whole && !slices.ContainsFunc(e.columns, func(s selected) bool { return slices.Contains(s.node.columns, i) }) {
			continue
		}
		name := e.plan.Columns[i].Path.String()
		detail := fmt.Sprintf("%s is too large in record %d", name, e.done.Count+1)
		if v.Size() >= value.Unmeasured {
			detail = fmt.Sprintf("%s is a list too large to be gathered in record %d", name, e.done.Count+1)
		} else if v.Size() > 0 {
			detail = fmt.Sprintf("%s has %d bytes in record %d, more than is read of one value", name, v.Size(), e.done.Count+1)
		}
		return &problem.Error{Code: problem.BudgetExceeded, Detail: detail,
			Suggestion: "name the other columns. get_object with part reads the large value piece by piece"}
	}
	return nil
}

// object appends the selected columns as a JSON object.
func (e *exporter) object(dst []byte) []byte {
	for i, name := range e.done.Headers {
		open := byte(',')
		if i == 0 {
			open = '{'
		}
		dst = append(value.AppendQuote(append(dst, open), name), ':')
		dst = e.cells[i].AppendJSON(dst)
	}
	return append(dst, "}\n"...)
}

// write writes b unless the output would exceed the budget. A truncated file would look complete, so the export then
// fails. The error suggests columns that would fit. A Table stays in memory until the end, so its cells count as well.
func (e *exporter) write(b []byte) error {
	e.written += len(b)
	total := 0
	for _, s := range e.sizes {
		total += s.bytes
	}
	if e.Budget > 0 && (e.written > e.Budget || e.Format == Table && total > e.Budget) {
		// The records so far show which columns are large. Suggest columns with half of the total size.
		heavy, keep := heaviest(e.sizes, total, total/2)
		p := &problem.Error{Code: problem.BudgetExceeded, Suggestion: "ask for fewer records",
			Detail: fmt.Sprintf("the output is over the budget of %d bytes (records that fit: %d). The largest columns are %s", e.Budget, e.done.Count, strings.Join(heavy, ", "))}
		if len(keep) > 0 {
			p.Suggestion = "ask for columns [" + strings.Join(keep, ", ") + "], or for fewer records"
		}
		return p
	}
	if _, err := e.out.Write(b); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	return nil
}

package result

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A builder makes a page of rows. It stores at most one row more than fit the budget.
type builder struct {
	plan   *policy.Plan
	budget int
	whole  bool // no record may be cut
	tree   *node
	page   *Page
	read   int
	passed int       // the size in bytes of the records that were counted after the cut
	key    []int     // the columns of the id
	heavy  []int     // the dropped columns, in the order of Page.Dropped
	spare  value.Row // memory for further records
	last   value.Row // the place of the last record shown
	end    value.Row // the values of the last record, if its place doesn't identify it
	run    int       // the number of records at the end of the page that equal the last one

	limit   int    // the maximum number of records on the page
	skipped int    // the number of records of earlier pages that were read again
	scratch []byte // memory for digests

	tallies []policy.Column
	counts  []int64 // the sums over the shown records, by tally
}

// mostPassed is the maximum number of bytes that are read after a cut only to count records.
const mostPassed = 8 << 20

// build reads rows into b's page until the plan's limit. It only counts the records after the first one that doesn't
// fit the budget, up to mostPassed bytes, because counting isn't worth reading a large table. Rows without a plan are
// refused: see redact.
func build(rows redact.Rows, b *builder) (*Page, error) {
	plan := rows.Plan()
	if plan == nil {
		return nil, problem.New(problem.PermissionDenied, "no rows may leave")
	}
	b.plan, b.budget, b.tree, b.key = plan, cmp.Or(b.budget, DefaultBudget), treeOf(plan), keyOf(plan)
	b.page = &Page{Notes: plan.Notes, Truncated: plan.Truncated, Pointers: pointersOf(plan), Lists: plan.Lists, tree: b.tree, budget: b.budget}
	b.limit = plan.Limit - plan.Resume.Extra()
	b.tallies = rows.Tallies()
	b.counts = make([]int64, len(b.tallies))
	for row, err := range b.resumeRows(rows.All()) {
		if err != nil {
			return nil, err
		}
		if b.read++; b.read > b.limit {
			b.page.More = true
			break
		}
		if !b.page.Cut {
			if err := b.add(row); err != nil {
				return nil, err
			}
			continue
		}
		for _, v := range row.Values {
			b.passed += len(v.Text())
		}
		if b.passed > mostPassed {
			break
		}
	}
	return b.finish(), nil
}

// add adds a record and then makes the page fit the budget.
func (b *builder) add(row redact.Row) error {
	p := b.page
	p.rows = append(p.rows, b.keep(row.Values))
	p.ids = append(p.ids, b.id(row.Values))
	switch p.Count++; p.Count {
	case 1:
		n := min(4, b.limit)
		p.json = make([]byte, 0, min(b.budget, n*b.tree.length(row.Values)))
	case 16:
		more := len(p.json) / (p.Count - 1) * max(1, b.limit-p.Count+1)
		p.json = slices.Grow(p.json, min(b.budget, more+more/8))
	}
	for i, v := range row.Values {
		if v.Kind() == value.Cut {
			if b.plan.Program != nil {
				return b.tooLarge()
			}
			b.drop(i)
		}
	}
	for n, i := range b.heavy {
		b.forget(n, p.rows[p.Count-1], i)
	}
	p.json = b.tree.append(p.json, p.rows[p.Count-1])
	p.ends = append(p.ends, len(p.json))
	for len(p.json) > b.budget {
		i := b.heaviest()
		if i < 0 {
			return b.cut(row)
		}
		b.drop(i)
	}
	b.note(row)
	addCounts(b.counts, row.Counts)
	return nil
}

// keep returns a copy of a record. Many copies share one allocation.
func (b *builder) keep(row value.Row) value.Row {
	if len(b.spare) < len(row) {
		b.spare = make(value.Row, len(row)*min(64, b.page.Count+1))
	}
	copied := b.spare[:len(row):len(row)]
	b.spare = b.spare[len(row):]
	copy(copied, row)
	return copied
}

// cut removes the last record from the page, if that is allowed.
func (b *builder) cut(row redact.Row) error {
	p := b.page
	switch {
	case b.whole, p.Count == 1 && b.plan.Program != nil:
		return b.tooLarge()
	case p.Count == 1: // nothing is left except the key of the record
		b.note(row)
		return nil
	}
	p.Count--
	p.rows, p.ids, p.ends = p.rows[:p.Count], p.ids[:p.Count], p.ends[:p.Count]
	p.json, p.Cut = p.json[:p.ends[p.Count-1]], true
	return nil
}

// heaviest returns the column to drop next, or -1. If there are several records, it drops a field only if the field is
// half of the page and other fields remain. Otherwise fewer records are better than fewer fields.
func (b *builder) heaviest() int {
	if b.plan.Program != nil {
		return -1
	}
	heaviest, most, others := -1, 0, 0
	for i := range b.plan.Columns {
		if !b.droppable(i) {
			continue
		}
		others++
		bytes := 0
		for _, row := range b.page.rows {
			bytes += valueSize(row[i])
		}
		if bytes > most {
			heaviest, most = i, bytes
		}
	}
	if heaviest < 0 || b.whole || b.page.Count == 1 || 2*most >= len(b.page.json) && others > 1 {
		return heaviest
	}
	return -1
}

// droppable reports whether a column is shown and can be dropped. The key can't be dropped, because callers read the
// record by its key.
func (b *builder) droppable(i int) bool {
	n := b.tree.leaf(i)
	return n != nil && !n.dropped && !slices.Contains(b.key, i) && b.tree.showsColumn(i)
}

// drop removes a column from the page.
func (b *builder) drop(i int) {
	n := b.tree.leaf(i)
	if n == nil || n.dropped {
		return
	}
	n.dropped = true
	p := b.page
	b.heavy = append(b.heavy, i)
	p.Dropped = append(p.Dropped, Large{Field: b.plan.Columns[i].Path.String()})
	p.json = p.json[:0]
	for r, row := range p.rows {
		b.forget(len(b.heavy)-1, row, i)
		if r < len(p.ends) { // the last record isn't encoded yet
			p.json = b.tree.append(p.json, row)
			p.ends[r] = len(p.json)
		}
	}
}

// forget removes the value of column i from a record and records the value's length. n is the index of the column in
// Page.Dropped.
func (b *builder) forget(n int, row value.Row, i int) {
	large := &b.page.Dropped[n]
	large.Bytes = max(large.Bytes, int64(valueSize(row[i])))
	row[i] = value.Value{}
}

// keyOf returns the columns of a record's key. It returns none for a pipeline, because its records have no id.
func keyOf(plan *policy.Plan) []int {
	if plan.Program != nil {
		return nil
	}
	var out []int
	for _, k := range plan.View.Key() {
		for i, c := range plan.Columns {
			if c.Join == -1 && c.Part == nil && c.Mask == nil && c.Field.Name == k {
				out = append(out, i)
			}
		}
	}
	return out
}

// id returns the id of a record: its key as text. A key of several fields is a JSON list. Without a key, the id is "".
func (b *builder) id(row value.Row) string {
	switch len(b.key) {
	case 0:
		return ""
	case 1:
		return row[b.key[0]].String()
	}
	parts := make([]value.Value, len(b.key))
	for i, k := range b.key {
		parts[i] = value.OfString(row[k].String())
	}
	return value.OfArray(parts).String()
}

// finish removes the columns that aren't shown, and sets the position of the next page. p.whole keeps all columns for
// lists of pointers.
func (b *builder) finish() *Page {
	p := b.page
	shown := make([]bool, len(b.plan.Columns))
	for i, c := range b.plan.Columns {
		if shown[i] = b.tree.showsColumn(i); shown[i] {
			if p.Columns == nil {
				p.Columns = make([]string, 0, len(shown))
			}
			p.Columns = append(p.Columns, c.Path.String())
		}
	}
	if p.Lists != nil {
		p.whole, p.shown = slices.Clone(p.rows), shown
	}
	for i, row := range p.rows {
		kept := row[:0]
		if p.Lists != nil {
			kept = nil
		}
		for j, v := range row {
			if shown[j] {
				kept = append(kept, v)
			}
		}
		p.rows[i] = kept
	}
	if p.Cut {
		p.More = p.More || b.plan.Program == nil
		if b.passed <= mostPassed {
			p.Full = min(b.read, b.limit)
		}
	}
	p.Next = b.next()
	b.missing()
	return p
}

// missing adds notes about lists and joined texts of groups that are null, possibly because they are too large. It also
// adds notes about stored values that groups count as null. The notes depend only on the statement and on the records
// of the page.
func (b *builder) missing() {
	p := b.page
	for i, name := range p.Columns {
		if slices.Contains(b.plan.Gathered, name) && slices.ContainsFunc(p.rows, func(r value.Row) bool { return r[i].IsNull() }) {
			p.Missing = append(p.Missing, nullOf(name))
		}
	}
	p.Missing = append(p.Missing, unread(b.tallies, b.counts)...)
	if note := maskedToNull(b.plan); note != "" && p.Count > 0 {
		p.Missing = append(p.Missing, note)
	}
}

// maskedToNull returns a note that names the returned columns that are masked to null, or "". The note depends only on
// the plan.
func maskedToNull(p *policy.Plan) string {
	var names []string
	for _, c := range p.Columns {
		if c.Mask.Nulls() {
			names = append(names, c.Path.String())
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is masked: it is shown as null whatever it holds"
	}
	return strings.Join(names, ", ") + " are masked: they are shown as null whatever they hold"
}

// addCounts adds the counts of one record.
func addCounts(counts []int64, row value.Row) {
	for i, v := range row {
		n, _ := v.AsInt()
		counts[i] += n
	}
}

// unread returns a sentence for each tally with a count above 0: which stored values were read as null, and how many.
func unread(tallies []policy.Column, counts []int64) []string {
	var out []string
	for i, n := range counts {
		if n > 0 {
			out = append(out, tallies[i].Tally.Sentence(n))
		}
	}
	return out
}

// nullOf returns a note that explains why a list or a joined text of a group may be null.
func nullOf(name string) string {
	return name + " is null for a group without values, and for one with more than about 4 MB of them: narrow the group with WHERE, gather left(x, 100), or count(x)"
}

// tooLarge returns the error for a page that can't be cut. The error lists the fields by size and suggests fields to
// request instead.
func (b *builder) tooLarge() error {
	totals := make([]int, len(b.tree.children))
	bytes := 0
	for _, row := range b.page.rows {
		bytes++ // a brace
		for i, s := range b.tree.sizes(row) {
			totals[i] += s.bytes
			bytes += s.bytes
		}
	}
	ranked := make([]size, len(totals))
	for i, n := range b.tree.children {
		ranked[i] = size{n.name, totals[i]}
	}
	heavy, keep := heaviest(ranked, bytes, b.budget*9/10)
	refusal := &problem.Error{Code: problem.BudgetExceeded,
		Detail:     fmt.Sprintf("the result is %d bytes, over the budget of %d. The largest fields are %s", bytes, b.budget, strings.Join(heavy, ", ")),
		Suggestion: "ask for keys [" + strings.Join(keep, ", ") + "]"}
	if bytes >= value.Unmeasured {
		refusal.Detail = fmt.Sprintf("the result has lists that are too large to be gathered (4 MiB for all lists of a pipeline), over the budget of %d bytes. The largest fields are %s",
			b.budget, strings.Join(heavy, ", "))
	}
	if b.plan.Program != nil {
		refusal.Suggestion = "gather less: a narrower $match, a $limit, fewer fields in what is pushed"
		if len(keep) > 0 {
			refusal.Suggestion = `end with {"$project": {` + strings.Join(keep, ": 1, ") + ": 1}}, or gather less"
		}
	}
	return refusal
}

// heaviest returns the fields to drop, with their sizes, so that the remaining fields fit into budget. total is the
// size of all fields. It also returns the names of the remaining fields, quoted and in order.
func heaviest(fields []size, total, budget int) (heavy, keep []string) {
	ranked := slices.Clone(fields)
	slices.SortStableFunc(ranked, func(x, y size) int { return y.bytes - x.bytes })
	cut := map[string]bool{}
	for _, s := range ranked {
		if total <= budget {
			break
		}
		total -= s.bytes
		cut[s.name] = true
		amount := fmt.Sprintf("%d bytes", s.bytes)
		if s.bytes >= value.Unmeasured {
			amount = "a list"
		}
		heavy = append(heavy, s.name+" ("+amount+")")
	}
	for _, s := range fields {
		if !cut[s.name] {
			keep = append(keep, fmt.Sprintf("%q", s.name))
		}
	}
	return heavy, keep
}

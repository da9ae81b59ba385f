// Package shape turns rows that may leave into a page: records as JSON and as text, cut to a byte budget.
//
// It is the last step of the way. A page ends at a record's boundary, and says whether there is more and where it
// goes on: at the first record that was not shown. It takes redact.Rows and nothing else.
package shape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/result/redact"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// DefaultBudget is the most bytes of the records of one page, as JSON (design 03: about 25,000 tokens).
const DefaultBudget = 100_000

// MaxBudget is the most that a configuration may raise the budget to.
const MaxBudget = 4 << 20

// A Page is records that an agent receives.
type Page struct {
	Columns []string        // the names of the text's columns, dotted for what stands inside
	Count   int             // records on this page
	More    bool            // there are records after these
	Next    policy.Position // where they begin
	Cursor  string          // Next sealed for the asker; "" when there is no more
	Dropped []string        // fields left out because one record alone was over the budget
	Full    int             // records that the page would hold without the budget; 0 when the budget cut nothing

	Notes     []string            // comparisons in the query that can't match
	Truncated map[string][]string // by pointer: fields that its record is shown without
	Pointers  map[string]string   // of a pipeline: by column, the class that its ids point to

	json []byte
	ends []int // where each record ends in json
	rows []value.Row
	ids  []string

	tree   *node
	budget int
}

// Record returns record i as a JSON object.
func (p *Page) Record(i int) []byte {
	start := 0
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.json[start:p.ends[i]]
}

// ID returns the id of record i; "" where the class has none.
func (p *Page) ID(i int) string { return p.ids[i] }

// Values returns the values of record i in the order of Columns. They must not be changed.
func (p *Page) Values(i int) value.Row { return p.rows[i] }

// AppendJSON appends the records as a JSON array.
func (p *Page) AppendJSON(dst []byte) []byte {
	dst = slices.Grow(dst, len(p.json)+p.Count+512) // and room for what follows the records
	dst = append(dst, '[')
	for i := range p.Count {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, p.Record(i)...)
	}
	return append(dst, ']')
}

// Rows makes a page of at most the plan's limit of records and budget bytes (DefaultBudget for 0). More tells of a
// pipeline's page that the limit left records out. A pipeline's record that alone is over the budget is refused with
// problem.BudgetExceeded: what a stage has made can't be asked for by its id.
func Rows(rows redact.Rows, budget int) (*Page, error) {
	if budget == 0 {
		budget = DefaultBudget
	}
	plan := rows.Plan()
	if plan == nil {
		return nil, problem.New(problem.PermissionDenied, "no rows may leave")
	}
	b := &builder{plan: plan, budget: budget, tree: treeOf(plan), key: keyOf(plan)}
	b.page = &Page{Notes: plan.Notes, Truncated: plan.Truncated, Pointers: pointersOf(plan), tree: b.tree, budget: budget}
	for row, err := range rows.All() {
		if err != nil {
			return nil, err
		}
		if b.read++; b.read > plan.Limit {
			b.page.More = true
			break
		}
		if b.cut {
			continue
		}
		if b.add(row); plan.Program != nil && len(b.page.json) > budget {
			return nil, tooLarge(b.page, plan, budget)
		}
	}
	return b.finish(), nil
}

// pointersOf returns the classes that columns of a pipeline point to, by column; nil for none.
func pointersOf(plan *policy.Plan) map[string]string {
	if plan.Program == nil {
		return nil
	}
	var out map[string]string
	for _, c := range plan.Program.Out().Columns {
		if c.Path != nil && c.Class != "" {
			if out == nil {
				out = map[string]string{}
			}
			out[c.Key()] = c.Class
		}
	}
	return out
}

// WholePointers writes the Pointers of the records as {"__type": "Pointer", "className", "objectId"} instead of bare
// ids, and cuts the page again where the budget ends.
func (p *Page) WholePointers() {
	for column, class := range p.Pointers {
		if n := p.tree.find(strings.Split(column, ".")); n != nil {
			n.class = class
		}
	}
	json := make([]byte, 0, len(p.json))
	for i, row := range p.rows {
		json = p.tree.append(json, row)
		if len(json) > p.budget && i > 0 {
			p.Full, p.Count = max(p.Full, p.Count), i
			p.rows, p.ends, p.ids = p.rows[:i], p.ends[:i], p.ids[:i]
			json = json[:p.ends[i-1]]
			break
		}
		p.ends[i] = len(json)
	}
	p.json = json
}

// Whole makes a page that can't be cut: when its records are over the budget it is refused with
// problem.BudgetExceeded, which ranks the fields by their size and names those to ask for instead.
func Whole(rows redact.Rows, budget int) (*Page, error) {
	if budget == 0 {
		budget = DefaultBudget
	}
	p, err := Rows(rows, MaxBudget*16)
	if err != nil || len(p.json) <= budget && p.Dropped == nil {
		return p, err
	}
	return nil, tooLarge(p, rows.Plan(), budget)
}

// Count returns the integer of a count.
func Count(rows redact.Rows) (int64, error) {
	for row, err := range rows.All() {
		if err != nil {
			return 0, err
		}
		return row.Values[0].Int(), nil
	}
	return 0, problem.New(problem.PermissionDenied, "no count may leave")
}

type builder struct {
	plan   *policy.Plan
	budget int
	tree   *node
	page   *Page
	read   int
	cut    bool      // the budget is used up
	key    []int     // the columns of the id
	last   value.Row // the place of the last record shown
}

func (b *builder) add(row redact.Row) {
	p := b.page
	before := len(p.json)
	p.json = b.tree.append(p.json, row.Values)
	if len(p.json) > b.budget && p.Count == 0 && b.plan.Program == nil {
		b.lighten(row.Values)
		p.json = b.tree.append(p.json[:before], row.Values)
	}
	if len(p.json) > b.budget && p.Count > 0 {
		p.json, b.cut = p.json[:before], true
		return
	}
	p.ends = append(p.ends, len(p.json))
	p.rows = append(p.rows, slices.Clone(row.Values))
	p.ids = append(p.ids, b.id(row.Values))
	p.Count++
	b.last = append(b.last[:0], row.Place...)
}

// lighten drops the heaviest fields until the record fits, never the key.
func (b *builder) lighten(row value.Row) {
	sizes := b.tree.sizes(row)
	key := b.plan.View.Key()
	total := 0
	for _, s := range sizes {
		total += s.bytes
	}
	slices.SortStableFunc(sizes, func(x, y size) int { return y.bytes - x.bytes })
	for _, s := range sizes {
		if total <= b.budget {
			return
		}
		if slices.Contains(key, s.name) {
			continue
		}
		b.tree.drop(s.name)
		b.page.Dropped = append(b.page.Dropped, s.name)
		total -= s.bytes
	}
}

// keyOf returns the columns that hold a record's key; none for a pipeline, whose records have no id.
func keyOf(plan *policy.Plan) []int {
	if plan.Program != nil {
		return nil
	}
	var out []int
	for _, k := range plan.View.Key() {
		for i, c := range plan.Columns {
			if c.Join == -1 && c.Part == nil && c.Field.Name == k {
				out = append(out, i)
			}
		}
	}
	return out
}

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

func (b *builder) finish() *Page {
	p := b.page
	shown := make([]bool, len(b.plan.Columns))
	for i, c := range b.plan.Columns {
		if shown[i] = b.tree.shown(i); shown[i] {
			p.Columns = append(p.Columns, c.Path.String())
		}
	}
	for i, row := range p.rows {
		kept := row[:0]
		for j, v := range row {
			if shown[j] {
				kept = append(kept, v)
			}
		}
		p.rows[i] = kept
	}
	if b.cut {
		p.More = p.More || b.plan.Program == nil
		p.Full = min(b.read, b.plan.Limit)
	}
	if b.named() {
		p.Next.After = b.last
	} else { // counted on from where this page began
		p.Next = policy.Position{After: b.plan.After, Skip: b.plan.Skip + p.Count}
	}
	return p
}

// named reports whether the last record's place in the order is its alone. SQLite lets a key be null, of several
// records as well: their places are the same, and going on after one would pass over the others.
func (b *builder) named() bool {
	if !b.plan.Unique {
		return false
	}
	key := b.plan.View.Key()
	for i, v := range b.last {
		if o := b.plan.Order[i]; v.IsNull() && o.Join < 0 && slices.Contains(key, o.Field.Name) {
			return false
		}
	}
	return true
}

// tooLarge refuses what can't be cut: it ranks the fields by their size and names those to ask for instead.
func tooLarge(p *Page, plan *policy.Plan, budget int) error {
	tree := treeOf(plan)
	totals := map[string]int{}
	for _, row := range p.rows {
		for _, s := range tree.sizes(row) {
			totals[s.name] += s.bytes
		}
	}
	ranked := make([]size, 0, len(totals))
	for _, n := range tree.children {
		ranked = append(ranked, size{n.name, totals[n.name]})
	}
	heavy, keep := heaviest(ranked, len(p.json), budget*9/10)
	refusal := &problem.Error{Code: problem.BudgetExceeded,
		Detail:     fmt.Sprintf("the result is %d bytes, over the budget of %d; the largest fields are %s", len(p.json), budget, strings.Join(heavy, ", ")),
		Suggestion: "ask for keys [" + strings.Join(keep, ", ") + "]"}
	if plan.Program != nil {
		refusal.Suggestion = "gather less: a narrower $match, a $limit, fewer fields in what is pushed"
		if len(keep) > 0 {
			refusal.Suggestion = `end with {"$project": {` + strings.Join(keep, ": 1, ") + ": 1}}, or gather less"
		}
	}
	return refusal
}

// heaviest returns the fields to do without until the rest of total bytes fits into budget, with their sizes, and the
// names of the others, quoted and in their order.
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
		heavy = append(heavy, fmt.Sprintf("%s (%d bytes)", s.name, s.bytes))
	}
	for _, s := range fields {
		if !cut[s.name] {
			keep = append(keep, fmt.Sprintf("%q", s.name))
		}
	}
	return heavy, keep
}

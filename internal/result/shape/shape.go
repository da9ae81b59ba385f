// Package shape turns rows that may leave into a page: records as JSON and as text, cut to a byte budget.
//
// It is the last step of the way. A page ends at a record's boundary, and says whether there is more and where it
// goes on: at the first record that was not shown. It takes redact.Rows and nothing else.
package shape

import (
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
	Dropped []Large         // fields left out because of their size
	Full    int             // records that the page would hold without the budget; 0 when the budget cut no record, or nobody counted them
	Cut     bool            // the budget cut records

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

// A Large is a field that was left out because of its size.
type Large struct {
	Field string
	Bytes int64 // of the longest of its values that was met; 0 where that isn't to be known
}

// String returns the name of the field.
func (l Large) String() string { return l.Field }

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

// Rows makes a page of at most the plan's limit of records and budget bytes (DefaultBudget for 0). Where they are over
// it, fields that take most of the page are dropped first, and then records cut: Dropped and Full tell of that. More tells
// of a pipeline's page that the limit left records out. A pipeline's record that alone is over the budget is refused with
// problem.BudgetExceeded: what a stage has made can't be asked for by its id.
func Rows(rows redact.Rows, budget int) (*Page, error) { return build(rows, &builder{budget: budget}) }

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
			p.Full, p.Count, p.Cut = max(p.Full, p.Count), i, true
			p.rows, p.ends, p.ids = p.rows[:i], p.ends[:i], p.ids[:i]
			json = json[:p.ends[i-1]]
			break
		}
		p.ends[i] = len(json)
	}
	p.json = json
}

// Whole makes a page of all records: over the budget their largest fields are dropped, and where that isn't enough it is
// refused with problem.BudgetExceeded.
func Whole(rows redact.Rows, budget int) (*Page, error) {
	return build(rows, &builder{budget: budget, whole: true})
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

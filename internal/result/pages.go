package result

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// DefaultBudget is the default maximum of the records of a page, in bytes of JSON: about 25,000 tokens.
const DefaultBudget = 100_000

// MaxBudget is the maximum configurable budget.
const MaxBudget = 4 << 20

// A Page is a page of records for an agent.
type Page struct {
	Columns []string        // the names of the text columns, with dots for nested members
	Count   int             // number of records on this page
	More    bool            // there are records after these
	Next    policy.Position // where the next page begins
	Cursor  string          // Next sealed for the principal, or "" if there is no more
	Dropped []Large         // fields left out because of their size
	Full    int             // records the page would hold without the budget, or 0 if none was cut or they weren't counted
	Cut     bool            // records were cut to fit the budget

	Notes     []string            // comparisons in the query that can't match
	Missing   []string            // which lists of groups are null and why they may be, and which stored values count as null
	Truncated map[string][]string // by pointer: fields left out of its record
	Pointers  map[string]string   // of a pipeline: by column, the class that its ids refer to
	Lists     []policy.List       // the lists of pointers that Embed replaces

	json []byte
	ends []int // the end of each record in json
	rows []value.Row

	whole []value.Row // the records with all columns, for Embed
	shown []bool      // by column, whether rows have it
	ids   []string

	tree   *node
	budget int
}

// A Large is a field left out because of its size.
type Large struct {
	Field string
	Bytes int64 // of its longest value seen, or 0 if that may not be known
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

// ID returns the id of record i, or "" if the class has none.
func (p *Page) ID(i int) string { return p.ids[i] }

// Values returns the values of record i in the order of Columns. They must not be modified.
func (p *Page) Values(i int) value.Row { return p.rows[i] }

// AppendJSON appends the records as a JSON array.
func (p *Page) AppendJSON(dst []byte) []byte {
	dst = slices.Grow(dst, len(p.json)+p.Count+512) // with room for the parts after the records
	dst = append(dst, '[')
	for i := range p.Count {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, p.Record(i)...)
	}
	return append(dst, ']')
}

// NewPage makes a page of at most the plan's limit of records and budget bytes (0 means DefaultBudget). To fit the
// budget, it first drops fields that take up most of the page, and then cuts records. Dropped and Full report that.
// More reports that the limit left out records. NewPage refuses a single record of a pipeline over the budget with
// problem.BudgetExceeded, because a pipeline's result can't be read by id.
func NewPage(rows redact.Rows, budget int) (*Page, error) {
	return build(rows, &builder{budget: budget})
}

// pointersOf returns the classes that columns of a pipeline refer to, by column, or nil.
func pointersOf(plan *policy.Plan) map[string]string {
	if plan.Program == nil {
		return nil
	}
	var out map[string]string
	for _, c := range plan.Program.Out().Columns {
		if c.Path != nil && c.Class != "" && !c.Type.IsStructured() {
			if out == nil {
				out = map[string]string{}
			}
			out[c.Key()] = c.Class
		}
	}
	return out
}

// WholePointers encodes the Pointers of the records as {"__type": "Pointer", "className", "objectId"} instead of bare
// ids, and cuts the page again at the budget.
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

// WholePage makes a page of all records. Over the budget it drops their largest fields. If that isn't enough it fails
// with problem.BudgetExceeded.
func WholePage(rows redact.Rows, budget int) (*Page, error) {
	return build(rows, &builder{budget: budget, whole: true})
}

// CountRows returns the result of a count.
func CountRows(rows redact.Rows) (int64, error) {
	for row, err := range rows.All() {
		if err != nil {
			return 0, err
		}
		return row.Values[0].Int(), nil
	}
	return 0, problem.New(problem.PermissionDenied, "no count may leave")
}

package result

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// DefaultBudget is the default maximum size of the records of a page, in bytes of JSON. It corresponds to about 25,000
// tokens.
const DefaultBudget = 100_000

// MaxBudget is the maximum configurable budget.
const MaxBudget = 4 << 20

// A Page is a page of records for an agent.
type Page struct {
	Columns []string        // the names of the columns of the text, with dots for nested members
	Count   int             // number of records on this page
	More    bool            // there are further records
	Next    policy.Position // the position of the next page
	Cursor  string          // Next sealed for the principal, or "" if there is no next page
	Dropped []Large         // fields that were omitted because of their size
	Full    int             // the number of records without the budget, or 0 if none was cut or they weren't counted
	Cut     bool            // records were cut to fit the budget

	Notes     []string            // comparisons in the query that can't match
	Missing   []string            // lists of groups that are null and the possible reasons, and stored values that were read as null
	Truncated map[string][]string // by pointer: the omitted fields of its record
	Pointers  map[string]string   // for a pipeline: by column, the class to which its ids refer
	Lists     []policy.List       // the lists of pointers that Embed replaces

	json []byte
	ends []int // the end of each record in json
	rows []value.Row

	whole []value.Row // the records with all columns, for Embed
	shown []bool      // by column, whether rows contain it
	ids   []string

	tree   *node
	budget int
}

// A Large is a field that was omitted because of its size.
type Large struct {
	Field string
	Bytes int64 // the size of the longest value so far, or 0 if the size must stay hidden
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
	dst = slices.Grow(dst, len(p.json)+p.Count+512) // the capacity includes the parts after the records
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
// budget, it first drops fields that are most of the page, and then cuts records. Dropped and Full report this. More
// reports that there are records beyond the limit. A single record of a pipeline over the budget is refused with
// problem.BudgetExceeded, because callers can't read a pipeline's result by id.
func NewPage(rows redact.Rows, budget int) (*Page, error) {
	return build(rows, &builder{budget: budget})
}

// pointersOf returns the classes to which columns of a pipeline refer, by column. It returns nil if there are none.
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

// WholePointers encodes the Pointers of the records as {"__type": "Pointer", "className", "objectId"} instead of ids.
// It then cuts the page to the budget again.
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

// WholePage makes a page of all records. If the page exceeds the budget, it drops the largest fields. If that isn't
// enough, it fails with problem.BudgetExceeded.
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

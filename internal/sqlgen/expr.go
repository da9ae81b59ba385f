package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Scope is the context of an expression: the columns of a stage, or the elements of a list.
type Scope interface {
	// Arg returns the place of a value: an int64, float64, string, bool or []byte. cast is a type of the dialect, or
	// "".
	Arg(v any, cast string) string
	// Alias returns a name that is unique in the statement.
	Alias(prefix string) string
	// Atom returns a text that may be repeated: x itself if it is short, otherwise the name of a column that contains
	// x. Atom is for texts over one record. A text over a group (see Accumulate) is returned unchanged.
	Atom(x string) string
	// Column returns column i of the record as expressions see it (see Dialect.StoredValue).
	Column(i int) string
	// Field returns the text and the field of the stored column that e passes on unchanged. e is a Ref or an Outer. f
	// is nil if e is computed.
	Field(e plan.Expr) (x string, f *schema.Field)
	// Outer returns column i of a surrounding record for which a list is made. The nearest such record has up 1.
	Outer(up, i int) (string, error)
}

// shortText is the maximum number of characters of a text that every database sorts in full. MariaDB compares only
// 1,024 bytes.
const shortText = 200

// A Gathered describes the values that a group collects into one JSON list.
type Gathered struct {
	X     string   // the JSON value to add
	Terms []string // the order
	When  string   // the condition for a record to add its X, or "" for all records
	Size  string   // the column with the size of the list, equal in all records of the group, or "" if Dialect.Size returns ""
	Most  int      // the maximum size: a larger list is null
}

// An Over is a plan.Over with the texts of its operands. Initial and Limit may be "".
type Over struct {
	Do             plan.Each
	Input          string
	Initial, Limit string
	Body           func(s Scope, element, before string) (string, error)
}

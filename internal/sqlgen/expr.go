package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Scope is the context of an expression: the columns of a stage, or the elements of a list.
type Scope interface {
	// Arg returns the place of a value: int64, float64, string, bool or []byte. cast is a type of the dialect, or "".
	Arg(v any, cast string) string
	// Alias returns a name that is unique in the statement.
	Alias(prefix string) string
	// Atom returns a text that may be repeated: x itself if it is short, else the name of a column that holds x. It
	// takes texts over one record: a text over a group (see Accumulate) is repeated as it is.
	Atom(x string) string
	// Column returns column i of the record as expressions see it (see Dialect.Stored).
	Column(i int) string
	// Field returns the text and the field of the stored column that e, a Ref or an Outer, passes on unchanged. f is nil
	// if e is computed.
	Field(e plan.Expr) (x string, f *schema.Field)
	// Outer returns column i of the record for which a list is made, up levels out from 1, as expressions see it.
	Outer(up, i int) (string, error)
}

// shortText is the most characters of a text that every database sorts in full: MariaDB compares 1,024 bytes.
const shortText = 200

// A Gathered describes the values that a group gathers into one list of JSON.
type Gathered struct {
	X     string   // JSON
	Terms []string // the order
	When  string   // the condition for a record to add its X, or "" if all do
	Size  string   // the column with the list's size, the same in all records of the group, or "" if Dialect.Size is ""
	Most  int      // the maximum size. A larger list is null
}

// An Over is a plan.Over with its operands as text. Initial and Limit may be "".
type Over struct {
	Do             plan.Each
	Input          string
	Initial, Limit string
	Body           func(s Scope, element, before string) (string, error)
}

// Package query defines queries: Find, Count, Pipeline and their filters, as closed sets of types.
//
// It parses the query language of docs/query-language.md into these types, which policy, the compilers and the
// evaluator use. A Query can't be run by itself: policy must turn it into a Permit. Unknown names and operators are
// errors with a JSON pointer. Nothing is silently ignored.
package query

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
)

// A Query is a request before policy applies: *Find, *Count, *Pipeline, *SQL or *Native. From returns the class with
// which it starts. The set is closed.
type Query interface {
	From() string
	isQuery()
}

// A Find requests records of one class.
type Find struct {
	Class   string
	Where   Filter           // nil matches all records
	Search  *literals.Search // if not nil, only records whose texts match it
	IDs     []string         // if not nil, only the records with these keys, without the canonical filter
	Keys    []Path           // fields to return, or empty for all
	Include []Path           // pointers to replace by their records
	Order   []Sort
	Limit   int    // maximum number of records, 1 or more
	Skip    int    // number of records to skip first
	Cursor  string // the end of the previous page, or "" for the first page
	Wide    bool   // look for the last record of the previous page among its neighbours
	Sample  bool   // newest first, without large fields
	Lean    bool   // leave out large fields that Keys doesn't name
	Part    *Part  // a part of one field, instead of Keys and Include, or nil
	Raw     bool   // the caller switches the canonical filter off
}

// A Part is a range of a text, of a JSON text, or of bytes.
type Part struct {
	Field          string
	Offset, Length int64 // in characters, or in bytes for a field of type bytes
}

// A Count requests the number of matching records of one class.
type Count struct {
	Class string
	Where Filter // nil counts all
	Raw   bool   // the caller switches the canonical filter off
}

// From implements Query.
func (q *Find) From() string { return q.Class }

// From implements Query.
func (q *Count) From() string { return q.Class }

func (*Find) isQuery()  {}
func (*Count) isQuery() {}

// A Path names a field, a part of one, or a field of the record that a pointer refers to.
type Path []string

// ParsePath splits a dotted path, without the checks of CheckPath.
func ParsePath(s string) Path { return strings.Split(s, ".") }

// String returns p in dotted form.
func (p Path) String() string { return strings.Join(p, ".") }

// A Sort is one term of an order.
type Sort struct {
	Path Path
	Desc bool
}

// An Op is a comparison operator.
type Op uint8

// The comparisons. Ne and Not are also true for null and for values of another type, as in MongoDB.
const (
	Eq Op = iota
	Ne
	Gt
	Gte
	Lt
	Lte
)

var opNames = [...]string{"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"}

// String returns the operator as written in a where object.
func (o Op) String() string { return opNames[o] }

// Package query defines queries: Find, Count, Pipeline and their filters, as closed sets of types.
//
// It parses the query language of docs/query-language.md into these types, which policy, the compilers and the
// evaluator use. A Query can't be run by itself: policy must turn it into a Permit. Unknown names and operators are
// errors with a JSON pointer. Nothing is silently ignored.
package query

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Query is a request before policy applies: *Find, *Count, *Pipeline or *SQL. From returns the class it starts from. The
// set is closed.
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
	Include []Path           // pointers to replace by the records they point to
	Order   []Sort
	Limit   int    // most records to return, 1 or more
	Skip    int    // records to skip first
	Cursor  string // the end of the previous page, or "" for the first page
	Wide    bool   // the last record of the previous page is looked for among its neighbours
	Sample  bool   // newest first, without large fields
	Lean    bool   // leave out large fields that Keys doesn't name
	Part    *Part  // a part of one field, instead of Keys and Include, or nil
	Raw     bool   // the caller switches the canonical filter off
}

// A Part is a range of one text, of JSON as written, or of bytes.
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

// A Filter is a predicate over a record: true or false for each, never unknown. The set is closed.
type Filter interface{ isFilter() }

// An Op is a comparison operator.
type Op uint8

// The comparisons. Ne and Not also hold for null and for values of another type, as in MongoDB.
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

type (
	// Compare compares the value at Path with Value. Values of different types never match. Null equals null and
	// missing. At is the JSON pointer of the operand, for messages.
	Compare struct {
		Path  Path
		Op    Op
		Value value.Value
		At    string
		Own   bool // with Eq: texts are compared as the source's own column compares them, such as without regard to case. Never a caller's
		Whole bool // see Whole
	}
	// In holds if the value at Path equals one of Values. With Not, it holds if the value equals none.
	In struct {
		Path   Path
		Values []value.Value
		Not    bool
		At     string
		Whole  bool // see Whole
	}
	// Exists holds if the value at Path exists and is not null. With Want false, it holds if the value is missing or
	// null.
	Exists struct {
		Path  Path
		Want  bool
		At    string
		Whole bool // see Whole
	}
	// Regex holds if the text at Path matches Pattern, in RE2 syntax with the options imx.
	Regex struct {
		Path    Path
		Pattern string
		Options string
		// Contains is the text of $contains, whose meaning depends on the type of the field. It is not in a filter that is bound.
		Contains string
		At       string
		Whole    bool // see Whole
	}
	// GeoWithin holds if the value at Path is a point on an area. With Near, which a Find has once, where its Where is a GeoWithin or an
	// And of one, records without another order come nearest first.
	GeoWithin struct {
		Path  Path
		Area  literals.Area
		Near  bool
		Text  bool // the point is written as (1.5,2). A bound filter sets it for a column of points
		At    string
		Whole bool // see Whole
	}
	// StartsWith holds if the text at Path begins with Prefix.
	StartsWith struct {
		Path   Path
		Prefix string
		At     string
		Whole  bool // see Whole
	}
	// Size holds if the value at Path is an array of N elements.
	Size struct {
		Path Path
		N    int64
		At   string
	}
	// ElemMatch holds if the value at Path is an array with an element for which Match holds. Paths in Match are
	// relative to the element. An empty path is the element itself.
	ElemMatch struct {
		Path  Path
		Match Filter
		At    string
	}
	// InQuery holds if the value at Path is the Key of a record of Class for which Where holds, or of any record if
	// Where is nil. With Not, it holds if the value is the Key of none. Key is nil for $inQuery, which uses the key
	// that the pointer at Path holds. View is the number of the plan's view it reads, from 1. Policy sets it.
	InQuery struct {
		Path  Path
		Class string
		Where Filter
		Key   Path
		Not   bool
		At    string
		View  int
	}
	// And holds if every part holds. An empty And is invalid.
	And []Filter
	// Or holds if at least one part holds. An empty Or is invalid.
	Or []Filter
	// Not holds if Part does not.
	Not struct{ Part Filter }
	// Deferred is a comparison in a rule, or an In if List is set, whose operand is the value of a CEL expression over
	// the principal. With List, Op is Eq or Ne. Only ParseRule makes it, and policy replaces it before the filter is
	// bound.
	Deferred struct {
		Path Path
		Op   Op
		List bool
		CEL  string
		At   string
	}
	// Never never holds: it replaces a comparison that can't match. It has no written form.
	Never struct{}
)

func (Compare) isFilter()    {}
func (In) isFilter()         {}
func (Exists) isFilter()     {}
func (Regex) isFilter()      {}
func (StartsWith) isFilter() {}
func (GeoWithin) isFilter()  {}
func (Size) isFilter()       {}
func (ElemMatch) isFilter()  {}
func (InQuery) isFilter()    {}
func (And) isFilter()        {}
func (Or) isFilter()         {}
func (Not) isFilter()        {}
func (Deferred) isFilter()   {}
func (Never) isFilter()      {}

// With returns d with the value v of its expression: a scalar, or a list of scalars with List.
func (d Deferred) With(v value.Value) Filter {
	if d.List {
		return In{Path: d.Path, Values: v.List(), Not: d.Op == Ne, At: d.At}
	}
	return Compare{Path: d.Path, Op: d.Op, Value: v, At: d.At}
}

// Package query is what is asked: Find, Count and their filters as closed types, before any policy.
//
// It is a word: it parses the where language of docs/query-language.md once, and policy, compile and the
// evaluator work on what it made. Nothing may run a Query: policy turns it into a Permit. What it doesn't know it
// refuses with the JSON pointer of the place; nothing is ever ignored.
package query

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/textquery"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Query is a request as asked: *Find, *Count or *Pipeline. From is the class that it begins with. The set is closed.
type Query interface {
	From() string
	isQuery()
}

// A Find asks for records of one class.
type Find struct {
	Class   string
	Where   Filter           // nil asks for all
	Search  *textquery.Query // when not nil, only records with these words in their texts
	IDs     []string         // when not nil, only the records with these keys, and the canonical filter is off
	Keys    []Path           // fields to return; empty returns all
	Include []Path           // pointers to replace with the records they point to
	Order   []Sort
	Limit   int    // most records to return, 1 or more
	Skip    int    // records to leave out first
	Cursor  string // where an earlier page ended; "" from the start
	Sample  bool   // newest first, without large fields
	Lean    bool   // without large fields where Keys names none
	Part    *Part  // a part of one field, in place of Keys and Include; nil for none
	Raw     bool   // the caller switches the canonical filter off
}

// A Part is a piece of one text, of JSON as it is written, or of bytes.
type Part struct {
	Field          string
	Offset, Length int64 // in characters, and in bytes of bytes
}

// A Count asks how many records of one class match.
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

// A Path names a field, or a part inside one, or a field of the record that a pointer leads to.
type Path []string

// ParsePath splits a dotted path.
func ParsePath(s string) Path { return strings.Split(s, ".") }

// String writes p with dots.
func (p Path) String() string { return strings.Join(p, ".") }

// A Sort is one part of an order.
type Sort struct {
	Path Path
	Desc bool
}

// A Filter is a predicate over a record: true or false for each, never unknown. The set is closed.
type Filter interface{ isFilter() }

// An Op is a comparison.
type Op uint8

// The comparisons. Ne and the filters under Not hold for null and for values of another type, as in MongoDB.
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
	// Compare holds where the value at Path stands in Op to Value. Values of unlike types never match; null
	// equals null and missing. At is the JSON pointer of the operand, for messages.
	Compare struct {
		Path  Path
		Op    Op
		Value value.Value
		At    string
	}
	// In holds where the value at Path equals one of Values; with Not, where it equals none.
	In struct {
		Path   Path
		Values []value.Value
		Not    bool
		At     string
	}
	// Exists holds where the value at Path is there and not null; with Want false, where it is missing or null.
	Exists struct {
		Path Path
		Want bool
		At   string
	}
	// Regex holds where the text at Path matches Pattern, in RE2 syntax with the options imx.
	Regex struct {
		Path    Path
		Pattern string
		Options string
		At      string
	}
	// StartsWith holds where the text at Path begins with Prefix.
	StartsWith struct {
		Path   Path
		Prefix string
		At     string
	}
	// Size holds where the value at Path is an array of N elements.
	Size struct {
		Path Path
		N    int64
		At   string
	}
	// ElemMatch holds where the value at Path is an array with an element for which Match holds. The paths in
	// Match start at the element; an empty path is the element itself.
	ElemMatch struct {
		Path  Path
		Match Filter
		At    string
	}
	// InQuery holds where the value at Path is the Key of a record of Class for which Where (nil: all) holds; with Not,
	// where it is the Key of none. Key is nil for $inQuery: the key that the pointer at Path holds. View is which of the
	// plan's views it reads, from 1; policy sets it.
	InQuery struct {
		Path  Path
		Class string
		Where Filter
		Key   Path
		Not   bool
		At    string
		View  int
	}
	// And holds where every part holds; an empty And is invalid.
	And []Filter
	// Or holds where some part holds; an empty Or is invalid.
	Or []Filter
	// Not holds where Part does not.
	Not struct{ Part Filter }
	// Deferred is a Compare, or with List an In, of a rule: its operand is what the CEL expression says of the principal.
	// Op is Eq or Ne with List. ParseRule alone makes it, and nothing is bound before policy has put the value in.
	Deferred struct {
		Path Path
		Op   Op
		List bool
		CEL  string
		At   string
	}
	// Never holds nowhere: what is left of a comparison that can't match. It isn't written, only made.
	Never struct{}
)

func (Compare) isFilter()    {}
func (In) isFilter()         {}
func (Exists) isFilter()     {}
func (Regex) isFilter()      {}
func (StartsWith) isFilter() {}
func (Size) isFilter()       {}
func (ElemMatch) isFilter()  {}
func (InQuery) isFilter()    {}
func (And) isFilter()        {}
func (Or) isFilter()         {}
func (Not) isFilter()        {}
func (Deferred) isFilter()   {}
func (Never) isFilter()      {}

// With returns what d is when the expression says v: a scalar, or a list of scalars with List.
func (d Deferred) With(v value.Value) Filter {
	if d.List {
		return In{Path: d.Path, Values: v.List(), Not: d.Op == Ne, At: d.At}
	}
	return Compare{Path: d.Path, Op: d.Op, Value: v, At: d.At}
}

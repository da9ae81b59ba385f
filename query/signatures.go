package query

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Signature describes the arguments of an operator.
type Signature struct {
	Op       string
	Min, Max int      // the number of positional arguments. Max is -1 for any number. A single argument needs no list
	Names    []string // if not nil, the arguments are members of an object with these names. The first Min are required

	// Node is the name of the operator of package plan that computes it, or "" if package typecheck has a binder. Each
	// argument is converted to its type in Takes. The last type applies to all further arguments. The result has the
	// type Gives. With Pairs, the node accepts two arguments at a time.
	Node  string
	Takes []schema.Type
	Gives schema.Type
	Pairs bool
}

// A Family describes operators of expressions with the same arguments, and is one line in docs/pipelines.md.
type Family struct {
	Area      string    // the heading above the line in the docs
	Ops       string    // the names, separated by spaces
	Signature Signature // its Node is a list like Ops
	Form      bool      // it isn't parsed to a Call: operand.operation has a case for it
	Doc       string    // the text of the line after the names
	Examples  string    // one or more, separated by line breaks, over the fields of the class in scripts/docs
}

// Operators returns the names of the operators.
func (f Family) Operators() []string { return strings.Fields(f.Ops) }

// Signatures lists all operators that are parsed to a Call, in the order of Families.
var Signatures = signatures()

// signatures returns a signature for each operator of the families without Form.
func signatures() []Signature {
	var all []Signature
	for _, f := range Families {
		nodes := strings.Fields(f.Signature.Node)
		for i, op := range f.Operators() {
			s := f.Signature
			if s.Op = op; i < len(nodes) {
				s.Node = nodes[i]
			}
			if !f.Form {
				all = append(all, s)
			}
		}
	}
	return all
}

// SignatureOf returns the signature of an operator, and whether it is parsed to a Call.
func SignatureOf(op string) (s Signature, ok bool) {
	i := slices.IndexFunc(Signatures, func(s Signature) bool { return s.Op == op })
	if i < 0 {
		return s, false
	}
	return Signatures[i], true
}

// takes returns a signature of at least min and at most max positional arguments, -1 for any number.
func takes(min, max int) Signature { return Signature{Min: min, Max: max} }

// named returns a signature with the arguments names, of which the first min are required.
func named(min int, names ...string) Signature { return Signature{Min: min, Names: names} }

// by returns s for operators that nodes of package plan compute, with their types.
func (s Signature) by(nodes string, gives schema.Type, takes ...schema.Type) Signature {
	s.Node, s.Gives, s.Takes = nodes, gives, takes
	return s
}

// pairs returns s for nodes that accept two arguments at a time.
func (s Signature) pairs() Signature {
	s.Pairs = true
	return s
}

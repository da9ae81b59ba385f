package query

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A parser parses one query and counts its parts.
type parser struct {
	err     error  // the first error
	nodes   int    // filters
	exprs   int    // see node
	matched []Expr // the operands of $expr in the current $match
	picks   []pick // the Picks of the current $group
	rule    bool   // the query is an owner's rule, which may contain $cel
	near    bool   // a $near was parsed
}

// A site is the parser's position.
type site struct {
	at string // JSON pointer

	// in a pipeline
	depth  int      // of enclosing expressions and pipelines
	vars   []string // the defined variables, without dollars
	inside string   // the enclosing $facet or $lookup, or ""

	// in a where object
	filters int  // levels of filters
	element bool // in an $elemMatch, where operators need no field
	within  bool // in an $elemMatch at any depth
	match   int  // whether $expr is allowed: 2 at the top of a $match, 1 in a $and there, 0 elsewhere
	ordered bool // $near is allowed: at the top of the where of a query, or in a $and there
}

// An operand is the operand of a stage or an operator, with its position. Its methods parse it. On an error they call
// refuse and return the zero value, because the first error ends the parsing.
type operand struct {
	*parser
	name string // name of the stage, the operator or the key, for messages
	v    value.Value
	site
}

// refuse records err, unless it is nil or an error is already recorded.
func (p *parser) refuse(err error) {
	if p.err == nil {
		p.err = err
	}
}

// node counts the parts of a pipeline: stages, fields, expressions and boundaries.
func (o operand) node() {
	if o.exprs++; o.exprs > MaxExprNodes {
		o.refuse(invalid(o.at, fmt.Sprintf("a pipeline has at most %d stages, fields and expressions in all", MaxExprNodes)))
	}
	if o.depth > MaxExprDepth {
		o.refuse(invalid(o.at, fmt.Sprintf("a pipeline is nested deeper than %d", MaxExprDepth)))
	}
}

// is reports whether the operand is of kind k.
func (o operand) is(k value.Kind) bool { return o.v.Kind() == k }

// a describes the kind of the operand, for messages.
func (o operand) a() string { return literals.Kind(o.v) }

// member returns the operand for the member or element v called name.
func (o operand) member(name string, v value.Value) operand {
	o.name, o.v, o.at = name, v, Pointer(o.at, name)
	return o
}

// members yields the members of an object, or the elements of a list, until an error occurs.
func (o operand) members(yield func(operand) bool) {
	for i, e := range o.v.List() {
		m := o.member(strconv.Itoa(i), e)
		m.name = o.name
		if o.err != nil || !yield(m) {
			return
		}
	}
	for _, m := range o.v.Members() {
		if o.err != nil || !yield(o.member(m.Name, m.Value)) {
			return
		}
	}
}

// get returns the member called key.
func (o operand) get(key string) (operand, bool) {
	v, ok := o.v.Get(key)
	return o.member(key, v), ok
}

// need returns the member called key, which is required.
func (o operand) need(key string) operand {
	m, ok := o.get(key)
	if !ok {
		o.refuse(invalid(o.at, fmt.Sprintf("%s needs %s", o.name, key)))
	}
	return m
}

// object rejects anything but an object with known keys.
func (o operand) object(known ...string) { o.refuse(literals.Object(o.v, o.name, o.at, known)) }

// whole parses an integer from least to most.
func (o operand) whole(least, most int64) int64 {
	n, ok := o.v.AsInt()
	switch {
	case ok && n >= least && n <= most:
	case most == math.MaxInt64:
		o.refuse(invalid(o.at, fmt.Sprintf("%s takes a whole number, %d or more", o.name, least)))
	default:
		o.refuse(invalid(o.at, fmt.Sprintf("%s takes a whole number from %d to %d", o.name, least, most)))
	}
	return n
}

// text parses a string. what describes it, for messages.
func (o operand) text(what string) string {
	if !o.is(value.String) {
		o.refuse(invalid(o.at, fmt.Sprintf("%s takes the name of %s, not %s", o.name, what, o.a())))
	}
	return o.v.Text()
}

// column parses the name of a new column.
func (o operand) column() string {
	name := o.text("a field")
	o.refuse(literals.Name(name, o.at))
	return name
}

// class parses the name of a class.
func (o operand) class() string {
	name := o.text("a class")
	if name == "" {
		o.refuse(invalid(o.at, o.name+" takes the name of a class, not an empty one"))
	}
	return name
}

// path parses a path without a dollar.
func (o operand) path() Path {
	path, err := CheckPath(o.text("a field"), o.at)
	o.refuse(err)
	return path
}

// variable checks s, the name of a variable that the caller defines.
func (o operand) variable(s string) string {
	o.refuse(literals.Variable(s, o.at))
	return s
}

// pipeline parses nested stages, in which the variables vars are defined as well.
func (o operand) pipeline(vars ...string) []Stage {
	o.depth++
	o.vars = append(slices.Clip(o.vars), vars...)
	return o.stages()
}

package query

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A parser reads one query and counts what is in it.
type parser struct {
	err     error  // the first refusal
	nodes   int    // filters
	exprs   int    // see node
	matched []Expr // the operands of $expr in the $match that is being read
	rule    bool   // an owner's rule is read, which can have $cel
}

// A site is where the parser stands.
type site struct {
	at string // JSON pointer

	// in a pipeline
	depth  int      // expressions and pipelines around it
	vars   []string // the variables that can be named here, without dollars
	inside string   // the $facet or $lookup around it, "" for none

	// in a where object
	filters int  // levels of filters
	element bool // in an $elemMatch, where operators may stand without a field
	within  bool // in an $elemMatch, however deep
	match   int  // 2 at the top of a $match, 1 in a $and there, where $expr may stand; 0 elsewhere
}

// An operand is what a stage or an operator is given, and where it stands. Its methods read it as something; where it
// isn't that they refuse, and give the zero value, for the first refusal ends it all.
type operand struct {
	*parser
	name string // of the stage, the operator or the key, for messages
	v    value.Value
	site
}

// refuse ends the parsing with err, unless it is nil or there is one already.
func (p *parser) refuse(err error) {
	if p.err == nil {
		p.err = err
	}
}

// node counts what a pipeline is made of: stages, fields, expressions and boundaries.
func (o operand) node() {
	if o.exprs++; o.exprs > MaxExprNodes {
		o.refuse(invalid(o.at, fmt.Sprintf("a pipeline has at most %d stages, fields and expressions in all", MaxExprNodes)))
	}
	if o.depth > MaxExprDepth {
		o.refuse(invalid(o.at, fmt.Sprintf("a pipeline is nested deeper than %d", MaxExprDepth)))
	}
}

// is reports whether the operand is of that kind.
func (o operand) is(k value.Kind) bool { return o.v.Kind() == k }

// a says what the operand is.
func (o operand) a() string { return article(o.v.Kind().String()) }

// member returns the member or element v called name.
func (o operand) member(name string, v value.Value) operand {
	o.name, o.v, o.at = name, v, Pointer(o.at, name)
	return o
}

// members returns the members of an object, or the elements of a list, until something is refused.
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

// need returns the member called key, which can't be left out.
func (o operand) need(key string) operand {
	m, ok := o.get(key)
	if !ok {
		o.refuse(invalid(o.at, fmt.Sprintf("%s needs %s", o.name, key)))
	}
	return m
}

// object refuses all but an object of the known keys.
func (o operand) object(known ...string) {
	if !o.is(value.Object) {
		o.refuse(invalid(o.at, fmt.Sprintf("%s takes an object with %s, not %s", o.name, listed(known), o.a())))
	}
	for m := range o.members {
		if !slices.Contains(known, m.name) {
			o.refuse(&problem.Error{Code: problem.InvalidQuery, Pointer: m.at, Near: problem.Nearest(m.name, known, 3),
				Detail: fmt.Sprintf("%s has no key %q; it takes %s", o.name, problem.Cut(m.name), listed(known))})
		}
	}
}

// whole reads a whole number from least to most.
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

// text reads a string, which is a what.
func (o operand) text(what string) string {
	if !o.is(value.String) {
		o.refuse(invalid(o.at, fmt.Sprintf("%s takes the name of %s, not %s", o.name, what, o.a())))
	}
	return o.v.Text()
}

// column reads the name of a column to make.
func (o operand) column() string {
	name := o.text("a field")
	o.refuse(checkName(name, o.at))
	return name
}

// class reads the name of a class.
func (o operand) class() string {
	name := o.text("a class")
	if name == "" {
		o.refuse(invalid(o.at, o.name+" takes the name of a class, not an empty one"))
	}
	return name
}

// path reads a path without a dollar.
func (o operand) path() Path {
	path, err := CheckPath(o.text("a field"), o.at)
	o.refuse(err)
	return path
}

// variable reads the name of a variable of the asker's, which is s.
func (o operand) variable(s string) string {
	ok := s != "" && len(s) <= maxSegment && s[0] >= 'a' && s[0] <= 'z'
	for _, r := range s {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_')
	}
	if !ok {
		o.refuse(invalid(o.at, fmt.Sprintf("%q can't be a variable: write a small letter, then letters, digits and _", problem.Cut(s))))
	}
	return s
}

// pipeline reads stages that stand inside of a stage and see the variables vars as well.
func (o operand) pipeline(vars ...string) []Stage {
	o.depth++
	o.vars = append(slices.Clip(o.vars), vars...)
	return o.stages()
}

// checkName refuses what isn't the name of one column or member.
func checkName(s, at string) error {
	if strings.Contains(s, ".") {
		return invalid(at, fmt.Sprintf("%q can't have a dot: it names one field", problem.Cut(s)))
	}
	_, err := CheckPath(s, at)
	return err
}

// listed writes names as a sentence does.
func listed(names []string) string {
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

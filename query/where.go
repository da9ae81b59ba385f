package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// The limits of a where object (design 03).
const (
	MaxDepth   = 8    // filters within filters
	MaxNodes   = 200  // filters in all
	MaxIn      = 1000 // values of one $in, $nin or $all
	MaxPath    = 8    // parts of one path
	maxSegment = 128  // bytes of one part of a path
)

var (
	logicalOps = []string{"$and", "$or", "$nor", "$not"}
	fieldOps   = []string{"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$regex", "$options",
		"$startsWith", "$all", "$size", "$elemMatch", "$not", "$inQuery", "$notInQuery", "$select", "$dontSelect"}
)

// ParseWhere reads a where object that stands at the JSON pointer at. It returns nil for an empty object, which
// asks for all. Errors are problem.InvalidQuery, or problem.Unsupported for an operator that no source here can
// do, with the pointer of the place.
func ParseWhere(v value.Value, at string) (Filter, error) {
	p := &parser{}
	return p.where(v, place{at: at, depth: 1})
}

func (p *parser) where(v value.Value, o place) (Filter, error) {
	if v.Kind() != value.Object {
		return nil, invalid(o.at, fmt.Sprintf("where is an object, not %s", article(v.Kind().String())))
	}
	parts, err := p.object(v, o)
	if err != nil {
		return nil, err
	}
	return all(parts), nil
}

// A parser reads one query and counts what is in it.
type parser struct {
	nodes   int    // filters
	exprs   int    // see node
	reading *site  // the $match that is being read, nil for none
	matched []Expr // the operands of $expr in it
}

// A place is where the parser stands in a where object.
type place struct {
	at      string // JSON pointer
	depth   int
	element bool // in an $elemMatch, where operators may stand without a field
	within  bool // in an $elemMatch, however deep
	level   int  // 1 at the top of a $match, 2 in a $and there, where $expr may stand; 0 elsewhere
}

func (p place) to(token string) place {
	p.at = Pointer(p.at, token)
	return p
}

func (p place) deeper() place {
	p.depth++
	return p
}

// object reads the members of a where object as parts that must all hold.
func (p *parser) object(v value.Value, o place) ([]Filter, error) {
	if o.depth > MaxDepth {
		return nil, invalid(o.at, fmt.Sprintf("where is nested deeper than %d", MaxDepth))
	}
	var parts []Filter
	for _, m := range v.Members() {
		var part Filter
		var err error
		switch {
		case o.element && m.Name != "$not" && slices.Contains(fieldOps, m.Name):
			if m.Name == "$options" {
				continue // read with its $regex
			}
			part, err = p.counted(Path{}, m, v, o.to(m.Name))
		case m.Name == "$expr":
			err = p.condition(m.Value, o.to(m.Name))
		case strings.HasPrefix(m.Name, "$"):
			part, err = p.logical(m, o.to(m.Name))
		default:
			part, err = p.field(m, o.to(m.Name))
		}
		if err != nil {
			return nil, err
		}
		if part != nil {
			parts = append(parts, part)
		}
	}
	return parts, nil
}

// condition keeps the operand of $expr, which is no filter, for the $match around it.
func (p *parser) condition(v value.Value, o place) error {
	switch {
	case p.reading == nil:
		return invalid(o.at, "$expr stands in the $match of a pipeline alone")
	case o.level == 0:
		return hinted(o.at, "$expr stands at the top of a $match, or in a $and there, alone",
			"Write the whole condition in one $expr, with $and, $or and $not inside of it.")
	}
	s := p.reading.deeper()
	s.at = o.at
	x, err := p.expr(v, s)
	p.matched = append(p.matched, x)
	return err
}

func (p *parser) count(at string, f Filter) (Filter, error) {
	if p.nodes++; p.nodes > MaxNodes {
		return nil, invalid(at, fmt.Sprintf("where has more than %d conditions", MaxNodes))
	}
	return f, nil
}

func (p *parser) logical(m value.Member, o place) (Filter, error) {
	if m.Name == "$not" {
		if m.Value.Kind() != value.Object || len(m.Value.Members()) == 0 {
			return nil, invalid(o.at, "$not takes a where object with a condition in it")
		}
		o.level = 0
		parts, err := p.object(m.Value, o.deeper())
		if err != nil {
			return nil, err
		}
		return p.count(o.at, Not{all(parts)})
	}
	if !slices.Contains(logicalOps, m.Name) {
		return nil, unknown("operator", m.Name, o.at, logicalOps)
	}
	if m.Value.Kind() != value.Array || len(m.Value.List()) == 0 {
		return nil, invalid(o.at, m.Name+" takes a list of where objects with at least one in it")
	}
	if o.level > 0 {
		o.level++
	}
	if m.Name != "$and" || o.level > 2 {
		o.level = 0
	}
	var parts []Filter
	for i, e := range m.Value.List() {
		here := o.to(strconv.Itoa(i)).deeper()
		if e.Kind() != value.Object || len(e.Members()) == 0 {
			return nil, invalid(here.at, m.Name+" takes where objects with a condition in each")
		}
		sub, err := p.object(e, here)
		if err != nil {
			return nil, err
		}
		if part := all(sub); part != nil {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return nil, nil // all of it was $expr
	}
	switch m.Name {
	case "$and":
		return p.count(o.at, And(parts))
	case "$or":
		return p.count(o.at, Or(parts))
	}
	return p.count(o.at, Not{Or(parts)})
}

// field reads {path: value} or {path: {$op: operand, …}}.
func (p *parser) field(m value.Member, o place) (Filter, error) {
	path, err := CheckPath(m.Name, o.at)
	if err != nil {
		return nil, err
	}
	if operators(m.Value) {
		o.element, o.level = false, 0
		parts, err := p.operators(path, m.Value, o.deeper())
		if err != nil {
			return nil, err
		}
		return all(parts), nil
	}
	operand, err := literal(m.Value, o.at)
	if err != nil {
		return nil, err
	}
	return p.count(o.at, Compare{Path: path, Op: Eq, Value: operand, At: o.at})
}

// operators reports whether v is a set of operators rather than an object to compare with: its first key tells.
func operators(v value.Value) bool {
	ms := v.Members()
	return len(ms) > 0 && strings.HasPrefix(ms[0].Name, "$")
}

func (p *parser) operators(path Path, v value.Value, o place) ([]Filter, error) {
	if o.depth > MaxDepth {
		return nil, invalid(o.at, fmt.Sprintf("where is nested deeper than %d", MaxDepth))
	}
	var parts []Filter
	for _, m := range v.Members() {
		here := o.to(m.Name)
		if !slices.Contains(fieldOps, m.Name) {
			return nil, unknown("operator", m.Name, here.at, fieldOps)
		}
		if m.Name == "$options" {
			if _, ok := v.Get("$regex"); !ok {
				return nil, invalid(here.at, "$options goes with $regex")
			}
			continue // read with its $regex
		}
		part, err := p.counted(path, m, v, here)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func (p *parser) counted(path Path, m value.Member, among value.Value, o place) (Filter, error) {
	part, err := p.operator(path, m, among, o)
	if err != nil {
		return nil, err
	}
	return p.count(o.at, part)
}

func (p *parser) operator(path Path, m value.Member, among value.Value, o place) (Filter, error) {
	switch m.Name {
	case "$inQuery", "$notInQuery", "$select", "$dontSelect":
		return p.inQuery(path, m, o)
	case "$in", "$nin", "$all":
		return list(path, m, o.at)
	case "$exists":
		if m.Value.Kind() != value.Bool {
			return nil, invalid(o.at, "$exists takes true or false")
		}
		return Exists{Path: path, Want: m.Value.Bool(), At: o.at}, nil
	case "$regex":
		options, _ := among.Get("$options")
		return regex(path, m.Value, options, o.at)
	case "$startsWith":
		if m.Value.Kind() != value.String {
			return nil, invalid(o.at, "$startsWith takes a string")
		}
		return StartsWith{Path: path, Prefix: m.Value.Text(), At: o.at}, nil
	case "$size":
		n := m.Value
		if n.Kind() != value.Int || n.Int() < 0 {
			return nil, invalid(o.at, "$size takes a whole number, 0 or more")
		}
		return Size{Path: path, N: n.Int(), At: o.at}, nil
	case "$elemMatch":
		if m.Value.Kind() != value.Object || len(m.Value.Members()) == 0 {
			return nil, invalid(o.at, "$elemMatch takes an object with a condition in it")
		}
		o.element, o.within, o.level = true, true, 0
		parts, err := p.object(m.Value, o.deeper())
		return ElemMatch{Path: path, Match: all(parts), At: o.at}, err
	case "$not":
		if !operators(m.Value) {
			return nil, invalid(o.at, `$not takes operators, as in {"$not": {"$gt": 5}}; use $ne for a value`)
		}
		parts, err := p.operators(path, m.Value, o.deeper())
		return Not{all(parts)}, err
	}
	v, err := literal(m.Value, o.at)
	op := Op(slices.Index(opNames[:], m.Name))
	if err == nil && op > Ne && (v.Kind() == value.Array || v.Kind() == value.Object) {
		return nil, invalid(o.at, fmt.Sprintf("%s takes a number, a string, a date or a boolean, not %s", op, article(v.Kind().String())))
	}
	return Compare{Path: path, Op: op, Value: v, At: o.at}, err
}

func list(path Path, m value.Member, at string) (Filter, error) {
	if m.Value.Kind() != value.Array {
		return nil, invalid(at, m.Name+" takes a list")
	}
	in := m.Value.List()
	if len(in) > MaxIn {
		return nil, invalid(at, fmt.Sprintf("%s takes at most %d values; got %d", m.Name, MaxIn, len(in)))
	}
	values := make([]value.Value, len(in))
	for i, e := range in {
		v, err := literal(e, Pointer(at, strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	if m.Name != "$all" {
		return In{Path: path, Values: values, Not: m.Name == "$nin", At: at}, nil
	}
	if len(values) == 0 {
		return In{Path: path, At: at}, nil // nothing has all of nothing, as in MongoDB
	}
	parts := make([]Filter, len(values))
	for i, v := range values {
		parts[i] = Compare{Path: path, Op: Eq, Value: v, At: Pointer(at, strconv.Itoa(i))}
	}
	return all(parts), nil
}

// all joins parts that must all hold; nil for none.
func all(parts []Filter) Filter {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return And(parts)
}

package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The limits of a where object.
const (
	MaxDepth = 8                // nesting of filters
	MaxNodes = 200              // filters in total
	MaxIn    = 1000             // values of one $in, $nin or $all
	MaxPath  = literals.MaxPath // parts of one path
	MaxHops  = 4                // pointers that one path follows
)

var logicalOps = []string{"$and", "$or", "$nor", "$not"}

// ParseWhere parses a where object at the JSON pointer at. It returns nil for an empty object, which matches all
// records. Errors are problem.InvalidQuery, problem.Unsupported for an operator that is not implemented, or
// problem.SecurityBlocked for one that runs code, each with its pointer.
func ParseWhere(v value.Value, at string) (Filter, error) {
	return parseWhere(operand{parser: &parser{}, v: v, site: site{at: at, ordered: true}})
}

// ParseOperators parses operators on the value at path, such as {"$gte": 1, "$lt": 5}, like the operators on a field in
// a where object. at is the JSON pointer of the operators. Errors are those of ParseWhere.
func ParseOperators(path Path, operators value.Value, at string) (Filter, error) {
	o := operand{parser: &parser{}, v: operators, site: site{at: at}}
	f := all(o.operators(path))
	if o.err != nil {
		return nil, o.err
	}
	return f, nil
}

// ParseRule is like ParseWhere, for the rules of owners: {"$cel": "principal.claims.region"} may replace the value of a
// comparison, or the list of $in and $nin. It doesn't check the expression. See Deferred.
func ParseRule(v value.Value, at string) (Filter, error) {
	return parseWhere(operand{parser: &parser{rule: true}, v: v, site: site{at: at}})
}

func parseWhere(o operand) (Filter, error) {
	f := o.where()
	if o.err != nil {
		return nil, o.err
	}
	return f, nil
}

func (o operand) where() Filter {
	if !o.is(value.Object) {
		o.refuse(invalid(o.at, "where is an object, not "+o.a()))
	}
	return all(o.conditions())
}

// level enters the next level of filters.
func (o operand) level() operand {
	if o.filters++; o.filters > MaxDepth {
		o.refuse(invalid(o.at, fmt.Sprintf("where is nested deeper than %d", MaxDepth)))
	}
	return o
}

// conditions parses the members of a where object, which must all be true.
func (o operand) conditions() []Filter {
	var parts []Filter
	for m := range o.level().members {
		var part Filter
		switch {
		case o.element && m.name != "$not" && slices.Contains(fieldOps, m.name):
			part = m.operator(Path{}, o.v)
		case m.name == "$expr":
			m.condition()
		case slices.Contains(logicalOps, "$"+strings.ToLower(m.name)) && len(m.v.List()) > 0 && m.v.List()[0].Kind() == value.Object:
			if m.name = "$" + strings.ToLower(m.name); o.rule {
				m.refuse(invalid(m.at, "write "+m.name+" for a list of conditions"))
			}
			part = m.logical()
		case strings.HasPrefix(m.name, "$"):
			part = m.logical()
		default:
			part = m.field()
		}
		if part != nil {
			parts = append(parts, part)
		}
	}
	return parts
}

// condition parses the operand of $expr, which becomes the If of the enclosing $match.
func (o operand) condition() {
	if o.match == 0 {
		o.refuse(invalidWithHint(o.at, "$expr is allowed at the top of a $match, or in a $and there, alone",
			"Write the whole condition in one $expr of a pipeline, with $and, $or and $not inside of it."))
	}
	o.matched = append(o.matched, o.expr())
}

func (o operand) countCondition(f Filter) Filter {
	if o.nodes++; o.nodes > MaxNodes {
		o.refuse(invalid(o.at, fmt.Sprintf("where has more than %d conditions", MaxNodes)))
	}
	return f
}

// logical parses $and, $or, $nor and $not, a condition on whole records. o.match tracks where $expr is allowed. Only a
// $match and the $and directly in it can have one, because AND joins an If and the conditions. The result is nil if a
// $and had only $expr.
func (o operand) logical() Filter {
	switch {
	case o.name == "$not":
		if len(o.v.Members()) == 0 {
			o.refuse(invalid(o.at, "$not takes a where object with a condition in it"))
		}
		o.match, o.ordered = 0, false
		return o.countCondition(Not{all(o.conditions())})
	case slices.Contains(fieldOps, o.name) || hint.Word(o.name) != "":
		o.refuse(invalidWithHint(o.at, o.name+" is an operator on the value of a field, and belongs under its name", `Write {"field": {"`+o.name+`": value}}.`))
	case !slices.Contains(logicalOps, o.name):
		o.refuse(hint.Operator("condition", o.name, o.at, logicalOps))
	case len(o.v.List()) == 0:
		o.refuse(invalid(o.at, o.name+" takes a list of where objects with at least one in it"))
	}
	o.match = max(0, o.match-1)
	if o.name != "$and" {
		o.match, o.ordered = 0, false
	}
	var parts []Filter
	for e := range o.members {
		if len(e.v.Members()) == 0 {
			o.refuse(invalid(e.at, o.name+" takes where objects with a condition in each"))
		}
		if part := all(e.conditions()); part != nil {
			parts = append(parts, part)
		}
	}
	switch {
	case len(parts) == 0:
		return nil // it consisted only of $expr
	case o.name == "$and":
		return o.countCondition(And(parts))
	case o.name == "$or":
		return o.countCondition(Or(parts))
	}
	return o.countCondition(Not{Or(parts)})
}

// field parses {path: value} or {path: {$op: operand, …}}.
func (o operand) field() Filter {
	path, err := CheckPath(o.name, o.at)
	o.refuse(err)
	if operators(o.v) {
		o.element, o.match = false, 0
		return all(o.operators(path))
	}
	v, err := literals.Value(o.v, o.at)
	o.refuse(err)
	return o.countCondition(Compare{Path: path, Op: Eq, Value: v, At: o.at})
}

// operators reports whether v is a set of operators, and not a literal object. It decides by the first key.
func operators(v value.Value) bool {
	ms := v.Members()
	return len(ms) > 0 && strings.HasPrefix(ms[0].Name, "$")
}

func (o operand) operators(path Path) []Filter {
	var parts []Filter
	for m := range o.level().members {
		if part := m.operator(path, o.v); part != nil {
			parts = append(parts, part)
		}
	}
	return parts
}

// celFilter parses {"$cel": text} in a rule, as an operator's operand or by itself. It returns nil for anything else.
func (o operand) celFilter(path Path) Filter {
	op := slices.Index(opNames[:], o.name)
	f := Deferred{Path: path, Op: Op(max(op, 0)), List: o.name == "$in" || o.name == "$nin"}
	if o.name == "$nin" {
		f.Op = Ne
	}
	if o.name != "$cel" {
		cel, ok := o.get("$cel")
		if !ok || op < 0 && !f.List {
			return nil
		}
		if len(o.v.Members()) > 1 {
			o.refuse(invalid(o.at, "$cel is the only key of its object"))
		}
		o = cel
	}
	if !o.is(value.String) || o.v.Text() == "" {
		o.refuse(invalid(o.at, "$cel takes an expression as a string"))
	}
	f.CEL, f.At = o.v.Text(), o.at
	return f
}

// list parses $in, $nin and $all with at most MaxIn values. $all becomes one equality for each value, because a list
// equals each of its elements. An empty $all matches nothing.
func (o operand) list(path Path) Filter {
	if !o.is(value.Array) {
		o.refuse(invalid(o.at, o.name+" takes a list"))
	}
	if n := len(o.v.List()); n > MaxIn {
		o.refuse(invalid(o.at, fmt.Sprintf("%s takes at most %d values, got %d", o.name, MaxIn, n)))
	}
	values := []value.Value{}
	var equal []Filter
	for e := range o.members {
		v, err := literals.Value(e.v, e.at)
		o.refuse(err)
		values, equal = append(values, v), append(equal, Compare{Path: path, Op: Eq, Value: v, At: e.at})
	}
	switch {
	case o.name != "$all":
		return In{Path: path, Values: values, Not: o.name == "$nin", At: o.at}
	case len(values) == 0:
		return In{Path: path, At: o.at} // an empty $all matches nothing, as in MongoDB
	}
	return all(equal)
}

// inQuery parses $inQuery, $notInQuery, $select and $dontSelect.
func (o operand) inQuery(path Path) Filter {
	if o.within {
		o.refuse(invalid(o.at, o.name+" isn't allowed inside of $elemMatch"))
	}
	in := InQuery{Path: path, Not: o.name == "$notInQuery" || o.name == "$dontSelect", At: o.at}
	if o.name == "$select" || o.name == "$dontSelect" {
		o.object("query", "key")
		in.Key, o = o.need("key").path(), o.need("query")
	}
	o.object("className", "where")
	in.Class = o.need("className").class()
	if where, ok := o.get("where"); ok {
		where.ordered = false
		in.Where = where.where()
	}
	return in
}

// all combines parts that must all be true. It returns nil for no parts.
func all(parts []Filter) Filter {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return And(parts)
}

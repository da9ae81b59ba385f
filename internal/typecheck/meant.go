package typecheck

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Agents write comparisons that no value of the field can satisfy. This file finds the intended comparison. Each change
// adds a note. It applies only to callers' queries: a rule that can't match is a mistake of the rule's author.

// mostMeant is the maximum number of operators in an object that is read as conditions. Package query counts the object
// as one condition.
const mostMeant = 4

// intendedFilter returns the intended condition for a comparison of a single value with a list or an object. {"status":
// ["a", "b"]} means $in, and {"total": {">": 5}} means $gt. It returns nil for other comparisons.
func (b *filters) intendedFilter(c query.Compare, f *schema.Field) (query.Filter, error) {
	if b.relations == nil || c.Op > query.Ne || f.Type.IsStructured() || f.Type == schema.Any {
		return nil, nil
	}
	switch c.Value.Kind() {
	case value.Array:
		in := query.In{Path: c.Path, Values: c.Value.List(), Not: c.Op == query.Ne, At: c.At}
		if len(in.Values) > query.MaxIn {
			return nil, nil
		}
		b.say(fmt.Sprintf("%s: a list was taken as %s: %s holds one value", c.At, map[bool]string{true: "$nin", false: "$in"}[in.Not], f.Name))
		return in, nil
	case value.Object:
		var operators []value.Member
		for _, m := range c.Value.Members() {
			op := hint.Word(m.Name)
			if c.Op == query.Ne || op == "" || strings.HasPrefix(m.Name, "$") {
				return nil, nil
			}
			operators = append(operators, value.Member{Name: op, Value: m.Value})
		}
		if n := len(operators); n == 0 || n > mostMeant {
			return nil, nil
		}
		taken, _ := hint.Rewrite(value.OfObject(operators), c.At)
		b.say(fmt.Sprintf("%s: %s was taken as %s", c.At, problem.Cut(c.Value.String()), problem.Cut(taken.String())))
		return query.ParseOperators(c.Path, taken, c.At)
	}
	return nil, nil
}

// Keyed is a Scope for the filter on a key that is made from ids. Also returns the other values that the text of an id,
// or of a part of an id, may represent.
type Keyed interface {
	Also(f *schema.Field, text string, fits bool) []value.Value
}

// also returns the other values that an id may represent. It returns nil in any other condition.
func (b *filters) also(f *schema.Field, v value.Value, fits bool) []value.Value {
	if s, ok := b.scope.(Keyed); ok && v.Kind() == value.String {
		return s.Also(f, v.Text(), fits)
	}
	return nil
}

// contains returns the condition of $contains on the field at a path. A list must contain the text as an element. A
// text must contain it as a part.
func (b *filters) contains(r query.Regex) (query.Filter, error) {
	path := r.Path
	f, err := b.target(&path, r.At, ranges)
	if err != nil {
		return nil, err
	}
	switch f.Type {
	case schema.Array:
		return b.compare(query.Compare{Path: r.Path, Op: query.Eq, Value: value.OfString(r.Contains), At: r.At})
	case schema.JSON, schema.Any:
		return nil, &problem.Error{Code: problem.InvalidQuery, Pointer: r.At, Detail: fmt.Sprintf("%s may hold texts and lists, and $contains asks each another thing", r.Path),
			Suggestion: fmt.Sprintf(`Write {"$regex": %q} for a text that has it within, or the value itself for a list that holds it.`, r.Pattern)}
	}
	r.Contains = ""
	ok, err := b.textual(&r.Path, r.At, "$contains")
	return orNever(r, ok), err
}

// asType converts a text to the type of a field of numbers or booleans. For a boolean, it also converts 0 and 1. It
// returns false if v doesn't represent such a value.
func (b *filters) asType(at string, f *schema.Field, v value.Value) (value.Value, bool) {
	if b.relations == nil {
		return v, false
	}
	out, text := value.Value{}, v.Kind() == value.String
	switch f.Type {
	case schema.Integer, schema.Double, schema.Decimal:
		read, ok := schema.Number(f.Type, v.Text())
		if !text || !ok {
			return v, false
		}
		out = read
	case schema.Boolean:
		switch {
		case text && strings.EqualFold(v.Text(), "true"), v.IsNumber() && v.String() == "1":
			out = value.OfBool(true)
		case text && strings.EqualFold(v.Text(), "false"), v.IsNumber() && v.String() == "0":
			out = value.OfBool(false)
		default:
			return v, false
		}
	default:
		return v, false
	}
	b.say(fmt.Sprintf("%s: %s was taken as %s: %s is of type %s", at, problem.Cut(string(v.AppendJSON(nil))), out, f.Name, f.Type))
	return out, true
}

package policyops

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Lists finds conditions of the rule f on c that compare a list with a scalar. Such a condition compares the whole
// value, so it never matches a list. A field of type json may contain lists. Lists calls add with a message and a
// suggestion for each condition.
func Lists(f query.Filter, c *schema.Class, add func(field *schema.Field, message, suggestion string)) {
	wholeScalars(f, true, func(name string, element query.Filter) {
		field := c.Field(name)
		if field == nil || !field.Type.IsStructured() {
			return
		}
		what := "is a list"
		if field.Type == schema.JSON {
			what = "can hold lists"
		}
		fix := query.Print(element).String()
		add(field, fmt.Sprintf("%s of %s %s, and a rule compares the whole value with one value, so it matches no list. To match an element, write %s", name, c.FullName(), what, fix), "write "+fix)
	})
}

// wholeScalars calls visit for each condition of a rule that admits a record only if the whole value of a field
// equals a scalar. Such a condition never matches a list, see query.Whole. visit receives the field and a condition
// that matches a list element instead. wholeScalars skips conditions that exclude records, because these also match
// list elements. The parameter in is true if the part f of the rule admits records.
func wholeScalars(f query.Filter, in bool, visit func(string, query.Filter)) {
	found := func(path query.Path, lets bool, element query.Filter) {
		if lets && len(path) == 1 {
			visit(path[0], query.ElemMatch{Path: path, Match: element})
		}
	}
	switch f := f.(type) {
	case query.And:
		for _, part := range f {
			wholeScalars(part, in, visit)
		}
	case query.Or:
		for _, part := range f {
			wholeScalars(part, in, visit)
		}
	case query.Not:
		wholeScalars(f.Part, !in, visit)
	case query.Compare:
		path := f.Path
		lets := in != (f.Op == query.Ne) && scalar(f.Value)
		if f.Path = nil; !in {
			f.Op = query.Eq // $not and $ne admit records here
		}
		found(path, lets, f)
	case query.In:
		path := f.Path
		lets := in != f.Not && slices.ContainsFunc(f.Values, scalar)
		f.Path, f.Not = nil, false
		found(path, lets, f)
	case query.Regex:
		path := f.Path
		f.Path = nil
		found(path, in, f)
	case query.StartsWith:
		path := f.Path
		f.Path = nil
		found(path, in, f)
	case query.Deferred:
		path := f.Path
		lets := in != (f.Op == query.Ne)
		if f.Path = nil; !in {
			f.Op = query.Eq
		}
		found(path, lets, f)
	}
}

// scalar reports whether v is not null, a list or an object.
func scalar(v value.Value) bool {
	return !v.IsNull() && v.Kind() != value.Array && v.Kind() != value.Object
}

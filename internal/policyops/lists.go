package policyops

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Lists calls add with a message and a suggestion for each condition of rule f on c that compares a list with a scalar. A rule compares
// the whole value, so it matches no list. A field of type json may hold lists.
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

// wholeScalars calls visit with conditions in a rule. Such a condition lets a record in only if the whole value of a
// field is one of some scalars. visit takes the field, and the condition that matches an element of a list instead. On
// a list, the condition of the rule never holds: see query.Whole. wholeScalars skips conditions that keep records out,
// because they look into lists. in says whether the record is let in where the part f holds.
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
			f.Op = query.Eq // records that $not and $ne let in
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

// scalar reports whether v is neither null nor a list or an object.
func scalar(v value.Value) bool {
	return !v.IsNull() && v.Kind() != value.Array && v.Kind() != value.Object
}

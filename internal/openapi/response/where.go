package response

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/interpret"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// maxNames is the maximum number of fields of list items that a filter can use.
const maxNames = 1000

// filter returns the items of list that match the filter. list contains only the visible part of the answer, with
// masked values. The document's date and number types apply to the fields of an item. Other fields have the types of
// their values.
func (a *Answer) filter(w *walker, l list, item *node, list []value.Value) ([]value.Value, error) {
	if !l.is {
		return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: "/where", Detail: "the answer has no list that where could filter",
			Suggestion: "leave where out, or call an operation that lists"}
	}
	s := &items{w: w, node: item, class: &schema.Class{Name: "the items of this answer"}}
	a.Where = true
	for _, e := range list {
		if e.Kind() != value.Object {
			return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: "/where", Detail: "the items of the list are not objects, so they have no fields to filter by",
				Suggestion: "leave where out"}
		}
	}
	s.fields(list)
	f, notes, err := typecheck.Filter(w.o.Where, s, noClasses{})
	if err == nil {
		err = query.Conditions(w.o.Where, func(_ query.Filter, path query.Path) error { return s.checkWhereMask(path) })
	}
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		a.note("%s", note)
	}
	rows := make([]value.Row, len(list))
	for i, e := range list {
		rows[i] = s.row(e)
	}
	ctx := w.o.Context
	if ctx == nil {
		ctx = context.Background()
	}
	kept, err := interpret.Matching(ctx, f, s.class, rows)
	if err != nil {
		return nil, err
	}
	out := make([]value.Value, len(kept))
	for i, row := range kept {
		out[i] = row[len(row)-1]
	}
	return out, nil
}

// items contains the items of a list as records of a class. It is also the Scope of filters on them.
type items struct {
	w     *walker
	node  *node // the node of an item, or nil if the document doesn't describe it
	class *schema.Class
}

// fields sets the fields of the class: the visible declared fields, then the fields of the items.
func (s *items) fields(list []value.Value) {
	kinds := map[string][]value.Value{}
	var names []string
	if s.node != nil {
		for _, name := range s.node.names {
			if _, ok := s.w.member(s.node, name); ok {
				names = append(names, name)
				kinds[name] = nil
			}
		}
	}
	for _, e := range list {
		for _, m := range e.Members() {
			if _, ok := kinds[m.Name]; !ok {
				if len(names) >= maxNames {
					continue
				}
				names = append(names, m.Name)
			}
			kinds[m.Name] = append(kinds[m.Name], m.Value)
		}
	}
	for _, name := range names {
		f := schema.Field{Name: name, Type: s.declaredType(name)}
		if !holds(&f, kinds[name]) {
			f.Type = typeOf(kinds[name])
		}
		s.class.Fields = append(s.class.Fields, f)
	}
}

// declaredType returns the type of a field that the document declares as a date or a number, and Any for other
// fields. Services write dates and numbers as strings.
func (s *items) declaredType(name string) schema.Type {
	if s.node == nil || s.node.fields[name] == nil || len(s.node.fields[name].places) == 0 {
		return schema.Any
	}
	var out schema.Type
	for i, p := range s.node.fields[name].places {
		is := schema.Any
		switch declared := s.w.v.Schema(p.raw); {
		case declared.Format == "date-time":
			is = schema.Date
		case declared.Format == "date":
			is = schema.Day
		case declared.Is("integer") && len(declared.Types) > 0:
			is = schema.Integer
		case declared.Is("number") && len(declared.Types) > 0:
			is = schema.Decimal
		}
		if i > 0 && is != out {
			return schema.Any
		}
		out = is
	}
	return out
}

// holds reports whether all values of a field have its declared date or number type.
func holds(f *schema.Field, values []value.Value) bool {
	if f.Type == schema.Any {
		return false
	}
	return !slices.ContainsFunc(values, func(v value.Value) bool {
		if (f.Type == schema.Decimal || f.Type == schema.Integer) && v.IsNumber() || v.IsNull() {
			return false
		}
		_, ok := parseText(f, v)
		return !ok
	})
}

// parseText parses a string in a field with a date or number type. It returns false if the string is not such a
// value.
func parseText(f *schema.Field, v value.Value) (value.Value, bool) {
	switch {
	case v.Kind() != value.String:
		return v, false
	case f.Type == schema.Date, f.Type == schema.Day:
		return f.ParseDate(v.Text())
	case f.Type == schema.Decimal, f.Type == schema.Integer:
		return schema.Number(f.Type, v.Text())
	}
	return v, false
}

// typeOf returns the type of a field with the given values. For values of several kinds, this is JSON, which allows
// any comparison.
func typeOf(values []value.Value) schema.Type {
	of := schema.Any
	for _, v := range values {
		is := schema.JSON
		switch v.Kind() {
		case value.Null:
			continue
		case value.String:
			is = schema.String
		case value.Int:
			is = schema.Integer
		case value.Decimal, value.Float:
			is = schema.Decimal
		case value.Bool:
			is = schema.Boolean
		case value.Array:
			is = schema.Array
		}
		numbers := (of == schema.Integer || of == schema.Decimal) && (is == schema.Integer || is == schema.Decimal)
		switch {
		case of == schema.Any || of == is:
			of = is
		case numbers:
			of = schema.Decimal
		default:
			return schema.JSON
		}
	}
	if of == schema.Any {
		return schema.JSON
	}
	return of
}

// row returns an item as a record: the values of the fields, followed by the item.
func (s *items) row(e value.Value) value.Row {
	row := make(value.Row, len(s.class.Fields)+1)
	row[len(s.class.Fields)] = e
	for i := range s.class.Fields {
		f := &s.class.Fields[i]
		v, _ := e.Get(f.Name)
		if out, ok := parseText(f, v); ok {
			v = out
		}
		row[i] = v
	}
	return row
}

// Field implements typecheck.Scope.
func (s *items) Field(path query.Path, at string) (*schema.Field, string, int, error) {
	f := s.class.Field(path[0])
	if f == nil {
		var names []string
		for _, f := range s.class.Fields {
			names = append(names, f.Name)
		}
		refusal := &problem.Error{Code: problem.InvalidQuery, Kind: "unknown_field", Pointer: at, Near: problem.Nearest(path[0], names, 3),
			Detail: fmt.Sprintf("unknown field %q of the items of this answer", problem.Cut(path[0]))}
		if all := problem.ShortList(names); len(refusal.Near) == 0 && all != "" {
			refusal.Suggestion = "their fields are " + all
		}
		return nil, "", 0, refusal
	}
	return f, f.Name, 1, s.checkMask(path, at)
}

// checkWhereMask refuses a path into a masked value.
func (s *items) checkWhereMask(path query.Path) error {
	return s.checkMask(path, query.Pointer("/where", strings.Join(path, ".")))
}

// checkMask refuses a path if a name on it, or the schema of that name, has masked values.
func (s *items) checkMask(path query.Path, at string) error {
	n := s.node
	for _, name := range path {
		in, ok := s.w.member(n, name)
		if !ok {
			return nil // treats a hidden value like an unknown name
		}
		if max(s.w.mark(name).cover, in.cover) != open && !in.public {
			return &problem.Error{Code: problem.InvalidQuery, Kind: "field_masked", Pointer: at,
				Detail: problem.Cut(name) + " is masked: it is shown and can't be filtered by", Suggestion: "filter by other fields"}
		}
		for n = in.node; n != nil && len(n.elements) > 0 && len(n.fields) == 0; {
			n = s.w.element(n)
		}
	}
	return nil
}

// ID implements typecheck.Scope.
func (s *items) ID(name string) bool {
	return plain(name) == "id" || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "_id")
}

// Pointer implements typecheck.Scope.
func (s *items) Pointer(string) (class, field string) { return "", "" }

// AllowedValues implements typecheck.Scope.
func (s *items) AllowedValues(string) []typecheck.Allowed { return nil }

// noClasses implements typecheck.Relations without classes, because conditions on an answer can't name any.
type noClasses struct{}

// Open implements typecheck.Relations.
func (noClasses) Open(_, at string) (*typecheck.Relation, error) {
	return nil, problem.UnsupportedError(at, "conditions on an answer of an API can't name classes")
}

// RecordUse implements typecheck.Relations.
func (noClasses) RecordUse(*schema.Field) {}

// AllowedValues implements typecheck.Relations.
func (noClasses) AllowedValues(*schema.Field) []typecheck.Allowed { return nil }

// StrictPointers implements typecheck.Relations.
func (noClasses) StrictPointers() bool       { return false }
func (noClasses) SameClass(a, b string) bool { return a == b }

// item returns the node of the items of a list in a body with node n, or nil if the document doesn't describe them.
func (w *walker) item(n *node, l list) *node {
	for _, name := range l.names {
		in, ok := w.member(n, name)
		if !ok {
			return nil
		}
		n = in.node
	}
	if !l.is {
		return nil
	}
	return w.element(n)
}

// drops reports whether the view may remove whole items with this node from a list.
func (n *node) drops() bool { return n != nil && (n.gone || n.closed || len(n.choices) > 0) }

package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// An ObjectFilter is a schema combined with all its allOf parts.
type ObjectFilter struct {
	Schema
	Fields  []FieldFilter
	Choices []Raw // alternatives: exactly one (oneOf) or at least one (anyOf) applies in addition
	Open    bool  // undeclared names are accepted
	Further Raw   // the schema of undeclared values. Nil accepts any value

	Patterns []headerPattern // names that aren't in Fields but match one of these are declared too
}

// A FieldFilter is a field of an ObjectFilter.
type FieldFilter struct {
	Name     string
	Schema   Raw
	Required bool
	Of       string // the named schema that declares the field, itself or in an allOf part. "" for an inline schema
}

// maxParts is the maximum number of allOf parts combined in an ObjectFilter.
const maxParts = 64

// Schema reads the visible part of r, one level deep. A hidden schema reads as one that accepts any value. A schema
// that only wraps another, to describe it or to allow null, reads as the wrapped schema.
func (v *View) Schema(r Raw) Schema { return v.in("", r) }

// in reads r. If r is an allOf part of a named schema, the argument of is the name of that schema. Otherwise it is
// "".
func (v *View) in(of string, r Raw) Schema {
	s := v.read(of, r)
	for range 8 {
		inner, null := wrappedSchema(&s)
		if inner == nil {
			break
		}
		if of = ""; len(s.AllOf) > 0 {
			of = s.Name
		}
		in := v.read(of, inner)
		in.Nullable = in.Nullable || s.Nullable || null
		in.ReadOnly, in.WriteOnly, in.Deprecated = in.ReadOnly || s.ReadOnly, in.WriteOnly || s.WriteOnly, in.Deprecated || s.Deprecated
		if s.Description != "" {
			in.Description = s.Description
		}
		if s.Default != nil {
			in.Default = s.Default
		}
		if s.Example != nil {
			in.Example = s.Example
		}
		if in.Name == "" {
			in.Name = s.Name
		}
		in.Required = slices.Concat(in.Required, s.Required)
		s = in
	}
	return s
}

// read reads r with its visible fields. A hidden schema reads as the empty schema.
func (v *View) read(of string, r Raw) Schema {
	s := v.d.Schema(r)
	if s.Name != "" {
		if of = s.Name; !v.names(s.Name) {
			return Schema{}
		}
	}
	if v.f.Field != nil {
		s.Properties = slices.DeleteFunc(slices.Clone(s.Properties), func(p Property) bool { return !v.f.Field(of, p.Name) })
		s.Required = slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool { return !v.f.Field(of, name) })
	}
	return s
}

func (v *View) names(schema string) bool { return v.f.Schema == nil || v.f.Schema(schema) }

// Field reports whether a field is visible. schema is the named schema that declares the field, or "" for an inline
// schema.
func (v *View) Field(schema, name string) bool { return v.f.Field == nil || v.f.Field(schema, name) }

// AllowsExtraField reports whether a body may have a field with the given name although no schema declares it.
func (v *View) AllowsExtraField(name string) bool {
	return v.f.Undeclared == nil || v.f.Undeclared(name)
}

// Hides reports whether any part of the values that r describes is hidden, at any depth.
func (v *View) Hides(r Raw) bool { return v.lacks(r, true) }

// Closes reports whether r describes objects that have a hidden field of their own. These objects accept no
// undeclared names, even if the document allows them. Otherwise the hidden field would be accepted as an undeclared
// name, and refusing only that name would show that the field exists.
func (v *View) Closes(r Raw) bool { return v.lacks(r, false) }

// lacks returns the result of Hides if deep is true, and of Closes otherwise.
func (v *View) lacks(r Raw, deep bool) bool {
	return (v.f.Field != nil || v.f.Schema != nil) && v.hides("", r, map[string]bool{}, deep)
}

// hides does the work of lacks for r, a part of the named schema of. The keys of past are the schemas already read.
func (v *View) hides(of string, r Raw, past map[string]bool, deep bool) bool {
	if r.Kind() != '{' || past[of+"\x00"+string(r)] {
		return false
	}
	past[of+"\x00"+string(r)] = true
	s := v.d.Schema(r)
	if s.Name != "" {
		if of = s.Name; !v.names(of) {
			return true
		}
	}
	for _, p := range s.Properties {
		if !v.Field(of, p.Name) || deep && v.hides("", p.Schema, past, deep) {
			return true
		}
	}
	part := func(r Raw) bool { return v.hides(of, r, past, deep) }
	if !deep {
		inner, _ := wrappedSchema(&s)
		return inner != nil && part(inner) || slices.ContainsFunc(s.AllOf, part)
	}
	return slices.ContainsFunc(s.AllOf, part) || slices.ContainsFunc(s.OneOf, part) || slices.ContainsFunc(s.AnyOf, part) ||
		v.hides("", s.Items, past, deep) || v.hides("", s.Additional, past, deep) || v.hidesPattern(s.Raw, past, deep)
}

// Follow resolves the reference r by one step. It returns the target and its name, or "" if it has no name. It
// returns false if r is not a reference, and a nil target if the target is hidden or missing.
func (v *View) Follow(r Raw) (Raw, string, bool) {
	ref := Reference(r)
	if ref == "" {
		return nil, "", false
	}
	name := v.d.NameOf(ref)
	if name != "" && !v.names(name) {
		return nil, name, true
	}
	return v.d.Lookup(ref), name, true
}

// wrappedSchema returns the schema that s only wraps, or nil, and whether s also allows null.
func wrappedSchema(s *Schema) (Raw, bool) {
	if len(s.Properties) > 0 || len(s.Enum) > 0 || s.Items != nil || s.Additional != nil && s.Additional.Kind() == '{' {
		return nil, false
	}
	switch {
	case len(s.AllOf) == 1 && len(s.OneOf)+len(s.AnyOf) == 0:
		return s.AllOf[0], false
	case len(s.AllOf) == 0 && len(s.OneOf) > 0 && len(s.AnyOf) == 0:
		return onlyOne(s.OneOf)
	case len(s.AllOf) == 0 && len(s.AnyOf) > 0 && len(s.OneOf) == 0:
		return onlyOne(s.AnyOf)
	}
	return nil, false
}

// onlyOne returns the only choice besides null, and whether null is a choice. It returns nil and false if there are
// several choices.
func onlyOne(choices []Raw) (Raw, bool) {
	var one Raw
	null := false
	for _, c := range choices {
		switch {
		case c.Get("type").Text() == "null":
			null = true
		case one != nil:
			return nil, false
		default:
			one = c
		}
	}
	return one, null
}

// Object combines s with its parts. This View must have read s.
func (v *View) Object(s Schema) ObjectFilter {
	o := ObjectFilter{Schema: s}
	p := parts{v: v, o: &o, past: map[string]bool{}}
	p.add(o.Schema, o.Name)
	o.Open = o.Open || len(o.Fields) == 0 && !p.closed
	return o
}

// parts collects the parts of an ObjectFilter.
type parts struct {
	v      *View
	o      *ObjectFilter
	past   map[string]bool
	n      int
	closed bool
}

// add adds the part s. The argument of is the name of the schema that contains it.
func (p *parts) add(s Schema, of string) {
	if p.n++; p.n > maxParts || s.Name != "" && p.past[s.Name] {
		return
	}
	if s.Name != "" {
		p.past[s.Name] = true
		of = s.Name
	}
	o := p.o
	for _, property := range s.Properties {
		f := FieldFilter{Name: property.Name, Schema: property.Schema, Of: of}
		if at := slices.IndexFunc(o.Fields, func(g FieldFilter) bool { return g.Name == f.Name }); at < 0 {
			o.Fields = append(o.Fields, f)
		}
	}
	for text, schema := range s.Raw.Get("patternProperties").Members() {
		o.Patterns = append(o.Patterns, headerPattern{text, schema})
	}
	switch s.Additional.Kind() {
	case 't':
		o.Open = true
	case '{':
		o.Open, o.Further = true, s.Additional
	case 'f':
		p.closed = true
	}
	o.Choices = append(append(o.Choices, s.OneOf...), s.AnyOf...)
	for _, part := range s.AllOf {
		in := p.v.in(of, part)
		if len(o.Types) == 0 {
			o.Types = in.Types
		}
		p.add(in, of)
	}
	for i := range o.Fields {
		o.Fields[i].Required = o.Fields[i].Required || slices.Contains(s.Required, o.Fields[i].Name)
	}
}

// SchemaByName reads the schema with the given full name, or with the given short name (Instance for
// bytebase.v1.Instance) if that is unique. Otherwise it returns problem.NotFound with near names.
func (v *View) SchemaByName(name string) (Schema, error) {
	v.once.Do(v.reach)
	if slices.Contains(v.schemas, name) {
		return v.Schema(v.d.SchemaRef(name)), nil
	}
	var found []string
	for _, fold := range []bool{false, true} {
		for _, full := range v.schemas {
			short := ShortName(full)
			if short == name || strings.HasSuffix(full, "."+name) || fold && (strings.EqualFold(short, name) || strings.EqualFold(full, name)) {
				found = append(found, full)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	if used := slices.DeleteFunc(slices.Clone(found), func(full string) bool { return !v.usesSchema(full) }); len(found) > 1 && len(used) == 1 {
		found = used
	}
	switch {
	case len(found) == 1:
		return v.Schema(v.d.SchemaRef(found[0])), nil
	case len(found) > 1:
		return Schema{}, &problem.Error{Code: problem.NotFound, Near: found[:min(len(found), 5)],
			Detail: fmt.Sprintf("%d schemas are called %q%s", len(found), problem.Cut(name), problem.DidYouMean(found[:min(len(found), 5)]))}
	}
	all := slices.Clone(v.schemas)
	for _, full := range v.schemas {
		if short := ShortName(full); short != full {
			all = append(all, short)
		}
	}
	slices.Sort(all)
	like := near(name, slices.Compact(all))
	return Schema{}, &problem.Error{Code: problem.NotFound, Near: like,
		Detail:     fmt.Sprintf("unknown schema %q%s", problem.Cut(name), problem.DidYouMean(like)),
		Suggestion: "the detail of an operation names the schemas it takes and answers with"}
}

// usesSchema reports whether a visible operation accepts or returns the schema with the given full name, itself or in
// a list.
func (v *View) usesSchema(full string) bool {
	is := func(c Content) bool {
		s := v.Schema(c.Schema)
		return s.Name == full || s.Items != nil && v.Schema(s.Items).Name == full
	}
	return slices.ContainsFunc(v.operations, func(op *Operation) bool {
		return op.Body != nil && slices.ContainsFunc(op.Body.Contents, is) ||
			slices.ContainsFunc(op.Responses, func(r Response) bool { return slices.ContainsFunc(r.Contents, is) })
	})
}

// Schemas returns the names of the visible schemas, in the document's order. Callers must not modify the slice.
func (v *View) Schemas() []string {
	v.once.Do(v.reach)
	return v.schemas
}

// reach finds the schemas that the visible operations refer to.
func (v *View) reach() {
	w := walk{v: v, past: map[place]bool{}}
	for _, op := range v.operations {
		for _, p := range v.Parameters(op) {
			w.schema(p.Schema, "")
		}
		if op.Body != nil {
			w.contents(op.Body.Contents)
		}
		for _, r := range op.Responses {
			w.contents(r.Contents)
		}
	}
	for len(w.next) > 0 {
		at := w.next[len(w.next)-1]
		w.next = w.next[:len(w.next)-1]
		w.schema(v.d.Lookup(at.ref), at.of)
	}
	for _, name := range v.d.Names() {
		if w.past[place{of: name}] {
			v.schemas = append(v.schemas, name)
		}
	}
}

// A walk visits the schemas that references refer to, each once. next is the queue of schemas to visit.
type walk struct {
	v    *View
	past map[place]bool // a named schema is stored with an empty ref
	next []place
}

// A place is the target of a reference. of is the name of the target. For a target without a name, of is the name of
// the schema that contains it.
type place struct{ of, ref string }

func (w *walk) contents(all []Content) {
	for _, c := range all {
		w.schema(c.Schema, "")
	}
}

// schema follows the references in r, which is part of the named schema of.
func (w *walk) schema(r Raw, of string) {
	if ref := Reference(r); ref != "" {
		w.reference(ref, of)
	}
	for name, m := range r.Members() {
		switch name {
		case "items", "additionalProperties":
			w.schema(m, "")
		case "patternProperties":
			for _, p := range m.Members() {
				w.schema(p, "")
			}
		case "allOf":
			for e := range m.Elements() {
				w.schema(e, of)
			}
		case "oneOf", "anyOf", "prefixItems":
			for e := range m.Elements() {
				w.schema(e, "")
			}
		case "properties":
			for field, p := range m.Members() {
				if w.v.Field(of, field) {
					w.schema(p, "")
				}
			}
		}
	}
}

// reference adds the schema at ref to the queue, once. A named schema is identified by its name, regardless of the
// reference. It is skipped if the view hides it.
func (w *walk) reference(ref, of string) {
	at := place{of: of, ref: ref}
	if name := w.v.d.NameOf(ref); name != "" {
		if !w.v.names(name) {
			return
		}
		at.of = name
		ref = ""
	}
	key := place{of: at.of, ref: ref}
	if !w.past[key] {
		w.past[key] = true
		w.next = append(w.next, at)
	}
}

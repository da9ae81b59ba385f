package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Supplement adds to d the operations that only other declares, a document of the same API. It also adds parameters
// to operations that both declare. It doesn't change the declarations of d. Operations are the same if their method
// and path are equal, regardless of variable names and a trailing slash. A schema of other is replaced by d's schema
// with the same name. If d has no such schema, it is inlined. Supplement refuses a recursive schema with
// problem.InvalidArgument. It must be called before d is shared.
func (d *Document) Supplement(other *Document) error {
	known := make(map[string]*Operation, len(d.Operations))
	for _, op := range d.Operations {
		known[anonymous(op)] = op
	}
	var added []*Operation
	for _, op := range other.Operations {
		own, s := known[anonymous(op)], supplement{d, other}
		whole := own == nil
		if whole {
			copied := *op
			own = &copied
			own.Parameters = nil
			if !op.Declared {
				own.ID = ""
			}
			added = append(added, own)
		}
		if err := s.operation(own, op, whole); err != nil {
			return &problem.Error{Code: problem.InvalidArgument, Detail: fmt.Sprintf("%s can't be added to the document: %v", op.Name(), err), Err: err}
		}
	}
	d.Operations = append(d.Operations, added...)
	d.identify(added)
	for _, scheme := range other.Schemes {
		if d.Scheme(scheme.Name).Kind == "" {
			d.Schemes = append(d.Schemes, scheme)
		}
	}
	for _, t := range other.Tags {
		used := slices.ContainsFunc(added, func(op *Operation) bool { return slices.Contains(op.Tags, t.Name) })
		if used && !slices.ContainsFunc(d.Tags, func(own Tag) bool { return own.Name == t.Name }) {
			d.Tags = append(d.Tags, t)
		}
	}
	return nil
}

// anonymous returns method and path without the names of variables.
func anonymous(op *Operation) string {
	path := strings.TrimSuffix(op.Path, "/")
	for _, name := range Variables(path) {
		path = strings.ReplaceAll(path, "{"+name+"}", "{}")
	}
	return op.Method + " " + path
}

// A supplement converts the schemas of one document for use in another.
type supplement struct{ into, from *Document }

// operation adds to own the parts that only op has. If whole is true, own is a new copy of op.
func (s supplement) operation(own, op *Operation, whole bool) error {
	var err error
	for _, p := range op.Parameters {
		if !whole && (p.In == "path" || own.Parameter(p.In, p.Name) != nil) {
			continue
		}
		if p.Schema, err = s.inline(p.Schema, nil); err != nil {
			return err
		}
		own.Parameters = append(own.Parameters, p)
	}
	slices.SortStableFunc(own.Parameters, func(a, b Parameter) int { return slices.Index(places, a.In) - slices.Index(places, b.In) })
	if !whole {
		return nil
	}
	if op.Body != nil {
		body := *op.Body
		if body.Contents, err = s.contents(body.Contents); err != nil {
			return err
		}
		own.Body = &body
	}
	own.Responses = slices.Clone(op.Responses)
	for i := range own.Responses {
		if own.Responses[i].Contents, err = s.contents(own.Responses[i].Contents); err != nil {
			return err
		}
	}
	return nil
}

// contents returns a copy of the given contents with inlined schemas, because their references belong to another
// document.
func (s supplement) contents(of []Content) ([]Content, error) {
	out := slices.Clone(of)
	for i := range out {
		var err error
		if out[i].Schema, err = s.inline(out[i].Schema, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// inline returns r for use in the other document. through contains the references followed so far.
func (s supplement) inline(r Raw, through []string) (Raw, error) {
	if ref := Reference(r); ref != "" {
		if own := s.into.SchemaRef(s.from.NameOf(ref)); own != nil {
			return own, nil
		}
		to := s.from.Lookup(ref)
		if to == nil || slices.Contains(through, ref) {
			return nil, fmt.Errorf("%q leads nowhere, or to itself", ref)
		}
		return s.inline(to, append(through, ref))
	}
	switch r.Kind() {
	case '{':
		return s.members(r, through)
	case '[':
		return s.elements(r, through)
	}
	return r, nil
}

// members returns object r with its members inlined. through contains the references on the path here, which must not
// repeat.
func (s supplement) members(r Raw, through []string) (Raw, error) {
	out := Raw{'{'}
	for name, m := range r.Members() {
		in, err := s.inline(m, through)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(appendJSONString(out, name), ':'), in...)
	}
	return append(out, '}'), nil
}

// elements returns array r with its elements inlined.
func (s supplement) elements(r Raw, through []string) (Raw, error) {
	out := Raw{'['}
	for e := range r.Elements() {
		in, err := s.inline(e, through)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, in...)
	}
	return append(out, ']'), nil
}

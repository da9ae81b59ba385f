package response

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A tree contains the requested fields by the first name of their paths. An entry without branches is returned whole.
type tree map[string]tree

// maxFields is the maximum number of fields in a request. A note reports that the remaining fields are ignored.
const maxFields = 200

// pick returns the requested fields of body. whole is the body before its list was filtered. A path that matches
// nothing in whole gives a note with the nearest names.
func (a *Answer) pick(w *walker, root *node, whole, body value.Value) value.Value {
	want, unknown := tree{}, 0
	for i, path := range w.o.Fields {
		if i == maxFields {
			a.note("fields: only the first %d are taken", maxFields)
			break
		}
		names := namesOf(path)
		if near, ok := w.checkPath(names, root, whole); !ok {
			if unknown++; unknown <= 10 {
				a.note("fields: %q names nothing here%s", problem.Cut(path), problem.DidYouMean(near))
			}
			continue
		}
		want.add(names)
	}
	return want.of(body)
}

// namesOf returns the names in a dotted path, without list marks such as [].
func namesOf(path string) []string {
	return strings.Split(strings.NewReplacer("[]", "", "[*]", "").Replace(strings.TrimPrefix(path, "$.")), ".")
}

// Pick returns the parts of v at dotted paths, through lists. known contains the names that v may have. A path that
// begins with another name is refused, with its position in the argument fields.
func Pick(v value.Value, paths, known []string) (value.Value, error) {
	want := tree{}
	for i, path := range paths {
		names := namesOf(path)
		if !slices.Contains(known, names[0]) {
			near := problem.Nearest(names[0], known, 3)
			return value.Value{}, &problem.Error{Code: problem.InvalidArgument, Pointer: fmt.Sprintf("/fields/%d", i), Near: near,
				Detail: fmt.Sprintf("%q names nothing here%s", problem.Cut(path), problem.DidYouMean(near)), Suggestion: "its parts are " + strings.Join(known, ", ")}
		}
		want.add(names)
	}
	return want.of(v), nil
}

// add adds a path. If a field is requested whole, this includes all paths below it, regardless of the order.
func (t tree) add(names []string) {
	for i, name := range names {
		in, ok := t[name]
		switch {
		case ok && in == nil:
			return // already requested whole
		case i == len(names)-1:
			t[name] = nil
			return
		case !ok:
			in = tree{}
			t[name] = in
		}
		t = in
	}
}

// of returns the parts of v that t selects, in the order of v.
func (t tree) of(v value.Value) value.Value {
	switch v.Kind() {
	case value.Array:
		out := make([]value.Value, 0, len(v.List()))
		for _, e := range v.List() {
			if e.Kind() == value.Array || e.Kind() == value.Object {
				out = append(out, t.of(e))
			}
		}
		return value.OfArray(out)
	case value.Object:
		out := make([]value.Member, 0, len(t))
		for _, m := range v.Members() {
			in, ok := t[m.Name]
			if !ok {
				continue
			}
			if in != nil {
				if k := m.Value.Kind(); k != value.Array && k != value.Object && k != value.Null {
					continue
				}
				m.Value = in.of(m.Value)
			}
			out = append(out, m)
		}
		return value.OfObject(out)
	}
	return v
}

// maxSeen is the number of list elements that are searched for names.
const maxSeen = 50

// checkPath reports whether the path exists in the document or the body. If not, it returns the nearest paths.
func (w *walker) checkPath(names []string, n *node, body value.Value) ([]string, bool) {
	bodies := []value.Value{body}
	for i, name := range names {
		for n != nil && len(n.elements) > 0 && len(n.fields) == 0 {
			n = w.element(n)
		}
		bodies = flat(bodies)
		// These are the names at this level: the names that the document declares and the view shows, then the names
		// in the body.
		var has []string
		if n != nil {
			for _, name := range n.names {
				if f := n.fields[name]; !f.hidden && !f.unsent && !w.mark(name).denied {
					has = append(has, name)
				}
			}
		}
		var next []value.Value
		for _, b := range bodies {
			for _, m := range b.Members() {
				if m.Name == name {
					next = append(next, m.Value)
				}
				if !slices.Contains(has, m.Name) && len(has) < 1000 {
					has = append(has, m.Name)
				}
			}
		}
		if !slices.Contains(has, name) && len(next) == 0 {
			near := problem.Nearest(name, has, 3)
			for j := range near {
				near[j] = strings.Join(append(slices.Clone(names[:i]), near[j]), ".")
			}
			return near, false
		}
		in, ok := w.member(n, name)
		if !ok {
			return nil, false
		}
		n, bodies = in.node, next
	}
	return nil, true
}

// flat replaces each array with its elements. It returns at most about maxSeen elements.
func flat(all []value.Value) []value.Value {
	var out []value.Value
	for _, v := range all {
		if v.Kind() == value.Array {
			out = append(out, flat(v.List()[:min(len(v.List()), maxSeen)])...)
		} else {
			out = append(out, v)
		}
		if len(out) >= maxSeen {
			break
		}
	}
	return out
}

// some returns a list of the first names, and the number of the others.
func some(names []string) string {
	const most = 10
	short := make([]string, 0, most)
	for _, n := range names[:min(len(names), most)] {
		short = append(short, problem.Cut(oneLine(n)))
	}
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(short, ", "), len(names)-most)
	}
	return strings.Join(short, ", ")
}

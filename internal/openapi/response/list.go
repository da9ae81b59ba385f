package response

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/value"
)

// A list is the location of a body's main array. The array is the body itself or is inside an envelope.
type list struct {
	names []string
	is    bool
}

// envelopes are the usual names of lists in envelopes. The first six are also usual names of objects around lists.
var envelopes = []string{"data", "result", "response", "embedded", "payload", "body", "items", "results", "value", "values", "records", "entries", "rows", "list", "content",
	"objects", "elements", "resources", "hits", "edges", "nodes"}

// mainList finds the main list of a body. It is the body itself, its only list, or the first list with a usual name.
// Otherwise mainList searches an object with a usual name in the same way.
func mainList(body value.Value) list {
	if body.Kind() == value.Array {
		return list{is: true}
	}
	var lists, objects []string
	for _, m := range body.Members() {
		switch m.Value.Kind() {
		case value.Array:
			lists = append(lists, m.Name)
		case value.Object:
			if slices.Contains(envelopes[:6], plain(m.Name)) {
				objects = append(objects, m.Name)
			}
		}
	}
	if len(lists) == 1 {
		return list{lists, true}
	}
	for _, usual := range envelopes {
		for _, name := range lists {
			if plain(name) == usual {
				return list{[]string{name}, true}
			}
		}
	}
	if len(lists) == 0 && len(objects) == 1 {
		in, _ := body.Get(objects[0])
		if in := mainList(in); in.is && len(in.names) == 1 {
			return list{[]string{objects[0], in.names[0]}, true}
		}
	}
	return list{}
}

// of returns the elements of the list in body, or nil if it is absent.
func (l list) of(body value.Value) []value.Value {
	if !l.is {
		return nil
	}
	for _, name := range l.names {
		body, _ = body.Get(name)
	}
	return body.List()
}

// shorten returns body with only the first n elements of the list.
func (l list) shorten(body value.Value, n int) value.Value {
	if len(l.names) == 0 {
		return value.OfArray(body.List()[:n:n])
	}
	members := slices.Clone(body.Members())
	for i := range members {
		if members[i].Name == l.names[0] {
			members[i].Value = list{l.names[1:], true}.shorten(members[i].Value, n)
		}
	}
	return value.OfObject(members)
}

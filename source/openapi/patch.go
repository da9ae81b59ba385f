package openapi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// errPatch means that a JSON Patch can't be applied to the present record. So the result of the call is unknown.
var errPatch = problem.LoggableError("the JSON Patch doesn't fit")

// applyPatch returns the value was after a JSON Patch (RFC 6902).
func applyPatch(was, patch value.Value) (value.Value, error) {
	for _, one := range patch.List() {
		op, _ := one.Get("op")
		to, _ := one.Get("path")
		names, ok := pointerNames(to)
		if !ok {
			return was, errPatch
		}
		v, _ := one.Get("value")
		from, _ := one.Get("from")
		source, given := pointerNames(from)
		switch op.Text() {
		case "copy", "move":
			if v, ok = at(was, source); !ok || !given {
				return was, errPatch
			}
			if op.Text() == "move" {
				gone := func(value.Value, bool) (value.Value, bool) { return value.Value{}, false }
				if was, ok = edit(was, source, gone, false); !ok {
					return was, errPatch
				}
			}
		case "test":
			if is, ok := at(was, names); !ok || !change.Same(is, v) {
				return was, errPatch
			}
			continue
		case "add", "replace", "remove":
		default:
			return was, errPatch
		}
		stays, must := op.Text() != "remove", op.Text() == "remove" || op.Text() == "replace"
		fits := true
		put := func(_ value.Value, there bool) (value.Value, bool) {
			fits = there || !must
			return v, stays
		}
		if was, ok = edit(was, names, put, !must); !ok || !fits {
			return was, errPatch
		}
	}
	return was, nil
}

// pointerNames returns the names in a JSON pointer. It returns false if v is not a JSON pointer.
func pointerNames(v value.Value) ([]string, bool) {
	text := v.Text()
	if v.Kind() != value.String || text != "" && text[0] != '/' {
		return nil, false
	}
	if text == "" {
		return nil, true
	}
	names := strings.Split(text[1:], "/")
	for i, name := range names {
		names[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	}
	return names, true
}

// at returns the value at the path that names contains. It returns false if there is no such value.
func at(v value.Value, names []string) (value.Value, bool) {
	for _, name := range names {
		next, ok := v.Get(name)
		if i, err := strconv.Atoi(name); v.Kind() == value.Array && err == nil && i >= 0 && i < len(v.List()) {
			next, ok = v.List()[i], true
		}
		if !ok {
			return next, false
		}
		v = next
	}
	return v, true
}

// edit returns v with the value at the path names replaced by the result of by. by also returns whether the value
// exists afterwards. If insert is set, the value is inserted into a list. edit returns false if the path doesn't
// exist.
func edit(v value.Value, names []string, by func(v value.Value, there bool) (value.Value, bool), insert bool) (value.Value, bool) {
	if len(names) == 0 {
		out, _ := by(v, true)
		return out, true
	}
	name := names[0]
	switch v.Kind() {
	case value.Object:
		members := slices.Clone(v.Members())
		i := slices.IndexFunc(members, func(m value.Member) bool { return m.Name == name })
		if len(names) > 1 {
			if i < 0 {
				return v, false
			}
			in, ok := edit(members[i].Value, names[1:], by, insert)
			members[i].Value = in
			return value.OfObject(members), ok
		}
		var old value.Value
		if i >= 0 {
			old = members[i].Value
		}
		is, stays := by(old, i >= 0)
		switch {
		case i >= 0 && stays:
			members[i].Value = is
		case i >= 0:
			members = slices.Delete(members, i, i+1)
		case stays:
			members = append(members, value.Member{Name: name, Value: is})
		default:
			return v, false
		}
		return value.OfObject(members), true
	case value.Array:
		return editList(v, names, by, insert)
	}
	return v, false
}

// editList implements edit for a list.
func editList(v value.Value, names []string, by func(value.Value, bool) (value.Value, bool), insert bool) (value.Value, bool) {
	list := slices.Clone(v.List())
	i, err := strconv.Atoi(names[0])
	if names[0] == "-" {
		i, err = len(list), nil
	}
	if err != nil || i < 0 || i > len(list) || i == len(list) && (!insert || len(names) > 1) {
		return v, false
	}
	if len(names) > 1 {
		in, ok := edit(list[i], names[1:], by, insert)
		list[i] = in
		return value.OfArray(list), ok
	}
	if insert {
		is, _ := by(value.Value{}, false)
		return value.OfArray(slices.Insert(list, i, is)), true
	}
	is, stays := by(list[i], true)
	if !stays {
		return value.OfArray(slices.Delete(list, i, i+1)), true
	}
	list[i] = is
	return value.OfArray(list), true
}

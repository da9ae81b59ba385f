package tools

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// wrapCalls normalizes the arguments of propose_changes. It wraps each write that has the form of call_api_write
// arguments: {"operationId": …, "body": …} becomes {"op": "call", "call": {…}}. No other write has this form. A
// source next to writes applies to each write.
func wrapCalls(c *bailiwick.Call, in value.Value) (value.Value, error) {
	members := slices.Clone(in.Members())
	source, list := changeWord(in, "source"), false
	for i, m := range members {
		if m.Name != "writes" || m.Value.Kind() != value.Array {
			continue
		}
		writes := slices.Clone(m.Value.List())
		list = true
		for at, item := range writes {
			asked, has := item.Get("call")
			if !has {
				asked = asCallArguments(item)
			}
			if source != "" {
				var err error
				if asked, err = of(c, source, item, asked); err != nil {
					return in, problem.Of(err).MapPointers(func(string) string { return "/source" })
				}
			}
			if _, named := asked.Get("operationId"); !named || has && len(item.Members()) > 2 {
				continue
			}
			call, err := placeArguments(c, asked)
			if err != nil {
				return in, problem.Of(err).MapPointers(func(pointer string) string { return fmt.Sprintf("/writes/%d%s", at, pointer) })
			}
			writes[at] = value.OfObject([]value.Member{{Name: "op", Value: value.OfString(string(write.OpCall))}, {Name: "call", Value: call}})
		}
		members[i].Value = value.OfArray(writes)
	}
	if source != "" && list { // each write contains the source now
		members = slices.DeleteFunc(members, func(m value.Member) bool { return m.Name == "source" })
	}
	return value.OfObject(members), nil
}

// asCallArguments returns the members of a write, except op, as arguments of a call. It returns null for a write of a
// record or an action.
func asCallArguments(item value.Value) value.Value {
	var out []value.Member
	for _, m := range item.Members() {
		switch m.Name {
		case "op":
			continue
		case "class_name", "method_name":
			return value.Value{}
		case "object_id":
			m.Name = "id" // the original name of the argument
		case "data":
			if _, given := item.Get("body"); !given {
				m.Name = "body"
			}
		}
		out = append(out, m)
	}
	return value.OfObject(out)
}

// of returns the arguments of a call in the given source. It refuses arguments with another source. A write of a
// record must be for a class of that source. Later checks of the write handle all other cases.
func of(c *bailiwick.Call, source string, item, call value.Value) (value.Value, error) {
	other, what := "", ""
	if id := changeWord(call, "operationId"); id != "" {
		if own, given := call.Get("source"); !given {
			if _, err := c.API(source); err != nil {
				return call, err
			}
			return value.OfObject(append(slices.Clone(call.Members()), value.Member{Name: "source", Value: value.OfString(source)})), nil
		} else if own.Kind() == value.String {
			other, what = own.Text(), id
		}
	} else if name := changeWord(item, "class_name"); name != "" {
		if v, err := c.View(name); err == nil {
			other, what = v.Source(), name
		}
	}
	if other == "" || other == source {
		return call, nil
	}
	return call, invalid("/source", fmt.Sprintf("%s is of the source %s: a change is of one source, leave the argument out or name that one", problem.Cut(what), problem.Cut(other)))
}

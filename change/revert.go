package change

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Inverse returns the writes that take c back, in the order in which they have to run: what came goes, what changed has
// again what it had, what went comes again. It refuses what wasn't applied and what can't be taken back.
func (c *Change) Inverse() ([]write.Write, error) {
	refuse := func(kind, detail string) error {
		return &problem.Error{Code: problem.Conflict, Kind: kind, Detail: detail}
	}
	if c.State != Applied || c.Outcome == nil || c.Outcome.Receipt == nil {
		return nil, refuse("state", "the change was not applied: there is nothing to take back")
	}
	var out []write.Write
	for i, e := range slices.Backward(c.Effects) {
		switch e.Op {
		case write.OpCreate:
			if i >= len(c.Outcome.Receipt.Keys) {
				return nil, refuse("receipt", "the source didn't tell which record it made")
			}
			out = append(out, &write.Delete{Class: e.Class, ID: c.Outcome.Receipt.Keys[i]})
		case write.OpUpdate:
			out = append(out, &write.Update{Class: e.Class, ID: e.Key, Data: only(e.Before, e.Asked)})
		case write.OpDelete:
			if len(c.Cascades) > 0 {
				return nil, refuse("cascades", "other records went with it, which can't be brought back")
			}
			out = append(out, &write.Create{Class: e.Class, Data: present(e.Before)})
		default:
			return nil, refuse("op", named[e.Op]+" can't be taken back")
		}
	}
	return out, nil
}

// named is what can't be taken back.
var named = map[write.Op]string{write.OpAction: "an action", write.OpCall: "a call", write.OpSchema: "a change of the schema"}

// only returns the members of an object with these names.
func only(object value.Value, names []string) value.Value {
	var members []value.Member
	for _, m := range object.Members() {
		if slices.Contains(names, m.Name) {
			members = append(members, m)
		}
	}
	return value.OfObject(members)
}

// present returns the members of an object that aren't null: a new record has null where nothing is said.
func present(object value.Value) value.Value {
	var members []value.Member
	for _, m := range object.Members() {
		if !m.Value.IsNull() {
			members = append(members, m)
		}
	}
	return value.OfObject(members)
}

// Moved returns the first thing in which the records of a new preview of c differ from those that were reviewed, in the
// fields that c sets and the version of the record, or in all for a record that goes; "" when in none. It names no value.
func (c *Change) Moved(now []Effect) string {
	for i, e := range c.Effects {
		if i >= len(now) {
			return "there are fewer records"
		}
		if e.Before.IsNull() != now[i].Before.IsNull() {
			return fmt.Sprintf("the record %s of %s is there no more, or again", e.Key, e.Class)
		}
		fields := e.Asked
		if e.Version != "" {
			fields = append([]string{e.Version}, fields...)
		}
		if e.Op == write.OpDelete || e.Op == write.OpAction || e.Op == write.OpCall {
			fields = names(e.Before)
		}
		for _, f := range fields {
			if !Same(get(e.Before, f), get(now[i].Before, f)) {
				return fmt.Sprintf("%s of %s %s", f, e.Class, e.Key)
			}
		}
	}
	return ""
}

// Unmoved reports, by nil, whether the records that take c back, in now, are still what c left: in the fields that it
// set, or in all of a record that it made.
func (c *Change) Unmoved(now []Effect) error {
	left := c.Outcome.Receipt.After
	if len(left) != len(c.Effects) || len(now) != len(c.Effects) {
		return &problem.Error{Code: problem.Conflict, Kind: "receipt", Detail: "what the change left isn't known: it can't be taken back"}
	}
	for i, e := range slices.Backward(c.Effects) {
		at := len(c.Effects) - 1 - i
		fields := e.Asked
		if e.Op == write.OpCreate {
			fields = names(left[i])
		}
		for _, f := range fields {
			if !Same(get(left[i], f), get(now[at].Before, f)) {
				return &problem.Error{Code: problem.Conflict, Kind: "moved_on", Detail: fmt.Sprintf("%s of %s has changed since: taking the change back would undo that as well", f, e.Class)}
			}
		}
	}
	return nil
}

func get(object value.Value, name string) value.Value {
	v, _ := object.Get(name)
	return v
}

func names(object value.Value) []string {
	var out []string
	for _, m := range object.Members() {
		out = append(out, m.Name)
	}
	return out
}

// Same reports whether two values are the same to the last digit, as canonical JSON.
func Same(a, b value.Value) bool {
	return bytes.Equal(write.AppendCanonical(nil, a), write.AppendCanonical(nil, b))
}

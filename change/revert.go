package change

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Inverse returns the writes that revert c, in the order to run them. Created records are deleted, updated fields get
// their former values, and deleted records are created again. It fails with problem.Conflict if c wasn't applied or
// can't be reverted.
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

// named has descriptions of the operations that can't be reverted.
var named = map[write.Op]string{write.OpAction: "an action", write.OpCall: "a call", write.OpSchema: "a change of the schema"}

// only returns the members of an object with the given names.
func only(object value.Value, names []string) value.Value {
	var members []value.Member
	for _, m := range object.Members() {
		if slices.Contains(names, m.Name) {
			members = append(members, m)
		}
	}
	return value.OfObject(members)
}

// present returns the non-null members of an object. The other members are null in a new record.
func present(object value.Value) value.Value {
	var members []value.Member
	for _, m := range object.Members() {
		if !m.Value.IsNull() {
			members = append(members, m)
		}
	}
	return value.OfObject(members)
}

// Difference describes the first difference between the records of a new preview of c and the reviewed ones, or "" if there
// is none. It compares the fields that c sets and the record's version, or all fields for a delete, an action or a
// call. The description contains no value.
func (c *Change) Difference(now []Effect) string { return c.MovedAgain(now, nil) }

// MovedAgain is like Moved, with a second new preview. It ignores parts of an API's answer that differ between the two
// previews, because they change with each read.
func (c *Change) MovedAgain(now, again []Effect) string {
	for i := range c.Effects {
		if i >= len(now) {
			return "there are fewer records"
		}
		var second *Effect
		if i < len(again) {
			second = &again[i]
		}
		if place := c.Effects[i].Difference(now[i], second); place != "" {
			return place
		}
	}
	return ""
}

// Difference describes the first difference of one effect of a change: see Change.MovedAgain.
func (e *Effect) Difference(now Effect, again *Effect) string {
	if e.Before.IsNull() != now.Before.IsNull() || e.Present != now.Present {
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
		if !Same(get(e.Before, f), get(now.Before, f)) {
			return fmt.Sprintf("%s of %s %s", f, e.Class, e.Key)
		}
	}
	if e.Read.IsNull() {
		return "" // an older change, or a write without a read
	}
	for _, f := range append(names(e.Read), names(now.Read)...) {
		is := get(now.Read, f)
		if !Same(get(e.Read, f), is) && (again == nil || Same(is, get(again.Read, f))) {
			return fmt.Sprintf("%s of %s %s", f, e.Class, e.Key)
		}
	}
	return ""
}

// CheckRevertible returns nil if now has the records in the state in which c left them. Otherwise it returns a
// problem.Conflict. It compares the fields that c set, or all fields of a record that c created.
func (c *Change) CheckRevertible(now []Effect) error {
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

// Same reports whether two values have the same canonical JSON.
func Same(a, b value.Value) bool {
	return bytes.Equal(write.AppendCanonical(nil, a), write.AppendCanonical(nil, b))
}

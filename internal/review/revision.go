package review

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Revision contains a reviewer's new values for a change.
type Revision struct {
	Digest string // the digest of the change that the reviewer saw
	Edits  []Edit
	Reason string // for the agent and the next reviewer
}

// An Edit is a new value for a field that an item of a change sets.
type Edit struct {
	Item  int    // counted from 0, as in Sheet.Items
	Field string // the name of the field in the class
	Value value.Value
}

// Input returns the revision in the form stored with the new version.
func (r Revision) Input() value.Value {
	list := make([]value.Value, len(r.Edits))
	for i, e := range r.Edits {
		list[i] = value.OfObject([]value.Member{{Name: "item", Value: value.OfInt(int64(e.Item))}, {Name: "field", Value: value.OfString(e.Field)}, {Name: "value", Value: e.Value}})
	}
	return value.OfObject([]value.Member{{Name: "edits", Value: value.OfArray(list)}})
}

// Revisable returns nil if a version with other values may replace c. A reviewer can't edit an action or a call,
// because its author checks the arguments and not these values.
func Revisable(c *change.Change) error {
	if _, open := c.State.Next(change.EventReplaced); !open {
		return &problem.Error{Code: problem.Conflict, Kind: "state", Detail: "the change is " + string(c.State) + ": it can't be edited any more"}
	}
	if made := c.Actions(); len(made) > 1 || slices.ContainsFunc(made, func(name string) bool { return name != "" }) || slices.ContainsFunc(c.Effects, func(e change.Effect) bool {
		return e.Op != write.OpCreate && e.Op != write.OpUpdate && e.Op != write.OpDelete
	}) {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "edit", Detail: "an action or a call can't be edited: ask the agent for changes"}
	}
	return nil
}

// Apply returns the writes of c with the values of the revision. It fails if c isn't the change that the reviewer
// saw, if c doesn't set an edited field, or if no value differs.
func (r Revision) Apply(c *change.Change) ([]write.Write, error) {
	if r.Digest != c.Digest {
		return nil, &problem.Error{Code: problem.Conflict, Kind: "digest", Pointer: "/digest", Detail: "the change is not what you looked at", Suggestion: "look at it again"}
	}
	list, err := c.ParseWrites()
	if err != nil {
		return nil, err
	}
	changed := false
	for i, e := range r.Edits {
		at := fmt.Sprintf("/edits/%d", i)
		if e.Item < 0 || e.Item >= len(list) {
			return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: at + "/item", Detail: fmt.Sprintf("the change has items 0 to %d", len(list)-1)}
		}
		data := dataOf(list[e.Item])
		was, there := value.Value{}, false
		if data != nil {
			was, there = data.Get(e.Field)
		}
		if !there {
			return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: at + "/field",
				Detail: fmt.Sprintf("item %d doesn't set %q: an edit changes a value that is asked for", e.Item, problem.Cut(e.Field))}
		}
		changed = changed || !change.Same(was, e.Value)
		members := slices.Clone(data.Members())
		for k := range members {
			if members[k].Name == e.Field {
				members[k].Value = e.Value
			}
		}
		*data = value.OfObject(members)
	}
	if !changed {
		return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: "/edits", Detail: "no value is another one: there is nothing to propose"}
	}
	return list, nil
}

// dataOf returns a pointer to the values of w, or nil if this kind of write has no values.
func dataOf(w write.Write) *value.Value {
	switch w := w.(type) {
	case *write.Create:
		return &w.Data
	case *write.Update:
		return &w.Data
	}
	return nil
}

// NewCheck returns a failed check for err, or a passed check with the detail fine if err is nil.
func NewCheck(name string, err error, fine string) Check {
	if err == nil {
		return Check{Name: name, OK: true, Detail: fine}
	}
	detail := problem.Of(err).Detail
	if p := problem.Of(err); p.Code == problem.Internal || p.Store {
		detail = "it could not be checked"
	}
	return Check{Name: name, Detail: detail}
}

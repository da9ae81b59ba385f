package writes

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Reading returns the permit to read the record of i's class that has the key id, as the asker sees it: all visible
// fields, in the order of the class. A source reads by it before and after it writes; a record that it doesn't give is
// outside of the asker's view.
func (i *Item) Reading(id []value.Value) (policy.Permit, error) {
	keys := make([]query.Path, 0, len(i.View.Fields()))
	for _, f := range i.View.Fields() {
		keys = append(keys, query.Path{f.Name})
	}
	return i.policy.Read(i.who, &query.Find{Class: i.View.Class().FullName(), IDs: []string{KeyText(id)}, Keys: keys, Limit: 1})
}

// KeyText returns a key as get_object takes it: the text of its one part, or a JSON list of the texts of all.
func KeyText(id []value.Value) string {
	if len(id) == 1 {
		return id[0].String()
	}
	parts := make([]value.Value, len(id))
	for i, v := range id {
		parts[i] = value.OfString(v.String())
	}
	return string(value.OfArray(parts).AppendJSON(nil))
}

// NotFound refuses a record that isn't there for the asker, wherever it is.
func (i *Item) NotFound() error {
	return &problem.Error{Code: problem.NotFound, Detail: fmt.Sprintf("there is no record %q in %s", problem.Cut(i.Key), i.View.Name())}
}

// find reads i's key. What is no key of the class names no record.
func (i *Item) find(at string) error {
	permit, err := i.policy.Read(i.who, &query.Find{Class: i.View.Class().FullName(), IDs: []string{i.Key}, Limit: 1})
	if err != nil {
		return err
	}
	plan, err := permit.Plan()
	if err != nil {
		return err
	}
	i.ID = keyOf(plan.Where)
	if i.ID == nil {
		refusal := problem.Of(i.NotFound())
		refusal.Pointer = at + "/object_id"
		return refusal
	}
	return nil
}

// keyOf returns the values of a bound filter for one record, as policy makes it of an id; nil where it can't hold.
func keyOf(f query.Filter) []value.Value {
	switch f := f.(type) {
	case query.In:
		if len(f.Values) == 1 {
			return f.Values
		}
	case query.Or: // of the one id
		return keyOf(f[0])
	case query.And:
		var out []value.Value
		for _, part := range f {
			c, ok := part.(query.Compare)
			if !ok {
				return nil // a part that no key has
			}
			out = append(out, c.Value)
		}
		return out
	}
	return nil
}

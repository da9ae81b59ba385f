package writes

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Reading returns the permit to read the record of i's class with the key id, as the principal sees it. It reads all
// visible fields, in the order of the class. A source uses the permit before and after the write. A record that it
// doesn't return is outside of the principal's view.
func (i *Item) Reading(id []value.Value) (policy.Permit, error) {
	keys := make([]query.Path, 0, len(i.View.Fields()))
	for _, f := range i.View.Fields() {
		keys = append(keys, query.Path{f.Name})
	}
	return i.policy.Read(i.who, &query.Find{Class: i.View.Class().FullName(), IDs: []string{KeyText(id)}, Keys: keys, Limit: 1})
}

// KeyText returns a key as get_object takes it: the text of its only part, or a JSON list of the texts of all parts.
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

// WithRequestPointer returns an error about a value of i, whose pointer is within the write, with its pointer in the request.
func (i *Item) WithRequestPointer(err error) error {
	p, ok := err.(*problem.Error)
	if !ok || p.Pointer == "" {
		return err
	}
	return p.MapPointers(func(pointer string) string { return i.at + pointer })
}

// NotFoundError returns the refusal of a record that doesn't exist for the principal.
func (i *Item) NotFoundError() error {
	return &problem.Error{Code: problem.NotFound, Detail: fmt.Sprintf("there is no record %q in %s", problem.Cut(i.Key), i.View.Name()), Suggestion: i.View.NotAnID(i.Key)}
}

// find parses i's key into i.ID. An id that the class can't have is NotFound.
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
		refusal := problem.Of(i.NotFoundError())
		refusal.Pointer = at + "/object_id"
		return refusal
	}
	return nil
}

// keyOf returns the key values in the filter that policy makes of an id, or nil if no record can have them.
func keyOf(f query.Filter) []value.Value {
	switch f := f.(type) {
	case query.In: // the first value is of the field's type, if the id can be one
		if len(f.Values) > 0 {
			return f.Values[:1]
		}
	case query.Or: // of a single id
		return keyOf(f[0])
	case query.And:
		var out []value.Value
		for _, part := range f {
			switch c := part.(type) {
			case query.Compare:
				out = append(out, c.Value)
			case query.In: // of a field that is Mixed
				out = append(out, c.Values[0])
			default:
				return nil // a value that no key has
			}
		}
		return out
	}
	return nil
}

// Effect returns the known effect of i before it runs: all except Before and After.
func (i *Item) Effect() change.Effect {
	e := change.Effect{Op: i.Op, Class: i.View.Class().FullName(), Key: i.Key, Version: i.View.Rule().Version}
	for _, s := range i.Sets {
		if !s.Forced {
			e.Asked = append(e.Asked, s.Field.Name)
		}
	}
	return e
}

// HasChanged reports whether a record is no longer the reviewed one. now is its visible fields, or Null if it is gone.
func (i *Item) HasChanged(now value.Value) bool {
	if now.IsNull() || i.Before.IsNull() {
		return true
	}
	return slices.ContainsFunc(i.Concerned, func(field string) bool {
		was, had := i.Before.Get(field)
		is, has := now.Get(field)
		return had != has || !change.Same(was, is)
	})
}

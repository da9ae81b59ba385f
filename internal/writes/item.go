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

// Reading returns the permit to read the record of i's class with the key id, as the principal sees it. The read
// covers all visible fields in the order of the class. A source uses the permit before and after the write. A record
// that the read doesn't return is outside the principal's view.
func (i *Item) Reading(id []value.Value) (policy.Permit, error) {
	keys := make([]query.Path, 0, len(i.View.Fields()))
	for _, f := range i.View.Fields() {
		keys = append(keys, query.Path{f.Name})
	}
	return i.policy.Read(i.who, &query.Find{Class: i.View.Class().FullName(), IDs: []string{KeyText(id)}, Keys: keys, Limit: 1})
}

// KeyText returns a key in the form that get_object accepts. That is the text of the only part, or a JSON list with
// the texts of all parts.
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

// WithRequestPointer converts the pointer of an error from a path within the write to a path within the request.
func (i *Item) WithRequestPointer(err error) error {
	p, ok := err.(*problem.Error)
	if !ok || p.Pointer == "" {
		return err
	}
	return p.MapPointers(func(pointer string) string { return i.at + pointer })
}

// NotFoundError returns the error for a record that doesn't exist in the principal's view.
func (i *Item) NotFoundError() error {
	return &problem.Error{Code: problem.NotFound, Detail: fmt.Sprintf("there is no record %q in %s", problem.Cut(i.Key), i.View.Name()), Suggestion: i.View.NotAnID(i.Key)}
}

// find parses i's key into i.ID. It returns NotFound for an id that no record of the class can have.
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

// keyOf returns the key values in the filter that policy builds from an id, or nil if no record can have them.
func keyOf(f query.Filter) []value.Value {
	switch f := f.(type) {
	case query.In: // the first value has the field's type if the id is valid
		if len(f.Values) > 0 {
			return f.Values[:1]
		}
	case query.Or: // a key with one field
		return keyOf(f[0])
	case query.And:
		var out []value.Value
		for _, part := range f {
			switch c := part.(type) {
			case query.Compare:
				out = append(out, c.Value)
			case query.In: // a Mixed field
				out = append(out, c.Values[0])
			default:
				return nil // no record can have this value
			}
		}
		return out
	}
	return nil
}

// Effect returns the part of i's effect that is known before it runs: everything except Before and After.
func (i *Item) Effect() change.Effect {
	e := change.Effect{Op: i.Op, Class: i.View.Class().FullName(), Key: i.Key, Version: i.View.Rule().Version}
	for _, s := range i.Sets {
		if !s.Forced {
			e.Asked = append(e.Asked, s.Field.Name)
		}
	}
	return e
}

// HasChanged reports whether a record differs from the reviewed record. now contains its visible fields, or is Null
// for a missing record.
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

package writes

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Made refers to a part of the key of the record that an earlier item of the plan creates. A source sets Set.Value
// once that item has run. Until then, Set.Value is a placeholder of the field's type.
type Made struct {
	Item int // index of the earlier item, from 0
	Key  int // index of the key part, in the order of the class
}

// referenceSet returns a Set of a field to the key of a record that an earlier write of the group creates. It returns
// an error if the reference is not allowed. The key can depend on records that the principal doesn't see, so no
// preview shows it.
func (w *writer) referenceSet(v *policy.View, f *schema.Field, r calls.Reference) (Set, error) {
	refuse := func(suggestion, format string, args ...any) (Set, error) {
		return Set{}, &problem.Error{Code: problem.InvalidArgument, Kind: "reference", Pointer: r.At, Detail: fmt.Sprintf(format, args...), Suggestion: suggestion}
	}
	if r.Call > len(w.before) {
		return refuse("put that write before this one, or propose this one alone to write the text as it is", "%s names write %d, and this is write %d: only an earlier one has made its record", r, r.Call, len(w.before)+1)
	}
	from := &w.before[r.Call-1]
	if from.Op != write.OpCreate || from.View == nil {
		return refuse("name a write that creates a record", "%s names write %d, which creates no record", r, r.Call)
	}
	c, name := from.View.Class(), r.Path[0]
	if name == "id" && from.View.Field("id") == nil && len(c.Key) == 1 {
		name = c.Key[0]
	}
	part := slices.Index(c.Key, name)
	if part < 0 || len(r.Path) > 1 {
		return refuse("write other values as they are", "%s: of the record of write %d only its id can be named: $%d.id", r, r.Call, r.Call)
	}
	points, _ := v.Pointer(f.Name)
	key := c.Field(name)
	switch {
	case points.Target != "" && (points.Target != from.View.Name() && points.Target != c.FullName() || points.TargetKey != name):
		return refuse("", "%s leads to records of %s, and write %d creates one of %s", f.Name, points.Target, r.Call, from.View.Name())
	case f.Type != key.Type || f.Stored != nil || key.Stored != nil:
		return refuse("", "%s can't hold the id of a record of %s", f.Name, from.View.Name())
	}
	return Set{Field: f, Value: standIn(f), From: &Made{Item: r.Call - 1, Key: part}}, nil
}

// standIn returns a placeholder value of the type of a key field.
func standIn(f *schema.Field) value.Value {
	switch f.Type {
	case schema.Integer, schema.Decimal, schema.Double:
		return value.OfInt(0)
	case schema.UUID:
		id, _ := value.OfUUIDText("00000000-0000-0000-0000-000000000000")
		return id
	}
	return value.OfString("000000000000000000000000")
}

// With returns i with its references replaced by the keys of earlier items. The function key returns the key of the
// n-th item, in the order of its class, or nil if the key is not known. In that case whole is false and the reference
// stays.
func (i *Item) With(key func(n int) []value.Value) (out *Item, whole bool) {
	if !i.Refers() {
		return i, true
	}
	with := *i
	with.Sets, whole = slices.Clone(i.Sets), true
	for n, s := range with.Sets {
		if s.From == nil {
			continue
		}
		if id := key(s.From.Item); id != nil {
			with.Sets[n].Value = id[s.From.Key]
		} else {
			whole = false
		}
	}
	return &with, whole
}

// Refers reports whether i sets a field to the key of a record that an earlier item creates.
func (i *Item) Refers() bool {
	return slices.ContainsFunc(i.Sets, func(s Set) bool { return s.From != nil })
}

// SetsReference reports whether i sets the named field to the key of a record that an earlier item creates. That
// record is in the principal's view. Otherwise the earlier item would have been refused.
func (i *Item) SetsReference(name string) bool {
	return slices.ContainsFunc(i.Sets, func(s Set) bool { return s.From != nil && s.Field.Name == name })
}

// NoteReferences notes in the effects of a preview which values are keys of records that the plan itself creates. It
// removes the placeholder values of the preview.
func (p *Plan) NoteReferences(effects []change.Effect) {
	for i := range min(len(p.Items), len(effects)) {
		e := &effects[i]
		for _, s := range p.Items[i].Sets {
			if s.From == nil {
				continue
			}
			from := p.Items[s.From.Item].View.Class().Key[s.From.Key]
			taken := change.Taken{At: "/data/" + s.Field.Name, Call: s.From.Item + 1, Path: from}
			e.Takes = append(e.Takes, taken)
			members := slices.Clone(e.After.Members())
			for k := range members {
				if members[k].Name == s.Field.Name {
					members[k].Value = value.OfString(fmt.Sprintf("$%d.%s", taken.Call, taken.Path))
				}
			}
			if e.After.Kind() == value.Object {
				e.After = value.OfObject(members)
			}
		}
	}
}

package writes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Pairs returns the error of the first write that violates a check constraint of the source over two fields. It
// ignores constraints if the principal doesn't see both fields. The effects are those of a preview. Only their values
// before the write are used, because the result may depend on records that the principal doesn't see.
func (p *Plan) Pairs(effects []change.Effect) error {
	for i := range min(len(p.Items), len(effects)) {
		it := &p.Items[i]
		if it.View == nil {
			continue
		}
		for _, f := range it.View.Class().Fields {
			for _, b := range f.Bounds {
				if err := it.pair(f.Name, b, effects[i].Before); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pair returns an error if the value of a field violates the bound b, which compares it with another field.
func (i *Item) pair(name string, b schema.Bound, before value.Value) error {
	f, v, at := i.leaves(name, before)
	g, w, other := i.leaves(b.Field, before)
	if f == nil || g == nil || at+other == "" || f.Type != g.Type || f.Native != g.Native || isRounded(f, v) || isRounded(g, w) {
		return nil
	}
	if n, _ := value.Compare(v, w); n == 0 && f.Type == schema.Date || (schema.Bound{Op: b.Op, Value: w}).Holds(v) {
		return nil // equal dates may differ in fractions that only the source stores
	}
	if at == "" {
		at = other
	}
	return &problem.Error{Code: problem.InvalidArgument, Kind: "check", Pointer: at,
		Detail: fmt.Sprintf("%s must be %s %s, and would be %s with %s", name, b.Words(), b.Field, problem.Cut(v.String()), problem.Cut(w.String())), Suggestion: "write both so that they fit"}
}

// CompareQuery returns the query of the fields that Pairs and Unique compare with the fields of an update. It returns
// nil if there are none. It omits fields that the update sets itself.
func (i *Item) CompareQuery() *query.Find {
	if i.View == nil || i.Op != write.OpUpdate {
		return nil
	}
	var keys []query.Path
	add := func(fields ...string) {
		set := func(name string) bool {
			return slices.ContainsFunc(i.Sets, func(s Set) bool { return s.Field.Name == name })
		}
		for _, name := range fields {
			if path := (query.Path{name}); slices.ContainsFunc(fields, set) && !set(name) && i.View.Field(name) != nil &&
				!slices.ContainsFunc(keys, func(p query.Path) bool { return slices.Equal(p, path) }) {
				keys = append(keys, path)
			}
		}
	}
	c := i.View.Class()
	for _, f := range c.Fields {
		for _, b := range f.Bounds {
			add(f.Name, b.Field)
		}
	}
	for _, x := range c.Indexes {
		if x.Unique && !x.More {
			add(x.Fields...)
		}
	}
	if keys == nil {
		return nil
	}
	return &query.Find{Class: c.FullName(), IDs: []string{i.Key}, Keys: keys, Limit: 1, Raw: true}
}

// leaves returns a field, its value after i, and the pointer of that value. The pointer is "" if i doesn't set the
// field. The field is nil if the principal doesn't see all of its values.
func (i *Item) leaves(name string, before value.Value) (f *schema.Field, v value.Value, at string) {
	f = i.View.Field(name)
	if f == nil || i.View.Mask(name) != nil || f.Stored != nil {
		return nil, v, ""
	}
	v, _ = before.Get(name)
	if set := slices.IndexFunc(i.Sets, func(s Set) bool { return s.Field.Name == name }); set >= 0 {
		if i.Sets[set].From != nil { // the referenced record doesn't exist yet, so nothing can be compared with its key
			return nil, value.Value{}, ""
		}
		if v = i.Sets[set].Value; !i.Sets[set].Forced {
			at = i.at + "/data/" + name
		}
	}
	return f, v, at
}

// isRounded reports whether a source rounds v before it compares it. This applies to decimals. A date has no text and
// is not rounded.
func isRounded(f *schema.Field, v value.Value) bool {
	_, fraction, _ := strings.Cut(v.Text(), ".")
	return f.Scaled && (len(fraction) > f.Scale || strings.ContainsAny(v.Text(), "eE"))
}

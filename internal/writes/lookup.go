package writes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Lookup is a read through the principal's views that predicts whether the source would refuse a write. The refusal
// depends only on the result of this read. It therefore reveals nothing about records outside the views.
type Lookup struct {
	Find *query.Find

	wanted bool   // true if the write requires a matching record, false if it requires that there is none
	but    *Plan  // its own records are ignored. May be nil
	item   *Item  // the write that is checked
	at     string // the pointer of the value
	detail string
}

// Refusal returns the error of a write, or nil if the write is possible. The rows contain the keys of the records
// that Find found, in the order of the columns.
func (l *Lookup) Refusal(columns []policy.Column, found []value.Row) error {
	if l.wanted {
		if len(found) > 0 {
			return nil
		}
		return &problem.Error{Code: problem.InvalidArgument, Kind: "dangling", Pointer: l.at, Detail: l.detail}
	}
	for _, row := range found {
		var id []value.Value
		for _, k := range l.item.View.Key() {
			if i := slices.IndexFunc(columns, func(c policy.Column) bool { return slices.Equal(c.Path, query.Path{k}) }); i >= 0 {
				id = append(id, row[i])
			}
		}
		key := KeyText(id) // a source may return an id as text
		if !slices.ContainsFunc(l.but.Items, func(i Item) bool {
			return i.ID != nil && i.View.Class() == l.item.View.Class() && KeyText(i.ID) == key
		}) {
			return &problem.Error{Code: problem.Conflict, Kind: "unique", Pointer: l.at, Detail: l.detail,
				Suggestion: fmt.Sprintf("change the record %q, or write another value", problem.Cut(key))}
		}
	}
	return nil
}

// Pointers returns a Lookup for each pointer field that the plan sets. It reads the target record.
func (p *Plan) Pointers() (out []Lookup) {
	for i := range p.Items {
		for _, s := range p.Items[i].Sets {
			if s.Points.Target == "" {
				continue
			}
			where := query.Compare{Path: query.Path{s.Points.TargetKey}, Op: query.Eq, Value: s.Value}
			out = append(out, Lookup{Find: &query.Find{Class: s.Points.Target, Where: where, Limit: 1, Raw: true}, wanted: true, at: p.Items[i].at + "/data/" + s.Field.Name,
				detail: fmt.Sprintf("%s leads to no record of %s", s.Field.Name, s.Points.Target)})
		}
	}
	return out
}

// Unique returns Lookups for other records with the same values in a unique index. It returns one Lookup for each
// unique index of which the plan sets a field, if the principal sees all its fields. The effects are those of a
// preview. Only their values before the write are used.
func (p *Plan) Unique(effects []change.Effect) (out []Lookup) {
	for i := range min(len(p.Items), len(effects)) {
		it := &p.Items[i]
		if it.View == nil {
			continue
		}
		c := it.View.Class()
		seen := map[string]bool{}
		for _, x := range append([]schema.Index{{Fields: c.Key, Unique: true}}, c.Indexes...) {
			names := strings.Join(x.Fields, ", ")
			where, at := it.same(x.Fields, effects[i].Before)
			if !x.Unique || x.More || where == nil || seen[names] {
				continue
			}
			seen[names] = true
			find := &query.Find{Class: c.FullName(), Where: where, Limit: len(p.Items) + 1, Raw: true}
			for _, k := range it.View.Key() {
				find.Keys = append(find.Keys, query.Path{k})
			}
			out = append(out, Lookup{Find: find, but: p, item: it, at: at, detail: fmt.Sprintf("another record of %s has the same %s", it.View.Name(), names)})
		}
	}
	return out
}

// same returns the filter of the records that would share i's values of these fields, and the pointer of the first
// field that i sets. It returns nil if i sets no field, or if a value is null. It also returns nil if the view can't
// compare a field exactly like the source.
func (i *Item) same(fields []string, before value.Value) (where query.Filter, at string) {
	var all query.And
	for _, name := range fields {
		f, v, set := i.leaves(name, before)
		at = cmp.Or(at, set)
		if v.IsNull() || !comparable(f) { // the value is also null if the field is not visible
			return nil, ""
		}
		all = append(all, query.Compare{Path: query.Path{name}, Op: query.Eq, Value: v, Own: f.Type == schema.String && f.Unordered})
	}
	if at == "" {
		return nil, ""
	}
	return all, at
}

// comparable reports whether conditions compare the values of a field as a unique index of its source does.
// Conditions on texts use the collation of the column.
func comparable(f *schema.Field) bool {
	switch f.Type {
	case schema.String, schema.Integer, schema.UUID, schema.Boolean, schema.Decimal:
		return true
	case schema.Date, schema.Day: // only if the field can't contain arbitrary text or numbers
		return f.Endless
	case schema.Opaque:
		return f.Form != ""
	}
	return false
}

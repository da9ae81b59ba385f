package review

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// maxParts is the maximum number of differences listed within one field. A field with more differences is shown
// whole.
const maxParts = 100

// A differ computes the items of one sheet.
type differ struct {
	change *change.Change
	viewer Viewer
	titles titler // for the addresses of records
	cells  int    // remaining comparisons of words
	room   int    // remaining characters of values shown whole
}

// show returns a value in readable form. The value is whole if the reviewer's sheet has enough room left.
func (d *differ) show(v value.Value, t schema.Type) Shown {
	s := showIn(v, t, d.extent())
	d.room -= len(s.Text)
	return s
}

// extent returns how much of the next value is shown.
func (d *differ) extent() extent {
	switch {
	case !d.viewer.Reviewer:
		return extent{characters: MaxShown}
	case d.room <= 0:
		return extent{characters: MaxShown, breaks: maxBreaks}
	}
	return extent{characters: maxWhole, breaks: maxBreaks}
}

// item returns the i-th effect as the viewer sees it.
func (d *differ) item(i int, e change.Effect, s Visibility) Item {
	e.After = d.became(i, e)
	item := Item{Op: string(e.Op), Class: s.Class, Moved: d.laterChange(i, e), Fields: []Field{}}
	if s.Class == "" {
		item.Hidden = max(1, len(changedFields(e, d.viewer.Reviewer)))
		return item
	}
	d.describe(&item, i, e, s)
	asked := value.Value{}
	if i < len(d.change.Writes) && e.Op != write.OpSchema { // the effect contains the class definition
		name, input := asks(d.change.Writes[i])
		if name == "data" {
			asked = input
		} else {
			for _, m := range input.Members() {
				f := Field{Path: label(pointer(name, m.Name)), Type: m.Value.Kind().String(), Before: Shown{Kind: "absent"}, is: &m.Value}
				d.fill(&f, schema.Any)
				item.Fields = append(item.Fields, f)
			}
		}
	}
	if !d.viewer.Reviewer {
		e.After = overlay(e.After, asked) // omit values that the source sets
	}
	now := d.now(i)
	for _, field := range changedFields(e, d.viewer.Reviewer || e.After.IsNull()) {
		one := side{field: field, mask: s.Masks[field]}
		one.before, one.hadBefore = e.Before.Get(field)
		one.after, one.hasAfter = e.After.Get(field)
		if s.Call != nil && !d.viewer.Reviewer {
			if !s.Call(field) {
				continue // its existence is hidden, too
			}
			one.before, one.after = s.without(one.before), s.without(one.after)
		}
		seen := false
		if one.typ, seen = s.field(field, one.before, one.after); !seen {
			item.Hidden++
			continue
		}
		fields := d.parts(one, e)
		for k := range fields {
			fields[k].Source = !e.After.IsNull() && !slices.Contains(e.Asked, field)
			if now != nil && !fields[k].Source {
				fields[k].Now = d.differs(one, *now, fields[k])
			}
			fields[k].Path = label(fields[k].Path)
		}
		item.Fields = append(item.Fields, fields...)
	}
	return item
}

// describe sets what is known of the i-th record besides its fields.
func (d *differ) describe(item *Item, i int, e change.Effect, s Visibility) {
	item.Key, item.Label, item.points, item.Unread = key(d.change, i, s), readableLabel(labelOf(e, s, d.viewer)), s.Points, unread(e)
	item.Takes, item.Hidden = takes(e, s)
	item.Action, item.Says, item.Came = d.actionOf(i)
	if !d.viewer.Reviewer {
		return
	}
	item.About, item.Link = facts(e, s), d.titles.link(i, e, s)
	if e.Op == write.OpDelete {
		item.Denied = s.Denied
	}
}

// actionOf describes the i-th of several writes. It returns the action that made the write, the action's sentence for
// people, and the outcome of a call.
func (d *differ) actionOf(i int) (action, says, became string) {
	from := d.change.From(i)
	if d.change.Origins != nil {
		action = line(from.Action)
	}
	if d.change.Origins != nil && d.viewer.Reviewer {
		says = line(from.Says)
	}
	return action, says, came(d.change, i)
}

// became returns the i-th record after the change. For people and an applied change, it returns the record as the
// source has written it.
func (d *differ) became(i int, e change.Effect) value.Value {
	o := d.change.Outcome
	if !d.viewer.Reviewer || d.change.State != change.Applied || o == nil || o.Receipt == nil || i >= len(o.Receipt.After) ||
		e.Op != write.OpCreate && e.Op != write.OpUpdate || o.Receipt.After[i].IsNull() {
		return e.After
	}
	return o.Receipt.After[i]
}

// asks returns the requested part of a write, as write.Print prints it, and the name of that part. For a new class
// the fields are nested one level down. For a call it returns the headers of the request, because the key shows the
// request line and the effect contains the body.
func asks(w value.Value) (string, value.Value) {
	if sends, ok := w.Get("sends"); ok {
		headers, _ := sends.Get("headers")
		return "request", value.OfObject(slices.DeleteFunc(slices.Clone(headers.Members()), func(h value.Member) bool {
			return h.Name == "Accept" || h.Name == "Content-Type" // they describe the encoding of the body
		}))
	}
	for _, name := range []string{"data", "input", "request"} {
		if v, ok := w.Get(name); ok {
			return name, v
		}
	}
	if fields, ok := w.Get("fields"); ok {
		var members []value.Member
		for i, f := range fields.List() {
			members = append(members, value.Member{Name: strconv.Itoa(i), Value: f})
		}
		return "fields", value.OfObject(members)
	}
	return "", value.Value{}
}

// overlay returns after with each value that also occurs in asked replaced by the value in asked.
func overlay(after, asked value.Value) value.Value {
	if after.Kind() != value.Object {
		return after
	}
	members := make([]value.Member, 0, len(after.Members()))
	for _, m := range after.Members() {
		if v, ok := asked.Get(m.Name); ok {
			m.Value = v
		}
		members = append(members, m)
	}
	return value.OfObject(members)
}

// A side is one field of one record, before and after.
type side struct {
	field               string
	typ                 schema.Type
	mask                Masked // nil for a field that the viewer sees whole
	before, after       value.Value
	hadBefore, hasAfter bool // a record without the field differs from one with null
}

// maskedValue returns a value of the field after masking, or "absent" if there is false.
func (s side) maskedValue(v value.Value, there bool) Shown {
	if !there {
		return Shown{Kind: "absent"}
	}
	shown := show(s.mask(v), s.typ)
	shown.Kind = "masked"
	return shown
}

// now returns the value at path in record.
func (s side) now(record value.Value, path string) *Shown {
	v, there := record.Get(s.field)
	top := pointer(s.field)
	if path != top {
		for _, part := range strings.Split(strings.TrimPrefix(path, top+"/"), "/") {
			v, there = step(v, unescape(part))
		}
		shown := Shown{Kind: "absent"}
		if there {
			shown = show(v, schema.Any)
		}
		return &shown
	}
	shown := Shown{Kind: "absent"}
	switch {
	case s.mask != nil:
		shown = s.maskedValue(v, there)
	case there:
		shown = show(v, s.typ)
	}
	return &shown
}

func step(v value.Value, part string) (value.Value, bool) {
	if v.Kind() != value.Array {
		return v.Get(part)
	}
	if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(v.List()) {
		return v.List()[i], true
	}
	return value.Value{}, false
}

// field returns the differences of one field. If both sides are objects or lists, it returns one difference for each
// differing part.
func (d *differ) field(s side) []Field {
	f := Field{Path: pointer(s.field), Type: s.kind()}
	if s.mask != nil {
		f.Before, f.After = s.maskedValue(s.before, s.hadBefore), s.maskedValue(s.after, s.hasAfter)
		return []Field{f}
	}
	if s.hadBefore && s.hasAfter && haveParts(s.before, s.after) && !same(s.before, s.after) {
		parts := nested{}
		parts.walk(pointer(s.field), s.before, s.after)
		if len(parts.found) <= maxParts && !slices.ContainsFunc(parts.found, Field.hasLongPath) {
			for i := range parts.found {
				d.fill(&parts.found[i], schema.Any)
			}
			return parts.found
		}
	}
	if s.hadBefore {
		f.was = &s.before
	}
	if s.hasAfter {
		f.is = &s.after
	}
	d.fill(&f, s.typ)
	return []Field{f}
}

// hasLongPath reports whether the path of f is too long to be shown whole, so that two paths could look the same.
func (f Field) hasLongPath() bool { return len(first(f.Path, maxLine)) < len(f.Path) }

// fill sets the texts that f shows for its two values.
func (d *differ) fill(f *Field, t schema.Type) {
	f.Before, f.After = Shown{Kind: "absent"}, Shown{Kind: "absent"}
	if f.was != nil && f.is != nil {
		f.Same = same(*f.was, *f.is)
		f.Words, f.Unread = d.words(*f.was, *f.is)
	}
	if f.was != nil {
		f.Before = d.show(*f.was, t)
	}
	if f.is != nil {
		f.After = d.show(*f.is, t)
	}
	if f.Words == nil && !f.Same {
		f.Unread = f.Before.cut + f.After.cut
	}
}

// kind returns the type of the field, or of the value if the field has type Any.
func (s side) kind() string {
	switch {
	case s.typ != schema.Any:
		return s.typ.String()
	case s.hasAfter:
		return s.after.Kind().String()
	}
	return s.before.Kind().String()
}

// haveParts reports whether both values are objects, or both are lists.
func haveParts(a, b value.Value) bool {
	return a.Kind() == b.Kind() && (a.Kind() == value.Object || a.Kind() == value.Array)
}

// nested collects the differences within a field, up to a maximum number.
type nested struct{ found []Field }

// walk adds the differences between two values. It descends if both are objects or both are lists, and otherwise adds
// one difference for the whole value. It stops after maxParts differences.
func (n *nested) walk(path string, before, after value.Value) {
	switch {
	case len(n.found) > maxParts || same(before, after):
	case !haveParts(before, after):
		n.add(path, &before, &after)
	case before.Kind() == value.Array:
		n.lists(path, before.List(), after.List())
	default:
		n.objects(path, before.Members(), after.Members())
	}
}

// add adds one difference. Nil means absent.
func (n *nested) add(path string, before, after *value.Value) {
	f := Field{Path: path, was: before, is: after}
	for _, v := range []*value.Value{before, after} {
		if v != nil {
			f.Type = v.Kind().String()
		}
	}
	n.found = append(n.found, f)
}

// objects adds the differences between the members of two objects. Members of before come first, in their order, then
// new members.
func (n *nested) objects(path string, before, after []value.Member) {
	was, is := index(before), index(after)
	for _, m := range before {
		if v, ok := is[m.Name]; ok {
			n.walk(path+"/"+escape(m.Name), m.Value, v)
		} else {
			n.add(path+"/"+escape(m.Name), &m.Value, nil)
		}
	}
	for _, m := range after {
		if _, ok := was[m.Name]; !ok {
			n.add(path+"/"+escape(m.Name), nil, &m.Value)
		}
	}
}

// lists compares two lists index by index, without their common beginning and end. A removed element has its old
// index, and an added element has its new index.
func (n *nested) lists(path string, before, after []value.Value) {
	start, end := 0, 0
	shorter := min(len(before), len(after))
	for start < shorter && same(before[start], after[start]) {
		start++
	}
	for end < shorter-start && same(before[len(before)-1-end], after[len(after)-1-end]) {
		end++
	}
	for i := start; i < max(len(before), len(after))-end; i++ {
		at := path + "/" + strconv.Itoa(i)
		switch was, is := i < len(before)-end, i < len(after)-end; {
		case was && is:
			n.walk(at, before[i], after[i])
		case was:
			n.add(at, &before[i], nil)
		default:
			n.add(at, nil, &after[i])
		}
	}
}

// pointer joins names to a JSON pointer (RFC 6901) without the first slash.
func pointer(names ...string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = escape(n)
	}
	return strings.Join(out, "/")
}

func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func unescape(part string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
}

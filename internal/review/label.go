package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// maxLabel is the maximum number of characters shown of a record's label.
const maxLabel = 80

// title says what happens to which records. All its words are the gateway's and none are an agent's.
func title(c *change.Change, visibility func(class string) Visibility, viewer Viewer) string {
	var classes []string
	for _, e := range c.Effects {
		if class := cmp.Or(through(e, visibility).Class, "what you don't see"); !slices.Contains(classes, class) {
			classes = append(classes, class)
		}
	}
	out := ""
	switch {
	case len(c.Effects) != 1 && c.Op == write.OpCall:
		out = fmt.Sprintf("%d calls in order: %s", len(c.Effects), strings.Join(classes, ", "))
	case len(c.Effects) != 1:
		out = fmt.Sprintf("%s %d records of %s", verb(c.Op), len(c.Effects), strings.Join(classes, ", "))
	case (c.Op == write.OpCall || c.Op == write.OpSchema) && classes[0] == through(c.Effects[0], visibility).Class && c.Title != "":
		out = c.Title
		if label := short(labelOf(c.Effects[0], through(c.Effects[0], visibility), viewer)); label != "" {
			out += " " + quote(label)
		}
	default:
		out = one(c, visibility, viewer)
	}
	if fields := updatedFields(c, visibility); len(c.Effects) != 1 && c.Op == write.OpUpdate && len(fields) > 0 {
		out += ": " + strings.Join(fields, ", ")
	}
	switch {
	case c.Reverts != "":
		out = "revert " + c.Reverts + ": " + out
	case c.Action != "":
		out = c.Action + ": " + out
	}
	return line(out)
}

// one says what happens to the only record of a change. It names the record by its label or else its id. It shows
// both if the id is short.
func one(c *change.Change, visibility func(class string) Visibility, viewer Viewer) string {
	const shortKey = 12
	e := c.Effects[0]
	s := through(e, visibility)
	out := verb(c.Op) + " " + cmp.Or(s.Class, "what you don't see")
	id, label := key(c, 0, s), short(labelOf(e, s, viewer))
	if id != "" && (label == "" || len(id) <= shortKey) {
		out += " " + id
	}
	if label != "" {
		out += " " + quote(label)
	}
	fields := updatedFields(c, visibility)
	if c.Op != write.OpUpdate || len(fields) == 0 {
		return out
	}
	out += ": " + strings.Join(fields, ", ")
	if f := fields[0]; len(fields) == 1 && viewer.Reviewer && s.Masks[f] == nil {
		before, _ := e.Before.Get(f)
		after, _ := e.After.Get(f)
		if from, to := brief(before), brief(after); from != "" && to != "" {
			out += " " + from + " → " + to
		}
	}
	return out
}

// brief returns a short value for a heading, or "" if the value is too long.
func brief(v value.Value) string {
	const most = 24
	if text := v.String(); len(text) > most || haveParts(v, v) || strings.ContainsAny(text, "\n\t") {
		return ""
	}
	if v.Kind() == value.String {
		return quote(v.Text())
	}
	if v.IsNull() {
		return "null"
	}
	return v.String()
}

// updatedFields returns the fields that the change sets and that the viewer sees. The fields of a single record are
// in the order of its class.
func updatedFields(c *change.Change, visibility func(class string) Visibility) []string {
	all := c.Fields
	if len(c.Effects) == 1 {
		all = c.Effects[0].Asked
	}
	return slices.DeleteFunc(slices.Clone(all), func(f string) bool {
		return !slices.ContainsFunc(c.Effects, func(e change.Effect) bool { _, seen := visibility(e.Class).Fields[f]; return seen })
	})
}

// labelOf returns the label of the record of e, or "" if the viewer doesn't see it. For a new record, an agent sees
// the label only if the agent requested this value. Only reviewers see a label that the source generates.
func labelOf(e change.Effect, s Visibility, viewer Viewer) string {
	if s.Call != nil {
		return calledBy(callTarget(e, s))
	}
	_, seen := s.Fields[s.Label]
	if s.Label == "" || !seen || s.Masks[s.Label] != nil {
		return ""
	}
	v, there := e.Before.Get(s.Label)
	if !there && (viewer.Reviewer || slices.Contains(e.Asked, s.Label)) {
		v, _ = e.After.Get(s.Label)
	}
	return v.String()
}

// callTarget returns the visible part of the object that a call changes.
func callTarget(e change.Effect, s Visibility) value.Value {
	about := e.About
	if about.IsNull() {
		about = e.Before
	}
	return s.without(about)
}

// calledBy returns the first member of an object that looks like its name, or "".
func calledBy(object value.Value) string {
	for _, name := range []string{"name", "displayName", "display_name", "title", "subject", "label", "key", "slug", "username", "email"} {
		if v, _ := object.Get(name); v.Kind() == value.String && v.Text() != "" {
			return v.Text()
		}
	}
	return ""
}

// facts returns up to eight short members of the object that a call changes, its state first. It returns nil if the
// object is not known.
func facts(e change.Effect, s Visibility) []Fact {
	const most = 8
	if s.Call == nil || e.About.IsNull() {
		return nil
	}
	var first, rest []Fact
	for _, m := range callTarget(e, s).Members() {
		if haveParts(m.Value, m.Value) || m.Value.IsNull() {
			continue
		}
		f := Fact{label(m.Name), show(m.Value, schema.Any)}
		if name := strings.ToLower(m.Name); strings.Contains(name, "state") || strings.Contains(name, "status") || name == "name" {
			first = append(first, f)
		} else {
			rest = append(rest, f)
		}
	}
	all := append(first, rest...)
	return all[:min(len(all), most)]
}

// short returns the beginning of a label on one line.
func short(text string) string {
	return withEllipsis(strings.Join(strings.Fields(first(text, maxLabel)), " "), text, maxLabel)
}

// readableLabel returns a label on one line with invisible characters made visible.
func readableLabel(text string) string { return Visible(short(text)) }

// quote returns a label in quotes, with quotes inside the label escaped.
func quote(label string) string { return string(value.AppendQuote(nil, label)) }

// Refer sets the labels of pointers. The function labels returns the labels of the records of a class that have one
// of these keys. Its result is keyed by the text of the record's key. It omits records that the viewer doesn't see.
func (s *Sheet) Refer(labels func(to Pointer, values []value.Value) map[string]string) {
	type place struct {
		shown *Shown
		key   string
	}
	places, values := map[Pointer][]place{}, map[Pointer][]value.Value{}
	for i := range s.Items {
		for k := range s.Items[i].Fields {
			f := &s.Items[i].Fields[k]
			to, points := s.Items[i].points[f.Path]
			if !points {
				continue
			}
			for v, shown := range map[*value.Value]*Shown{f.was: &f.Before, f.is: &f.After} {
				if v != nil && !v.IsNull() {
					places[to], values[to] = append(places[to], place{shown, v.String()}), append(values[to], *v)
				}
			}
		}
	}
	for to, all := range places {
		found := labels(to, values[to])
		for _, p := range all {
			p.shown.Label = readableLabel(found[p.key])
		}
	}
}

// fieldsOf returns a visibility for changes of a class definition.
func fieldsOf(class string) Visibility {
	return Visibility{Class: class, Fields: map[string]schema.Type{"fields": schema.JSON}}
}

package review

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// maxLabel is the maximum number of characters shown of a record's label.
const maxLabel = 80

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

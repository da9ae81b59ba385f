package review

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Said is an entry in the thread of a change: a decision or a comment by a person or the agent.
type Said struct {
	By      string           `json:"by"`
	Event   change.EventKind `json:"event"`
	Text    string           `json:"text,omitzero"`
	Agent   bool             `json:"agent,omitzero"`   // by the agent that proposed it
	Loud    string           `json:"loud,omitzero"`    // "single operator" or "break glass"
	Version int              `json:"version,omitzero"` // the version that it is about, from 1, or 0 if the change has only one version
	Earlier bool             `json:"earlier,omitzero"` // about an earlier preview or version. An approval of it no longer counts
	At      time.Time        `json:"at"`
}

// Approves reports whether the entry is an approval.
func (s Said) Approves() bool {
	return s.Event == change.EventApproved || s.Event == change.EventDecided
}

// Verb returns the verb of the entry in the past tense, such as "approved".
func (s Said) Verb() string {
	switch s.Event {
	case change.EventCreated:
		return "proposed"
	case change.EventApproved, change.EventDecided:
		return "approved"
	case change.EventAsked:
		return "asked for changes"
	}
	return string(s.Event)
}

// spoken lists the events that become entries of a thread if a person or an agent caused them.
var spoken = []change.EventKind{change.EventCreated, change.EventDecided, change.EventApproved, change.EventRejected, change.EventCommented, change.EventAsked,
	change.EventAnswered, change.EventCancelled, change.EventSettled}

// thread returns the entries about c and its earlier versions, oldest first. It omits the first proposal.
func thread(c *change.Change) []Said {
	versions := append(slices.Clone(c.Earlier), change.Edition{ID: c.ID, Reason: c.Reason, Digest: c.Digest, History: c.History})
	var out []Said
	for i, v := range versions {
		for _, step := range v.History {
			if !slices.Contains(spoken, step.Event) || step.By == "" || i == 0 && step.Event == change.EventCreated {
				continue
			}
			one := Said{By: line(step.By), Event: step.Event, At: step.At, Earlier: i < len(versions)-1 || step.Digest != c.Digest,
				Agent: step.Actor != nil && step.Actor.Principal == c.Agent.Principal}
			if len(versions) > 1 {
				one.Version = i + 1
			}
			text := step.Comment
			if step.Event == change.EventCreated {
				text = v.Reason
			}
			one.Loud, text = loud(step, text)
			one.Text = words(text)
			out = append(out, one)
		}
	}
	return out
}

// loud splits the text of an approval into the exception that it used, if any, and the remaining words.
func loud(step change.Step, text string) (exception, rest string) {
	if step.Event != change.EventApproved && step.Event != change.EventDecided {
		return "", text
	}
	if rest, ok := strings.CutPrefix(text, "BREAK GLASS: "); ok && step.Broken {
		return "break glass", rest
	}
	if rest, ok := strings.CutPrefix(text, "single operator"); ok {
		return "single operator", strings.TrimPrefix(rest, ": ")
	}
	return "", text
}

// The values of Item.Op in Sheet.Since. They say how a version differs from the previous version for a record.
const (
	added   = "added"
	dropped = "dropped"
	changed = "changed"
)

// Compare sets the differences between c and its previous version.
func (s *Sheet) Compare(c, prev *change.Change, visibility func(class string) Visibility, viewer Viewer) {
	d := differ{change: c, viewer: viewer, cells: maxCells, room: maxRoom}
	left := map[string][]int{}
	for i, e := range prev.Effects {
		left[place(e)] = append(left[place(e)], i)
	}
	for i, e := range c.Effects {
		seen := through(e, visibility)
		old := left[place(e)]
		if len(old) == 0 {
			s.versus(d.versus(added, e, seen, value.Value{}, requestedValues(c, i, seen)))
			continue
		}
		left[place(e)] = old[1:]
		s.versus(d.versus(changed, e, seen, requestedValues(prev, old[0], seen), requestedValues(c, i, seen)))
	}
	for i, e := range prev.Effects {
		if slices.Contains(left[place(e)], i) {
			seen := through(e, visibility)
			s.versus(d.versus(dropped, e, seen, requestedValues(prev, i, seen), value.Value{}))
		}
	}
}

func (s *Sheet) versus(item Item) {
	if item.Op != changed || len(item.Fields) > 0 || item.Hidden > 0 {
		s.Since = append(s.Since, item)
	}
}

// place identifies the record of an effect.
func place(e change.Effect) string { return string(e.Op) + "\x00" + e.Class + "\x00" + e.Key }

// requestedValues returns the values that the i-th write of c requests.
func requestedValues(c *change.Change, i int, s Visibility) value.Value {
	e := c.Effects[i]
	var members []value.Member
	if i < len(c.Writes) && e.Op != write.OpSchema {
		name, input := asks(c.Writes[i])
		if name == "data" {
			return input
		}
		for _, m := range input.Members() {
			members = append(members, value.Member{Name: pointer(name, m.Name), Value: m.Value})
		}
	}
	for _, field := range e.Asked {
		if v, ok := e.After.Get(field); ok && s.Call != nil {
			members = append(members, value.Member{Name: field, Value: v})
		}
	}
	return value.OfObject(members)
}

// versus returns the difference between two requests for the record of e.
func (d *differ) versus(op string, e change.Effect, s Visibility, before, after value.Value) Item {
	item := Item{Op: op, Class: s.Class, Key: keyOf(e.Key, s), Label: readableLabel(labelOf(e, s, d.viewer)), Fields: []Field{}, points: s.Points}
	if s.Class == "" {
		return Item{Op: op, Hidden: 1, Fields: []Field{}}
	}
	names := slices.Clone(before.Members())
	for _, m := range after.Members() {
		if _, ok := before.Get(m.Name); !ok {
			names = append(names, m)
		}
	}
	for _, m := range names {
		one := side{field: m.Name, mask: s.Masks[m.Name], typ: schema.Any}
		one.before, one.hadBefore = before.Get(m.Name)
		one.after, one.hasAfter = after.Get(m.Name)
		if one.hadBefore && one.hasAfter && same(one.before, one.after) {
			continue
		}
		if _, seen := s.field(m.Name, one.before, one.after); !seen && !strings.Contains(m.Name, "/") {
			item.Hidden++
			continue
		}
		one.typ = cmp.Or(s.Fields[m.Name], schema.Any)
		for _, f := range d.field(one) {
			f.Path = label(f.Path)
			item.Fields = append(item.Fields, f)
		}
	}
	return item
}

package review

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
)

// Overlap adds the changes of others that write a record of c. The caller passes only changes that the viewer may
// know of.
func (s *Sheet) Overlap(c *change.Change, others []*change.Change, visibility func(class string) Visibility, viewer Viewer) {
	for _, other := range others {
		if other.ID == c.ID || slices.ContainsFunc(s.Others, func(o Other) bool { return o.ID == other.ID }) {
			continue
		}
		meets, fields := false, []string(nil)
		for _, e := range c.Effects {
			for _, o := range other.Effects {
				if e.Class != o.Class || e.Key != o.Key || e.Key == "" {
					continue
				}
				meets = true
				for _, f := range e.Asked {
					if _, seen := visibility(e.Class).Fields[f]; seen && slices.Contains(o.Asked, f) && !slices.Contains(fields, f) {
						fields = append(fields, f)
					}
				}
			}
		}
		if meets {
			row := NewRow(other, visibility, viewer)
			s.Others = append(s.Others, Other{ID: row.ID, Title: row.Title, Agent: row.Agent, State: row.State, Fields: fields})
		}
	}
}

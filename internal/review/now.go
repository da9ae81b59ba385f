package review

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// differs returns the current value of the field f of record, or nil if it can't be shown. If the viewer's current
// records were read for this sheet, it also returns nil for an unchanged or masked value.
func (d *differ) differs(one side, record value.Value, f Field) *Shown {
	if d.viewer.Now == nil {
		return one.now(record, f.Path)
	}
	v, known := record.Get(one.field)
	if !known {
		return nil
	}
	shown := one.now(record, f.Path)
	if was := f.Before; shown.Kind == was.Kind && first(shown.Text, MaxShown) == first(was.Text, MaxShown) && shown.Digest == "" && was.Digest == "" {
		return nil
	}
	if f.was != nil && f.Path == pointer(one.field) && same(v, *f.was) {
		return nil
	}
	return shown
}

// The states of a record that changed after the preview of a change.
const (
	Changed = "changed"
	Gone    = "gone" // or now hidden from the viewer
)

// laterChange returns Changed or Gone if the viewer sees that the i-th record changed after e was made. It returns ""
// if the record is unchanged or its state is not known.
func (d *differ) laterChange(i int, e change.Effect) string {
	if i >= len(d.viewer.Now) || d.viewer.Now[i] == nil || e.Before.IsNull() {
		return ""
	}
	now := *d.viewer.Now[i]
	if now.IsNull() {
		return Gone
	}
	for _, m := range now.Members() {
		was, had := e.Before.Get(m.Name)
		counts := slices.Contains(e.Asked, m.Name) || m.Name == e.Version || e.Op == write.OpDelete
		if counts && had && !same(was, m.Value) {
			return Changed
		}
	}
	return ""
}

// now returns the i-th record as read for the sheet, or as found when the change became stale. It returns nil if
// neither is known.
func (d *differ) now(i int) *value.Value {
	if d.viewer.Now != nil {
		if i >= len(d.viewer.Now) || d.viewer.Now[i] == nil || d.viewer.Now[i].IsNull() {
			return nil
		}
		return d.viewer.Now[i]
	}
	o := d.change.Outcome
	if !d.viewer.Reviewer || d.change.State != change.Stale || o == nil || i >= len(o.Now) {
		return nil
	}
	return &o.Now[i].Before
}

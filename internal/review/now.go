package review

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// differs returns the present value of the field f of record. If the record was read for this sheet, it returns nil for
// an unchanged value, and for one that the viewer sees masked.
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

// The states of a record that changed after a change of it was previewed.
const (
	Changed = "changed"
	Gone    = "gone" // or hidden from the viewer
)

// laterChange returns Changed or Gone if the i-th record changed after e was made, as far as the viewer sees it. It
// returns "" if nothing changed, or if it isn't known. It returns "" for an unchanged record, or if the state isn't
// known.
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

// now returns the i-th record as it was read for the sheet, or as a stale change found it, or nil.
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

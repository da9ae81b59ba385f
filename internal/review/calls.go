package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// takes returns the values that the call e copies from the answers of earlier calls. It omits values whose names the
// viewer doesn't see, and returns their number in hidden.
func takes(e change.Effect, s Visibility) (seen []change.Taken, hidden int) {
	for _, t := range e.Takes {
		if e.Op != write.OpCall {
			continue // its field says so
		}
		names := append(strings.Split(t.Path, "."), strings.Split(t.At, "/")[1:]...)
		if s.Call == nil || slices.ContainsFunc(names, func(n string) bool { return !s.Call(n) }) {
			hidden++
			continue
		}
		seen = append(seen, t)
	}
	return seen, hidden
}

// unread returns a sentence about the part of a call's target that was not read before the call. It returns "" if
// everything was read.
func unread(e change.Effect) string {
	switch {
	case e.Listed != nil && e.Listed.Total != nil && *e.Listed.Total > e.Listed.Rows:
		return fmt.Sprintf("This call changes a collection. Records read before it: %d of %d. The others are not shown.", e.Listed.Rows, *e.Listed.Total)
	case e.Listed != nil:
		return fmt.Sprintf("This call changes a collection. Records read before it: %d. There may be more than are shown.", e.Listed.Rows)
	case e.Present == change.PresentUnknown && !e.Read.IsNull():
		return "The present value is not known: the API's answer has no part that matches what is sent."
	case e.Present == change.PresentUnknown:
		return "The present value is not known: nothing was read before this call."
	case len(e.NotKnown) > 0:
		return "The present value of some fields is not known: the API's answer doesn't have them."
	case e.Present == change.PresentUnread && e.About.IsNull():
		return "Nothing was read before this call."
	}
	return ""
}

// markUnknownValues marks the fields of e whose value before the call was not read or is not known. Such a field may
// have a value all the same.
func markUnknownValues(fields []Field, e change.Effect) []Field {
	for i := range fields {
		f := &fields[i]
		switch {
		case f.was != nil || f.Before.Kind != "absent":
		case e.Present == change.PresentUnread:
			f.Before.Kind = "unread"
		case e.Present == change.PresentUnknown, slices.Contains(e.NotKnown, f.Path):
			f.Before.Kind = "unknown"
		}
	}
	return fields
}

// came returns the outcome of the i-th of several calls, if one of them failed or has an unknown outcome. Otherwise
// it returns "".
func came(c *change.Change, i int) string {
	if len(c.Effects) == 1 || c.Op != write.OpCall || c.Outcome == nil || c.State != change.Unknown && (c.State != change.Failed || c.Outcome.Receipt == nil) {
		return ""
	}
	made := 0
	if c.Outcome.Receipt != nil {
		made = int(c.Outcome.Receipt.Rows)
	}
	switch {
	case i < made:
		return Made
	case i > made:
		return NotSent
	case c.State == change.Unknown:
		return Unsure
	}
	return Failed
}

// visibleAnswer returns the API's answer to a call in the form that agents see, or Null if the viewer doesn't see all
// of it. For several calls it returns a list with the answers of the calls that were carried out.
func visibleAnswer(c *change.Change, visibility func(class string) Visibility) value.Value {
	if c.Op != write.OpCall || c.Outcome.Receipt == nil || len(c.Outcome.Receipt.After) > len(c.Effects) {
		return value.Value{}
	}
	var all []value.Value
	for i, after := range c.Outcome.Receipt.After {
		if s := visibility(c.Effects[i].Class); s.Call == nil || s.hides(after) {
			after = value.Value{}
		}
		all = append(all, after)
	}
	switch {
	case len(all) == 0:
		return value.Value{}
	case len(c.Effects) == 1:
		return all[0]
	}
	return value.OfArray(all)
}

// locations returns the addresses that the API returned for the results of the calls of c. It omits calls whose
// answer the viewer doesn't see whole.
func locations(c *change.Change, visibility func(class string) Visibility) (out []string) {
	if c.Op != write.OpCall || c.Outcome.Receipt == nil || len(c.Outcome.Receipt.Keys) > len(c.Effects) || len(c.Outcome.Receipt.Keys) != len(c.Outcome.Receipt.After) {
		return nil
	}
	for i, to := range c.Outcome.Receipt.Keys {
		if s := visibility(c.Effects[i].Class); to != "" && s.Call != nil && !s.hides(c.Outcome.Receipt.After[i]) {
			out = append(out, line(to))
		}
	}
	return out
}

// parts returns the differences of one field of e. For a field that copies its value from an earlier write, it shows
// a reference to that write until the value is known.
func (d *differ) parts(one side, e change.Effect) []Field {
	fields := markUnknownValues(d.field(one), e)
	if t := earlierWrite(e, one.field); t != nil && !d.seesResult() {
		d.refers(&fields[0], *t)
	}
	return fields
}

// earlierWrite returns the earlier write from which a field of a record takes its value, or nil.
func earlierWrite(e change.Effect, field string) *change.Taken {
	for i, t := range e.Takes {
		if e.Op != write.OpCall && t.At == "/data/"+field {
			return &e.Takes[i]
		}
	}
	return nil
}

// refers makes the field show which record's key it will contain. People see words. Agents see the reference that
// they wrote.
func (d *differ) refers(f *Field, t change.Taken) {
	f.is, f.Words, f.Unread, f.Same = nil, nil, 0, false
	if d.viewer.Reviewer {
		f.After = Shown{Kind: "reference", Text: fmt.Sprintf("the new record of write %d", t.Call)}
	}
}

// seesResult reports whether the viewer sees the records as the source has written them, including generated keys.
func (d *differ) seesResult() bool {
	o := d.change.Outcome
	return d.viewer.Reviewer && d.change.State == change.Applied && o != nil && o.Receipt != nil && len(o.Receipt.After) == len(d.change.Effects)
}

package review

import (
	"net/url"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// link returns the address of the i-th record in its application. It returns "" if the viewer doesn't see all of its
// fields, before the record is created, and after it is deleted.
func (t titler) link(i int, e change.Effect, s Visibility) string {
	record := e.Before
	switch {
	case t.change.State == change.Applied && e.Op == write.OpDelete, t.change.State != change.Applied && e.Op == write.OpCreate:
		return ""
	case t.change.State == change.Applied && e.Op == write.OpCreate:
		id := key(t.change, i, s)
		if len(s.Key) != 1 || id == "" {
			return ""
		}
		record = overlay(e.After, value.OfObject([]value.Member{{Name: s.Key[0], Value: value.OfString(id)}}))
	}
	safe := true
	out := t.fill(s.Link, e.Class, s, record, func(before, text string) string {
		safe = safe && strings.Trim(text, ".") != "" // the segments . and .. lead to another page
		if strings.Contains(before, "?") {
			return url.QueryEscape(text)
		}
		return url.PathEscape(text)
	})
	if !safe {
		return ""
	}
	return out
}

// fill returns a text with the fields of a record in it, each in the form that encode returns. Before is the text up to
// the field. It returns "" if the viewer doesn't see all of it, and if a field is null or has parts.
func (t titler) fill(parts []plan.NamePart, class string, s Visibility, record value.Value, encode func(before, text string) string) string {
	out := ""
	for _, part := range parts {
		if part.Field == "" {
			out += part.Text
			continue
		}
		from, field := record, part.Field
		if _, seen := s.Fields[field]; !seen || s.Masks[field] != nil {
			return ""
		}
		if part.Of != "" {
			n := t.lookUp(class, field, record)
			if n == nil {
				return ""
			}
			to := t.visibility(n.Class)
			if _, seen := to.Fields[part.Of]; !seen || to.Masks[part.Of] != nil {
				return ""
			}
			from, field = n.Record, part.Of
		}
		v, _ := from.Get(field)
		if v.IsNull() || haveParts(v, v) {
			return ""
		}
		out += encode(out, v.String())
	}
	return out
}

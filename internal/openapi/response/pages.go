package response

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/value"
)

// Join joins the answers a and b of two consecutive pages. The main list of a comes before the main list of b. Join
// returns false if the main lists are in different places, if something was cut, or if the whole exceeds budget
// bytes. A later From counts the items of both pages.
func Join(a, b *Answer, budget int) (*Answer, bool) {
	if budget <= 0 {
		budget = DefaultBudget
	}
	in, of := mainList(a.Body), mainList(b.Body)
	if !in.is || !of.is || fmt.Sprint(in.names) != fmt.Sprint(of.names) || a.cut == nil || b.cut == nil || a.cutShort() || b.cutShort() || b.Of == 0 && !b.Where {
		return a, false
	}
	if len(a.Body.AppendJSON(nil))+len(b.Body.AppendJSON(nil)) > budget {
		return a, false
	}
	out := *b
	out.Body = in.with(b.Body, append(append([]value.Value{}, in.of(a.Body)...), of.of(b.Body)...))
	out.Shown, out.Of, out.Skipped, out.Looked = a.Shown+b.Shown, a.Of+b.Of, a.Skipped+b.Skipped, a.Looked+b.Looked
	out.ETag, out.Location = "", "" // they describe only one page
	if a.Total != nil {
		out.Total, out.Counted = a.Total, a.Counted
	}
	out.Notes = nil
	for _, notes := range [][]string{a.Notes, b.Notes} {
		for _, note := range notes {
			if len(out.Notes) == 0 || out.Notes[len(out.Notes)-1] != note {
				out.Notes = append(out.Notes, note)
			}
		}
	}
	out.cut = &cutting{l: of, of: out.Of, skip: out.Skipped, where: out.Where, next: out.Next, notes: out.Notes, p: b.cut.p, joined: true, first: a.cut.first, begun: a.cut.begun}
	out.further(out.cut)
	return &out, true
}

// cutShort reports whether a part of the answer was cut.
func (a *Answer) cutShort() bool {
	return a.Of > a.Skipped+a.Shown || len(a.cut.losses) > 0
}

// Share returns the largest limit on each value with which values of the given sizes need at most room bytes
// together. Values below the limit keep their size.
func Share(sizes []int, room int) int { return fill(sizes, make([]int, len(sizes)), max(room, 0)) }

// with returns body with the list replaced by elements.
func (l list) with(body value.Value, elements []value.Value) value.Value {
	if len(l.names) == 0 {
		return value.OfArray(elements)
	}
	var members []value.Member
	for _, m := range body.Members() {
		if m.Name == l.names[0] {
			m.Value = list{l.names[1:], true}.with(m.Value, elements)
		}
		members = append(members, m)
	}
	return value.OfObject(members)
}

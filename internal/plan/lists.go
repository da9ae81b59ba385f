package plan

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// A list that a pipeline collects (Push, AddToSet, Nest, Closure, Facet) is in memory before its size is known. It is
// null if it is larger than ListBytes. The size is the number of bytes of the elements as JSON, plus ListElement for
// each element. In a result, a null in a column that is otherwise never null is a value.Cut. Sources write JSON with or
// without spaces, so the effective limit is between half of ListBytes and all of it.
const (
	mostLists   = 4 << 20 // the maximum for all lists of a program together
	leastList   = 64 << 10
	ListElement = 16

	// MostOver is the maximum size of the list that an Over makes. A larger list is null.
	MostOver = mostLists
)

// ListBytes returns the maximum size of each list that p collects. p may be nil.
func ListBytes(p *Program) int { return max(leastList, mostLists/max(1, lists(p))) }

// lists returns the number of lists that p collects.
func lists(p *Program) int {
	n := 0
	if p == nil {
		return n
	}
	gathers := func(all []Accumulator) {
		for _, a := range all {
			if a.Op == Push || a.Op == AddToSet {
				n++
			}
		}
	}
	for _, s := range p.Stages {
		switch s := s.(type) {
		case *Group:
			gathers(s.Accumulators)
		case *Buckets:
			gathers(s.Accumulators)
		case *Nest:
			n += 1 + lists(s.Right)
		case *Closure:
			n += 1 + lists(s.Right)
		case *Join:
			n += lists(s.Right)
		case *Probe:
			n += lists(s.Right)
		case *Union:
			n += lists(s.Right)
		case *Facet:
			for _, branch := range s.Branches {
				n += 1 + lists(branch)
			}
		}
	}
	return n
}

// BoundedList returns the list of values, or null if the list is larger than most, in bytes.
func BoundedList(values []value.Value, most int) value.Value {
	for _, v := range values {
		if most -= len(v.AppendJSON(nil)) + ListElement; most < 0 {
			return value.Value{}
		}
	}
	return value.OfArray(values)
}

// JoinedTexts returns the texts in a list, joined by a separator. It returns null if the list has no texts.
func JoinedTexts(list []value.Value, separator string) value.Value {
	var texts []string
	for _, v := range list {
		if v.Kind() == value.String {
			texts = append(texts, v.Text())
		}
	}
	if texts == nil {
		return value.Value{}
	}
	return value.OfString(strings.Join(texts, separator))
}

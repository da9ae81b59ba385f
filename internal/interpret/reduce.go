package interpret

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/value"
)

// reduce computes one value from the elements of a list, one element after the other.
func (at *place) reduce(e plan.Over, list []value.Value) value.Value {
	so := at.nullIfTooLarge(at.eval(e.Initial))
	if parts, ok := joining(nil, e.Body); ok && len(list) > 0 {
		j := at.joined
		at.joined = textJoin{} // a part can contain another Reduce
		j.Begin(so)
		for _, element := range list {
			j.Next(parts, at.within(over{element: element}).eval)
		}
		at.joined = j
		return j.Value()
	}
	for _, element := range list {
		so = at.nullIfTooLarge(at.within(over{element, so}).eval(e.Body))
	}
	return so
}

// nullIfTooLarge returns so, the result so far of a Reduce. It returns null if so is larger than plan.MostBefore.
func (at *place) nullIfTooLarge(so value.Value) value.Value {
	if len(so.Text()) > plan.MostBefore {
		return value.Value{}
	}
	if at.written = so.AppendJSON(at.written[:0]); len(at.written) > plan.MostBefore {
		return value.Value{}
	}
	return so
}

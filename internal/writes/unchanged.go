package writes

import (
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// ChangesNothing reports whether the plan would change nothing. All its writes must be updates of fields that the
// caller sees unmasked and that already have the requested values. It doesn't compare hidden or masked fields or the
// source's result, because the answer would reveal hidden data.
func (p *Plan) ChangesNothing(effects []change.Effect) bool {
	if len(p.Items) == 0 || len(effects) != len(p.Items) {
		return false
	}
	for i, item := range p.Items {
		if item.Op != write.OpUpdate || item.View == nil || len(item.Sets) == 0 || effects[i].Before.Kind() != value.Object {
			return false
		}
		for _, set := range item.Sets {
			name := set.Field.Name
			before, had := effects[i].Before.Get(name)
			if set.Forced || set.From != nil || item.View.Field(name) == nil || item.View.Mask(name) != nil || !had || !value.Equal(before, set.Value) {
				return false
			}
		}
	}
	return true
}

package typecheck

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// compareJSON binds a comparison with a value inside JSON. k describes that value.
func (b *filters) compareJSON(c query.Compare, k *plan.Known) (query.Filter, error) {
	v, ok, err := b.inJSON(c.At, k, c.Value)
	if err != nil {
		return nil, err
	}
	if c.Value = v; ok {
		return c, nil
	}
	b.note(c.At, &schema.Field{Name: c.Path.String(), Type: k.Type}, c.Value)
	if c.Op == query.Ne {
		return query.Not{Part: query.Never{}}, nil
	}
	return query.Never{}, nil
}

// knowledge returns the Known of the value at a bound path, or nil.
func (b *filters) knowledge(path query.Path) *plan.Known {
	if scope, ok := b.scope.(interface {
		knowledge(path query.Path) *plan.Known
	}); ok {
		return scope.knowledge(path)
	}
	return nil
}

// single returns the Known of the single value at a bound path, or of each element if the value is a list. It returns
// nil if nothing is known.
func (b *filters) single(path query.Path) *plan.Known {
	k := b.knowledge(path)
	for k != nil && k.List {
		k = k.Element
	}
	if k == nil || k.Members != nil {
		return nil
	}
	return k
}

// inJSON returns v in the form that a value described by k has in JSON. It also reports whether the two can be equal.
// Dates are texts in JSON, and such texts don't sort in the order of the dates.
func (b *filters) inJSON(at string, k *plan.Known, v value.Value) (value.Value, bool, error) {
	if k.Class != "" {
		v = b.pointerID(k.Class, v)
	}
	switch {
	case k.ID && Numeric(k.Type):
		if v.IsNumber() {
			v = value.OfString(v.String())
		}
		return v, v.Kind() == value.String, nil
	case Numeric(k.Type):
		return v, v.IsNumber(), nil
	case k.Type == schema.Boolean:
		return v, v.Kind() == value.Bool, nil
	case k.Type == schema.UUID:
		id, ok := value.OfUUIDText(v.Text())
		return value.OfString(id.String()), ok, nil
	case k.Type == schema.Date || k.Type == schema.Day:
		return v, false, &problem.Error{Code: problem.Unsupported, Pointer: at, Detail: "dates within a list are texts, and conditions would compare them as texts",
			Suggestion: "filter before the list is made, in a $match or in the pipeline of the $lookup. Or put $unwind right behind the $lookup. Or use $filter, which compares dates"}
	case k.Type == schema.String && v.IsNumber() && k.ID:
		return value.OfString(v.String()), true, nil
	case k.Type == schema.String, k.Type == schema.Bytes:
		return v, v.Kind() == value.String, nil
	}
	return v, true, nil
}

package interpret

import (
	"regexp"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// eval returns the value of an expression.
func (at *place) eval(e plan.Expr) value.Value {
	switch e := e.(type) {
	case plan.Ref:
		return at.column(e.Column)
	case plan.Outer:
		if up := at.above(e.Up); up != nil && up.row != nil {
			up.used = true
			return up.column(e.Column)
		}
		at.fail("no list is made for a record %d levels out", e.Up)
		return value.Value{}
	case plan.Element:
		return at.over(e.Up).element
	case plan.Before:
		return at.over(e.Up).before
	case plan.Const:
		return constant(e)
	case plan.Object:
		members := make([]value.Member, len(e.Names))
		for i, name := range e.Names {
			members[i] = value.Member{Name: name, Value: at.eval(e.Values[i])}
		}
		return value.OfObject(members)
	case plan.List:
		return value.OfArray(at.all(e.Elements))
	case plan.Apply:
		return at.apply(e)
	case plan.Case:
		for i, test := range e.If {
			if at.eval(test).Bool() {
				return at.eval(e.Then[i])
			}
		}
		if e.Else == nil {
			return value.Value{}
		}
		return at.eval(e.Else)
	case plan.Over:
		return at.overEach(e)
	}
	return at.unary(e)
}

// unary returns the value of an expression that is null if an operand is null.
func (at *place) unary(e plan.Expr) value.Value {
	switch e := e.(type) {
	case plan.Part:
		return member(at.eval(e.X), e.Path)
	case plan.SetPart:
		return setPart(at.eval(e.X), e.Path, at.eval(e.V))
	case plan.As:
		return Cast(at.eval(e.X), e.T)
	case plan.ToJSON:
		return JSON(at.eval(e.X))
	case plan.Convert:
		x := at.eval(e.X)
		if e.X.Type() == schema.JSON {
			x = converting(x, e.T)
		}
		return convert(x, e.T)
	case plan.Widen:
		return Widen(at.eval(e.X), e.T)
	case plan.Matches:
		return at.matches(at.eval(e.X), e.Regex)
	}
	return at.date(e)
}

// constant returns the value of a Const as expressions read it.
func constant(e plan.Const) value.Value {
	switch e.T {
	case schema.JSON:
		return JSON(e.Value)
	case schema.Double, schema.Decimal:
		return Widen(e.Value, e.T)
	case schema.Date:
		return seenDate(e.T, e.Value)
	}
	return e.Value
}

func (at *place) all(es []plan.Expr) []value.Value {
	out := make([]value.Value, len(es))
	for i, e := range es {
		out[i] = at.eval(e)
	}
	return out
}

func (at *place) over(up int) over {
	if up < 0 || up >= len(at.overs) {
		at.fail("no list is looked at %d levels out", up)
		return over{}
	}
	return at.overs[len(at.overs)-1-up]
}

// overEach evaluates an Over: it computes the body for each element of a list.
func (at *place) overEach(e plan.Over) value.Value {
	list := at.eval(e.Input)
	if list.Kind() != value.Array {
		return value.Value{}
	}
	if e.Do == plan.ReduceEach {
		return at.reduce(e, list.List())
	}
	most := len(list.List())
	if e.Limit != nil {
		limit := at.eval(e.Limit)
		if limit.Int() < 1 { // a null limit is 0 here
			return value.Value{}
		}
		most = int(min(limit.Int(), int64(most)))
	}
	out := []value.Value{}
	for _, element := range list.List() {
		v := at.within(over{element: element}).eval(e.Body)
		if e.Do == plan.MapEach {
			out = append(out, v)
		} else if v.Bool() && len(out) < most {
			out = append(out, element)
		}
	}
	return plan.BoundedList(out, plan.MostOver)
}

// member returns the value at path. The path leads only through objects.
func member(v value.Value, path query.Path) value.Value {
	for _, name := range path {
		v, _ = v.Get(name) // null if there is no such member
	}
	return v
}

// setPart returns x with v in place of the value at path.
func setPart(x value.Value, path query.Path, v value.Value) value.Value {
	if len(path) == 0 {
		return v
	}
	inner, there := x.Get(path[0])
	if x.Kind() != value.Object || len(path) > 1 && inner.Kind() != value.Object {
		return x
	}
	members := make([]value.Member, 0, len(x.Members())+1)
	for _, m := range x.Members() {
		if m.Name == path[0] {
			m.Value = setPart(inner, path[1:], v)
		}
		members = append(members, m)
	}
	if !there {
		members = append(members, value.Member{Name: path[0], Value: v})
	}
	return value.OfObject(members)
}

func (at *place) matches(x value.Value, r query.Regex) value.Value {
	expression, err := regexp.Compile(r.Expression())
	if err != nil {
		at.fail("%s: %v", r.At, err)
		return value.Value{}
	}
	return value.OfBool(x.Kind() == value.String && expression.MatchString(x.Text()))
}

package sqlgen

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// WriteExpr writes e in dialect d and scope s. It returns the problem of UnsupportedForm for a form that d doesn't
// support.
func WriteExpr(d Dialect, s Scope, e plan.Expr) (string, error) {
	return exprWriter{d: d, s: s}.expr(e)
}

// WriteCondition writes e, a Boolean, as a condition in a WHERE clause, where null means the same as false.
func WriteCondition(d Dialect, s Scope, e plan.Expr) (string, error) {
	return exprWriter{d: d, s: s}.condition(e)
}

// An exprWriter writes one expression.
type exprWriter struct {
	d     Dialect
	s     Scope
	overs []over // the Overs around e, the innermost last
}

// An over contains the texts to which the body of an Over can refer: the element and the result so far.
type over struct{ element, before string }

// expr writes e by its kind. unary writes expressions with one operand. So the methods of a dialect receive texts and
// never expressions.
func (w exprWriter) expr(e plan.Expr) (string, error) {
	switch e := e.(type) {
	case plan.Ref:
		return w.s.Column(e.Column), nil
	case plan.Outer:
		return w.s.Outer(e.Up, e.Column)
	case plan.Element:
		o, err := w.over(e.Up)
		return o.element, err
	case plan.Before:
		o, err := w.over(e.Up)
		return o.before, err
	case plan.Const:
		return w.d.Const(w.s, e.Value, e.T), nil
	case plan.Object:
		values, err := w.list(e.Values)
		if err != nil {
			return "", err
		}
		return w.d.Object(w.s, e.Names, values), nil
	case plan.List:
		elements, err := w.list(e.Elements)
		if err != nil {
			return "", err
		}
		return w.d.List(w.s, elements), nil
	case plan.Apply:
		return w.apply(e)
	case plan.Case:
		return w.choice(e)
	case plan.Over:
		return w.each(e)
	}
	return w.unary(e)
}

// unary writes expressions that compute a value from one operand, X.
func (w exprWriter) unary(e plan.Expr) (string, error) {
	var x string
	var err error
	with := func(operand plan.Expr) bool {
		x, err = w.expr(operand)
		return err == nil
	}
	switch e := e.(type) {
	case plan.Part:
		if with(e.X) {
			return w.d.Part(w.s, x, e.Path)
		}
	case plan.SetPart:
		if with(e.V) {
			v := x
			if with(e.X) {
				return w.d.SetPart(w.s, x, e.Path, v)
			}
		}
	case plan.As:
		if with(e.X) {
			return w.d.As(w.s, x, e.X.Type(), e.T), nil
		}
	case plan.ToJSON:
		if with(e.X) && e.X.Type() != schema.JSON {
			return w.d.ToJSON(w.s, x, e.X.Type()), nil
		}
		return x, err
	case plan.Convert:
		if with(e.X) {
			return w.d.Convert(w.s, x, e.X.Type(), e.T), nil
		}
	case plan.Widen:
		if with(e.X) {
			return w.d.Widen(w.s, x, e.X.Type(), e.T), nil
		}
	case plan.Matches:
		if with(e.X) {
			return w.d.Matches(w.s, x, e.Regex)
		}
	default:
		return w.date(e)
	}
	return "", err
}

// date writes an operator on dates. It writes the operands first and then calls the dialect. An expression of an
// unknown kind also reaches date, which returns an internal error.
func (w exprWriter) date(e plan.Expr) (string, error) {
	var operands []plan.Expr
	switch e := e.(type) {
	case plan.DatePart:
		operands = []plan.Expr{e.X}
	case plan.DateTrunc:
		operands = []plan.Expr{e.X}
	case plan.DateText:
		operands = []plan.Expr{e.X}
	case plan.DateShift:
		operands = []plan.Expr{e.X, e.Amount}
	case plan.DateDiff:
		operands = []plan.Expr{e.From, e.To}
	default:
		return "", problem.New(problem.Internal, fmt.Sprintf("sqlgen can't write %T", e))
	}
	x, err := w.list(operands)
	if err != nil {
		return "", err
	}
	switch e := e.(type) {
	case plan.DatePart:
		return w.d.DatePart(w.s, x[0], e.Part, e.Zone), nil
	case plan.DateTrunc:
		return w.d.DateTrunc(w.s, x[0], e), nil
	case plan.DateText:
		return w.d.DateText(w.s, x[0], e.Format, e.Zone), nil
	case plan.DateShift:
		return w.d.DateShift(w.s, x[0], x[1], e.Unit, e.Zone), nil
	}
	return w.d.DateDiff(w.s, x[0], x[1], e.(plan.DateDiff)), nil
}

// list writes each expression of all.
func (w exprWriter) list(all []plan.Expr) ([]string, error) {
	texts := make([]string, len(all))
	for i, e := range all {
		var err error
		if texts[i], err = w.expr(e); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// choice writes a Case.
func (w exprWriter) choice(e plan.Case) (string, error) {
	ifs := make([]string, len(e.If))
	for i := range e.If {
		var err error
		if ifs[i], err = w.condition(e.If[i]); err != nil {
			return "", err
		}
	}
	thens, err := w.list(e.Then)
	if err != nil {
		return "", err
	}
	otherwise := ""
	if e.Else != nil {
		if otherwise, err = w.expr(e.Else); err != nil {
			return "", err
		}
	}
	return w.d.Case(w.s, ifs, thens, otherwise, e.T), nil
}

// each writes an Over.
func (w exprWriter) each(e plan.Over) (string, error) {
	o := Over{Do: e.Do}
	for _, operand := range []struct {
		to *string
		e  plan.Expr
	}{{&o.Input, e.Input}, {&o.Initial, e.Initial}, {&o.Limit, e.Limit}} {
		if operand.e == nil {
			continue
		}
		var err error
		if *operand.to, err = w.expr(operand.e); err != nil {
			return "", err
		}
	}
	o.Body = func(s Scope, element, before string) (string, error) {
		inner := exprWriter{d: w.d, s: s, overs: append(w.overs[:len(w.overs):len(w.overs)], over{element, before})}
		if e.Do == plan.SelectEach {
			return inner.condition(e.Body)
		}
		return inner.expr(e.Body)
	}
	return w.d.Over(w.s, o)
}

// over returns the texts of the surrounding Over that is up levels out, counted from 0.
func (w exprWriter) over(up int) (over, error) {
	if up < 0 || up >= len(w.overs) {
		return over{}, problem.New(problem.Internal, fmt.Sprintf("no list is looked at %d levels out", up))
	}
	return w.overs[len(w.overs)-1-up], nil
}

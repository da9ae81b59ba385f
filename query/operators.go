package query

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// call reads an operator of Signatures.
func (p *parser) call(sig Signature, o operand) (Expr, error) {
	if sig.Names != nil {
		return p.named(sig, o)
	}
	args := []operand{o}
	if o.v.Kind() == value.Array {
		args = nil
		for i, e := range o.v.List() {
			args = append(args, operand{o.name, e, o.to(strconv.Itoa(i))})
		}
	}
	if n := len(args); n < sig.Min || sig.Max >= 0 && n > sig.Max {
		return nil, invalid(o.at, fmt.Sprintf("%s takes %s; got %d", o.name, sig.arity(), n))
	}
	xs, err := p.each(args)
	if err != nil {
		return nil, err
	}
	return Call{Op: sig.Op, Args: xs, At: o.at}, nil
}

// arity says how many arguments a list has.
func (sig Signature) arity() string {
	switch {
	case sig.Max < 0 && sig.Min == 1:
		return "at least 1 argument"
	case sig.Max < 0:
		return fmt.Sprintf("at least %d arguments", sig.Min)
	case sig.Min != sig.Max:
		return fmt.Sprintf("%d or %d arguments", sig.Min, sig.Max)
	case sig.Min == 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", sig.Min)
}

// isPart reports whether the operator is a part of a date, which may be asked of a bare expression.
func (sig Signature) isPart() bool {
	return len(sig.Names) == 2 && sig.Names[0] == "date" && sig.Names[1] == "timezone"
}

func (p *parser) named(sig Signature, o operand) (Expr, error) {
	c := Call{Op: sig.Op, Args: make([]Expr, len(sig.Names)), At: o.at}
	if sig.isPart() && (o.v.Kind() != value.Object || !nests(o.v)) {
		date := o
		if o.v.Kind() == value.Array {
			if n := len(o.v.List()); n != 1 {
				return nil, invalid(o.at, fmt.Sprintf("%s takes 1 argument; got %d", o.name, n))
			}
			date = operand{o.name, o.v.List()[0], o.to("0")}
		}
		var err error
		c.Args[0], err = p.expr(date.v, date.deeper())
		return c, err
	}
	known := sig.Names
	if sig.Op == "$dateTrunc" {
		known = append(slices.Clip(known), "binSize")
	}
	if err := o.object(known...); err != nil {
		return nil, err
	}
	if bin, ok := o.get("binSize"); ok {
		if n, whole := bin.v.AsInt(); !whole || n != 1 {
			return nil, &problem.Error{Code: problem.Unsupported, Pointer: bin.at, Detail: "a binSize other than 1 is not supported",
				Suggestion: "Leave it out, or group by $dateDiff from a fixed date, divided by the size with $floor."}
		}
	}
	for i, name := range sig.Names {
		arg, ok := o.get(name)
		if !ok && i >= sig.Min {
			continue
		}
		if !ok {
			_, err := o.need(name)
			return nil, err
		}
		var err error
		if c.Args[i], err = p.expr(arg.v, arg.deeper()); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (p *parser) lambda(o operand) (Expr, error) {
	body := map[string]string{"$filter": "cond", "$map": "in", "$reduce": "in"}[o.name]
	known := map[string][]string{"$filter": {"input", "as", "cond", "limit"}, "$map": {"input", "as", "in"},
		"$reduce": {"input", "initialValue", "in"}}[o.name]
	if err := o.object(known...); err != nil {
		return nil, err
	}
	l := Lambda{Op: o.name, As: "this", At: o.at}
	input, err := o.need("input")
	if err != nil {
		return nil, err
	}
	if l.Input, err = p.expr(input.v, input.deeper()); err != nil {
		return nil, err
	}
	if as, ok := o.get("as"); ok {
		if as.v.Kind() != value.String {
			return nil, invalid(as.at, "as takes the name of a variable, not "+article(as.v.Kind().String()))
		}
		if l.As = as.v.Text(); checkVariable(l.As, as.at) != nil {
			return nil, checkVariable(l.As, as.at)
		}
	}
	names := []string{l.As}
	if o.name == "$reduce" {
		names = append(names, "value")
		initial, err := o.need("initialValue")
		if err != nil {
			return nil, err
		}
		if l.Initial, err = p.expr(initial.v, initial.deeper()); err != nil {
			return nil, err
		}
	}
	if limit, ok := o.get("limit"); ok {
		if l.Limit, err = p.expr(limit.v, limit.deeper()); err != nil {
			return nil, err
		}
	}
	in, err := o.need(body)
	if err != nil {
		return nil, err
	}
	l.Body, err = p.expr(in.v, in.deeper().with(names...))
	return l, err
}

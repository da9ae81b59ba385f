package query

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// operation parses an operator of expressions.
func (o operand) operation() Expr {
	switch o.name {
	case "$literal":
		o.refuse(literals.Finite(o.v, o.at))
		return Literal{Value: o.v, At: o.at}
	case "$date":
		return Literal{Value: o.date(), At: o.at}
	case "$cond":
		parts := o.branches()
		return Switch{Cases: []Case{{If: parts[0].expr(), Then: parts[1].expr()}}, Default: parts[2].expr(), Cond: true, At: o.at}
	case "$switch":
		return o.choice()
	case "$filter", "$map", "$reduce":
		return o.lambda()
	case "$let":
		return o.let()
	case "$firstN", "$lastN":
		return o.firstN()
	case "$substr":
		o.name = "$substrCP"
	}
	switch sig, ok := SignatureOf(o.name); {
	case !ok:
		o.refuse(hint.Operator("expression", o.name, o.at, expressionNames()))
		return nil
	case sig.Names != nil:
		return Call{Op: o.name, Args: o.namedArgs(sig), At: o.at}
	default:
		return Call{Op: o.name, Args: o.positionalArgs(sig), At: o.at}
	}
}

// expressionNames returns the names of all operators of expressions.
func expressionNames() []string {
	names := []string{"$literal", "$date", "$let"}
	for _, f := range Families {
		names = append(names, f.Operators()...)
	}
	return names
}

// branches returns the operands if, then and else of a $cond, which can be a list or an object.
func (o operand) branches() (parts [3]operand) {
	keys := [...]string{"if", "then", "else"}
	for i := range parts {
		parts[i] = o
	}
	if !o.is(value.Array) {
		o.object(keys[:]...)
		for i, key := range keys {
			parts[i] = o.need(key)
		}
		return parts
	}
	if n := len(o.v.List()); n != len(keys) {
		o.refuse(invalid(o.at, fmt.Sprintf("$cond takes 3 arguments, got %d", n)))
		return parts
	}
	for i, e := range o.v.List() {
		parts[i] = o.member(strconv.Itoa(i), e)
	}
	return parts
}

// choice parses $switch: at least one {case, then}, and an optional default. Without a default, the result for a record
// that fits no case is null. MongoDB fails then.
func (o operand) choice() Expr {
	o.object("branches", "default")
	branches := o.need("branches")
	if len(branches.v.List()) == 0 {
		o.refuse(invalid(branches.at, "branches takes a list with at least one case and then"))
	}
	s := Switch{At: o.at}
	for b := range branches.members {
		b.name = "a branch"
		b.object("case", "then")
		s.Cases = append(s.Cases, Case{If: b.need("case").expr(), Then: b.need("then").expr()})
	}
	if other, ok := o.get("default"); ok {
		s.Default = other.expr()
	}
	return s
}

// positionalArgs parses positional arguments: a list, or a single argument without a list.
func (o operand) positionalArgs(sig Signature) []Expr {
	n := 1
	if o.is(value.Array) {
		n = len(o.v.List())
	}
	switch {
	case n < sig.Min || sig.Max >= 0 && n > sig.Max:
		o.refuse(invalid(o.at, fmt.Sprintf("%s takes %s, got %d", o.name, sig.arity(), n)))
	case o.is(value.Array):
		return o.expressions()
	}
	return []Expr{o.expr()}
}

// arity describes the number of arguments, for messages.
func (sig Signature) arity() string {
	s := "s"
	if sig.Min == 1 {
		s = ""
	}
	switch {
	case sig.Max < 0:
		return fmt.Sprintf("at least %d argument%s", sig.Min, s)
	case sig.Min != sig.Max:
		return fmt.Sprintf("%d or %d arguments", sig.Min, sig.Max)
	}
	return fmt.Sprintf("%d argument%s", sig.Min, s)
}

// isPart reports whether the operator extracts a part of a date, and so accepts a bare expression.
func (sig Signature) isPart() bool { return slices.Equal(sig.Names, []string{"date", "timezone"}) }

// namedArgs parses the arguments of an object, in the order of the signature.
func (o operand) namedArgs(sig Signature) []Expr {
	args := make([]Expr, len(sig.Names))
	if sig.isPart() && !o.nests() {
		copy(args, o.positionalArgs(Signature{Min: 1, Max: 1}))
		return args
	}
	known := sig.Names
	if bin, ok := o.get("binSize"); ok && sig.Op == "$dateTrunc" {
		known = append(slices.Clip(known), "binSize")
		if n, whole := bin.v.AsInt(); !whole || n != 1 {
			o.refuse(&problem.Error{Code: problem.Unsupported, Pointer: bin.at, Detail: "a binSize other than 1 is not supported",
				Suggestion: "Leave it out, or group by $dateDiff from a fixed date, divided by the size with $floor."})
		}
	}
	o.object(known...)
	for i, name := range sig.Names {
		if arg, ok := o.get(name); ok {
			args[i] = arg.expr()
		} else if i < sig.Min {
			o.need(name)
		}
	}
	return args
}

// let parses $let. As in MongoDB a variable isn't visible in the expressions of its siblings, only in the body.
func (o operand) let() Expr {
	o.object("vars", "in")
	l := Let{At: o.at}
	vars, in := o.need("vars"), o.need("in")
	in.vars = slices.Clip(in.vars)
	for m := range vars.members {
		l.Vars = append(l.Vars, Computed{Name: Path{m.variable(m.name)}, Value: m.expr(), At: m.at})
		in.vars = append(in.vars, m.name)
	}
	if o.err == nil && l.Vars == nil {
		o.refuse(invalid(vars.at, `vars takes an object of variables, as in {"total": {"$add": ["$a", "$b"]}}`))
	}
	l.In = in.expr()
	return l
}

// lambda parses $map, $filter and $reduce. The variable of the element is called this unless as names it. $reduce also
// has the variable value, the result so far. The variables are only visible in the body, not in input or initialValue.
func (o operand) lambda() Expr {
	body, known := "in", []string{"input", "as", "in"}
	switch o.name {
	case "$filter":
		body, known = "cond", []string{"input", "as", "cond", "limit"}
	case "$reduce":
		known = []string{"input", "initialValue", "in"}
	}
	o.object(known...)
	l := Lambda{Op: o.name, Input: o.need("input").expr(), As: "this", At: o.at}
	if as, ok := o.get("as"); ok {
		l.As = as.variable(as.text("a variable"))
	}
	if limit, ok := o.get("limit"); ok {
		l.Limit = limit.expr()
	}
	in := o.need(body)
	in.vars = append(slices.Clip(in.vars), l.As)
	if o.name == "$reduce" {
		l.Initial = o.need("initialValue").expr()
		in.vars = append(in.vars, "value")
	}
	l.Body = in.expr()
	return l
}

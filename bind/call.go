package bind

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// call binds an operator; args are null where they were left out.
func call(e query.Call, args []node) (node, error) {
	for i := range args {
		if err := args[i].shown(); err != nil {
			return node{}, err
		}
	}
	for _, family := range []func(query.Call, []node) (node, bool, error){arithmetic, logic, text, date, array, conversion} {
		if n, mine, err := family(e, args); mine {
			return n, err
		}
	}
	return node{}, problem.New(problem.Internal, "bind knows no operator "+e.Op)
}

// apply makes an operator of args, each wanted in its type.
func apply(e query.Call, op algebra.Op, t schema.Type, args []node, types ...schema.Type) (node, bool, error) {
	out := make([]algebra.Expr, len(args))
	for i := range args {
		var err error
		if out[i], err = args[i].want(types[min(i, len(types)-1)], e.Op); err != nil {
			return node{}, true, err
		}
	}
	return node{expr: algebra.Apply{Op: op, Args: out, T: t}}, true, nil
}

var places = node{expr: algebra.Const{Value: value.OfInt(0), T: schema.Integer}, constant: true}

func arithmetic(e query.Call, args []node) (node, bool, error) {
	switch e.Op {
	case "$add", "$subtract", "$multiply":
		n, err := fold(e, args)
		return n, true, err
	case "$divide":
		return apply(e, algebra.Div, schema.Double, args, schema.Double)
	case "$mod":
		return apply(e, algebra.Mod, schema.Integer, args, schema.Integer)
	case "$abs":
		return apply(e, algebra.Abs, number(args), args, number(args))
	case "$ceil", "$floor", "$round", "$trunc":
		t := number(args[:1])
		if len(args) < 2 {
			args = append(args, places)
		}
		at, ok := args[1].expr.(algebra.Const)
		if n, whole := at.Value.AsInt(); !ok || !whole || n < -20 || n > 20 {
			return node{}, true, invalid(e.At, "%s takes a whole number from -20 to 20 for the places", e.Op)
		}
		op := map[string]algebra.Op{"$ceil": algebra.Ceil, "$floor": algebra.Floor, "$round": algebra.Round, "$trunc": algebra.Trunc}[e.Op]
		if op == algebra.Ceil || op == algebra.Floor {
			args = args[:1]
			if t == schema.Integer {
				x, err := args[0].want(t, e.Op)
				return node{expr: x}, true, err
			}
		}
		return apply(e, op, t, args, t, schema.Integer)
	}
	return node{}, false, nil
}

// number is the numeric type that args have in common: what is known only when it runs counts as a Double.
func number(args []node) schema.Type {
	t := schema.Integer
	for i := range args {
		switch k := args[i].kind(); {
		case args[i].null():
		case numeric(k):
			t = wider(t, k)
		default:
			t = schema.Double
		}
	}
	return t
}

// fold binds $add, $subtract and $multiply, of dates as well.
func fold(e query.Call, args []node) (node, error) {
	dates := slices.DeleteFunc(slices.Clone(args), func(n node) bool { return n.kind() != schema.Date && n.kind() != schema.Day })
	if len(dates) > 0 && e.Op != "$multiply" {
		return moments(e, args, len(dates))
	}
	op := map[string]algebra.Op{"$add": algebra.Add, "$subtract": algebra.Sub, "$multiply": algebra.Mul}[e.Op]
	t := number(args)
	sum, err := args[0].want(t, e.Op)
	for i := 1; i < len(args) && err == nil; i++ {
		var x algebra.Expr
		x, err = args[i].want(t, e.Op)
		sum = algebra.Apply{Op: op, Args: []algebra.Expr{sum, x}, T: t}
	}
	return node{expr: sum}, err
}

// moments binds sums and differences of dates: milliseconds, as in MongoDB.
func moments(e query.Call, args []node, dates int) (node, error) {
	if e.Op == "$subtract" && dates == 2 || e.Op == "$subtract" && (args[0].dateText() || args[1].dateText()) {
		n, _, err := apply(e, algebra.Millis, schema.Integer, args, schema.Date)
		return n, err
	}
	isDate := func(n node) bool { return n.kind() == schema.Date || n.kind() == schema.Day }
	first := slices.IndexFunc(args, isDate)
	if dates > 1 || e.Op == "$subtract" && first != 0 {
		return node{}, invalid(e.At, "%s can't take these dates; $dateDiff tells the time between two", e.Op)
	}
	x, err := args[first].want(schema.Date, e.Op)
	for i := range args {
		if i == first || err != nil {
			continue
		}
		var ms algebra.Expr
		if ms, err = args[i].want(schema.Integer, e.Op+" to a date"); e.Op == "$subtract" {
			ms = algebra.Apply{Op: algebra.Sub, Args: []algebra.Expr{algebra.Const{Value: value.OfInt(0), T: schema.Integer}, ms}, T: schema.Integer}
		}
		x = algebra.DateShift{X: x, Amount: ms, Unit: "millisecond"}
	}
	return node{expr: x}, err
}

var comparisons = map[string]algebra.Op{"$eq": algebra.Eq, "$ne": algebra.Ne, "$gt": algebra.Gt, "$gte": algebra.Gte, "$lt": algebra.Lt,
	"$lte": algebra.Lte, "$cmp": algebra.Cmp}

func logic(e query.Call, args []node) (node, bool, error) {
	if op, ok := comparisons[e.Op]; ok {
		n, err := compare(e, op, args)
		return n, true, err
	}
	switch e.Op {
	case "$and", "$or", "$not":
		op := map[string]algebra.Op{"$and": algebra.And, "$or": algebra.Or, "$not": algebra.Not}[e.Op]
		a := algebra.Apply{Op: op, T: schema.Boolean}
		for i := range args {
			x, err := args[i].truth(e.Op)
			if err != nil {
				return node{}, true, err
			}
			a.Args = append(a.Args, x)
		}
		return node{expr: a}, true, nil
	case "$ifNull":
		all, t, err := together(args, e.Op)
		n := node{expr: algebra.Apply{Op: algebra.IfNull, Args: all, T: t}, list: lists(args)}
		if first := args[0].column; first != nil && args[1].constant {
			n.column = &algebra.Column{ID: first.ID, Class: first.Class, ClassKey: first.ClassKey}
		}
		return n, true, err
	}
	return node{}, false, nil
}

func compare(e query.Call, op algebra.Op, args []node) (node, error) {
	t := schema.Boolean
	if op == algebra.Cmp {
		t = schema.Integer
	}
	for i := range args { // null is equal to nothing but null: what the other is doesn't matter
		if args[i].null() && (op == algebra.Eq || op == algebra.Ne) {
			other := &args[1-i]
			null := other.nothing()
			if op == algebra.Ne {
				null = algebra.Apply{Op: algebra.Not, Args: []algebra.Expr{null}, T: schema.Boolean}
			}
			return node{expr: null}, nil
		}
	}
	x, y, err := alike(args[0], args[1], e.Op)
	if err == nil && op == algebra.Cmp && x.Type() == schema.JSON {
		err = unsupported(e.At, "$cmp can't order values whose type is known only when it runs; convert them first, with $toDouble or $toString")
	}
	return node{expr: algebra.Apply{Op: op, Args: []algebra.Expr{x, y}, T: t}}, err
}

// nothing tells that n is null.
func (n *node) nothing() algebra.Expr {
	if n.object() {
		if n.optional {
			return n.absent()
		}
		return algebra.Const{Value: value.OfBool(false), T: schema.Boolean}
	}
	x := n.expr
	if x.Type() == schema.Any {
		x = algebra.ToJSON{X: x}
	}
	return algebra.Apply{Op: algebra.IsNull, Args: []algebra.Expr{x}, T: schema.Boolean}
}

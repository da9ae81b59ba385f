package typecheck

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// call binds an operator. Arguments that were left out are null.
func call(e query.Call, args []Node) (Node, error) {
	for i := range args {
		if err := args[i].Shown(); err != nil {
			return Node{}, err
		}
	}
	for _, family := range []func(query.Call, []Node) (Node, bool, error){arithmetic, logic, text, date, array, conversion} {
		if n, mine, err := family(e, args); mine {
			return n, err
		}
	}
	return Node{}, problem.New(problem.Internal, "bind knows no operator "+e.Op)
}

// apply returns an operator on args, each converted to its type in types. The last type applies to all further ones.
func apply(e query.Call, op plan.Op, t schema.Type, args []Node, types ...schema.Type) (Node, bool, error) {
	out := make([]plan.Expr, len(args))
	for i := range args {
		var err error
		if out[i], err = args[i].Want(types[min(i, len(types)-1)], e.Op); err != nil {
			return Node{}, true, err
		}
	}
	return Node{Expr: plan.Apply{Op: op, Args: out, T: t}}, true, nil
}

var places = Node{Expr: plan.Const{Value: value.OfInt(0), T: schema.Integer}, Constant: true}

// minusOne has all bits: subtracting from it turns each over, and no result is beyond 64 bits.
var minusOne = Node{Expr: plan.Const{Value: value.OfInt(-1), T: schema.Integer}, Constant: true}

// arithmetic binds the operators on numbers. The bool reports whether e is one of them. $divide and the real functions
// give Doubles, $mod an Integer. Rounding keeps the type of its number, to constant places within ±20.
func arithmetic(e query.Call, args []Node) (Node, bool, error) {
	switch e.Op {
	case "$add", "$subtract", "$multiply":
		n, err := fold(e, args)
		return n, true, err
	case "$divide":
		return apply(e, plan.Div, schema.Double, args, schema.Double)
	case "$mod":
		return apply(e, plan.Mod, schema.Integer, args, schema.Integer)
	case "$sqrt", "$pow", "$ln", "$log10", "$exp":
		op := map[string]plan.Op{"$sqrt": plan.Sqrt, "$pow": plan.Pow, "$ln": plan.Ln, "$log10": plan.Log10, "$exp": plan.Exp}[e.Op]
		return apply(e, op, schema.Double, args, schema.Double)
	case "$bitAnd", "$bitOr", "$bitXor":
		n, err := bits(e, args)
		return n, true, err
	case "$bitNot":
		return apply(e, plan.Sub, schema.Integer, []Node{minusOne, args[0]}, schema.Integer)
	case "$abs":
		return apply(e, plan.Abs, Number(args), args, Number(args))
	case "$ceil", "$floor", "$round", "$trunc":
		t := Number(args[:1])
		if len(args) < 2 {
			args = append(args, places)
		}
		at, ok := args[1].Expr.(plan.Const)
		if n, whole := at.Value.AsInt(); !ok || !whole || n < -20 || n > 20 {
			return Node{}, true, problem.Invalid(e.At, "%s takes a whole number from -20 to 20 for the places", e.Op)
		}
		op := map[string]plan.Op{"$ceil": plan.Ceil, "$floor": plan.Floor, "$round": plan.Round, "$trunc": plan.Trunc}[e.Op]
		if op == plan.Ceil || op == plan.Floor {
			args = args[:1]
			if t == schema.Integer {
				x, err := args[0].Want(t, e.Op)
				return Node{Expr: x}, true, err
			}
		}
		return apply(e, op, t, args, t, schema.Integer)
	}
	return Node{}, false, nil
}

// Number returns the common numeric type of args. A type known only at run time counts as Double.
func Number(args []Node) schema.Type {
	t := schema.Integer
	for i := range args {
		switch k := args[i].Kind(); {
		case args[i].Constant && args[i].IsNull():
		case Numeric(k):
			t = wider(t, k)
		default:
			t = schema.Double
		}
	}
	return t
}

// fold binds $add, $subtract and $multiply, including those on dates.
func fold(e query.Call, args []Node) (Node, error) {
	dates := slices.DeleteFunc(slices.Clone(args), func(n Node) bool { return n.Kind() != schema.Date && n.Kind() != schema.Day })
	if len(dates) > 0 && e.Op != "$multiply" {
		return moments(e, args, len(dates))
	}
	op := map[string]plan.Op{"$add": plan.Add, "$subtract": plan.Sub, "$multiply": plan.Mul}[e.Op]
	t := Number(args)
	sum, err := args[0].Want(t, e.Op)
	for i := 1; i < len(args) && err == nil; i++ {
		var x plan.Expr
		x, err = args[i].Want(t, e.Op)
		sum = plan.Apply{Op: op, Args: []plan.Expr{sum, x}, T: t}
	}
	return Node{Expr: sum}, err
}

// bits binds the operators on the bits of whole numbers, two at a time.
func bits(e query.Call, args []Node) (Node, error) {
	op := map[string]plan.Op{"$bitAnd": plan.BitAnd, "$bitOr": plan.BitOr, "$bitXor": plan.BitXor}[e.Op]
	all, err := args[0].Want(schema.Integer, e.Op)
	for i := 1; i < len(args) && err == nil; i++ {
		var x plan.Expr
		x, err = args[i].Want(schema.Integer, e.Op)
		all = plan.Apply{Op: op, Args: []plan.Expr{all, x}, T: schema.Integer}
	}
	return Node{Expr: all}, err
}

// moments binds sums and differences of dates, in milliseconds, as in MongoDB.
func moments(e query.Call, args []Node, dates int) (Node, error) {
	if e.Op == "$subtract" && dates == 2 || e.Op == "$subtract" && (args[0].dateText() || args[1].dateText()) {
		n, _, err := apply(e, plan.Millis, schema.Integer, args, schema.Date)
		return n, err
	}
	isDate := func(n Node) bool { return n.Kind() == schema.Date || n.Kind() == schema.Day }
	first := slices.IndexFunc(args, isDate)
	if dates > 1 || e.Op == "$subtract" && first != 0 {
		return Node{}, problem.Invalid(e.At, "%s can't take these dates; $dateDiff tells the time between two", e.Op)
	}
	x, err := args[first].Want(schema.Date, e.Op)
	for i := range args {
		if i == first || err != nil {
			continue
		}
		var ms plan.Expr
		if ms, err = args[i].Want(schema.Integer, e.Op+" to a date"); e.Op == "$subtract" {
			ms = plan.Apply{Op: plan.Sub, Args: []plan.Expr{plan.Const{Value: value.OfInt(0), T: schema.Integer}, ms}, T: schema.Integer}
		}
		x = plan.DateShift{X: x, Amount: ms, Unit: "millisecond"}
	}
	return Node{Expr: x}, err
}

var comparisons = map[string]plan.Op{"$eq": plan.Eq, "$ne": plan.Ne, "$gt": plan.Gt, "$gte": plan.Gte, "$lt": plan.Lt,
	"$lte": plan.Lte, "$cmp": plan.Cmp}

// logic binds comparisons, $and, $or, $not and $ifNull. The bool reports whether e is one of them. Operands of $and,
// $or and $not are conditions by Truth: null and 0 are false. $ifNull of a pointer stays one if the other value is a
// constant.
func logic(e query.Call, args []Node) (Node, bool, error) {
	if op, ok := comparisons[e.Op]; ok {
		n, err := compare(e, op, args)
		return n, true, err
	}
	switch e.Op {
	case "$and", "$or", "$not":
		op := map[string]plan.Op{"$and": plan.And, "$or": plan.Or, "$not": plan.Not}[e.Op]
		a := plan.Apply{Op: op, T: schema.Boolean}
		for i := range args {
			x, err := args[i].Truth(e.Op)
			if err != nil {
				return Node{}, true, err
			}
			a.Args = append(a.Args, x)
		}
		return Node{Expr: a}, true, nil
	case "$ifNull":
		all, t, err := Together(args, e.Op)
		n := Node{Expr: plan.Apply{Op: plan.IfNull, Args: all, T: t}, List: Lists(args)}
		if first := args[0].Column; first != nil && first.Type == t && args[1].Constant { // of another type it is not an id
			n.Column = &plan.Column{ID: first.ID, Class: first.Class, ClassKey: first.ClassKey}
		}
		return n, true, err
	}
	return Node{}, false, nil
}

// compare binds a comparison of two values in their common type. Null equals only null, whatever the types. $cmp
// refuses values whose type is known only when the pipeline runs.
func compare(e query.Call, op plan.Op, args []Node) (Node, error) {
	t := schema.Boolean
	if op == plan.Cmp {
		t = schema.Integer
	}
	for i := range args { // null equals only null, whatever the other type is
		if args[i].IsNull() && (op == plan.Eq || op == plan.Ne) {
			other := &args[1-i]
			null := other.Nothing()
			if op == plan.Ne {
				null = plan.Apply{Op: plan.Not, Args: []plan.Expr{null}, T: schema.Boolean}
			}
			return Node{Expr: null}, nil
		}
	}
	x, y, err := Alike(args[0], args[1], e.Op)
	if err == nil && op == plan.Cmp && x.Type() == schema.JSON {
		err = problem.NotSupported(e.At, "$cmp can't order values whose type is known only when it runs; convert them first, with $toDouble or $toString")
	}
	return Node{Expr: plan.Apply{Op: op, Args: []plan.Expr{x, y}, T: t}}, err
}

package typecheck

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// call binds an operator. Arguments that were omitted are null.
func call(e query.Call, args []Node) (Node, error) {
	for i := range args {
		if err := args[i].CheckComputable(); err != nil {
			return Node{}, err
		}
	}
	if bind := binders[e.Op]; bind != nil {
		return bind(e, args)
	}
	return byTypes(e, args)
}

// An operation binds an operator to its arguments and determines the type.
type operation func(query.Call, []Node) (Node, error)

// binders contains the operators whose types depend on their arguments, or which become other nodes. The types of all
// other operators are in query.Families.
var binders = map[string]operation{
	"$add": fold(plan.Add), "$subtract": fold(plan.Sub), "$multiply": fold(plan.Mul),
	"$abs": sized, "$ceil": upOrDown(plan.Ceil), "$floor": upOrDown(plan.Floor), "$round": rounded(plan.Round), "$trunc": rounded(plan.Trunc),
	"$bitNot": turned,

	"$eq": compare(plan.Eq), "$ne": compare(plan.Ne), "$gt": compare(plan.Gt), "$gte": compare(plan.Gte), "$lt": compare(plan.Lt),
	"$lte": compare(plan.Lte), "$cmp": compare(plan.Cmp),
	"$and": conditions(plan.And), "$or": conditions(plan.Or), "$not": conditions(plan.Not), "$ifNull": ifNull,

	"$trim": trim(plan.Trim), "$ltrim": trim(plan.TrimLeft), "$rtrim": trim(plan.TrimRight), "$split": split,
	"$regexMatch": matches, "$regexFind": bindRegexFind, "$regexFindAll": bindRegexFind,

	"$year": date, "$month": date, "$dayOfMonth": date, "$dayOfYear": date, "$dayOfWeek": date, "$isoDayOfWeek": date, "$isoWeek": date,
	"$isoWeekYear": date, "$hour": date, "$minute": date, "$second": date, "$millisecond": date,
	"$dateTrunc": date, "$dateToString": date, "$dateAdd": date, "$dateSubtract": date, "$dateDiff": date, "$dateFromParts": date,
	"$dateFromString": date,

	"$size": overList(plan.Size, schema.Integer), "$sum": overList(plan.SumList, schema.Double), "$avg": overList(plan.AvgList, schema.Double),
	"$min": overList(plan.MinList, schema.Double), "$max": overList(plan.MaxList, schema.Double),
	"$first": fromList, "$last": fromList, "$arrayElemAt": fromList, "$slice": fromList, "$in": inList, "$isArray": isArray,
	"$concatArrays": sets, "$setUnion": sets, "$setIntersection": sets, "$setDifference": sets,
	"$objectToArray": pairsOf, "$arrayToObject": objectOf, "$mergeObjects": merge,

	"$toInt": convertTo("int"), "$toLong": convertTo("long"), "$toDouble": convertTo("double"), "$toDecimal": convertTo("decimal"),
	"$toString": convertTo("string"), "$toBool": convertTo("bool"), "$toDate": convertTo("date"), "$convert": conversion, "$type": typeOf,
}

// byTypes binds an operator whose node and types are listed in query.Families.
func byTypes(e query.Call, args []Node) (Node, error) {
	s, _ := query.SignatureOf(e.Op)
	op, ok := plan.OpOf(s.Node)
	if !ok {
		return Node{}, problem.New(problem.Internal, "bind knows no operator "+e.Op)
	}
	if s.Pairs {
		return pairwise(e, op, s.Gives, args, s.Takes[0])
	}
	return apply(e, op, s.Gives, args, s.Takes...)
}

// apply returns an operator on args, each converted to the type at its index in types. The last type also applies to
// all further arguments.
func apply(e query.Call, op plan.Op, t schema.Type, args []Node, types ...schema.Type) (Node, error) {
	out := make([]plan.Expr, len(args))
	for i := range args {
		var err error
		if out[i], err = args[i].Want(types[min(i, len(types)-1)], e.Op); err != nil {
			return Node{}, err
		}
	}
	return Node{Expr: plan.Apply{Op: op, Args: out, T: t}}, nil
}

// pairwise returns an operator of type t that combines two arguments at a time. It applies to the first two arguments,
// then to the result and the third, and so on. Each argument is converted to the type from.
func pairwise(e query.Call, op plan.Op, t schema.Type, args []Node, from schema.Type) (Node, error) {
	all, err := args[0].Want(from, e.Op)
	for i := 1; i < len(args) && err == nil; i++ {
		var x plan.Expr
		x, err = args[i].Want(from, e.Op)
		all = plan.Apply{Op: op, Args: []plan.Expr{all, x}, T: t}
	}
	return Node{Expr: all}, err
}

var places = Node{Expr: plan.Const{Value: value.OfInt(0), T: schema.Integer}, Constant: true}

// minusOne has all bits set. Subtracting a number from it inverts each bit. The result is never beyond 64 bits.
var minusOne = Node{Expr: plan.Const{Value: value.OfInt(-1), T: schema.Integer}, Constant: true}

// sized binds $abs.
func sized(e query.Call, args []Node) (Node, error) {
	return apply(e, plan.Abs, Number(args), args, Number(args))
}

// turned binds $bitNot.
func turned(e query.Call, args []Node) (Node, error) {
	return apply(e, plan.Sub, schema.Integer, []Node{minusOne, args[0]}, schema.Integer)
}

// upOrDown binds $ceil and $floor. An Integer stays unchanged.
func upOrDown(op plan.Op) operation {
	return func(e query.Call, args []Node) (Node, error) {
		t := Number(args)
		if t == schema.Integer {
			x, err := args[0].Want(t, e.Op)
			return Node{Expr: x}, err
		}
		return apply(e, op, t, args, t)
	}
}

// rounded binds $round and $trunc to a constant number of places. The result has the type of the number.
func rounded(op plan.Op) operation {
	return func(e query.Call, args []Node) (Node, error) {
		t := Number(args[:1])
		if len(args) < 2 {
			args = append(args, places)
		}
		at, ok := args[1].Expr.(plan.Const)
		if n, whole := at.Value.AsInt(); !ok || !whole || n < -20 || n > 20 {
			return Node{}, problem.Invalid(e.At, "%s takes a whole number from -20 to 20 for the places", e.Op)
		}
		return apply(e, op, t, args, t, schema.Integer)
	}
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

// fold binds $add, $subtract and $multiply, including sums and differences of dates.
func fold(op plan.Op) operation {
	return func(e query.Call, args []Node) (Node, error) {
		dates := slices.DeleteFunc(slices.Clone(args), func(n Node) bool { return n.Kind() != schema.Date && n.Kind() != schema.Day })
		if len(dates) > 0 && op != plan.Mul {
			return moments(e, args, len(dates))
		}
		return pairwise(e, op, Number(args), args, Number(args))
	}
}

// moments binds sums and differences of dates, in milliseconds, as in MongoDB.
func moments(e query.Call, args []Node, dates int) (Node, error) {
	if e.Op == "$subtract" && dates == 2 || e.Op == "$subtract" && (args[0].dateText() || args[1].dateText()) {
		return apply(e, plan.Millis, schema.Integer, args, schema.Date)
	}
	isDate := func(n Node) bool { return n.Kind() == schema.Date || n.Kind() == schema.Day }
	first := slices.IndexFunc(args, isDate)
	if dates > 1 || e.Op == "$subtract" && first != 0 {
		return Node{}, problem.Invalid(e.At, "%s can't take these dates. $dateDiff computes the time between two", e.Op)
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

// conditions binds $and, $or and $not. Their operands are conditions by Truth: null and 0 are false.
func conditions(op plan.Op) operation {
	return func(e query.Call, args []Node) (Node, error) {
		a := plan.Apply{Op: op, T: schema.Boolean}
		for i := range args {
			x, err := args[i].Truth(e.Op)
			if err != nil {
				return Node{}, err
			}
			a.Args = append(a.Args, x)
		}
		return Node{Expr: a}, nil
	}
}

// ifNull binds $ifNull. If the first value is a pointer and the other a constant, the result is still a pointer.
func ifNull(e query.Call, args []Node) (Node, error) {
	all, t, err := Together(args, e.Op)
	n := Node{Expr: plan.Apply{Op: plan.IfNull, Args: all, T: t}, List: Lists(args)}
	if first := args[0].Column; first != nil && first.Type == t && args[1].Constant { // a value of another type is not an id
		n.Column = &plan.Column{ID: first.ID, Class: first.Class, ClassKey: first.ClassKey}
	}
	return n, err
}

// compare binds a comparison of two values in their common type. Null equals only null, whatever the types. $cmp
// refuses values whose type is known only at run time.
func compare(op plan.Op) operation {
	return func(e query.Call, args []Node) (Node, error) {
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
			err = problem.UnsupportedError(e.At, "$cmp can't order values whose type is known only when it runs. Convert them first, with $toDouble or $toString")
		}
		return Node{Expr: plan.Apply{Op: op, Args: []plan.Expr{x, y}, T: t}}, err
	}
}

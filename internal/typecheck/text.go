package typecheck

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// blanks are the characters that $trim removes by default: ASCII white space, without NUL.
const blanks = " \t\n\v\f\r"

// trim binds $trim, $ltrim and $rtrim. Their chars must be a constant.
func trim(op plan.Op) operation {
	return func(e query.Call, args []Node) (Node, error) {
		chars, ok := args[1].constantText()
		if !ok && !args[1].IsNull() {
			return Node{}, problem.UnsupportedError(e.At, "%s takes its chars as a constant string", e.Op)
		}
		if args[1].IsNull() {
			chars = blanks
		}
		args[1] = Node{Expr: plan.Const{Value: value.OfString(chars), T: schema.String}, Constant: true, At: e.At}
		return apply(e, op, schema.String, args, schema.String)
	}
}

// split binds $split.
func split(e query.Call, args []Node) (Node, error) {
	if separator, ok := args[1].constantText(); !ok || separator == "" {
		return Node{}, problem.UnsupportedError(e.At, "$split takes a constant separator that isn't empty")
	}
	n, err := apply(e, plan.Split, schema.JSON, args, schema.String)
	n.List = true
	return n, err
}

// constantText returns the text of a constant string, and whether n is one.
func (n *Node) constantText() (string, bool) {
	if !n.Constant || n.IsObject() {
		return "", false
	}
	v := n.Expr.(plan.Const).Value
	return v.Text(), v.Kind() == value.String
}

// matches binds $regexMatch.
func matches(e query.Call, args []Node) (Node, error) {
	x, r, err := regexOperands(e, args)
	return Node{Expr: plan.Matches{X: x, Regex: r}}, err
}

// regexOperands returns the input and the regex of an operator. It checks the pattern in the same way as a $regex in a
// where object.
func regexOperands(e query.Call, args []Node) (plan.Expr, query.Regex, error) {
	x, err := args[0].Want(schema.String, e.Op)
	if err != nil {
		return nil, query.Regex{}, err
	}
	pattern, ok := args[1].constantText()
	options, known := args[2].constantText()
	if !ok || !known && !args[2].IsNull() {
		return nil, query.Regex{}, problem.UnsupportedError(e.At, "%s takes its regex and its options as constant strings", e.Op)
	}
	r, err := query.ParseRegex(pattern, options, query.Pointer(e.At, "regex"))
	return x, r, err
}

// bindRegexFind binds $regexFind and $regexFindAll. The objects that they return have the members match, idx and
// captures, and no others.
func bindRegexFind(e query.Call, args []Node) (Node, error) {
	x, r, err := regexOperands(e, args)
	if err != nil {
		return Node{}, err
	}
	one := &plan.Known{Members: []plan.KnownMember{{Name: "match", Value: &plan.Known{Type: schema.String}},
		{Name: "idx", Value: &plan.Known{Type: schema.Integer}}, {Name: "captures", Value: plan.ListOf(&plan.Known{Type: schema.String})}}}
	a := plan.Apply{Op: plan.FindMatch, Args: []plan.Expr{x, plan.Const{Value: value.OfString(r.Expression()), T: schema.String}}, T: schema.JSON}
	if e.Op == "$regexFind" {
		return Node{Expr: a, Known: one}, nil
	}
	if r.Empty() {
		err = problem.UnsupportedError(query.Pointer(e.At, "regex"), "$regexFindAll takes a regex that matches at least one character: this one also matches between any two. Write + in place of *")
	}
	a.Op = plan.FindMatches
	return Node{Expr: a, List: true, Known: plan.ListOf(one)}, err
}

// inList binds $in, which tests whether a value equals an element.
func inList(e query.Call, args []Node) (Node, error) {
	items, err := args[1].Elements(e.Op)
	if err != nil {
		return Node{}, err
	}
	needle := args[0]
	if k := args[1].Known.Of(); k != nil && k.ID && Numeric(k.Type) {
		needle = needle.asText()
	}
	return Node{Expr: plan.Apply{Op: plan.InList, Args: []plan.Expr{needle.JSON(), items}, T: schema.Boolean}}, nil
}

// isArray binds $isArray. The result is a constant if the type of the value is known.
func isArray(_ query.Call, args []Node) (Node, error) {
	if !args[0].IsObject() && Dynamic(args[0].Kind()) {
		return Node{Expr: plan.Apply{Op: plan.IsList, Args: []plan.Expr{args[0].JSON()}, T: schema.Boolean}}, nil
	}
	return Node{Expr: plan.Const{Value: value.OfBool(false), T: schema.Boolean}, Constant: true}, nil
}

// pairsOf binds $objectToArray.
func pairsOf(e query.Call, args []Node) (Node, error) {
	if !args[0].IsObject() && !Dynamic(args[0].Kind()) || args[0].List {
		return Node{}, problem.Invalid(e.At, "$objectToArray takes an object, not %s", Describe(&args[0]))
	}
	return Node{Expr: plan.Apply{Op: plan.Pairs, Args: []plan.Expr{args[0].JSON()}, T: schema.JSON}, List: true}, nil
}

// objectOf binds $arrayToObject.
func objectOf(e query.Call, args []Node) (Node, error) {
	items, err := args[0].Elements(e.Op)
	return Node{Expr: plan.Apply{Op: plan.Gather, Args: []plan.Expr{items}, T: schema.JSON}}, err
}

// overList binds an operator over the elements of a list. Several arguments become a list.
func overList(op plan.Op, t schema.Type) operation {
	return func(e query.Call, args []Node) (Node, error) {
		if len(args) > 1 {
			l := plan.List{}
			for i := range args {
				l.Elements = append(l.Elements, args[i].JSON())
			}
			return Node{Expr: plan.Apply{Op: op, Args: []plan.Expr{l}, T: t}}, nil
		}
		items, err := args[0].Elements(e.Op)
		return Node{Expr: plan.Apply{Op: op, Args: []plan.Expr{items}, T: t}}, err
	}
}

// fromList binds $first, $last, $arrayElemAt and $slice. A negative index counts from the end. $slice with a single
// number n returns the first n elements, or the last -n if n is negative. Elements are JSON, because they have no
// declared types.
func fromList(e query.Call, args []Node) (Node, error) {
	items, err := args[0].Elements(e.Op)
	if err != nil {
		return Node{}, err
	}
	at := func(i int64) plan.Expr { return plan.Const{Value: value.OfInt(i), T: schema.Integer} }
	a := plan.Apply{Op: plan.ElemAt, Args: []plan.Expr{items, at(0)}, T: schema.JSON}
	switch e.Op {
	case "$last":
		a.Args[1] = at(-1)
	case "$arrayElemAt":
		i, err := args[1].whole(e.Op)
		if err != nil {
			return Node{}, err
		}
		a.Args[1] = i
	case "$slice":
		a.Op = plan.SliceList
		a.Args = append(a.Args, nil)
		count := &args[len(args)-1]
		n, err := count.whole(e.Op)
		if err != nil {
			return Node{}, err
		}
		if len(args) == 3 {
			if a.Args[1], err = args[1].whole(e.Op); err != nil {
				return Node{}, err
			}
		}
		a.Args[2] = n
		if c, ok := n.(plan.Const); len(args) == 2 && ok && c.Value.Int() < 0 { // the last elements
			a.Args[1], a.Args[2] = n, at(-c.Value.Int())
		}
		return Node{Expr: a, List: true, Known: args[0].Known}, nil
	}
	return Node{Expr: a, Known: args[0].Known.Of()}, nil
}

// whole returns n as a whole number. It is null for any other number.
func (n *Node) whole(op string) (plan.Expr, error) {
	if k := n.Kind(); !n.IsObject() && !n.Constant && (k == schema.Double || k == schema.Decimal) {
		return plan.As{X: n.JSON(), T: schema.Integer}, nil
	}
	return n.Want(schema.Integer, op)
}

// sets binds $concatArrays and the set operators on lists. In a set, each distinct element is at its first position.
func sets(e query.Call, args []Node) (Node, error) {
	all := make([]plan.Expr, len(args))
	for i := range args {
		var err error
		if all[i], err = args[i].Elements(e.Op); err != nil {
			return Node{}, err
		}
	}
	x := all[0]
	on := func(op plan.Op, y plan.Expr) { x = plan.Apply{Op: op, Args: []plan.Expr{x, y}, T: schema.JSON} }
	switch {
	case e.Op == "$concatArrays":
		x = plan.Apply{Op: plan.JoinLists, Args: all, T: schema.JSON}
	case e.Op == "$setUnion":
		x = plan.Apply{Op: plan.JoinLists, Args: all, T: schema.JSON}
		on(plan.Without, plan.List{})
	case e.Op == "$setDifference":
		on(plan.Without, all[1])
	case len(all) == 1:
		on(plan.Without, plan.List{})
	default:
		for _, y := range all[1:] {
			on(plan.Common, y)
		}
	}
	return Node{Expr: x, List: true}, nil
}

// merge binds $mergeObjects for objects with known members. Later members replace earlier ones.
func merge(e query.Call, args []Node) (Node, error) {
	out := Node{At: e.At}
	for _, n := range args {
		if !n.IsObject() {
			return Node{}, problem.UnsupportedError(e.At, "$mergeObjects takes objects whose members are known before it runs, not %s", Describe(&n))
		}
		for _, m := range n.Members {
			if i := indexOf(out.Members, m.Name); i >= 0 {
				out.Members[i] = m
			} else {
				out.Members = append(out.Members, m)
			}
		}
	}
	return out, nil
}

func indexOf(members []member, name string) int {
	for i := range members {
		if members[i].Name == name {
			return i
		}
	}
	return -1
}

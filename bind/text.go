package bind

import (
	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// blanks are what $trim takes off when it is told nothing: the white space of ASCII, NUL left out.
const blanks = " \t\n\v\f\r"

func text(e query.Call, args []node) (node, bool, error) {
	switch e.Op {
	case "$concat":
		return apply(e, algebra.Concat, schema.String, args, schema.String)
	case "$substrCP":
		return apply(e, algebra.Substr, schema.String, args, schema.String, schema.Integer)
	case "$toLower":
		return apply(e, algebra.Lower, schema.String, args, schema.String)
	case "$toUpper":
		return apply(e, algebra.Upper, schema.String, args, schema.String)
	case "$trim", "$ltrim", "$rtrim":
		op := map[string]algebra.Op{"$trim": algebra.Trim, "$ltrim": algebra.TrimLeft, "$rtrim": algebra.TrimRight}[e.Op]
		chars, ok := args[1].constantText()
		if !ok && !args[1].null() {
			return node{}, true, unsupported(e.At, "%s takes its chars as a constant string", e.Op)
		}
		if args[1].null() {
			chars = blanks
		}
		args[1] = node{expr: algebra.Const{Value: value.OfString(chars), T: schema.String}, constant: true, at: e.At}
		return apply(e, op, schema.String, args, schema.String)
	case "$split":
		if separator, ok := args[1].constantText(); !ok || separator == "" {
			return node{}, true, unsupported(e.At, "$split takes a constant separator that isn't empty")
		}
		n, mine, err := apply(e, algebra.Split, schema.JSON, args, schema.String)
		n.list = true
		return n, mine, err
	case "$strLenCP":
		return apply(e, algebra.Length, schema.Integer, args, schema.String)
	case "$indexOfCP":
		return apply(e, algebra.IndexOf, schema.Integer, args, schema.String)
	case "$replaceAll":
		return apply(e, algebra.ReplaceAll, schema.String, args, schema.String)
	case "$regexMatch":
		n, err := matches(e, args)
		return n, true, err
	}
	return node{}, false, nil
}

// constantText returns the text of a constant string, and whether n is one.
func (n *node) constantText() (string, bool) {
	if !n.constant || n.object() {
		return "", false
	}
	v := n.expr.(algebra.Const).Value
	return v.Text(), v.Kind() == value.String
}

// matches reads the pattern as that of a $regex in a where object.
func matches(e query.Call, args []node) (node, error) {
	x, err := args[0].want(schema.String, e.Op)
	if err != nil {
		return node{}, err
	}
	pattern, ok := args[1].constantText()
	options, _ := args[2].constantText()
	if !ok {
		return node{}, unsupported(e.At, "$regexMatch takes its regex as a constant string")
	}
	r, err := query.ParseRegex(pattern, options, query.Pointer(e.At, "regex"))
	return node{expr: algebra.Matches{X: x, Regex: r}}, err
}

func array(e query.Call, args []node) (node, bool, error) {
	ops := map[string]struct {
		op algebra.Op
		t  schema.Type
	}{"$size": {algebra.Size, schema.Integer}, "$sum": {algebra.SumList, schema.Double}, "$avg": {algebra.AvgList, schema.Double},
		"$min": {algebra.MinList, schema.Double}, "$max": {algebra.MaxList, schema.Double}}
	if o, ok := ops[e.Op]; ok {
		n, err := overList(e, args, o.op, o.t)
		return n, true, err
	}
	var items algebra.Expr
	var err error
	switch e.Op {
	case "$first", "$last", "$arrayElemAt", "$slice":
		if items, err = args[0].elements(e.Op); err != nil {
			return node{}, true, err
		}
		n, err := fromList(e, items, args)
		return n, true, err
	case "$in":
		if items, err = args[1].elements(e.Op); err != nil {
			return node{}, true, err
		}
		needle := args[0]
		return node{expr: algebra.Apply{Op: algebra.InList, Args: []algebra.Expr{needle.json(), items}, T: schema.Boolean}}, true, nil
	case "$isArray":
		if !args[0].object() && dynamic(args[0].kind()) {
			return node{expr: algebra.Apply{Op: algebra.IsList, Args: []algebra.Expr{args[0].json()}, T: schema.Boolean}}, true, nil
		}
		return node{expr: algebra.Const{Value: value.OfBool(false), T: schema.Boolean}, constant: true}, true, nil
	case "$concatArrays":
		all := make([]algebra.Expr, len(args))
		for i := range args {
			if all[i], err = args[i].elements(e.Op); err != nil {
				return node{}, true, err
			}
		}
		return node{expr: algebra.Apply{Op: algebra.JoinLists, Args: all, T: schema.JSON}, list: true}, true, nil
	case "$mergeObjects":
		n, err := merge(e, args)
		return n, true, err
	}
	return node{}, false, nil
}

// overList binds what is computed of the elements of one list; of several arguments, of the list of them.
func overList(e query.Call, args []node, op algebra.Op, t schema.Type) (node, error) {
	if len(args) > 1 {
		l := algebra.List{}
		for i := range args {
			l.Elements = append(l.Elements, args[i].json())
		}
		return node{expr: algebra.Apply{Op: op, Args: []algebra.Expr{l}, T: t}}, nil
	}
	items, err := args[0].elements(e.Op)
	return node{expr: algebra.Apply{Op: op, Args: []algebra.Expr{items}, T: t}}, err
}

func fromList(e query.Call, items algebra.Expr, args []node) (node, error) {
	at := func(i int64) algebra.Expr { return algebra.Const{Value: value.OfInt(i), T: schema.Integer} }
	a := algebra.Apply{Op: algebra.ElemAt, Args: []algebra.Expr{items, at(0)}, T: schema.JSON}
	switch e.Op {
	case "$last":
		a.Args[1] = at(-1)
	case "$arrayElemAt":
		i, err := args[1].want(schema.Integer, e.Op)
		if err != nil {
			return node{}, err
		}
		a.Args[1] = i
	case "$slice":
		a.Op = algebra.SliceList
		a.Args = append(a.Args, nil)
		count := &args[len(args)-1]
		n, err := count.want(schema.Integer, e.Op)
		if err != nil {
			return node{}, err
		}
		if len(args) == 3 {
			if a.Args[1], err = args[1].want(schema.Integer, e.Op); err != nil {
				return node{}, err
			}
		}
		a.Args[2] = n
		if c, ok := n.(algebra.Const); len(args) == 2 && ok && c.Value.Int() < 0 { // the last ones
			a.Args[1], a.Args[2] = n, at(-c.Value.Int())
		}
		return node{expr: a, list: true}, nil
	}
	return node{expr: a}, nil
}

// merge binds $mergeObjects of objects whose members are known: later members take the place of earlier ones.
func merge(e query.Call, args []node) (node, error) {
	out := node{at: e.At}
	for _, n := range args {
		if !n.object() {
			return node{}, unsupported(e.At, "$mergeObjects takes objects whose members are known before it runs, not %s", what(&n))
		}
		for _, m := range n.members {
			if i := indexOf(out.members, m.name); i >= 0 {
				out.members[i] = m
			} else {
				out.members = append(out.members, m)
			}
		}
	}
	return out, nil
}

func indexOf(members []member, name string) int {
	for i := range members {
		if members[i].name == name {
			return i
		}
	}
	return -1
}

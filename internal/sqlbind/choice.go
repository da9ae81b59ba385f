package sqlbind

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// among returns the first argument that isn't null.
func among(f *called, a []node) (node, error) {
	values := make([]typecheck.Node, len(a))
	for i := range a {
		values[i] = a[i].Node
	}
	all, t, err := f.together(values, f.Call.Name, f.place())
	if err != nil {
		return node{}, err
	}
	x := all[0] // databases take no coalesce with one argument
	if len(all) > 1 {
		x = plan.Apply{Op: plan.IfNull, Args: all, T: t}
	}
	return node{Node: typecheck.Node{Expr: x, List: typecheck.Lists(values)}, Marks: common(a)}, nil
}

// common returns the marks of the common value of list. Nulls without a type don't count.
func common(list []node) Marks {
	known := slices.DeleteFunc(slices.Clone(list), func(x node) bool { return x.IsNull() && x.Constant })
	return Marks{Day: len(known) > 0 && !slices.ContainsFunc(known, func(x node) bool { return !x.Day }), Number: numberOf(known...)}
}

// timeless makes a function that refuses lengths of time.
func timeless(of func(*called, []node) (node, error)) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) {
		for i := range a {
			if a[i].Span {
				return node{}, unsupportedError(f.place(), "extract(epoch FROM …) gives seconds", "%s can't take lengths of time", f.Call.Name)
			}
		}
		return of(f, a)
	}
}

// extreme returns the greatest or the least argument. It ignores nulls.
func extreme(o plan.Op) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) {
		values := make([]typecheck.Node, len(a))
		for i := range a {
			values[i] = a[i].Node
		}
		all, t, err := f.together(values, f.Call.Name, f.place())
		if err != nil {
			return node{}, err
		}
		if t == schema.JSON {
			return node{}, unsupportedError(f.place(), "CAST the values", "%s can't compare JSON", f.Call.Name)
		}
		best := all[0]
		for _, x := range all[1:] {
			better := Test(o, x, best)
			best = plan.Case{If: []plan.Expr{isNull(x), Test(plan.Or, better, isNull(best))}, Then: []plan.Expr{best, x}, Else: best, T: t}
		}
		return node{Node: typecheck.Node{Expr: best}, Marks: common(a)}, nil
	}
}

// ofValues returns the functions that choose among values of any type (coalesce, greatest, nullif, iif), and the
// functions on JSON and lists. The names are from PostgreSQL, SQLite, MySQL and SQL Server. max and min with two or
// more arguments are SQLite's scalar forms.
func ofValues() map[string]function {
	return map[string]function{
		"coalesce": {1, -1, timeless(among)}, "ifnull": {2, 2, timeless(among)}, "nvl": {2, 2, timeless(among)},
		"greatest": {2, 8, timeless(extreme(plan.Gt))}, "least": {2, 8, timeless(extreme(plan.Lt))}, "max": {2, 8, timeless(extreme(plan.Gt))}, "min": {2, 8, timeless(extreme(plan.Lt))},
		"nullif": {2, 2, timeless(func(f *called, a []node) (node, error) {
			c, err := f.Compare("=", a[0], a[1], f.place())
			if err != nil {
				return node{}, err
			}
			e := a[0].JSONOr()
			n := computedOf(plan.Case{If: []plan.Expr{c.Yes}, Then: []plan.Expr{plan.Const{T: e.Type()}}, Else: e, T: e.Type()}, f.place())
			n.Marks = Marks{Day: a[0].Day, Number: a[0].Number.ComparisonType(numberOf(a...))}
			return n, nil
		})},
		"json_build_object": {2, -1, buildObject}, "jsonb_build_object": {2, -1, buildObject}, "json_object": {2, -1, buildObject},
		"json_build_array": {1, -1, buildArray}, "jsonb_build_array": {1, -1, buildArray}, "json_array": {1, -1, buildArray},
		"iif": {3, 3, choose}, "if": {3, 3, choose},
		"json_extract": {2, 2, extractJSON(false)}, "jsonb_extract": {2, 2, extractJSON(false)}, "json_value": {2, 2, extractJSON(true)},
		"json_extract_path":      {2, -1, extractPath(false)},
		"jsonb_extract_path":     {2, -1, extractPath(false)},
		"json_extract_path_text": {2, -1, extractPath(true)}, "jsonb_extract_path_text": {2, -1, extractPath(true)},
		"json_array_length": {1, 1, listLength}, "jsonb_array_length": {1, 1, listLength}, "cardinality": {1, 1, listLength}, "array_length": {1, 2, arrayLength},
		"json_typeof": {1, 1, kindOf}, "jsonb_typeof": {1, 1, kindOf}, "json_type": {1, 1, kindOf},
		"typeof": {1, 1, func(f *called, a []node) (node, error) {
			return node{}, unsupportedError(f.place(), "information_schema.columns lists the types", "typeof isn't there: each column has one type")
		}},
	}
}

func choose(f *called, a []node) (node, error) {
	return f.caseOf(&sqlparse.Case{When: f.Call.Args[:1], Then: f.Call.Args[1:2], Else: f.Call.Args[2], At: f.place()})
}

// buildObject binds json_build_object, whose arguments are constant names and values in turn.
func buildObject(f *called, a []node) (node, error) {
	var o plan.Object
	for i := 0; i < len(a); i += 2 {
		k, ok := a[i].Expr.(plan.Const)
		if !ok || k.Value.Kind() != value.String || i+1 == len(a) || slices.Contains(o.Names, k.Value.Text()) {
			return node{}, unsupportedError(f.place(), "write json_build_object('id', id, 'name', name)", "%s takes constant names, each once, and a value after each", f.Call.Name)
		}
		v, err := a[i+1].Element(f.Call.Name)
		if err != nil {
			return node{}, err
		}
		o.Names, o.Values = append(o.Names, k.Value.Text()), append(o.Values, v)
	}
	return computedOf(o, f.place()), nil
}

// buildArray binds json_build_array: a list of values.
func buildArray(f *called, a []node) (node, error) {
	l := plan.List{Elements: make([]plan.Expr, len(a))}
	for i := range a {
		var err error
		if l.Elements[i], err = a[i].Element(f.Call.Name); err != nil {
			return node{}, err
		}
	}
	return node{Node: typecheck.Node{Expr: l, List: true}}, nil
}

// extractJSON binds json_extract and json_value with a constant JSON path such as '$.a.b[0]'.
func extractJSON(asText bool) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) {
		if k, ok := a[1].Expr.(plan.Const); ok && typecheck.Dynamic(a[0].Kind()) {
			if x, ok := JSONPath(a[0].JSON(), k.Value.Text()); ok {
				return leaf(x, asText), nil
			}
		}
		return node{}, invalid(f.place(), "%s takes JSON and a constant path to one value, such as '$.a.b[0]'", f.Call.Name)
	}
}

// extractPath binds json_extract_path, whose arguments are constant names and indexes. It returns JSON, or a text with
// asText.
func extractPath(asText bool) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) {
		var x plan.Expr = a[0].JSON()
		for _, p := range a[1:] {
			k, ok := p.Expr.(plan.Const)
			if !ok {
				return node{}, invalid(f.place(), "%s takes constant names", f.Call.Name)
			}
			x = jsonStep(x, k.Value.Text())
		}
		return leaf(x, asText), nil
	}
}

func listLength(f *called, a []node) (node, error) {
	items, err := a[0].Elements(f.Call.Name)
	return computedOf(plan.Apply{Op: plan.Size, Args: []plan.Expr{items}, T: schema.Integer}, f.place()), err
}

// arrayLength is listLength, but null for an empty list.
func arrayLength(f *called, a []node) (node, error) {
	n, err := listLength(f, a)
	n.Compute(plan.Case{If: []plan.Expr{Test(plan.Same, n.Expr, Whole(0))}, Then: []plan.Expr{plan.Const{T: schema.Integer}}, Else: n.Expr, T: schema.Integer})
	return n, err
}

// kindOf binds json_typeof: the kind of a JSON value by PostgreSQL's names. TypeOf uses MongoDB's name bool instead.
func kindOf(f *called, a []node) (node, error) {
	if !typecheck.Dynamic(a[0].Kind()) {
		return node{}, invalid(f.place(), "%s takes JSON", f.Call.Name)
	}
	x := a[0].JSON()
	is := func(kind, name string) (plan.Expr, plan.Expr) {
		return Test(plan.Same, plan.Apply{Op: plan.TypeOf, Args: []plan.Expr{x}, T: schema.String}, plan.Const{Value: value.OfString(kind), T: schema.String}),
			plan.Const{Value: value.OfString(name), T: schema.String}
	}
	c := plan.Case{T: schema.String, Else: plan.Apply{Op: plan.TypeOf, Args: []plan.Expr{x}, T: schema.String}}
	test, name := is("bool", "boolean")
	c.If, c.Then = []plan.Expr{isNull(x), test}, []plan.Expr{plan.Const{T: schema.String}, name}
	return computedOf(c, f.place()), nil
}

// caseOf binds both forms of CASE. CASE x WHEN y means x = y. A branch applies only if its condition is true, not if it
// is unknown. All values are converted to their common type. Without ELSE, the value is null.
func (b *Binder) caseOf(e *sqlparse.Case) (node, error) {
	c := plan.Case{}
	var values []typecheck.Node
	var list []node
	put := func(x sqlparse.Expr) error {
		v, err := b.Value(x)
		if err != nil {
			return err
		}
		if v.Span {
			return unsupportedError(x.Pos(), "extract(epoch FROM …) gives seconds", "a length of time can't be the value of a CASE")
		}
		values, list = append(values, v.Node), append(list, v)
		return nil
	}
	for i, when := range e.When {
		holds, err := cond{}, error(nil)
		if e.Operand != nil {
			holds, err = b.comparison("=", e.Operand, when, e.At)
		} else {
			holds, err = b.Cond(when)
		}
		if err != nil {
			return node{}, err
		}
		c.If = append(c.If, holds.Yes)
		if err := put(e.Then[i]); err != nil {
			return node{}, err
		}
	}
	otherwise := e.Else
	if otherwise == nil {
		otherwise = &sqlparse.Word{Text: "null", At: e.At}
	}
	if err := put(otherwise); err != nil {
		return node{}, err
	}
	all, t, err := b.together(values, "CASE", e.At)
	if err != nil {
		return node{}, err
	}
	c.Then, c.Else, c.T = all[:len(all)-1], all[len(all)-1], t
	return node{Node: typecheck.Node{Expr: c, List: typecheck.Lists(values)}, Marks: common(list)}, nil
}

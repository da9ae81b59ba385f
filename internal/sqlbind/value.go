package sqlbind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Value binds an expression.
func (b *Binder) Value(e sqlparse.Expr) (node, error) {
	if x, ok := b.Names.ComputedValue(e); ok {
		x.At = At(e.Pos())
		return x, nil
	}
	x, err := b.expression(e)
	if err == nil && !x.IsObject() {
		err = b.checkSize(e.Pos(), x.Expr)
	}
	if err != nil {
		return node{}, err
	}
	x.At = At(e.Pos())
	// A null with a type keeps the type. Any other constant may get the type that its context requires.
	if k, ok := x.Expr.(plan.Const); ok && (k.T == schema.JSON || !k.Value.IsNull()) {
		x.Become(k.Value, k.T)
	}
	return x, nil
}

// expression binds e by its kind. A condition that is used as a value becomes a Boolean, which is null if the condition
// is unknown. The default case handles only a new kind of sqlparse that isn't listed here.
func (b *Binder) expression(e sqlparse.Expr) (node, error) {
	switch e := e.(type) {
	case *sqlparse.Name:
		return b.Names.Column(e)
	case *sqlparse.Number:
		v, err := value.Read([]byte(e.JSON()), 1)
		if err != nil {
			return node{}, invalid(e.At, "%s is no number", problem.Cut(e.Text))
		}
		return node{Node: typecheck.Literal(v, At(e.At)), Marks: Marks{Number: numberOfConstant(v)}}, nil
	case *sqlparse.String:
		return b.constantText(e)
	case *sqlparse.Word:
		return b.word(e)
	case *sqlparse.Param:
		return b.param(e)
	case *sqlparse.Unary:
		return b.unary(e)
	case *sqlparse.Binary:
		return b.binary(e)
	case *sqlparse.Is, *sqlparse.Between, *sqlparse.In, *sqlparse.Like, *sqlparse.Any, *sqlparse.Exists:
		c, err := b.Cond(e)
		if err != nil {
			return node{}, err
		}
		return computedOf(c.value(), e.Pos()), nil
	case *sqlparse.Case:
		return b.caseOf(e)
	case *sqlparse.Cast:
		return b.cast(e)
	case *sqlparse.Call:
		return b.call(e)
	case *sqlparse.Sub:
		return b.Names.Scalar(e)
	case *sqlparse.Array:
		l, wholes := plan.List{}, len(e.Items) > 0
		for _, item := range e.Items {
			x, err := b.Value(item)
			if err != nil {
				return node{}, err
			}
			v, err := x.Element("ARRAY")
			if err != nil {
				return node{}, err
			}
			l.Elements = append(l.Elements, v)
			wholes = wholes && (x.Kind() == schema.Integer || x.IsNull() && x.Constant)
		}
		return node{Node: typecheck.Node{Expr: l, List: true}, Wholes: wholes}, nil
	case *sqlparse.Index:
		return b.index(e)
	case *sqlparse.Tuple:
		return node{}, unsupportedError(e.At, "write them as columns of their own", "a list of values can only be compared")
	case *sqlparse.Star:
		return node{}, invalid(e.At, "* can only be in a select list or in count(*)")
	}
	return node{}, problem.New(problem.Internal, fmt.Sprintf("sqlbind knows no %T", e))
}

// constantText binds a text constant: 'x', or a text with a type, as in DATE '2026-01-31', TIMESTAMP '…' and INTERVAL
// '7 days'. The text of a date must be in ISO 8601, because the meaning of other forms depends on the settings of a
// server.
func (b *Binder) constantText(e *sqlparse.String) (node, error) {
	switch e.Type {
	case "":
		return literal(value.OfString(e.Text), e.At), nil
	case "interval":
		x, ok := interval(e.Text)
		if !ok {
			return node{}, invalid(e.At, "%q is no length of time. Write interval '7 days', or '1 month 2 hours'", problem.Cut(e.Text))
		}
		return x, nil
	case "time":
		return node{}, unsupportedError(e.At, "compare extract(hour FROM x)", "times without a day aren't there")
	}
	v, ok := value.OfDateText(e.Text)
	if !ok {
		return node{}, invalid(e.At, "%q is not a date in ISO 8601", problem.Cut(e.Text))
	}
	x := moment(v.Micros())
	x.Day = e.Type == "date"
	return x, nil
}

// moment returns a constant Date.
func moment(micros int64) node {
	return node{Node: typecheck.Node{Expr: plan.Const{Value: value.OfDate(micros), T: schema.Date}, Constant: true}}
}

// word binds a constant that is a word, such as current_date. The time is the time of the call. Names of users aren't
// supported.
func (b *Binder) word(e *sqlparse.Word) (node, error) {
	switch e.Text {
	case "true", "false":
		return literal(value.OfBool(e.Text == "true"), e.At), nil
	case "null":
		return literal(value.Value{}, e.At), nil
	case "current_timestamp", "localtimestamp":
		return moment(b.Now.UnixMicro()), nil
	case "current_date":
		return b.today(), nil
	}
	instead := "leave it out: a statement has no user but the caller, who sees only the caller's own records"
	if strings.HasSuffix(e.Text, "time") {
		instead = "to_char(now(), 'HH24:MI:SS') is the time of day as a text, CURRENT_TIMESTAMP the time"
	}
	return node{}, unsupportedError(e.At, instead, "%s isn't there", strings.ToUpper(e.Text))
}

const day = 24 * 60 * 60 * 1_000_000 // microseconds

func (b *Binder) today() node {
	now := b.Now.UnixMicro()
	x := moment(now - ((now%day)+day)%day)
	x.Day = true
	return x
}

func (b *Binder) param(e *sqlparse.Param) (node, error) {
	v, ok := b.Params[e.Name]
	if !ok {
		return node{}, invalid(e.At, "the parameter %s has no value. Params are the values of $1, $2, …", problem.Cut(e.Name))
	}
	return literal(v, e.At), nil
}

// unary binds NOT and signs. A minus before a constant number becomes part of the constant. So -9223372036854775808 is
// an Integer, and -1 is accepted where a constant is required.
func (b *Binder) unary(e *sqlparse.Unary) (node, error) {
	if e.Op == "not" {
		c, err := b.Cond(e)
		if err != nil {
			return node{}, err
		}
		return computedOf(c.value(), e.At), nil
	}
	x, err := b.Value(e.X)
	if err != nil || e.Op == "+" {
		return x, err
	}
	if e.Op == "~" { // all bits inverted, in two's complement
		return b.bits("~", x, literal(value.OfInt(-1), e.At), e.At)
	}
	if k, ok := x.Expr.(plan.Const); ok && k.Value.IsNumber() && !x.Span {
		text := k.Value.String()
		if rest, is := strings.CutPrefix(text, "-"); is {
			text = rest
		} else {
			text = "-" + text
		}
		if v, err := value.Read([]byte(text), 1); err == nil {
			x.Become(v, typecheck.Natural(v))
			return x, nil
		}
	}
	return b.arithmetic("-", node{Node: typecheck.Literal(value.OfInt(0), At(e.At)), Marks: Marks{Span: x.Span}}, x, e.At)
}

// binary binds an operator by its sign: conditions as Booleans, arithmetic, concatenation, and PostgreSQL's operators
// on JSON. -> gives JSON, and ->> gives text. It returns an error for an unknown operator.
func (b *Binder) binary(e *sqlparse.Binary) (node, error) {
	switch e.Op {
	case "and", "or", "=", "<>", "<", "<=", ">", ">=":
		c, err := b.Cond(e)
		if err != nil {
			return node{}, err
		}
		return computedOf(c.value(), e.At), nil
	case "at time zone":
		return b.atTimeZone(e)
	}
	x, err := b.Value(e.L)
	if err != nil {
		return node{}, err
	}
	y, err := b.Value(e.R)
	if err != nil {
		return node{}, err
	}
	switch e.Op {
	case "+", "-", "*", "/", "%", "div", "mod":
		return b.arithmetic(e.Op, x, y, e.At)
	case "&", "|", "#":
		return b.bits(e.Op, x, y, e.At)
	case "||":
		return b.concat([]node{x, y}, false, e.At)
	case "->", "->>":
		return b.member(x, y, e.Op == "->>", e.At)
	case "#>", "#>>":
		return b.memberPath(x, y, e.Op == "#>>", e.At)
	case "^":
		return reals(plan.Pow)(&called{b, &sqlparse.Call{Name: "^", At: e.At}}, []node{x, y})
	}
	return node{}, unsupportedError(e.At, hint.SQLOperator(e.Op), "the operator %s isn't there", e.Op)
}

// together converts values to their common type. SQL requires that they have one.
func (b *Binder) together(values []typecheck.Node, what string, p sqlparse.Pos) ([]plan.Expr, schema.Type, error) {
	all, t, err := typecheck.Together(values, what)
	if err != nil || t != schema.JSON {
		return all, t, err
	}
	for i := range values {
		for j := range values[:i] {
			x, y := &values[i], &values[j]
			if !x.IsNull() && !y.IsNull() && x.Kind() != y.Kind() && !typecheck.Dynamic(x.Kind()) && !typecheck.Dynamic(y.Kind()) {
				return nil, t, invalid(p, "the values of %s are of different types: %s and %s. CAST one of them", what, typecheck.Describe(y), typecheck.Describe(x))
			}
		}
	}
	return all, t, nil
}

// index binds x[i]. If i is a text, it is a member of an object. If i is a number, it is an element of a list, counted
// from 1. A missing member or element is null.
func (b *Binder) index(e *sqlparse.Index) (node, error) {
	x, err := b.Value(e.X)
	if err != nil {
		return node{}, err
	}
	if e.To != nil {
		return b.beginning(x, e)
	}
	i, err := b.Value(e.I)
	if err != nil {
		return node{}, err
	}
	if i.Kind() == schema.String {
		return b.member(x, i, false, e.At)
	}
	items, err := x.Elements("[…]")
	if err != nil {
		return node{}, err
	}
	n, err := i.Want(schema.Integer, "[…]")
	if err != nil {
		return node{}, err
	}
	// Elements are counted from 1. Index 0 and negative indexes have no element.
	from0 := plan.Case{If: []plan.Expr{Test(plan.Under, Whole(0), n)}, Then: []plan.Expr{plan.Apply{Op: plan.Sub, Args: []plan.Expr{n, Whole(1)}, T: schema.Integer}}, T: schema.Integer, Else: plan.Const{T: schema.Integer}}
	return computedOf(x.Item(plan.Apply{Op: plan.ElemAt, Args: []plan.Expr{items, from0}, T: schema.JSON}), e.At), nil
}

// Text returns x as text. It converts numbers, dates and booleans.
func (b *Binder) Text(x *node, what string) (plan.Expr, error) {
	if x.Span {
		return nil, unsupportedAt(x.At, "extract(epoch FROM …) gives seconds", "%s takes a text, not a length of time", what)
	}
	if x.Day {
		return plan.DateText{X: x.Expr, Format: "%Y-%m-%d"}, nil
	}
	switch t := x.Kind(); {
	case x.IsNull():
		return plan.Const{T: schema.String}, nil
	case t == schema.String, t == schema.UUID:
		return x.Want(schema.String, what)
	case typecheck.Dynamic(t):
		if x.List || x.IsObject() {
			return nil, unsupportedAt(x.At, "", "%s takes a text, not %s", what, typecheck.Describe(&x.Node))
		}
		return plan.Convert{X: x.JSON(), T: schema.String}, nil
	case t == schema.Bytes, t == schema.Opaque:
		return nil, unsupportedAt(x.At, "", "%s takes a text, not %s", what, typecheck.Describe(&x.Node))
	}
	return plan.Convert{X: x.Expr, T: schema.String}, nil
}

// Element returns x as an element of a list. A day becomes text. A key stays a number, although it is text in
// pipelines. The argument what is the name of the function that makes the list, for errors.
func (x *node) Element(what string) (plan.Expr, error) {
	switch {
	case x.Span:
		return nil, unsupportedAt(x.At, "extract(epoch FROM …) gives seconds", "%s can't take lengths of time", what)
	case x.Day:
		x = &node{Node: typecheck.Node{Expr: plan.DateText{X: x.Expr, Format: "%Y-%m-%d"}}}
	}
	own := x.Node
	own.Column = nil
	return own.JSON(), nil
}

func unsupportedAt(place, instead, format string, args ...any) *problem.Error {
	return &problem.Error{Code: problem.Unsupported, Pointer: place, Detail: fmt.Sprintf(format, args...), Suggestion: instead}
}

// concat joins texts. A null makes the result null. With skip, nulls are ignored.
func (b *Binder) concat(list []node, skip bool, p sqlparse.Pos) (node, error) {
	if !skip && slices.ContainsFunc(list, func(n node) bool { return n.List }) { // lists are joined, as with PostgreSQL's ||
		a := plan.Apply{Op: plan.JoinLists, T: schema.JSON}
		for i := range list {
			items, err := list[i].Elements("||")
			if err != nil {
				return node{}, err
			}
			a.Args = append(a.Args, items)
		}
		return node{Node: typecheck.Node{Expr: a, List: true}}, nil
	}
	a := plan.Apply{Op: plan.Concat, T: schema.String}
	for i := range list {
		if c := list[i].Column; c != nil && c.Field != nil && c.Type == schema.JSON {
			return node{}, unsupportedAt(list[i].At, "meta->>'a' is a member as a text. json_build_object('a', x) makes an object", "|| takes texts and lists, and %s is JSON", typecheck.Describe(&list[i].Node))
		}
		x, err := b.Text(&list[i], "||")
		if err != nil {
			return node{}, err
		}
		if skip {
			x = applyText(plan.IfNull, asText(x, list[i].Kind() == schema.Boolean), textConst(""))
		}
		a.Args = append(a.Args, x)
	}
	return computedOf(a, p), nil
}

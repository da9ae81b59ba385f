package sqlbind

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// cast binds a conversion. A value that can't be converted becomes null.
func (b *Binder) cast(e *sqlparse.Cast) (node, error) {
	x, err := b.Value(e.X)
	if err != nil {
		return node{}, err
	}
	name, _, _ := strings.Cut(e.Type, "(")
	switch name {
	case "date":
		return b.asDay(x, e.At)
	case "timestamp", "timestamptz", "datetime", "datetime2", "timestamp_ntz", "timestamp_ltz", "timestamp_tz":
		d, err := b.date(&x, "CAST")
		return computedOf(d, e.At), err
	case "time", "timetz":
		return node{}, unsupportedError(e.At, "to_char(x, 'HH24:MI:SS') is the time of day as a text, in the order of times. extract(hour FROM x) is its hour", "a time of day by itself isn't there")
	case "interval":
		if k, ok := intervalOf(&x); ok {
			return k, nil
		}
		return node{}, unsupportedError(e.At, "write interval '7 days', or x * interval '1 day' for x days", "only a constant can be made a length of time")
	case "json", "jsonb":
		if x.Kind() == schema.String {
			return node{}, unsupportedError(e.At, "json_build_object('a', 1) makes an object of values. meta->>'a' reads a member of a column that is JSON", "a text can't be made JSON")
		}
		return node{Node: typecheck.Node{Expr: x.JSON(), List: x.List}}, nil
	case "text", "varchar", "char", "character", "string", "nvarchar", "bpchar", "name", "nchar", "clob", "uuid":
		if c := x.Column; c != nil && c.Field != nil && c.Type == schema.JSON && !x.List {
			return node{}, unsupportedError(e.At, "the column itself is shown as JSON. meta->>'a' is a member as a text", "%s, which is JSON, has no one text", typecheck.Describe(&x.Node))
		}
		t, err := b.Text(&x, "CAST")
		return computedOf(t, e.At), err
	}
	t, number, ok := namedNumber(name)
	if name == "bool" || name == "boolean" {
		t, ok = schema.Boolean, true
	}
	if !ok {
		return node{}, &problem.Error{Code: problem.InvalidQuery, Pointer: At(e.At), Detail: fmt.Sprintf("unknown type %q", problem.Cut(e.Type)),
			Suggestion: "the types are integer, bigint, numeric, double precision, text, boolean, date, timestamp and interval",
			Near:       problem.Nearest(name, []string{"integer", "bigint", "numeric", "double", "text", "boolean", "date", "timestamp"}, 2)}
	}
	out, err := b.convertTo(&x, t, e)
	n := computedOf(out, e.At)
	if n.Number = number; err != nil || t != schema.Decimal {
		return n, err
	}
	if _, args, scaled := strings.Cut(e.Type, "("); scaled {
		places := int64(0)
		if _, scale, ok := strings.Cut(strings.TrimSuffix(args, ")"), ","); ok {
			_, _ = fmt.Sscanf(scale, "%d", &places)
		}
		n.Compute(plan.Apply{Op: plan.Round, Args: []plan.Expr{out, Whole(min(max(places, -20), 20))}, T: t})
	}
	return n, nil
}

// convertTo returns x in type t. Null stays null. Times and lengths of time are refused. Texts become booleans by
// PostgreSQL's spellings. A fraction is rounded to an Integer, but a pipeline's $toInt truncates it. A value that can't
// be converted becomes null, without an error.
func (b *Binder) convertTo(x *node, t schema.Type, e *sqlparse.Cast) (plan.Expr, error) {
	from := x.Kind()
	switch {
	case x.IsNull():
		return plan.Const{T: t}, nil
	case x.Span || from == schema.Date || from == schema.Day:
		return nil, unsupportedError(e.At, "extract(epoch FROM …) gives seconds", "a time can't be cast to %s", e.Type)
	case x.IsObject() || x.List || from == schema.Bytes || from == schema.Opaque || from == schema.UUID:
		return nil, unsupportedError(e.At, "", "%s can't be cast to %s", typecheck.Describe(&x.Node), e.Type)
	case t == schema.Boolean && from == schema.String:
		return textTruth(x.Expr), nil
	case from == schema.Any:
		return plan.Convert{X: x.JSON(), T: t}, nil
	}
	if from == schema.Double && t == schema.Integer || from == schema.Decimal && t == schema.Integer { // rounded, as in PostgreSQL
		wide := plan.Expr(x.Expr)
		if k, ok := wide.(plan.Const); ok {
			wide = typecheck.Constant(k.Value, from)
		}
		if x.number() == numeric {
			return plan.Convert{X: plan.Apply{Op: plan.Round, Args: []plan.Expr{wide, Whole(0)}, T: from}, T: t}, nil
		}
		return plan.Convert{X: typecheck.Nearest(wide, from), T: t}, nil
	}
	if x.Kind() == t {
		return x.Want(t, "CAST")
	}
	return plan.Convert{X: x.Expr, T: t}, nil
}

// textTruth reads a text as a boolean, as PostgreSQL does. It is null for other texts.
func textTruth(x plan.Expr) plan.Expr {
	x = plan.Apply{Op: plan.Lower, Args: []plan.Expr{x}, T: schema.String}
	oneOf := func(words ...string) plan.Expr {
		var tests []plan.Expr
		for _, w := range words {
			tests = append(tests, Test(plan.Same, x, plan.Const{Value: value.OfString(w), T: schema.String}))
		}
		return Test(plan.Or, tests...)
	}
	return cond{oneOf("true", "t", "yes", "y", "on", "1"), oneOf("false", "f", "no", "n", "off", "0")}.value()
}

package metric

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// pathsOf calls visit for each path in a filter.
func pathsOf(f query.Filter, visit func(path query.Path, at string)) {
	switch f := f.(type) {
	case nil:
	case query.And:
		for _, part := range f {
			pathsOf(part, visit)
		}
	case query.Or:
		for _, part := range f {
			pathsOf(part, visit)
		}
	case query.Not:
		pathsOf(f.Part, visit)
	case query.Condition:
		path, at := f.Place()
		visit(path, at)
	}
}

// condition returns a filter as a condition of SQL that is true for the same records. It joins the records that paths
// lead to. A filter is true or false for each record, so no condition may be unknown where its negation counts.
func (s *statement) condition(f query.Filter) (sqlparse.Expr, error) {
	switch f := f.(type) {
	case query.And:
		return s.all("and", f)
	case query.Or:
		return s.all("or", f)
	case query.Not:
		x, err := s.condition(f.Part)
		return &sqlparse.Is{X: x, Not: true, What: "true"}, err
	case query.Compare:
		return s.compare(f)
	case query.In:
		return s.among(f)
	case query.Exists:
		x, err := s.scalar(f.Path, f.At)
		return &sqlparse.Is{X: x, What: "null", Not: f.Want}, err
	case query.StartsWith:
		x, err := s.scalar(f.Path, f.At)
		pattern := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(f.Prefix) + "%"
		return &sqlparse.Like{Op: "like", X: x, Pattern: s.param(value.OfString(pattern))}, err
	case query.Regex:
		op, ok := map[string]string{"": "~", "i": "~*"}[f.Options]
		if f.Contains != "" || !ok {
			return nil, unsupported(f.At, "$regex without options, or with the option i")
		}
		x, err := s.scalar(f.Path, f.At)
		return &sqlparse.Like{Op: op, X: x, Pattern: &sqlparse.String{Text: f.Pattern}}, err
	case query.Deferred:
		return nil, &problem.Error{Code: problem.Unsupported, Pointer: f.At, Detail: "an expression can't be here: a metric means the same for everybody", Suggestion: "say in when who may use it"}
	case query.Condition:
		_, at := f.Place()
		return nil, unsupported(at, "comparisons, $in, $nin, $exists, $startsWith and $regex, with $and, $or and $not")
	}
	return nil, problem.New(problem.Internal, fmt.Sprintf("metric knows no %T", f))
}

func unsupported(at, instead string) error {
	return &problem.Error{Code: problem.Unsupported, Pointer: at, Detail: "this condition is not supported for metrics", Suggestion: "where takes " + instead}
}

// all joins conditions by an operator.
func (s *statement) all(op string, parts []query.Filter) (out sqlparse.Expr, err error) {
	for _, part := range parts {
		x, err := s.condition(part)
		if err != nil {
			return nil, err
		}
		if out = both(op, out, x); out == nil {
			out = x
		}
	}
	return out, nil
}

// both joins two conditions by an operator. Either may be nil.
func both(op string, x, y sqlparse.Expr) sqlparse.Expr {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return &sqlparse.Binary{Op: op, L: x, R: y}
}

// compare returns a comparison. Null equals null, and is neither less nor more than any value.
func (s *statement) compare(f query.Compare) (sqlparse.Expr, error) {
	x, err := s.scalar(f.Path, f.At)
	if err != nil {
		return nil, err
	}
	if f.Value.IsNull() && (f.Op == query.Eq || f.Op == query.Ne) {
		return &sqlparse.Is{X: x, What: "null", Not: f.Op == query.Ne}, nil
	}
	switch f.Value.Kind() {
	case value.Null, value.Array, value.Object:
		return nil, unsupported(f.At, "texts, numbers, dates and truth values to compare with")
	}
	op := map[query.Op]string{query.Eq: "=", query.Gt: ">", query.Gte: ">=", query.Lt: "<", query.Lte: "<="}[f.Op]
	if f.Op == query.Ne { // also true for null
		return &sqlparse.Is{X: &sqlparse.Binary{Op: "=", L: x, R: s.param(f.Value)}, Not: true, What: "true"}, nil
	}
	return &sqlparse.Binary{Op: op, L: x, R: s.param(f.Value)}, nil
}

// among returns whether a value is one of several.
func (s *statement) among(f query.In) (sqlparse.Expr, error) {
	var out sqlparse.Expr
	var list []sqlparse.Expr
	for _, v := range f.Values {
		switch v.Kind() {
		case value.Null:
			x, err := s.scalar(f.Path, f.At)
			if err != nil {
				return nil, err
			}
			out = &sqlparse.Is{X: x, What: "null"}
		case value.Array, value.Object:
			return nil, unsupported(f.At, "texts, numbers, dates and truth values to compare with")
		default:
			list = append(list, s.param(v))
		}
	}
	x, err := s.scalar(f.Path, f.At)
	if err != nil {
		return nil, err
	}
	if list != nil {
		out = both("or", out, &sqlparse.In{X: x, List: list})
	}
	if out == nil {
		out = &sqlparse.Word{Text: "false"}
	}
	if f.Not {
		out = &sqlparse.Is{X: out, Not: true, What: "true"}
	}
	return out, nil
}

// words describes a filter: "status is paid and total > 5".
func words(f query.Filter) string {
	join := func(parts []query.Filter, by string) string {
		texts := make([]string, len(parts))
		for i, p := range parts {
			if texts[i] = words(p); strings.Contains(texts[i], " or ") && by == " and " {
				texts[i] = "(" + texts[i] + ")"
			}
		}
		return strings.Join(texts, by)
	}
	switch f := f.(type) {
	case query.And:
		return join(f, " and ")
	case query.Or:
		return join(f, " or ")
	case query.Not:
		return "not (" + words(f.Part) + ")"
	case query.Compare:
		op := map[query.Op]string{query.Eq: "is", query.Ne: "is not", query.Gt: ">", query.Gte: ">=", query.Lt: "<", query.Lte: "<="}[f.Op]
		return f.Path.String() + " " + op + " " + shown(f.Value)
	case query.In:
		texts := make([]string, len(f.Values))
		for i, v := range f.Values {
			texts[i] = shown(v)
		}
		if f.Not {
			return f.Path.String() + " is none of " + strings.Join(texts, ", ")
		}
		return f.Path.String() + " is one of " + strings.Join(texts, ", ")
	case query.Exists:
		if f.Want {
			return f.Path.String() + " is set"
		}
		return f.Path.String() + " is not set"
	case query.StartsWith:
		return f.Path.String() + " begins with " + f.Prefix
	}
	return query.Print(f).String()
}

// shown returns a value in the words of a definition.
func shown(v value.Value) string {
	if v.IsNull() {
		return "null"
	}
	return v.String()
}

package sqlbind

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// jsonMember returns the member of x with this name.
func jsonMember(x plan.Expr, name string) plan.Expr { return plan.Part{X: x, Path: query.Path{name}} }

// jsonElement returns the element of x at an index from 0. A negative index counts from the end.
func jsonElement(x plan.Expr, n int64) plan.Expr {
	at := plan.Const{Value: value.OfInt(n), T: schema.Integer}
	return plan.Apply{Op: plan.ElemAt, Args: []plan.Expr{x, at}, T: schema.JSON}
}

// jsonStep returns the member of x with this name. If the name is a whole number, it returns the element at this index.
func jsonStep(x plan.Expr, name string) plan.Expr {
	if n, err := strconv.ParseInt(name, 10, 64); err == nil && strconv.FormatInt(n, 10) == name {
		return jsonElement(x, n)
	}
	return jsonMember(x, name)
}

// JSONRoute returns the value at a path in the form of #>, such as {a,b,0}. It returns false for an invalid path.
func JSONRoute(x plan.Expr, path string) (plan.Expr, bool) {
	names, ok := sqlparse.Elements(path)
	for _, name := range names {
		if name == nil {
			return nil, false
		}
		x = jsonStep(x, *name)
	}
	return x, ok
}

// JSONPath returns the value at a path in the form of JSON_VALUE, such as $.a."b c"[0]. It returns false for an invalid
// path, a path to several values ($.a[*]), and a path with a condition.
func JSONPath(x plan.Expr, path string) (plan.Expr, bool) {
	rest, ok := strings.CutPrefix(path, "$")
	for ok && rest != "" {
		x, rest, ok = step(x, rest)
	}
	return x, ok
}

// step returns the value after the first step of a path, and the rest of the path.
func step(x plan.Expr, path string) (to plan.Expr, rest string, ok bool) {
	if after, is := strings.CutPrefix(path, "["); is {
		inside, rest, closed := strings.Cut(after, "]")
		if name, rest, ok := cutQuotedName(after); ok {
			return jsonMember(x, name), strings.TrimPrefix(rest, "]"), strings.HasPrefix(rest, "]")
		}
		n, err := strconv.ParseInt(inside, 10, 64)
		return jsonElement(x, n), rest, closed && err == nil
	}
	after, ok := strings.CutPrefix(path, ".")
	if name, rest, ok := cutQuotedName(after); ok {
		return jsonMember(x, name), rest, true
	}
	n := strings.IndexAny(after+".", ".[")
	name, rest := after[:n], after[n:]
	return jsonMember(x, name), rest, ok && name != "" && !strings.ContainsAny(name, `*?@()"']`)
}

// cutQuotedName returns the quoted name at the beginning of s, and the rest of s. In the name, a \ escapes a quote.
func cutQuotedName(s string) (name, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) && !strings.HasPrefix(s, "'") {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", s, false
}

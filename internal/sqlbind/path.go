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

// jsonMember returns the member of x called name.
func jsonMember(x plan.Expr, name string) plan.Expr { return plan.Part{X: x, Path: query.Path{name}} }

// jsonElement returns the element of x at an index, from 0, or from the end if it is negative.
func jsonElement(x plan.Expr, n int64) plan.Expr {
	at := plan.Const{Value: value.OfInt(n), T: schema.Integer}
	return plan.Apply{Op: plan.ElemAt, Args: []plan.Expr{x, at}, T: schema.JSON}
}

// jsonStep returns the member of x called name, or, if that is a whole number, the element.
func jsonStep(x plan.Expr, name string) plan.Expr {
	if n, err := strconv.ParseInt(name, 10, 64); err == nil && strconv.FormatInt(n, 10) == name {
		return jsonElement(x, n)
	}
	return jsonMember(x, name)
}

// JSONRoute follows a path as #> has it, such as {a,b,0}. It returns false for another text.
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

// JSONPath follows a path as JSON_VALUE has it, such as $.a."b c"[0]. It is false for another text, also for a path to several values
// ($.a[*]) and one with a condition.
func JSONPath(x plan.Expr, path string) (plan.Expr, bool) {
	rest, ok := strings.CutPrefix(path, "$")
	for ok && rest != "" {
		x, rest, ok = step(x, rest)
	}
	return x, ok
}

// step follows the first step of a path.
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

// cutQuotedName cuts a quoted name off the beginning of s. A \ precedes a quote in the name.
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

package hint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Word returns the operator of conditions for a word of another language, such as ">=", "gte", "equals" or "not in". It
// returns "" for an unknown word. It accepts any case, with or without $. For a word without an equivalent operator, it
// returns the name that Rewrite replaces: $between, $like, $isNull and others.
func Word(word string) string {
	word = strings.NewReplacer("_", "", " ", "", "-", "").Replace(strings.ToLower(strings.TrimPrefix(word, "$")))
	switch word {
	case "=", "==", "===", "eq", "equals", "equal", "is":
		return "$eq"
	case "!=", "<>", "!==", "ne", "neq", "notequals", "notequal", "isnot":
		return "$ne"
	case ">", "gt", "greaterthan", "after":
		return "$gt"
	case ">=", "gte", "ge", "greaterthanorequal", "atleast":
		return "$gte"
	case "<", "lt", "lessthan", "before":
		return "$lt"
	case "<=", "lte", "le", "lessthanorequal", "atmost":
		return "$lte"
	case "in", "isin", "anyof", "oneof":
		return "$in"
	case "nin", "notin", "noneof":
		return "$nin"
	case "exists", "isset":
		return "$exists"
	case "regex", "regexp", "matches":
		return "$regex"
	case "startswith", "beginswith":
		return "$startsWith"
	case "contains", "includes":
		return "$contains"
	case "icontains", "containsi", "containsignorecase":
		return "$icontains"
	case "endswith":
		return "$endsWith"
	case "like":
		return "$like"
	case "ilike":
		return "$ilike"
	case "notlike":
		return "$notLike"
	case "notilike":
		return "$notILike"
	case "between":
		return "$between"
	case "isnull":
		return "$isNull"
	case "notnull", "isnotnull":
		return "$notNull"
	}
	return ""
}

// Rewrite returns v, an object of operators, with the operators of other languages replaced by ours. at is the JSON
// pointer of v. It also returns notes for replacements that a reader may not expect. It doesn't replace an operator if
// v already contains the new one, or if the operator has no meaning.
func Rewrite(v value.Value, at string) (value.Value, []string) {
	var out []value.Member
	var notes []string
	for i, m := range v.Members() {
		made, note := operator(m)
		if slices.ContainsFunc(made, func(n value.Member) bool { return has(v.Members(), n.Name) || has(out, n.Name) }) {
			made, note = nil, "" // the $options of one would apply to both
		}
		if note != "" {
			notes = append(notes, at+"/"+m.Name+": "+note)
		}
		switch {
		case made == nil && out != nil:
			out = append(out, m)
		case made != nil && out == nil:
			out = append(append(out, v.Members()[:i]...), made...)
		case made != nil:
			out = append(out, made...)
		}
	}
	if out == nil {
		return v, nil
	}
	return value.OfObject(out), notes
}

func has(members []value.Member, name string) bool {
	return slices.ContainsFunc(members, func(m value.Member) bool { return m.Name == name })
}

// operator returns the meaning of the operator m in operators of the language. It returns nil if m is already such an
// operator, or is unknown.
func operator(m value.Member) (out []value.Member, note string) {
	if m.Name == "" || m.Name[0] != '$' {
		return nil, ""
	}
	op, text := Word(m.Name), m.Value.Kind() == value.String
	switch op {
	case "", m.Name:
	case "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$startsWith", "$contains", "$exists", "$regex":
		if m.Value.Kind() == value.Object {
			return nil, ""
		}
		return one(op, m.Value), ""
	}
	switch {
	case op == "$between" && len(m.Value.List()) == 2:
		return append(one("$gte", m.Value.List()[0]), one("$lte", m.Value.List()[1])...), ""
	case (op == "$isNull" || op == "$notNull") && m.Value.Kind() == value.Bool:
		if m.Value.Bool() == (op == "$isNull") {
			return one("$eq", value.Value{}), ""
		}
		return one("$ne", value.Value{}), ""
	case (op == "$like" || op == "$ilike") && text:
		return regex(m, literals.LikePattern(m.Value.Text(), '\\'), op == "$ilike")
	case (op == "$notLike" || op == "$notILike") && text:
		out, note := regex(m, literals.LikePattern(m.Value.Text(), '\\'), op == "$notILike")
		return one("$not", value.OfObject(out)), note
	case op == "$endsWith" && text:
		return regex(m, regexp.QuoteMeta(m.Value.Text())+`\z`, false)
	case op == "$icontains" && text:
		return regex(m, regexp.QuoteMeta(m.Value.Text()), true)
	}
	return nil, ""
}

// regex returns $regex with its options, and a note that explains it.
func regex(of value.Member, expr string, fold bool) ([]value.Member, string) {
	out := one("$regex", value.OfString(expr))
	if fold {
		out = append(out, value.Member{Name: "$options", Value: value.OfString("i")})
	}
	return out, fmt.Sprintf("%q was taken as %s", problem.Cut(of.Value.Text()), value.OfObject(out))
}

func one(name string, v value.Value) []value.Member { return []value.Member{{Name: name, Value: v}} }

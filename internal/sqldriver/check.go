package sqldriver

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A CheckRule is a requirement of a check constraint on one column: one of several literals, JSON, or a comparison.
type CheckRule struct {
	Column   Token
	With     Token // the column that Column is compared with, or zero for a literal
	cast     bool  // the column is compared as text
	literals []literal
	JSON     bool
	bound    *bound
}

// Lists reports whether r lists the values of its column.
func (r CheckRule) Lists() bool { return !r.JSON && r.bound == nil }

// A literal is a constant as written. cast reports that it has an explicit type.
type literal struct {
	text      string
	str, cast bool
}

// MentionedFields returns the fields of c whose columns the expression ts names, in the order of their first mention.
// Column names are compared as SQLite and MariaDB compare them.
func MentionedFields(ts []Token, c *schema.Class) []string {
	var out []string
	for i, t := range ts {
		if t.Kind > QuotedToken || i+1 < len(ts) && ts[i+1].Is("(") || i > 0 && (ts[i-1].Is("COLLATE") || ts[i-1].Is("AS") || ts[i-1].Is("::")) {
			continue // a function, a collation, or a type
		}
		for _, f := range c.Fields {
			if strings.EqualFold(f.Name, t.Text) && !slices.Contains(out, f.Name) {
				out = append(out, f.Name)
			}
		}
	}
	return out
}

// CheckRules returns the rules in a check constraint. It ignores parts whose form it doesn't know.
func CheckRules(ts []Token) []CheckRule {
	ts = strip(ts)
	if parts := SplitTokens(ts, "OR"); len(parts) > 1 {
		return nullOr(parts)
	}
	if r := between(ts); r != nil {
		return r
	}
	if len(SplitTokens(ts, "BETWEEN")) > 1 || len(SplitTokens(ts, "CASE")) > 1 { // its AND is not a conjunction
		return nil
	}
	if parts := SplitTokens(ts, "AND"); len(parts) > 1 {
		var out []CheckRule
		for _, p := range parts {
			out = append(out, CheckRules(p)...)
		}
		return out
	}
	if r, ok := ruleOf(ts); ok {
		return []CheckRule{r}
	}
	return nil
}

// nullOr reads "c IS NULL OR rule of c". That is equivalent to the rule, because null passes every check.
func nullOr(parts [][]Token) []CheckRule {
	var null Token
	var rest []CheckRule
	for _, p := range parts {
		p = strip(p)
		if len(p) == 3 && p[1].Is("IS") && p[2].Is("NULL") {
			null = p[0]
			continue
		}
		r, ok := ruleOf(p)
		if !ok {
			return nil
		}
		rest = append(rest, r)
	}
	if len(rest) != 1 || len(parts) != 2 || rest[0].Column != null {
		return nil
	}
	return rest
}

// ruleOf reads comparisons, "c IN (literals)", "c = literal" and "c = ANY (ARRAY[literals])".
func ruleOf(ts []Token) (r CheckRule, ok bool) {
	if len(ts) > 1 && ts[0].Is("JSON_VALID") {
		return jsonRule(ts)
	}
	if r, ok := boundOf(ts); ok {
		return r, true
	}
	for _, op := range []string{"IN", "=", "=="} {
		sides := SplitTokens(ts, op)
		if len(sides) == 1 {
			continue
		}
		if len(sides) > 2 {
			return CheckRule{}, false
		}
		if r.Column, r.cast, ok = columnOf(sides[0]); ok {
			r.literals, ok = listOf(op, sides[1])
		}
		return r, ok
	}
	return CheckRule{}, false
}

// jsonRule reads json_valid(c), optionally compared to 1.
func jsonRule(ts []Token) (CheckRule, bool) {
	inner, rest, ok := TokenGroup(ts[1:])
	if !ok || len(inner) != 1 || inner[0].Kind > QuotedToken {
		return CheckRule{}, false
	}
	whole := len(rest) == 0 || len(rest) == 2 && (rest[0].Is("=") || rest[0].Is("==")) && rest[1] == Token{NumberToken, "1"}
	return CheckRule{Column: inner[0], JSON: true}, whole
}

// listOf returns the literals in ts, the operand of op.
func listOf(op string, ts []Token) ([]literal, bool) {
	if op == "IN" {
		if len(ts) == 0 || !ts[0].Is("(") {
			return nil, false
		}
		inner, rest, ok := TokenGroup(ts)
		if !ok || len(rest) > 0 {
			return nil, false
		}
		return literalsOf(inner)
	}
	if len(ts) == 0 || !ts[0].Is("ANY") {
		l, ok := literalOf(ts)
		return []literal{l}, ok
	}
	ts = uncastArray(strip(ts[1:]))
	if len(ts) < 2 || !ts[0].Is("ARRAY") || !ts[1].Is("[") {
		return nil, false
	}
	inner, rest, ok := TokenGroup(ts[1:])
	if !ok || len(rest) > 0 {
		return nil, false
	}
	return literalsOf(inner)
}

// literalsOf returns literals that are separated by commas. It returns false if a part of ts is not a literal.
func literalsOf(ts []Token) ([]literal, bool) {
	var out []literal
	for _, p := range SplitTokens(ts, ",") {
		l, ok := literalOf(p)
		if !ok {
			return nil, false
		}
		out = append(out, l)
	}
	return out, true
}

// literalOf returns the literal in ts, with or without parentheses and casts that leave its value unchanged. It
// returns false for anything else.
func literalOf(ts []Token) (literal, bool) {
	ts = strip(ts)
	if parts := SplitTokens(ts, "::"); len(parts) > 1 {
		l, ok := literalOf(parts[0])
		for _, typ := range parts[1:] {
			ok = ok && slices.Contains(plainTypes, typeName(typ))
		}
		l.cast = true
		return l, ok
	}
	sign := ""
	if len(ts) == 2 && ts[0].Is("-") && ts[1].Kind == NumberToken {
		sign, ts = "-", ts[1:]
	}
	if len(ts) != 1 || ts[0].Kind != TextToken && ts[0].Kind != NumberToken {
		return literal{}, false
	}
	return literal{text: sign + ts[0].Text, str: ts[0].Kind == TextToken}, true
}

// textTypes and plainTypes are the types in PostgreSQL's casts that leave a value unchanged.
var (
	textTypes  = []string{"text", "character varying", "bpchar", "name"}
	plainTypes = append([]string{"smallint", "integer", "bigint", "numeric", "double precision"}, textTypes...)
)

func typeName(ts []Token) string {
	words := make([]string, len(ts))
	for i, t := range ts {
		words[i] = t.Text
	}
	return strings.Join(words, " ")
}

// columnOf returns the column in ts. cast reports whether the column is cast to text.
func columnOf(ts []Token) (column Token, cast, ok bool) {
	ts = strip(ts)
	if parts := SplitTokens(ts, "::"); len(parts) == 2 {
		c, _, ok := columnOf(parts[0])
		return c, true, ok && slices.Contains(textTypes, typeName(parts[1]))
	}
	if len(ts) != 1 || ts[0].Kind > QuotedToken {
		return Token{}, false, false
	}
	return ts[0], false, true
}

// uncastArray removes a cast of a whole array to text.
func uncastArray(ts []Token) []Token {
	if parts := SplitTokens(ts, "::"); len(parts) == 2 {
		if t := typeName(parts[1]); strings.HasSuffix(t, " [ ]") && slices.Contains(textTypes, strings.TrimSuffix(t, " [ ]")) {
			return strip(parts[0])
		}
	}
	return ts
}

// RestrictField applies rule r to field. It ignores literals that the field would store as another value.
func RestrictField(field *schema.Field, r CheckRule) {
	if r.JSON {
		if field.Type == schema.String {
			field.Type = schema.JSON
		}
		return
	}
	if r.With.Text != "" {
		if field.Type == schema.Integer || field.Type == schema.Decimal || field.Type == schema.Date {
			field.Bounds = append(field.Bounds, schema.Bound{Op: r.bound.op, Field: r.With.Text})
		}
		return
	}
	if r.bound != nil {
		r.bound.restrict(field)
		return
	}
	if r.cast && field.Type != schema.String {
		return
	}
	values := make([]value.Value, 0, len(r.literals))
	for _, l := range r.literals {
		v, ok := literalValue(field, l)
		if !ok {
			return
		}
		values = append(values, v)
	}
	if field.Values == nil {
		field.Values = values
		return
	}
	field.Values = slices.DeleteFunc(field.Values, func(v value.Value) bool { return !containsValue(values, v) })
}

func containsValue(list []value.Value, v value.Value) bool {
	return slices.ContainsFunc(list, func(w value.Value) bool {
		return v.Kind() == w.Kind() && v.Text() == w.Text() && v.Int() == w.Int() && v.Float() == w.Float()
	})
}

// literalValue returns l as a value of the type of field. It returns false if the field would store another value.
func literalValue(field *schema.Field, l literal) (value.Value, bool) {
	isNumber := json.Valid([]byte(l.text)) && strings.Trim(l.text, "-.0123456789eE+") == ""
	switch field.Type {
	case schema.String:
		padded := field.Native == "bpchar" && utf8.RuneCountInString(l.text) != field.Length
		return value.OfString(l.text), l.str && !padded
	case schema.Integer:
		n, err := strconv.ParseInt(l.text, 10, 64)
		return value.OfInt(n), err == nil && (l.cast || !l.str)
	case schema.Double:
		f, err := strconv.ParseFloat(l.text, 64)
		return value.OfFloat(f), err == nil && isNumber && field.Native != "float4" && (l.cast || !l.str)
	case schema.Decimal:
		return value.OfDecimal(l.text), isNumber && (l.cast || !l.str)
	case schema.Any:
		if l.str {
			_, err := strconv.ParseFloat(strings.TrimSpace(l.text), 64)
			return value.OfString(l.text), err != nil // a number in a string may be stored as either
		}
		if n, err := strconv.ParseInt(l.text, 10, 64); err == nil {
			return value.OfInt(n), true
		}
		f, err := strconv.ParseFloat(l.text, 64)
		return value.OfFloat(f), err == nil && isNumber
	}
	return value.Value{}, false
}

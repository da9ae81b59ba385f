package catalogue

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A rule is what a check constraint requires of one column: one of the literals, or JSON.
type rule struct {
	column   token
	cast     bool // the column is compared as text
	literals []literal
	json     bool
}

// A literal is a constant as written; cast reports that it has an explicit type.
type literal struct {
	text      string
	str, cast bool
}

// rules returns the parts of a check constraint that it understands. It ignores parts of any other form.
func rules(ts []token) []rule {
	ts = strip(ts)
	if parts := split(ts, "OR"); len(parts) > 1 {
		return nullOr(parts)
	}
	if len(split(ts, "BETWEEN")) > 1 || len(split(ts, "CASE")) > 1 { // the AND inside is not a conjunction
		return nil
	}
	if parts := split(ts, "AND"); len(parts) > 1 {
		var out []rule
		for _, p := range parts {
			out = append(out, rules(p)...)
		}
		return out
	}
	if r, ok := ruleOf(ts); ok {
		return []rule{r}
	}
	return nil
}

// nullOr reads "c IS NULL OR rule of c", which is equivalent to the rule: null passes every check.
func nullOr(parts [][]token) []rule {
	var null token
	var rest []rule
	for _, p := range parts {
		p = strip(p)
		if len(p) == 3 && p[1].is("IS") && p[2].is("NULL") {
			null = p[0]
			continue
		}
		r, ok := ruleOf(p)
		if !ok {
			return nil
		}
		rest = append(rest, r)
	}
	if len(rest) != 1 || len(parts) != 2 || rest[0].column != null {
		return nil
	}
	return rest
}

// ruleOf reads "c IN (literals)", "c = literal" and "c = ANY (ARRAY[literals])".
func ruleOf(ts []token) (r rule, ok bool) {
	if len(ts) > 1 && ts[0].is("JSON_VALID") {
		return jsonRule(ts)
	}
	for _, op := range []string{"IN", "=", "=="} {
		sides := split(ts, op)
		if len(sides) == 1 {
			continue
		}
		if len(sides) > 2 {
			return rule{}, false
		}
		if r.column, r.cast, ok = columnOf(sides[0]); ok {
			r.literals, ok = listOf(op, sides[1])
		}
		return r, ok
	}
	return rule{}, false
}

// jsonRule reads json_valid(c), optionally compared to 1.
func jsonRule(ts []token) (rule, bool) {
	inner, rest, ok := group(ts[1:])
	if !ok || len(inner) != 1 || inner[0].kind > quoted {
		return rule{}, false
	}
	whole := len(rest) == 0 || len(rest) == 2 && (rest[0].is("=") || rest[0].is("==")) && rest[1] == token{number, "1"}
	return rule{column: inner[0], json: true}, whole
}

// listOf reads the operand of op.
func listOf(op string, ts []token) ([]literal, bool) {
	if op == "IN" {
		if len(ts) == 0 || !ts[0].is("(") {
			return nil, false
		}
		inner, rest, ok := group(ts)
		if !ok || len(rest) > 0 {
			return nil, false
		}
		return literalsOf(inner)
	}
	if len(ts) == 0 || !ts[0].is("ANY") {
		l, ok := literalOf(ts)
		return []literal{l}, ok
	}
	ts = uncastArray(strip(ts[1:]))
	if len(ts) < 2 || !ts[0].is("ARRAY") || !ts[1].is("[") {
		return nil, false
	}
	inner, rest, ok := group(ts[1:])
	if !ok || len(rest) > 0 {
		return nil, false
	}
	return literalsOf(inner)
}

func literalsOf(ts []token) ([]literal, bool) {
	var out []literal
	for _, p := range split(ts, ",") {
		l, ok := literalOf(p)
		if !ok {
			return nil, false
		}
		out = append(out, l)
	}
	return out, true
}

func literalOf(ts []token) (literal, bool) {
	ts = strip(ts)
	if parts := split(ts, "::"); len(parts) > 1 {
		l, ok := literalOf(parts[0])
		for _, typ := range parts[1:] {
			ok = ok && slices.Contains(plainTypes, typeName(typ))
		}
		l.cast = true
		return l, ok
	}
	sign := ""
	if len(ts) == 2 && ts[0].is("-") && ts[1].kind == number {
		sign, ts = "-", ts[1:]
	}
	if len(ts) != 1 || ts[0].kind != text && ts[0].kind != number {
		return literal{}, false
	}
	return literal{text: sign + ts[0].text, str: ts[0].kind == text}, true
}

// textTypes and plainTypes are the types in PostgreSQL's casts that leave a value unchanged.
var (
	textTypes  = []string{"text", "character varying", "bpchar", "name"}
	plainTypes = append([]string{"smallint", "integer", "bigint", "numeric", "double precision"}, textTypes...)
)

func typeName(ts []token) string {
	words := make([]string, len(ts))
	for i, t := range ts {
		words[i] = t.text
	}
	return strings.Join(words, " ")
}

// columnOf reads a column, optionally cast to text.
func columnOf(ts []token) (column token, cast, ok bool) {
	ts = strip(ts)
	if parts := split(ts, "::"); len(parts) == 2 {
		c, _, ok := columnOf(parts[0])
		return c, true, ok && slices.Contains(textTypes, typeName(parts[1]))
	}
	if len(ts) != 1 || ts[0].kind > quoted {
		return token{}, false, false
	}
	return ts[0], false, true
}

// uncastArray removes a cast of a whole array to text.
func uncastArray(ts []token) []token {
	if parts := split(ts, "::"); len(parts) == 2 {
		if t := typeName(parts[1]); strings.HasSuffix(t, " [ ]") && slices.Contains(textTypes, strings.TrimSuffix(t, " [ ]")) {
			return strip(parts[0])
		}
	}
	return ts
}

// restrict applies rule r to field. Literals that the field would hold as another value are ignored.
func restrict(field *schema.Field, r rule) {
	if r.json {
		if field.Type == schema.String {
			field.Type = schema.JSON
		}
		return
	}
	if r.cast && field.Type != schema.String {
		return
	}
	values := make([]value.Value, 0, len(r.literals))
	for _, l := range r.literals {
		v, ok := held(field, l)
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

// held returns l as a field of this type holds it.
func held(field *schema.Field, l literal) (value.Value, bool) {
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

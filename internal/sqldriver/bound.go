package sqldriver

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A bound is a comparison of a column, or of the length of its text, with a literal.
type bound struct {
	op     string // as in schema.Bound
	than   literal
	length string // the function that counts characters or bytes, in upper case, or "" if the value itself is compared
}

// turned maps each comparison operator to the operator for exchanged sides.
var turned = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "<>": "<>"}

// boundOf returns the rule of a comparison: "c >= literal", "literal <= c", "length(c) > 0" or "c <= other".
func boundOf(ts []Token) (CheckRule, bool) {
	left, op, right := splitComparison(ts)
	if op == "" {
		return CheckRule{}, false
	}
	column, cast, ok := columnOf(left)
	with, also, both := columnOf(right)
	if ok && both && !cast && !also {
		return CheckRule{Column: column, With: with, bound: &bound{op: op}}, true
	}
	if r, ok := boundOn(left, op, right); ok {
		return r, true
	}
	return boundOn(right, turned[op], left)
}

// boundOn returns the rule of a comparison of a column, or of its length, with a literal. ok is false for any other
// expression. Such an expression reveals nothing about the column.
func boundOn(ts []Token, op string, than []Token) (r CheckRule, ok bool) {
	l, ok := literalOf(than)
	if !ok {
		return r, false
	}
	b := &bound{op: op, than: l}
	if ts = strip(ts); len(ts) > 2 && ts[0].Kind == WordToken && ts[1].Is("(") {
		inner, rest, ok := TokenGroup(ts[1:])
		if b.length = strings.ToUpper(ts[0].Text); !ok || len(rest) > 0 {
			return r, false
		}
		ts = inner
	}
	switch b.length {
	case "", "LENGTH", "CHAR_LENGTH", "CHARACTER_LENGTH", "OCTET_LENGTH":
	default:
		return r, false
	}
	r.Column, r.cast, ok = columnOf(ts)
	r.bound = b
	return r, ok && (!r.cast || b.length != "" || l.str)
}

// splitComparison splits ts at its only comparison operator. op is "" if there is no operator, or more than one.
func splitComparison(ts []Token) (left []Token, op string, right []Token) {
	depth := 0
	for i := 0; i < len(ts); i++ {
		switch t := ts[i]; {
		case t.Is("(") || t.Is("["):
			depth++
		case t.Is(")") || t.Is("]"):
			depth--
		case depth == 0 && (t.Is("<") || t.Is(">") || t.Is("!")):
			if op != "" {
				return nil, "", nil
			}
			op, left = t.Text, ts[:i]
			if i+1 < len(ts) && (ts[i+1].Is("=") || ts[i+1].Is(">")) {
				i++
				op += ts[i].Text
			}
			right = ts[i+1:]
		}
	}
	if op == "!=" {
		op = "<>"
	}
	if turned[op] == "" {
		return nil, "", nil
	}
	return left, op, right
}

// between returns the two rules of "c BETWEEN literal AND literal", or nil for any other form.
func between(ts []Token) []CheckRule {
	sides := SplitTokens(ts, "BETWEEN")
	if len(sides) != 2 {
		return nil
	}
	ends := SplitTokens(sides[1], "AND")
	if len(ends) != 2 {
		return nil
	}
	least, ok := boundOn(sides[0], ">=", ends[0])
	most, also := boundOn(sides[0], "<=", ends[1])
	if !ok || !also {
		return nil
	}
	return []CheckRule{least, most}
}

// restrict applies b to field. It ignores a comparison that the source may evaluate differently from package schema.
func (b *bound) restrict(field *schema.Field) {
	switch {
	case field.Type == schema.String && field.Native != "bpchar" && b.length != "":
		b.restrictLength(field)
	case field.Type == schema.String && field.Native != "bpchar" && b.op == "<>" && b.than.str && b.than.text == "":
		field.Least = max(field.Least, 1)
	case b.length != "":
	case field.Type == schema.Integer || field.Type == schema.Double || field.Type == schema.Decimal:
		if n, ok := literalValue(&schema.Field{Type: schema.Decimal}, b.than); ok && field.Native != "float4" && field.Native != "float" {
			if whole, err := strconv.ParseInt(n.Text(), 10, 64); err == nil {
				n = value.OfInt(whole)
			}
			field.Bounds = append(field.Bounds, schema.Bound{Op: b.op, Value: n})
		}
	}
}

// restrictLength applies a bound of the length of a text. LENGTH counts bytes in MariaDB. A text has at least as many
// bytes as characters.
func (b *bound) restrictLength(field *schema.Field) {
	n, err := strconv.Atoi(b.than.text)
	if err != nil || n < 0 || n > 1<<30 {
		return
	}
	switch b.op {
	case "<":
		n--
		fallthrough
	case "<=":
		if n > 0 && (field.Length == 0 || n < field.Length) {
			field.Length = n
		}
	case ">":
		n++
		fallthrough
	case ">=":
		if n <= 1 || strings.HasPrefix(b.length, "CHAR") {
			field.Least = max(field.Least, n)
		}
	}
}

// WholeNumber sets the bounds of a field of an integer type with that many bits.
func WholeNumber(field *schema.Field, bits int, unsigned bool) {
	least, most := -(int64(1) << (bits - 1)), int64(1)<<(bits-1)-1
	if unsigned {
		least, most = 0, int64(1)<<bits-1
	}
	field.Bounds = append(field.Bounds, schema.Bound{Op: ">=", Value: value.OfInt(least)}, schema.Bound{Op: "<=", Value: value.OfInt(most)})
}

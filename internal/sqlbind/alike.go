package sqlbind

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Alike returns two values in a type in which they can be compared. A length of time can be compared only with another
// one.
func (b *Binder) Alike(x, y *node, sign string) (plan.Expr, plan.Expr, error) {
	for _, pair := range [][2]*node{{x, y}, {y, x}} {
		if s, ok := intervalOf(pair[1]); ok && pair[0].Days && !isNumeral(pair[1]) { // a - b > '7 days', with a and b both days
			*pair[1] = s
			pair[0].Compute(plan.Apply{Op: plan.Mul, Args: []plan.Expr{pair[0].Expr, Whole(Millis("day"))}, T: schema.Integer})
			pair[0].Span, pair[0].Days = true, false
		}
	}
	if x.Span != y.Span {
		length, other := x, y
		if y.Span {
			length, other = y, x
		}
		s, ok := intervalOf(other)
		if !ok {
			return nil, nil, unsupportedAt(y.At, lengthInstead(length, other), "a length of time can only be compared with another")
		}
		*other = s
	}
	for _, n := range []*node{x, y} {
		if n.Span && n.Months != 0 { // PostgreSQL compares a month as 30 days
			*n = span(0, n.Expr.(plan.Const).Value.Int()+n.Months*30*Millis("day"))
		}
	}
	for _, pair := range [][2]*node{{x, y}, {y, x}} {
		asBoolean(pair[0], pair[1])
		b.noteTypes(pair[0], pair[1])
	}
	if err := b.alikeTexts(sign, x, y); err != nil {
		return nil, nil, err
	}
	return typecheck.Alike(x.Node, y.Node, sign)
}

// alikeTexts converts a text and a number that are compared with each other to one type.
func (b *Binder) alikeTexts(sign string, x, y *node) error {
	for _, pair := range [][2]*node{{x, y}, {y, x}} {
		text, number := pair[0], pair[1]
		if text.Kind() != schema.String || !typecheck.Numeric(number.Kind()) {
			continue
		}
		k, constant := text.Expr.(plan.Const)
		if n, whole := number.Expr.(plan.Const); !constant && whole && number.Kind() == schema.Integer {
			b.noteDigits(sign, text)
			number.Node = typecheck.Literal(value.OfString(n.Value.String()), number.At) // as in SQLite for a column of texts
			break
		}
		if !constant {
			return unsupportedAt(text.At, "to compare numbers write CAST(… AS double precision). To compare texts write the number in single quotes",
				"%s can't compare %s with %s", sign, typecheck.Describe(&text.Node), typecheck.Describe(&number.Node))
		}
		if v, err := value.Read([]byte(strings.TrimSpace(k.Value.Text())), 1); err == nil && v.IsNumber() { // as PostgreSQL reads '5' in a comparison with a number
			text.Node = typecheck.Literal(v, text.At)
		}
	}
	return nil
}

// isNumeral reports whether x is a constant text that is a number.
func isNumeral(x *node) bool {
	k, ok := x.Expr.(plan.Const)
	if !ok || k.Value.Kind() != value.String {
		return false
	}
	v, err := value.Read([]byte(strings.TrimSpace(k.Value.Text())), 1)
	return err == nil && v.IsNumber()
}

// lengthInstead returns how to write a comparison of a length of time with another type.
func lengthInstead(length, other *node) string {
	k, constant := length.Expr.(plan.Const)
	switch {
	case typecheck.Numeric(other.Kind()) && !other.Constant && constant && length.Months == 0:
		days := float64(k.Value.Int()) / float64(Millis("day"))
		return fmt.Sprintf("write %v if the number on the other side counts days", days)
	case typecheck.Numeric(other.Kind()) && other.Constant:
		return fmt.Sprintf("write the unit too: interval '%s days'", other.Expr.(plan.Const).Value)
	case isTime(other):
		return "take the difference of two times: now() - x > interval '7 days'"
	}
	return "compare with an interval: interval '1 day'"
}

// booleans are the texts that PostgreSQL reads as booleans. A sufficiently long beginning is enough.
var booleans = []struct {
	text  string
	least int // the minimum length of a beginning
	is    bool
}{{"true", 1, true}, {"false", 1, false}, {"yes", 1, true}, {"no", 1, false}, {"on", 2, true}, {"off", 2, false}, {"1", 1, true}, {"0", 1, false}}

// asBoolean converts y, a constant that is compared with the boolean x, to a boolean. It accepts 1 and 0, which
// databases without booleans use, and the texts that PostgreSQL accepts.
func asBoolean(x, y *node) {
	if x.IsObject() || x.Kind() != schema.Boolean || !y.Constant || y.IsNull() {
		return
	}
	v := y.Expr.(plan.Const).Value
	if v.IsNumber() {
		y.Become(value.OfBool(v.String() != "0"), schema.Boolean)
		return
	}
	if v.Kind() != value.String {
		return
	}
	text := strings.ToLower(strings.TrimSpace(v.Text()))
	for _, known := range booleans {
		if len(text) >= known.least && strings.HasPrefix(known.text, text) {
			y.Become(value.OfBool(known.is), schema.Boolean)
			return
		}
	}
}

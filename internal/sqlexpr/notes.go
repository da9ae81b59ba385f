package sqlexpr

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck/typed"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// noteDigits notes that a text is compared with the digits of a number.
func (b *Binder) noteDigits(sign string, x *Node) {
	if sign == "<" || sign == "<=" || sign == ">" || sign == ">=" {
		b.Known.Note(x.At, "order of digits", "%s and the number are compared as texts: '10' comes before '9'; CAST(… AS double precision) compares numbers", typed.What(&x.Node))
		return
	}
	b.Known.Note(x.At, "digits", "%s is compared with the digits of the number: '07' isn't 7", typed.What(&x.Node))
}

// noteTypes notes that a constant is compared with a field of several types, where it is alike to values of one type alone. The note
// depends on the type of the field, never on records.
func (b *Binder) noteTypes(x, constant *Node) {
	k, ok := constant.Expr.(plan.Const)
	if !ok || x.Column == nil || x.Column.Field == nil || x.Kind() != schema.Any {
		return
	}
	alone, cast := "numbers alone, not with texts of digits", "double precision"
	switch v := k.Value; {
	case v.Kind() == value.String:
		alone = "texts alone, not with dates or numbers"
		if _, dated := value.OfDateText(v.Text()); dated {
			cast = "timestamp"
		} else if n, err := value.Read([]byte(strings.TrimSpace(v.Text())), 1); err != nil || !n.IsNumber() {
			return
		}
	case v.Kind() == value.Date:
		alone, cast = "dates alone, not with their texts", "timestamp"
	case !v.IsNumber():
		return
	}
	name := x.Column.Field.Name
	b.Known.Note(x.At, "types "+name, "%s has values of several types, and this compares it with %s; CAST(%s AS %s) compares all of them", name, alone, name, cast)
}

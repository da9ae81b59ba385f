package sqlbind

import (
	"fmt"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// noteDigits adds a note that a text is compared with the digits of a number.
func (b *Binder) noteDigits(sign string, x *node) {
	if sign == "<" || sign == "<=" || sign == ">" || sign == ">=" {
		b.Known.Note(x.At, "order of digits", "%s and the number are compared as texts: '10' comes before '9'. CAST(… AS double precision) compares numbers", typecheck.Describe(&x.Node))
		return
	}
	b.Known.Note(x.At, "digits", "%s is compared with the digits of the number: '07' isn't 7", typecheck.Describe(&x.Node))
}

// noteTypes adds a note for a comparison of a constant with a field of several types, because it matches only values of
// its own type. The note depends on the type of the field and never on records.
func (b *Binder) noteTypes(x, constant *node) {
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
	b.Known.Note(x.At, "types "+name, "%s may hold values of several types. This compares it with %s. CAST(%s AS %s) compares all of them", name, alone, name, cast)
}

// noteMidnight adds a note about the meaning of a day without a time in a comparison with a column of times.
func (b *Binder) noteMidnight(sign string, x, y *node) {
	if turned, ok := map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}[sign]; ok && x.Constant {
		x, y, sign = y, x, turned
	}
	if x.Column == nil || x.Column.Field == nil || x.Kind() != schema.Date || x.Day {
		return
	}
	if note := midnight(x.Column.Field.Name, sign, y); note != "" {
		b.Known.Note(y.At, note, "%s", note)
	}
}

// midnight returns a note that a day without a time means midnight in a comparison with a column of times. It returns
// the note only if this excludes or includes a day unexpectedly. x <= '2025-05-31' and BETWEEN end before the day, x >
// '2025-05-31' begins in it, and x = '2025-05-31' matches only its first moment. Otherwise it returns "".
func midnight(name, sign string, constant *node) string {
	k, ok := constant.Expr.(plan.Const)
	if !ok {
		return ""
	}
	v := k.Value
	if v.Kind() == value.String {
		if v, ok = value.OfDateText(strings.TrimSpace(v.Text())); !ok || v.Kind() != value.Day {
			return ""
		}
	} else if !constant.Day || v.Kind() != value.Date {
		return ""
	}
	at := time.UnixMicro(v.Micros()).UTC()
	day, next := at.Format(time.DateOnly), at.AddDate(0, 0, 1).Format(time.DateOnly)
	switch sign {
	case "<=":
		return fmt.Sprintf("%s is its midnight here: %s < '%s' counts the whole day", day, name, next)
	case ">":
		return fmt.Sprintf("%s is its midnight here: %s >= '%s' begins after the day", day, name, next)
	case "=", "<>":
		return fmt.Sprintf("%s is its midnight here: the whole day is %s >= '%[1]s' AND %[2]s < '%[3]s'", day, name, next)
	}
	return ""
}

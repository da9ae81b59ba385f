package typecheck

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// instead returns how to write a constant that is compared with a value of another type. It returns "" if no better
// form is known. If op begins with a dollar, it is of a pipeline, and constants are written as in JSON.
func instead(x, y *Node, op string) string {
	quote := "'"
	if strings.HasPrefix(op, "$") {
		quote = `"`
	}
	for _, pair := range [][2]*Node{{x, y}, {y, x}} {
		with, constant := pair[0], pair[1]
		if !constant.Constant || constant.IsNull() || with.Constant || with.IsObject() {
			continue
		}
		v := constant.Expr.(plan.Const).Value
		switch t := with.Kind(); {
		case (t == schema.Date || t == schema.Day) && (v.Kind() == value.String || v.IsNumber()):
			return dateInstead(v.String(), quote)
		case t == schema.Boolean:
			return "write true or false, without quotes"
		case Numeric(t) && v.Kind() == value.String:
			if n, err := value.Read([]byte(strings.TrimSpace(v.Text())), 1); err == nil && n.IsNumber() {
				return "write " + n.String() + ", without quotes"
			}
			return "write a number, without quotes"
		case t == schema.String && v.IsNumber():
			return "write " + quote + v.String() + quote
		}
	}
	return ""
}

var (
	yearOrMonth = regexp.MustCompile(`^(\d{4})(?:[-/.](\d{1,2}))?$`)
	yearFirst   = regexp.MustCompile(`^(\d{4})(?:([-/.])(\d{1,2})[-/.](\d{1,2})|(\d{2})(\d{2}))$`)
)

// dateInstead returns how to write a date that isn't in ISO 8601. For a year or a month, it suggests its first day and
// the first day after it.
func dateInstead(text, quote string) string {
	text = strings.TrimSpace(text)
	if m := yearOrMonth.FindStringSubmatch(text); m != nil {
		begin, months := m[1]+"-01-01", 12
		if m[2] != "" {
			begin, months = fmt.Sprintf("%s-%02s-01", m[1], m[2]), 1
		}
		if t, err := time.Parse(time.DateOnly, begin); err == nil {
			return fmt.Sprintf("write a day: %[1]s begins at %[2]s%[3]s%[2]s and ends before %[2]s%[4]s%[2]s", text, quote, begin, t.AddDate(0, months, 0).Format(time.DateOnly))
		}
	}
	if m := yearFirst.FindStringSubmatch(text); m != nil {
		day := fmt.Sprintf("%s-%02s-%02s", m[1], m[3]+m[5], m[4]+m[6])
		if _, err := time.Parse(time.DateOnly, day); err == nil {
			return "write " + quote + day + quote
		}
	}
	return fmt.Sprintf("write a date as %[1]s2026-01-31%[1]s, or a time as %[1]s2026-01-31T10:00:00Z%[1]s", quote)
}

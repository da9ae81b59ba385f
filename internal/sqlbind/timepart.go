package sqlbind

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// part returns a part of a time, or of a length of time.
func (b *Binder) part(name string, x node, p sqlparse.Pos) (node, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	if u := Unit(name); u != "" {
		name = u
	}
	if x.Span {
		return b.partOfSpan(name, x, p)
	}
	d, err := b.date(&x, "extract")
	if err != nil {
		return node{}, err
	}
	if e := timePart(name, d); e != nil {
		return computedOf(e, p), nil
	}
	return node{}, &problem.Error{Code: problem.InvalidQuery, Pointer: At(p), Suggestion: "the parts are year, quarter, month, week, day, hour, minute, second, dow, isodow, doy, isoyear and epoch. floor(extract(year FROM x) / 10) * 10 is the decade",
		Detail: "unknown part of a date " + strconv.Quote(problem.Cut(name)),
		Near:   problem.Nearest(name, []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second", "dow", "isodow", "doy", "epoch"}, 2)}
}

// partOfSpan returns a part of a length of time.
func (b *Binder) partOfSpan(name string, x node, p sqlparse.Pos) (node, error) {
	if name == "epoch" && x.Months != 0 {
		return node{}, unsupportedError(p, "", "months have no fixed length")
	}
	if e := partOfLength(name, x.Expr); e != nil {
		return computedOf(e, p), nil
	}
	return node{}, unsupportedError(p, "extract(epoch FROM …) gives all of it in seconds", "a length of time has no part %q here", problem.Cut(name))
}

// format parses a constant format.
func format(x *node, letters []Letter, what string) ([]piece, error) {
	k, ok := x.Expr.(plan.Const)
	if !ok || k.Value.Kind() != value.String {
		return nil, problem.UnsupportedError(x.At, "%s takes its format as a constant text", what)
	}
	out, unknown := Format(k.Value.Text(), letters)
	if unknown != "" {
		known := make([]string, len(letters))
		for i, l := range letters {
			known[i] = l.Theirs
		}
		wrong := problem.Invalid(x.At, "%s doesn't know %q in a format. It knows %s", what, unknown, strings.Join(known, " "))
		wrong.Suggestion = formatInstead(unknown)
		return nil, wrong
	}
	return out, nil
}

// formatInstead returns what to write for a part of a format that isn't supported. It knows the letters of strftime,
// DATE_FORMAT and to_char.
func formatInstead(unknown string) string {
	for _, known := range []struct{ letters, instead string }{
		{"%W %U %u %v %V %X WW W ww w", "weeks are those of ISO 8601, from Monday: to_char(x, 'IYYY-IW'), extract(week FROM x) or date_trunc('week', x)"},
		{"%s SSSS SSSSS", "extract(epoch FROM x) gives seconds"},
		{"%J J j", "julianday(x) gives days"},
		{"%f %N US us FF FF3 FF6 MS", "extract(epoch FROM x) gives seconds with their fraction"},
		{"%B %b %h %M", "to_char(x, 'FMMonth') gives the name of the month"},
		{"%A %a %W", "to_char(x, 'FMDay') gives the name of the day"},
		{"%k %l", "to_char(x, 'HH24') gives the hour"},
		{"%D %x %c %r %X", "write the parts: to_char(x, 'YYYY-MM-DD HH24:MI:SS')"},
		{"%z %Z OF of TZH TZM", "times are in UTC: leave the zone out"},
	} {
		if slices.Contains(strings.Fields(known.letters), unknown) {
			return known.instead
		}
	}
	return "extract(month FROM x) gives a part as a number, and date_trunc('month', x) the beginning of one"
}

package sqlbind

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// upTo returns a constant whole number that is not above the argument most. A negative number becomes 0.
func upTo(f *called, x node, most int64) (int64, error) {
	k, ok := x.Expr.(plan.Const)
	n, whole := k.Value.AsInt()
	if !ok || !whole || n > most {
		return 0, unsupportedError(f.place(), "concat, left and right put texts of any length together", "%s takes a constant number up to %d", f.Call.Name, most)
	}
	return max(n, 0), nil
}

// bindPad binds lpad and rpad, which fill a text up to a length, on the left or on the right. A longer text is cut.
func bindPad(left bool) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) {
		x, err := f.Text(&a[0], f.Call.Name)
		if err != nil {
			return node{}, err
		}
		n, err := upTo(f, a[1], maxTextLength)
		if err != nil {
			return node{}, err
		}
		fill := " "
		if len(a) == 3 {
			k, ok := a[2].Expr.(plan.Const)
			if !ok || k.Value.Kind() != value.String {
				return node{}, unsupportedError(f.place(), "", "%s takes a constant text to fill with", f.Call.Name)
			}
			fill = k.Value.Text()
		}
		return computedOf(padText(x, n, fill, left), f.place()), nil
	}
}

// bindRepeat binds repeat. A constant text can be repeated any number of times, any other text only a constant number
// of times.
func bindRepeat(f *called, a []node) (node, error) {
	x, err := f.Text(&a[0], "repeat")
	if err != nil {
		return node{}, err
	}
	if k, constant := x.(plan.Const); constant && k.Value.Text() != "" {
		n, err := a[1].Want(schema.Integer, "repeat")
		return computedOf(repeatText(k.Value.Text(), n), f.place()), err
	}
	n, err := upTo(f, a[1], 20)
	return computedOf(copies(x, n), f.place()), err
}

// atTimeZone binds x AT TIME ZONE z: the local time in the zone at the instant x, returned as if it were UTC.
func (b *Binder) atTimeZone(e *sqlparse.Binary) (node, error) {
	instead := "a time here is an instant: write x AT TIME ZONE 'Europe/Oslo' for what clocks show there, and date_trunc('day', x, 'Europe/Oslo') for the instant at which its day begins"
	placed := false
	sqlparse.Walk(e.L, func(x sqlparse.Expr) bool {
		switch x := x.(type) {
		case *sqlparse.Binary:
			placed = placed || x.Op == "at time zone"
		case *sqlparse.String:
			placed = placed || x.Type == "timestamp" || x.Type == ""
		case *sqlparse.Cast:
			placed = placed || x.Type == "timestamp" || x.Type == "date"
		}
		return true
	})
	x, err := b.Value(e.L)
	if err != nil {
		return node{}, err
	}
	name, err := b.Constant(e.R)
	if err != nil {
		return node{}, unsupportedError(e.R.Pos(), "", "the zone is a constant text")
	}
	if c := name.Text(); c == "" || strings.ContainsAny(c[:1], "+-0123456789") {
		return node{}, unsupportedError(e.R.Pos(), "write the name of a zone such as 'Europe/Oslo'", "an offset has another sign in PostgreSQL's AT TIME ZONE than in ISO 8601")
	}
	zone, err := typecheck.Zone(name.Text(), At(e.R.Pos()))
	if err != nil {
		return node{}, err
	}
	if !isTime(&x) {
		return node{}, invalid(e.At, "AT TIME ZONE takes a time")
	}
	if zone == "" {
		x.Day = false
		d, err := b.date(&x, "AT TIME ZONE")
		return computedOf(d, e.At), err
	}
	if placed || x.Day {
		return node{}, unsupportedError(e.At, instead, "a time that is no instant can't be placed in a zone")
	}
	d, err := b.date(&x, "AT TIME ZONE")
	if err != nil {
		return node{}, err
	}
	b.Known.Note(At(e.At), "zone", "AT TIME ZONE gives what clocks in %s show, as if it were UTC", name.Text())
	return computedOf(Clock(d, zone), e.At), nil
}

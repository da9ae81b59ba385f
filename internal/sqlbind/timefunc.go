package sqlbind

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// datePartFunction returns a function for one part of a date, a whole number.
func datePartFunction(name string) function {
	return function{1, 1, func(f *called, a []node) (node, error) {
		n, err := f.part(name, a[0], f.place())
		if err == nil && n.Kind() == schema.Double {
			n.Compute(plan.Convert{X: n.Expr, T: schema.Integer})
		}
		return n, err
	}}
}

// now is a function that returns the time of the call.
var now = function{0, 1, func(f *called, _ []node) (node, error) { return moment(f.Now.UnixMicro()), nil }}

// today is a function that returns the day of the call.
var today = function{0, 0, func(f *called, _ []node) (node, error) { return f.today(), nil }}

// ofTime returns the functions that read the clock, extract parts of times, and truncate, convert and format times. The
// names are from PostgreSQL, SQLite, MySQL and SQL Server. Within a statement, all of them use the time of the call.
func ofTime() map[string]function {
	return map[string]function{
		"now": now, "getdate": now, "sysdate": now, "statement_timestamp": now, "transaction_timestamp": now, "clock_timestamp": now, "curdate": today, "today": today,
		"year": datePartFunction("year"), "month": datePartFunction("month"), "day": datePartFunction("day"), "dayofmonth": datePartFunction("day"), "hour": datePartFunction("hour"),
		"minute": datePartFunction("minute"), "second": datePartFunction("second"), "quarter": datePartFunction("quarter"), "week": datePartFunction("week"), "weekofyear": datePartFunction("week"),
		"dayofyear": datePartFunction("doy"), "dayofweek": datePartFunction("dayofweek"),
		"unixepoch": {1, 1, seconds}, "unix_timestamp": {1, 1, seconds},
		"extract": {2, 2, namedPart}, "date_part": {2, 2, namedPart}, "datepart": {2, 2, namedPart},
		"date_trunc": {2, 3, bindDateTrunc}, "datetrunc": {2, 2, bindDateTrunc},
		"date":      {1, -1, func(f *called, a []node) (node, error) { return bindDateModifiers(f, a, true) }},
		"datetime":  {1, -1, func(f *called, a []node) (node, error) { return bindDateModifiers(f, a, false) }},
		"timestamp": {1, 1, func(f *called, a []node) (node, error) { return bindDateModifiers(f, a, false) }},
		"to_char":   {2, 2, bindDateFormat(postgresFormat, 0)}, "strftime": {2, -1, bindDateFormat(sqliteFormat, 1)}, "date_format": {2, 2, bindDateFormat(mysqlFormat, 0)},
		"to_date": {1, 2, toDate},
		"to_timestamp": {1, 2, func(f *called, a []node) (node, error) {
			if err := international(f, a); err != nil {
				return node{}, err
			}
			switch t := a[0].Kind(); {
			case t == schema.Integer: // seconds since 1970
				return f.shiftByUnits(moment(0), a[0], "second", false, f.place())
			case typecheck.Numeric(t): // seconds with a fraction
				x, err := a[0].Want(schema.Double, "to_timestamp")
				return computedOf(fromSeconds(x), f.place()), err
			}
			if typecheck.Dynamic(a[0].Kind()) && !a[0].IsNull() { // a JSON number would be read as milliseconds
				return node{}, unsupportedError(f.place(), "cast it: x::bigint for seconds since 1970, x::timestamp for a date", "to_timestamp takes a number or a text, and the type of this isn't known before it is read")
			}
			d, err := f.date(&a[0], "to_timestamp")
			return computedOf(d, f.place()), err
		}},
		"make_interval": {2, 2, func(f *called, a []node) (node, error) { // INTERVAL 7 DAY
			u := Unit(a[1].Expr.(plan.Const).Value.Text())
			if u == "" {
				return node{}, problem.Invalid(a[1].At, "unknown unit of time %q", problem.Cut(a[1].Expr.(plan.Const).Value.Text()))
			}
			if k, ok := a[0].Expr.(plan.Const); ok {
				v := k.Value
				if v.Kind() == value.String {
					if n, is := interval(v.Text() + " " + u); is {
						return n, nil
					}
				}
				if n, is := v.AsInt(); is {
					return span(Months(u)*n, Millis(u)*n), nil
				}
			}
			one := span(0, Millis(u))
			if Months(u) > 0 {
				return node{}, unsupportedError(f.place(), "use a constant", "months can only be counted by a constant")
			}
			return f.arithmetic("*", one, a[0], f.place())
		}},
	}
}

// toDate binds to_date(text [, format]).
func toDate(f *called, a []node) (node, error) {
	if err := international(f, a); err != nil {
		return node{}, err
	}
	return f.asDay(a[0], f.place())
}

// international refuses a format unless it is a beginning of the format in which texts are read as times.
func international(f *called, a []node) error {
	if len(a) == 1 {
		return nil
	}
	k, ok := a[1].Expr.(plan.Const)
	format := strings.NewReplacer(`"T"`, " ", "T", " ", "HH24", "HH", "US", "MS", "FM", "", "TZH", "TZ", ":TZM", "").Replace(strings.ToUpper(k.Value.Text()))
	if ok && len(format) >= len("YYYY-MM-DD") && strings.HasPrefix("YYYY-MM-DD HH:MI:SS.MS", format) {
		return nil
	}
	return unsupportedError(f.place(), "put its parts in order and cast: (substr(x, 7, 4) || '-' || substr(x, 4, 2) || '-' || substr(x, 1, 2))::date reads 31.12.2026",
		"%s reads texts such as 2026-12-31 and 2026-12-31 18:30:00, with a format that says so (YYYY-MM-DD HH24:MI:SS)", f.Call.Name)
}

// seconds binds the number of whole seconds since 1970.
func seconds(f *called, a []node) (node, error) {
	n, err := f.part("epoch", a[0], f.place())
	return computedOf(plan.Convert{X: n.Expr, T: schema.Integer}, f.place()), err
}

// betweenTimes returns the functions that shift a time or compute the difference of two times.
func betweenTimes() map[string]function {
	return map[string]function{
		"date_add": {2, 2, func(f *called, a []node) (node, error) { return f.arithmetic("+", asTime(f, a[0]), a[1], f.place()) }},
		"date_sub": {2, 2, func(f *called, a []node) (node, error) { return f.arithmetic("-", asTime(f, a[0]), a[1], f.place()) }},
		"adddate":  {2, 2, func(f *called, a []node) (node, error) { return f.arithmetic("+", asTime(f, a[0]), a[1], f.place()) }},
		"dateadd":  {3, 3, addUnits}, "timestampadd": {3, 3, addUnits},
		"datediff": {2, 3, differing}, "timestampdiff": {3, 3, bindTimestampDiff}, "date_diff": {2, 3, differing},
		"age": {1, 2, func(f *called, _ []node) (node, error) {
			return node{}, unsupportedError(f.place(), "x - y is the length of time between them. extract(year FROM age(x, y)) counts whole years, and extract(month FROM age(x, y)) the months after them",
				"age gives years, months and days, which have no one length")
		}},
		"monthname": {1, 1, nameOf(monthName)}, "dayname": {1, 1, nameOf(dayName)},
		"julianday": {1, 1, func(f *called, a []node) (node, error) {
			d, err := f.date(&a[0], "julianday")
			if err != nil {
				return node{}, err
			}
			return computedOf(julianDay(d), f.place()), nil
		}},
		"generate_series": {2, 3, func(f *called, _ []node) (node, error) {
			return node{}, unsupportedError(f.place(), "FROM generate_series(1, 12) AS n", "generate_series can only be in FROM")
		}},
	}
}

// asTime converts a constant text to a time.
func asTime(f *called, x node) node {
	if isTime(&x) {
		return x
	}
	if d, err := f.date(&x, f.Call.Name); err == nil {
		return computedOf(d, f.place())
	}
	return x
}

// namedPart binds extract and date_part.
func namedPart(f *called, a []node) (node, error) {
	k, ok := a[0].Expr.(plan.Const)
	if !ok || k.Value.Kind() != value.String {
		return node{}, invalid(f.place(), "%s takes the name of a part first, such as 'month'", f.Call.Name)
	}
	n, err := f.part(k.Value.Text(), a[1], f.place())
	n.Number = numberOfPart(f.Call.Name)
	return n, err
}

// bindDateTrunc binds date_trunc(unit, time [, zone]). As in PostgreSQL, weeks begin on Monday. Unit and zone must be
// constants, because they become part of the plan.
func bindDateTrunc(f *called, a []node) (node, error) {
	k, ok := a[0].Expr.(plan.Const)
	u := Unit(k.Value.Text())
	if !ok || u == "" || u == "millisecond" || u == "decade" || u == "century" {
		return node{}, invalid(f.place(), "date_trunc takes year, quarter, month, week, day, hour, minute or second first")
	}
	d, err := f.date(&a[1], "date_trunc")
	if err != nil {
		return node{}, err
	}
	zone := ""
	if len(a) == 3 {
		z, ok := a[2].Expr.(plan.Const)
		if !ok {
			return node{}, invalid(f.place(), "date_trunc takes its time zone as a constant text")
		}
		if zone, err = typecheck.Zone(z.Value.Text(), a[2].At); err != nil {
			return node{}, err
		}
	}
	return computedOf(plan.DateTrunc{X: d, Unit: u, Zone: zone, WeekStart: 1}, f.place()), nil
}

// bindDateModifiers binds SQLite's date and datetime with modifiers such as '-7 days' and 'start of month'.
func bindDateModifiers(f *called, a []node, isDay bool) (node, error) {
	d, err := f.date(&a[0], f.Call.Name)
	if err != nil {
		return node{}, err
	}
	x := computedOf(d, f.place())
	for _, m := range a[1:] {
		k, ok := m.Expr.(plan.Const)
		if !ok || k.Value.Kind() != value.String {
			return node{}, problem.UnsupportedError(m.At, "%s takes constant modifiers such as '-7 days'", f.Call.Name)
		}
		text := strings.ToLower(k.Value.Text())
		switch by, ok := interval(text); {
		case strings.HasPrefix(text, "start of "):
			u := Unit(strings.TrimPrefix(text, "start of "))
			if u == "" {
				return node{}, problem.Invalid(m.At, "unknown modifier %q", problem.Cut(text))
			}
			x = computedOf(plan.DateTrunc{X: x.Expr, Unit: u, WeekStart: 1}, f.place())
		case text == "utc" || text == "localtime": // all times are already in UTC
		case ok:
			if x, err = f.addSpan(x, by, false, f.place()); err != nil {
				return node{}, err
			}
		default:
			return node{}, problem.Invalid(m.At, "unknown modifier %q. Write '-7 days' or 'start of month'", problem.Cut(text))
		}
	}
	if isDay {
		return f.asDay(x, f.place())
	}
	return x, nil
}

// bindDateFormat binds a function that formats a date. dateAt, 0 or 1, is the index of the date among the first two
// arguments. The other one is the format.
func bindDateFormat(letters []Letter, dateAt int) func(*called, []node) (node, error) {
	return func(f *called, a []node) (node, error) {
		x, pattern := a[dateAt], a[1-dateAt]
		if len(a) > 2 {
			m, err := bindDateModifiers(f, append([]node{x}, a[2:]...), false)
			if err != nil {
				return node{}, err
			}
			x = m
		}
		if k, ok := pattern.Expr.(plan.Const); ok && dateAt == 1 && k.Value.Text() == "%s" {
			n, err := f.part("epoch", x, f.place())
			return computedOf(plan.Convert{X: plan.Convert{X: n.Expr, T: schema.Integer}, T: schema.String}, f.place()), err
		}
		if !isTime(&x) && typecheck.Numeric(x.Kind()) {
			return node{}, unsupportedError(f.place(), "use round(x, 2), or CAST(x AS text)", "%s writes dates here, not numbers", f.Call.Name)
		}
		d, err := f.date(&x, f.Call.Name)
		if err != nil {
			return node{}, err
		}
		pieces, err := format(&pattern, letters, f.Call.Name)
		return computedOf(writeTime(d, pieces), f.place()), err
	}
}

// unitOf returns the unit that the first argument names.
func unitOf(f *called, x node) (string, error) {
	k, ok := x.Expr.(plan.Const)
	u := Unit(k.Value.Text())
	if !ok || u == "" || u == "decade" || u == "century" {
		return "", invalid(f.place(), "%s takes a unit of time first, such as day", f.Call.Name)
	}
	return u, nil
}

func addUnits(f *called, a []node) (node, error) {
	u, err := unitOf(f, a[0])
	if err != nil {
		return node{}, err
	}
	return f.shiftByUnits(asTime(f, a[2]), a[1], u, false, f.place())
}

// differing binds DATEDIFF. As in MySQL, it returns the days from the second to the first date. With a unit, as in SQL
// Server, it returns how many times the unit begins between the first and the second date.
func differing(f *called, a []node) (node, error) {
	u := "day"
	if len(a) == 3 {
		var err error
		if u, err = unitOf(f, a[0]); err != nil {
			return node{}, err
		}
		a = []node{a[2], a[1]}
	}
	to, err := f.date(&a[0], f.Call.Name)
	if err != nil {
		return node{}, err
	}
	from, err := f.date(&a[1], f.Call.Name)
	return computedOf(plan.DateDiff{From: from, To: to, Unit: u}, f.place()), err
}

// bindTimestampDiff binds TIMESTAMPDIFF: the number of whole units from the second to the third argument.
func bindTimestampDiff(f *called, a []node) (node, error) {
	u, err := unitOf(f, a[0])
	if err != nil {
		return node{}, err
	}
	from, err := f.date(&a[1], f.Call.Name)
	if err != nil {
		return node{}, err
	}
	to, err := f.date(&a[2], f.Call.Name)
	if n := Months(u); n > 0 {
		return computedOf(Integers(plan.Quo, wholeMonths(from, to), Whole(n)), f.place()), err
	}
	ms := plan.Apply{Op: plan.Millis, Args: []plan.Expr{to, from}, T: schema.Integer}
	return computedOf(Integers(plan.Quo, ms, Whole(Millis(u))), f.place()), err
}

package typecheck

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

var units = []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"}

var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// offset matches a time zone that is an offset from UTC, in the form of MongoDB.
var offset = regexp.MustCompile(`^([+-])(0[0-9]|1[0-4])(?::?([0-5][0-9]))?$`)

// date binds the operators on dates. All of them accept a timezone.
func date(e query.Call, args []Node) (Node, error) {
	s, _ := query.SignatureOf(e.Op)
	return dated{call: e, names: s.Names, args: args}.bind()
}

// dated is an operator on dates, with the names of its arguments.
type dated struct {
	call  query.Call
	names []string
	args  []Node
}

func (d dated) arg(name string) *Node {
	i := slices.Index(d.names, name)
	if i < 0 {
		return &Node{Expr: plan.Const{T: schema.JSON}, Constant: true}
	}
	return &d.args[i]
}

// bind returns the operator with its arguments. Units, time zones and formats are constants, which become part of the
// plan. An operator that isn't listed returns a part of a date, such as $year.
func (d dated) bind() (Node, error) {
	zone, err := d.zone()
	if err != nil {
		return Node{}, err
	}
	switch d.call.Op {
	case "$dateFromParts":
		return d.fromParts(zone)
	case "$dateFromString":
		return d.read(zone)
	}
	x, err := d.args[0].Want(schema.Date, d.call.Op)
	if err != nil {
		return Node{}, err
	}
	switch d.call.Op {
	case "$dateToString":
		return d.format(x, zone)
	case "$dateTrunc":
		unit, err := d.unit(units[:8])
		if err != nil {
			return Node{}, err
		}
		first, err := d.weekStart()
		return Node{Expr: plan.DateTrunc{X: x, Unit: unit, Zone: zone, WeekStart: first}}, err
	case "$dateAdd", "$dateSubtract":
		return d.shift(x, zone)
	case "$dateDiff":
		to, err := d.arg("endDate").Want(schema.Date, d.call.Op)
		if err != nil {
			return Node{}, err
		}
		unit, err := d.unit(units)
		if err != nil {
			return Node{}, err
		}
		first, err := d.weekStart()
		return Node{Expr: plan.DateDiff{From: x, To: to, Unit: unit, Zone: zone, WeekStart: first}}, err
	}
	return Node{Expr: plan.DatePart{X: x, Part: strings.TrimPrefix(d.call.Op, "$"), Zone: zone}}, nil
}

// zone returns the time zone in the form of package plan.
func (d dated) zone() (string, error) {
	n := d.arg("timezone")
	if n.IsNull() {
		return "", nil
	}
	name, ok := n.constantText()
	at := query.Pointer(d.call.At, "timezone")
	if !ok {
		return "", problem.UnsupportedError(at, "%s takes its timezone as a constant string", d.call.Op)
	}
	return Zone(name, at)
}

// Zone converts the name of a time zone to the form of package plan: "" for UTC, an offset such as "+05:30", or an IANA
// name. Errors contain at, the JSON pointer of the name.
func Zone(name, at string) (string, error) {
	if m := offset.FindStringSubmatch(name); m != nil {
		if m[3] == "" {
			m[3] = "00"
		}
		if m[2] == "00" && m[3] == "00" {
			return "", nil
		}
		return m[1] + m[2] + ":" + m[3], nil
	}
	switch name {
	case "UTC", "GMT", "Z", "Etc/UTC", "":
		return "", nil
	}
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		return "", problem.Invalid(at, "unknown time zone %q. Write an IANA name such as Europe/Oslo, or an offset such as +01:00", problem.Cut(name))
	}
	return name, nil
}

// unit returns the unit, which must be a constant from the list known.
func (d dated) unit(known []string) (string, error) {
	at := query.Pointer(d.call.At, "unit")
	name, ok := d.arg("unit").constantText()
	if !ok {
		return "", problem.UnsupportedError(at, "%s takes its unit as a constant string", d.call.Op)
	}
	if !slices.Contains(known, name) {
		return "", &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: "unknown unit " + quoteValue(value.OfString(problem.Cut(name))),
			Near: problem.Nearest(name, known, 3)}
	}
	return name, nil
}

// weekStart returns the first day of the week, 0 for Sunday. Sunday is the default, as in MongoDB.
func (d dated) weekStart() (int, error) {
	n := d.arg("startOfWeek")
	if n.IsNull() {
		return 0, nil
	}
	name, _ := n.constantText()
	for i, day := range weekdays {
		if len(name) >= 3 && strings.HasPrefix(day, strings.ToLower(name)) {
			return i, nil
		}
	}
	return 0, &problem.Error{Code: problem.InvalidQuery, Pointer: query.Pointer(d.call.At, "startOfWeek"), Detail: "startOfWeek is a day, such as monday",
		Near: problem.Nearest(name, weekdays, 2)}
}

// shift binds $dateAdd and $dateSubtract. A subtraction adds the negative amount.
func (d dated) shift(x plan.Expr, zone string) (Node, error) {
	unit, err := d.unit(units)
	if err != nil {
		return Node{}, err
	}
	amount, err := d.arg("amount").Want(schema.Integer, d.call.Op)
	if d.call.Op == "$dateSubtract" {
		amount = plan.Apply{Op: plan.Sub, Args: []plan.Expr{plan.Const{Value: value.OfInt(0), T: schema.Integer}, amount}, T: schema.Integer}
	}
	return Node{Expr: plan.DateShift{X: x, Amount: amount, Unit: unit, Zone: zone}}, err
}

// format binds $dateToString.
func (d dated) format(x plan.Expr, zone string) (Node, error) {
	at := query.Pointer(d.call.At, "format")
	format := "%Y-%m-%dT%H:%M:%S.%LZ"
	if zone != "" {
		format = "%Y-%m-%dT%H:%M:%S.%L"
	}
	if n := d.arg("format"); !n.IsNull() {
		var ok bool
		if format, ok = n.constantText(); !ok || len(format) > 200 {
			return Node{}, problem.UnsupportedError(at, "$dateToString takes its format as a constant string of at most 200 bytes")
		}
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		if i == len(format) || !strings.ContainsRune("YmdHMSLjGVu%", rune(format[i])) {
			return Node{}, problem.Invalid(at, "the format has %%%s, which is not supported. It may have %%Y %%m %%d %%H %%M %%S %%L %%j %%G %%V %%u %%%%", format[i:min(i+1, len(format))])
		}
	}
	out := plan.Expr(plan.DateText{X: x, Format: format, Zone: zone})
	if n := d.arg("onNull"); !n.IsNull() {
		other, err := n.Want(schema.String, "$dateToString.onNull")
		if err != nil {
			return Node{}, err
		}
		out = plan.Apply{Op: plan.IfNull, Args: []plan.Expr{out, other}, T: schema.String}
	}
	return Node{Expr: out}, nil
}

package typecheck

import (
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// fromParts binds $dateFromParts as a fixed instant, shifted by each part.
func (d dated) fromParts(zone string) (Node, error) {
	if err := d.universal(zone); err != nil {
		return Node{}, err
	}
	const year = 2000 // a part beyond its range carries over, as in MongoDB
	fixed := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	var x plan.Expr = plan.Const{Value: value.OfDate(fixed.UnixMicro()), T: schema.Date}
	for _, unit := range []string{"year", "month", "day", "hour", "minute", "second", "millisecond"} {
		n := d.arg(unit)
		if i := slices.Index(d.names, unit); d.call.Args[i] == nil {
			continue
		}
		amount, err := n.Want(schema.Integer, d.call.Op)
		if err != nil {
			return Node{}, err
		}
		if first := map[string]int64{"year": year, "month": 1, "day": 1}[unit]; first > 0 {
			amount = plan.Apply{Op: plan.Sub, Args: []plan.Expr{amount, plan.Const{Value: value.OfInt(first), T: schema.Integer}}, T: schema.Integer}
		}
		x = plan.DateShift{X: x, Amount: amount, Unit: unit}
	}
	return Node{Expr: x}, nil
}

// read binds $dateFromString: $toDate of a text. It uses other values for null and for texts that are not dates.
func (d dated) read(zone string) (Node, error) {
	if err := d.universal(zone); err != nil {
		return Node{}, err
	}
	text, err := d.args[0].Want(schema.String, d.call.Op)
	if err != nil {
		return Node{}, err
	}
	out := Node{Expr: plan.Convert{X: text, T: schema.Date}}
	none := plan.Apply{Op: plan.IsNull, Args: []plan.Expr{text}, T: schema.Boolean}
	wrong := plan.Apply{Op: plan.IsNull, Args: []plan.Expr{out.Expr}, T: schema.Boolean}
	all, t, err := Together([]Node{*d.arg("onNull"), *d.arg("onError"), out}, d.call.Op)
	if err != nil {
		return Node{}, err
	}
	return Node{Expr: plan.Case{If: []plan.Expr{none, wrong}, Then: all[:2], Else: all[2], T: t}}, nil
}

// universal refuses time zones other than UTC.
func (d dated) universal(zone string) error {
	if zone == "" {
		return nil
	}
	return problem.UnsupportedError(query.Pointer(d.call.At, "timezone"), "%s only makes dates in UTC. Write the offset in the text, or subtract it with $dateSubtract", d.call.Op)
}

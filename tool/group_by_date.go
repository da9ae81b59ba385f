package tool

import (
	"context"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// groupByDate returns the tool that counts records, or aggregates them, by intervals of time.
func groupByDate() Tool {
	return Tool{
		Name:        "group_by_date",
		Title:       "Group by date",
		Description: `Count records (or sum, avg, min, max of value_field) for each year, month, … of a date field: "issues made per week". Oldest first.`,
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["class_name", "field", "interval"], "properties": {
			"class_name": {"type": "string"},
			"field": {"type": "string"},
			"interval": {"type": "string", "enum": ["year", "quarter", "month", "week", "day", "hour", "minute", "second"]},
			"timezone": {"type": "string", "description": "Europe/Oslo or +05:30. UTC when absent"},
			"fill": {"type": "boolean", "description": "also the intervals without records"},
			` + groupSchema + `}}`),
		Output:      compact(groupOutput),
		Annotations: reads(),
		Category:    Aggregate,
		Timeout:     aggregateTimeout,
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			g, err := newGrouping(in, groupRows)
			if err != nil {
				return Result{}, err
			}
			v, err := c.View(g.class)
			if err != nil {
				return Result{}, err
			}
			q, err := g.byDate(v.Field(g.field[0]))
			if err != nil {
				return Result{}, err
			}
			return g.run(ctx, c, q, func(page *result.Page) (Result, error) {
				groups := pageGroups(page)
				if g.args.flag("fill", false) {
					groups = g.fill(page, groups)
				}
				return g.result(page, groups), nil
			})
		},
	}
}

// formats has the formats for the beginning of an interval, for $dateToString.
var formats = map[string]string{"year": "%Y", "month": "%Y-%m", "week": "%G-W%V", "day": "%Y-%m-%d", "hour": "%Y-%m-%d %H:00",
	"minute": "%Y-%m-%d %H:%M", "second": "%Y-%m-%d %H:%M:%S"}

// byDate groups by the text of the interval, which sorts like the time. f is the field, or nil if there is none. Policy
// refuses that.
func (g *grouping) byDate(f *schema.Field) (*query.Pipeline, error) {
	accumulators, err := g.accumulator()
	if err != nil {
		return nil, err
	}
	sort := g.args.text("sort")
	if sort == "" {
		sort = "key_asc"
	}
	if g.args.flag("fill", false) && strings.HasPrefix(sort, "value") {
		return nil, invalid("/fill", "fill puts intervals in the order of time: it goes with the sort key_asc or key_desc")
	}
	format := query.Literal{Value: value.OfString(formats[g.args.text("interval")]), At: "/interval"}
	args := []query.Expr{query.FieldRef{Path: g.field, At: "/field"}, format, nil, nil}
	// A calendar date has no time zone. With one, its midnight would move.
	if zone, ok := g.args.Get("timezone"); ok && (f == nil || f.Type != schema.Day) {
		args[2] = query.Literal{Value: zone, At: "/timezone"}
	}
	if g.args.text("interval") == "quarter" {
		return g.query(quarter(args), accumulators, sort), nil
	}
	return g.query(query.Call{Op: "$dateToString", Args: args}, accumulators, sort), nil
}

// quarter returns the expression for the quarter of a date, as in 2026-Q3, from the arguments of a $dateToString.
func quarter(args []query.Expr) query.Expr {
	call := func(op string, args ...query.Expr) query.Expr { return query.Call{Op: op, Args: args, At: "/field"} }
	third := call("$ceil", call("$divide", call("$month", args[0], args[2]), query.Literal{Value: value.OfInt(3)}))
	year := call("$dateToString", args[0], query.Literal{Value: value.OfString("%Y-Q")}, args[2], nil)
	return call("$concat", year, call("$toString", call("$toInt", third)))
}

// fill adds the empty intervals between the first and the last group, up to the limit.
func (g *grouping) fill(page *result.Page, groups []bucket) []bucket {
	k := &plan.Calendar{Interval: g.args.text("interval"), Zone: plan.Zone(g.args.text("timezone"))}
	empty := value.Value{}
	if operation := g.args.text("operation"); operation == "" || operation == "count" || operation == "sum" {
		empty = value.OfInt(0)
	}
	down := g.args.text("sort") == "key_desc"
	var out []bucket
	var last string
	for _, one := range groups {
		key := one.key.Text()
		if one.key.IsNull() || last == "" {
			out = append(out, one)
			last = key
			continue
		}
		from, to := last, key
		if down {
			from, to = key, last
		}
		between := k.Between(from, to, g.limit-len(out)+1, down)
		for _, b := range between {
			out = append(out, bucket{key: value.OfString(b), value: empty})
		}
		out = append(out, one)
		last = key
		if len(out) > g.limit {
			page.More = true
			return slices.Clip(out[:g.limit])
		}
	}
	return out
}

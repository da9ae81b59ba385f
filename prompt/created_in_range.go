package prompt

import (
	"context"
	"fmt"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// createdInRange returns the prompt with which an agent reports on the records created within a period.
func createdInRange() Prompt {
	return Prompt{
		Name:        "created_in_range",
		Title:       "Created in a time",
		Description: "Count and sample the records of a class that were created within a time.",
		Arguments: []Argument{class("class_name", "the class whose records to look at"),
			{Name: "since", Description: "the first moment, ISO 8601: 2026-01-31 or 2026-01-31T10:00:00Z", Required: true},
			{Name: "until", Description: "the first moment that doesn't count any more; now when left out"}},
		Uses: []string{"count_objects"},
		Handle: func(_ context.Context, c *bailiwick.Call, in Input) (Result, error) {
			v, err := in.View("class_name")
			if err != nil {
				return Result{}, err
			}
			f := creation(v)
			if f == nil {
				return Result{}, invalid("class_name", v.Name()+" has no date that you can see, so nothing tells when its records were created")
			}
			span, err := in.span()
			if err != nil {
				return Result{}, err
			}
			where := object1(f.Name, value.OfObject(span))
			// If the calls would be refused, the prompt is refused too.
			filter, err := query.ParseWhere(where, "/where")
			if err != nil {
				return Result{}, at(err, "since")
			}
			if _, err := c.Access(&query.Count{Class: v.Name(), Where: filter}); err != nil {
				return Result{}, at(err, "since")
			}
			until := "until now"
			if in.Text("until") != "" {
				until = "and before " + span[1].Value.Text()
			}
			name, narrowed := text("class_name", v.Name()), member("where", where)
			g := &guide{}
			g.say("Report on the records of %s from %s on %s, by their field %s.", describeClass(v), span[0].Value.Text(), until, f.Name)
			in.howMany(g, v, f.Name, span, narrowed)
			if in.Best("group_by_date", "query_sql") == "group_by_date" {
				g.step("%s. How they spread; take week, day or hour for a shorter time.", invoke("group_by_date", name, text("field", f.Name), text("interval", "month"), narrowed))
			}
			if in.May("query_class") {
				g.step("%s. The newest of them; if there are more, don't fetch them all.", invoke("query_class", name, narrowed, text("order", "-"+f.Name), number("limit", 10)))
			}
			g.say("Then answer: the count first; how they spread over the time; what the newest ones are about, in a few lines. Say that you went by %s. "+data, f.Name)
			return Say(fmt.Sprintf("Records of %s from %s on", v.Name(), span[0].Value.Text()), g.text()), nil
		},
	}
}

// howMany adds a step that counts the records of v within span. The condition narrowed expresses the same span.
func (in Input) howMany(g *guide, v *policy.View, field string, span []value.Member, narrowed value.Member) {
	if in.Best("count_objects", "query_sql") == "count_objects" {
		g.step("%s. How many there are.", invoke("count_objects", text("class_name", v.Name()), narrowed))
		return
	}
	name := quotedName(field)
	from, params := " FROM "+quotedName(v.Name())+" WHERE "+name+" >= $1", []value.Value{span[0].Value}
	if len(span) > 1 {
		from, params = from+" AND "+name+" < $2", append(params, span[1].Value)
	}
	g.step("%s. How many there are, and how they spread; take week, day or hour for a shorter time.",
		ask("SELECT date_trunc('month', "+name+") AS month, count(*) AS n"+from+" GROUP BY ROLLUP (1) ORDER BY 1", params...))
}

// span parses since and until as a condition.
func (in Input) span() ([]value.Member, error) {
	since, ok := value.OfDateText(in.Text("since"))
	if !ok {
		return nil, invalid("since", "since is a date or a time in ISO 8601, such as 2026-01-31 or 2026-01-31T10:00:00Z")
	}
	span := []value.Member{text("$gte", in.Text("since"))}
	if in.Text("until") == "" {
		return span, nil
	}
	until, ok := value.OfDateText(in.Text("until"))
	if !ok {
		return nil, invalid("until", "until is a date or a time in ISO 8601, such as 2026-01-31 or 2026-01-31T10:00:00Z")
	}
	if until.Micros() <= since.Micros() {
		return nil, invalid("until", "until is later than since")
	}
	return append(span, text("$lt", in.Text("until"))), nil
}

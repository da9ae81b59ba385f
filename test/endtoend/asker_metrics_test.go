package endtoend

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// metricsOf returns the metrics of the worlds. The twin has none of those that the principal of the profiles can't use:
// they must be the same as metrics that never existed.
func metricsOf(twin bool) []metric.Declaration {
	todo := query.Compare{Path: query.Path{"status"}, Op: query.Eq, Value: value.OfString("Todo")}
	dev := query.Or{query.Compare{Path: query.Path{"assignee_id", "role"}, Op: query.Eq, Value: value.OfString("dev")}, query.Exists{Path: query.Path{"points"}, Want: true}}
	out := []metric.Declaration{
		{Name: "issues", On: "issues", Measure: "count()", Time: "due", Description: "All of them."},
		{Name: "points", On: "issues", Measure: "sum(points)", Where: todo, Time: "due", Unit: "points"},
		{Name: "longest", On: "app.issues", Measure: "max(estimate)", Where: dev},
		{Name: "roles", On: "users", Measure: "count_distinct(role)", Dimensions: []string{"org_id", "boss_id.role"}},
		{Name: "remarks", On: "comments", Measure: "count(body)"},
		{Name: "each", Ratio: []string{"points", "issues"}},
	}
	if twin {
		return out
	}
	return append(out,
		metric.Declaration{Name: "phones", On: "users", Measure: "count_distinct(phone)"},                                                                // a masked field
		metric.Declaration{Name: "born", On: "users", Measure: "count()", Time: "born"},                                                                  // the same
		metric.Declaration{Name: "callers", On: "comments", Measure: "count()", Where: query.Exists{Path: query.Path{"author_id", "phone"}, Want: true}}, // behind a pointer
		metric.Declaration{Name: "theirs", On: "users", Measure: "count()", When: `principal.tenant == "globex"`},                                        // of somebody else
		metric.Declaration{Name: "share", Ratio: []string{"phones", "roles"}},                                                                            // of one of them
	)
}

// aMetric returns the name of a metric, which may be hidden or missing.
func (a *asker) aMetric() string {
	return pick(a.Rand, "issues", "points", "longest", "roles", "remarks", "each", "issues", "points", "phones", "born", "callers", "theirs", "share", "absent", "phone")
}

// measured returns a SELECT with MEASURE, which may name a hidden or missing metric, class or field.
func (a *asker) measured() string {
	a.asked = pick(a.Rand, "issues", "issues", "users", "comments")
	from := a.asked + " AS t"
	switch a.IntN(5) {
	case 0:
		from += pick(a.Rand, " JOIN ", " LEFT JOIN ", " FULL JOIN ") + a.class() + " AS j ON j." + pick(a.Rand, "id", "id", a.field()) + " = " + a.named()
	case 1:
		from = a.class() + " AS j LEFT JOIN " + from + " ON j." + pick(a.Rand, "id", "id", a.field()) + " = " + a.named()
	case 2:
		from += pick(a.Rand, " NATURAL JOIN ", ", ") + a.class() + " AS j"
	}
	measure := "MEASURE(" + pick(a.Rand, "", "", "t.", "j.") + a.aMetric() + ")" + pick(a.Rand, "", "", " FILTER (WHERE "+a.compared(0)+")")
	if a.IntN(3) == 0 {
		return "SELECT " + measure + ", MEASURE(" + a.aMetric() + ") FROM " + from
	}
	key := a.named()
	return "SELECT " + key + ", " + measure + " FROM " + from + pick(a.Rand, "", " WHERE "+a.compared(1)) + " GROUP BY " + pick(a.Rand, key, "1", a.named()) +
		pick(a.Rand, "", " HAVING MEASURE("+a.aMetric()+") > 1") + pick(a.Rand, "", " ORDER BY MEASURE("+a.aMetric()+")", " ORDER BY 2")
}

// metrics returns the arguments of a question about metrics.
func (a *asker) metrics() []string {
	name := a.aMetric
	a.asked = pick(a.Rand, "issues", "issues", "users", "comments")
	if a.IntN(12) == 0 { // the list of metrics
		return nil
	}
	args := []string{fmt.Sprintf(`"metrics": [%q]`, name())}
	if a.IntN(3) == 0 {
		args[0] = fmt.Sprintf(`"metrics": [%q, %q]`, name(), name())
	}
	rarely := func(format string, v any) {
		if a.IntN(6) == 0 {
			args = append(args, fmt.Sprintf(format, v))
		}
	}
	if a.IntN(3) > 0 {
		by := pick(a.Rand, "status", "assignee_id.role", "due:month", "time:week", "time:year", "boss_id.role", "org_id", "author_id.name", "issue_id.assignee_id.name", a.field(), a.field())
		args = append(args, fmt.Sprintf(`"by": [%q]`, by))
	}
	rarely(`"where": %s`, a.where(1))
	if a.IntN(8) == 0 {
		args = append(args, fmt.Sprintf(`"compare": %q, "from": "2026-01"`, pick(a.Rand, "previous_period", "previous_year")))
		if a.IntN(8) > 0 {
			args = append(args, fmt.Sprintf(`"to": %q`, pick(a.Rand, "2026-02", "2026-W06", "2027")))
		}
		return args
	}
	rarely(`"from": %q`, pick(a.Rand, "2026", "2026-01", "2025-Q4", "2026-W05", "2026-02-30", "score"))
	rarely(`"to": %q`, pick(a.Rand, "2026", "2026-02", "2026-02-01", "2026-01-31T10:00:00Z"))
	rarely(`"share": %t`, a.IntN(3) > 0)
	rarely(`"cumulative": %t`, a.IntN(3) > 0)
	rarely(`"order": %q`, pick(a.Rand, "-points", "status", "phones", "-score"))
	rarely(`"limit": %d`, 1+a.IntN(4))
	rarely(`"timezone": %q`, pick(a.Rand, "Europe/Oslo", "+05:30", "Mars/Base"))
	rarely(`"format": %q`, pick(a.Rand, "csv", "markdown", "json"))
	if a.IntN(20) == 0 { // answers have no pages, and refuse the cursor of another tool
		args = append(args, `"cursor": "WzFd"`)
	}
	return args
}

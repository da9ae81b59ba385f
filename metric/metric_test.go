package metric_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// catalogue is a shop whose orders point to customers, and list tags and the customers who watch.
func catalogue() []schema.Class {
	return []schema.Class{
		{Source: "shop", Name: "customers", Table: "customers", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "region", Type: schema.String}, {Name: "email", Type: schema.String}}},
		{Source: "shop", Name: "orders", Table: "orders", Key: []string{"id"}, Fields: []schema.Field{
			{Name: "id", Type: schema.Integer}, {Name: "customer_id", Type: schema.Integer}, {Name: "status", Type: schema.String}, {Name: "total", Type: schema.Decimal},
			{Name: "placed_at", Type: schema.Date}, {Name: "tags", Type: schema.Array}, {Name: "cost", Type: schema.Decimal}},
			Relations: []schema.Relation{{Fields: []string{"customer_id"}, Target: "customers", TargetFields: []string{"id"}}}},
	}
}

// TestFaults checks the faults of declarations.
func TestFaults(t *testing.T) {
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"orders": {Denied: []string{"cost"}}}}, catalogue())
	if err != nil {
		t.Fatal(err)
	}
	where := func(text string) query.Filter {
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := query.ParseRule(v, "/where")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	of := func(measure string) metric.Declaration { return metric.Declaration{On: "orders", Measure: measure} }
	for _, row := range []struct {
		d    metric.Declaration
		want string
	}{
		{of("count()"), ""},
		{of(`sum(total * 2)`), ""},
		{of("count_distinct(customer_id)"), ""},
		{of("avg( total )"), ""},
		{metric.Declaration{}, "metrics.m: needs on and measure, or ratio"},
		{metric.Declaration{On: "orders"}, "metrics.m: needs measure: one aggregate, such as sum(total) or count()"},
		{metric.Declaration{On: "ordres", Measure: "count()"}, "metrics.m.on: there is no such class. Did you mean orders?"},
		{of("sum(totl)"), `metrics.m.measure: orders has no field "totl" that agents see. Did you mean total?`},
		{of("sum(cost)"), `metrics.m.measure: orders has no field "cost" that agents see`},
		{of("sum(status)"), "metrics.m.measure: sum takes numbers, not texts (write sum(CAST(… AS double precision)) if the texts are numbers)"},
		{of("total"), "metrics.m.measure: is one aggregate, such as sum(total) or sum(quantity * price)"},
		{of("sum(total) / 2"), "metrics.m.measure: is one aggregate, such as sum(total) or sum(quantity * price)"},
		{of("sum(total), count(*)"), "metrics.m.measure: is one aggregate, such as sum(total) or sum(quantity * price)"},
		{of("sum(total) FROM customers"), "metrics.m.measure: is one aggregate, such as sum(total) or sum(quantity * price)"},
		{of("sum(total) FILTER (WHERE total > 1)"), "metrics.m.measure: is only an aggregate, without OVER, FILTER, ORDER BY, WITHIN and LIMIT. Write the condition as where"},
		{of("count(DISTINCT customer_id)"), "metrics.m.measure: counts different values as count_distinct(…)"},
		{of("median(total)"), "metrics.m.measure: is one of sum, count, count_distinct, avg, min, max, as in sum(total)"},
		{of("summ(total)"), "metrics.m.measure: is one of sum, count, count_distinct, avg, min, max, as in sum(total). Did you mean sum?"},
		{of("sum()"), "metrics.m.measure: sum takes one expression, as in sum(total)"},
		{of("sum(max(total))"), "metrics.m.measure: max(…) can't be inside of another aggregate"},
		{of("sum(customer_id.region)"), "metrics.m.measure: customer_id.region leads to another class: a measure is computed from the fields of its own class"},
		{of("sum(:x)"), "metrics.m.measure: a measure has no parameters"},
		{of("sum((SELECT 1))"), "metrics.m.measure: a measure has no sub-queries: it is computed from the fields of its own class"},
		{of("sum(total"), "metrics.m.measure: the statement ends here, but ) is expected"},
		{metric.Declaration{On: "orders", Measure: "count()", Time: "placed"}, `metrics.m.time: orders has no field "placed" that agents see. Did you mean placed_at?`},
		{metric.Declaration{On: "orders", Measure: "count()", Time: "status"}, "metrics.m.time: status is a field of type string. Periods need a date"},
		{metric.Declaration{On: "orders", Measure: "count()", Where: where(`{"stats": "paid"}`)}, `metrics.m.where: orders has no field "stats" that agents see. Did you mean status?`},
		{metric.Declaration{On: "orders", Measure: "count()", Where: where(`{"total": "x"}`)}, `metrics.m.where: = can't compare total (decimal) with "x": they are never alike (write a number, without quotes)`},
		{metric.Declaration{On: "orders", Measure: "count()", Where: where(`{"tags": {"$size": 1}}`)}, "metrics.m.where: this condition is not supported for metrics (where takes comparisons, $in, $nin, $exists, $startsWith and $regex, with $and, $or and $not)"},
		{metric.Declaration{On: "orders", Measure: "count()", Where: where(`{"status": {"$cel": "principal.tenant"}}`)}, "metrics.m.where: an expression can't be here: a metric means the same for everybody (say in when who may use it)"},
		{metric.Declaration{On: "orders", Measure: "count()", Dimensions: []string{"customer_id.regin"}}, `metrics.m.dimensions.0: unknown field "regin" of customers`},
		{metric.Declaration{On: "orders", Measure: "count()", Dimensions: []string{"tags.x"}}, "metrics.m.dimensions.0: tags is a list: its elements would count a record several times"},
		{metric.Declaration{On: "orders", Measure: "count()", When: "principal.tenant"}, "metrics.m.when: the expression yields"},
		{metric.Declaration{Ratio: []string{"m"}}, "metrics.m.ratio: names two metrics: the first is divided by the second"},
		{metric.Declaration{Ratio: []string{"base", "bsae"}}, `metrics.m.ratio.1: there is no metric "bsae". Did you mean base?`},
		{metric.Declaration{Ratio: []string{"base", "m"}}, "metrics.m.ratio.1: m is a ratio. Name metrics with a measure"},
		{metric.Declaration{Ratio: []string{"base", "base"}, Time: "placed_at"}, "metrics.m.time: belongs to a metric with a measure. A ratio has it from its two metrics"},
		{metric.Declaration{Name: "base", Ratio: []string{"base", "base"}}, "metrics.base: another metric has the name"},
	} {
		if row.d.Name == "" {
			row.d.Name = "m"
		}
		_, err := metric.Compile([]metric.Declaration{{Name: "base", On: "orders", Measure: "count()"}, row.d}, p)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != row.want && !(strings.HasSuffix(row.want, "yields") && strings.HasPrefix(got, "metrics.m.when: ")) {
			t.Errorf("%+v:\n%s", row.d, cmp.Diff(row.want, got))
		}
	}
}

package config

import (
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/query"
)

// metrics is the shape of the metrics, by name.
func (c *Config) metrics() yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "metric", Check: metricName, Of: func(name string) (yamlconf.Shape, func()) {
		d := metric.Declaration{Name: name}
		keys := []yamlconf.Key{
			{Name: "on", Doc: "The class whose records are measured", Shape: yamlconf.Words(&d.On)},
			{Name: "measure", Doc: "One aggregate in SQL: sum(total), sum(quantity * price), count(), avg(total), min(total), max(total) or count_distinct(customer_id)", Shape: yamlconf.Words(&d.Measure)},
			{Name: "where", Doc: "Which records count: a filter as of query_class. All unless named", Shape: yamlconf.Where(&d.Where)},
			{Name: "time", Doc: "The date field that from, to and time:month mean", Shape: yamlconf.Words(&d.Time)},
			{Name: "ratio", Doc: "Instead of on and measure: two metrics, the first divided by the second", Shape: yamlconf.List(&d.Ratio, "names of metrics", nil)},
			{Name: "unit", Doc: "Such as EUR", Shape: yamlconf.Words(&d.Unit)},
			{Name: "description", Doc: "For agents: what it means", Shape: yamlconf.Words(&d.Description)},
			{Name: "dimensions", Doc: "The only fields and pointer paths to group by, such as customer_id.region. All that the caller sees unless named", Shape: yamlconf.List(&d.Dimensions, "fields", nil)},
			{Name: "when", Doc: "Who may use it: an expression over principal that yields true or false. Everybody who sees its fields unless named", Shape: c.expression(&d.When, expression.Bool)},
		}
		return yamlconf.Object(keys, nil), func() { c.Metrics = append(c.Metrics, d) }
	}})
}

// metricName checks the name of a metric, which is also a name in SQL.
func metricName(r *yamlconf.Reader, e yamlconf.Entry) bool {
	if word(e.Name) {
		return true
	}
	r.Wrong(e.Key, e.At, "a metric is named with letters, digits and _, a letter first, at most 63")
	return false
}

// WrongMetric returns a fault at the location of a metric.
func (c *Config) WrongMetric(f *metric.DeclarationFault) Fault {
	return c.Wrong(f.Message, append([]string{"metrics", f.Metric}, f.Key...)...)
}

// printedMetrics returns the metrics in a form that JSON can encode.
func (c *Config) printedMetrics() []any {
	out := make([]any, len(c.Metrics))
	for i, d := range c.Metrics {
		where := ""
		if d.Where != nil {
			where = query.Print(d.Where).String()
		}
		d.Where = nil
		out[i] = []any{d, where}
	}
	return out
}

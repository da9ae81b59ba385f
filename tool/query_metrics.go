package tool

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// queryMetrics returns the tool that computes the owner's metrics. It is offered to callers that may use one.
func queryMetrics() Tool {
	return Tool{
		Name:        "query_metrics",
		Title:       "Query metrics",
		Description: `Compute metrics as the owner defined them, such as revenue, by fields, pointer paths and periods. get_schema lists the metrics of a class.`,
		Input: compact(`{"type": "object", "additionalProperties": false, "properties": {
			"metrics": {"type": "array", "minItems": 1, "maxItems": 8, "items": {"type": "string"}, "description": "without it: the metrics with their definitions"},
			"by": {"type": "array", "maxItems": 4, "items": {"type": "string"}, "description": "customer_id.region, placed_at:month; time:month is the metrics' own date"},
			"where": {"type": "object"},
			"from": {"type": "string", "description": "2026, 2026-Q3, 2026-07 or 2026-07-01"},
			"to": {"type": "string", "description": "included"},
			"compare": {"type": "string", "enum": ["previous_period", "previous_year"], "description": "also each value before, and its change"},
			"share": {"type": "boolean", "description": "also each group's share of the total"},
			"cumulative": {"type": "boolean", "description": "also running totals over the periods"},
			"order": {"type": "string", "description": "-revenue: - is descending"},
			"limit": {"type": "integer", "minimum": 1, "maximum": ` + strconv.Itoa(metric.MaxLimit) + `, "description": "default ` + strconv.Itoa(metric.DefaultLimit) + `"},
			"timezone": {"type": "string", "description": "Europe/Oslo or +05:30. UTC when absent"},
			"format": {"type": "string", "enum": ["json", "csv", "markdown", "table"]}}}`),
		Output: compact(`{"type": "object", "properties": {
			"metrics": {"type": "array", "items": {"type": "object"}},
			"results": {"type": "array", "items": {"type": "object"}},
			"output": {"type": "string"},
			"result_count": {"type": "integer"},
			"has_more": {"type": "boolean"},
			"definitions": {"type": "array", "items": {"type": "string"}}}}`),
		Annotations: reads(),
		Category:    Aggregate,
		Timeout:     aggregateTimeout,
		offers:      func(s *Set, p identity.Principal) bool { return len(s.gateway.Metrics(p)) > 0 },
		Handle: func(ctx context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			args := arguments{in}
			if !args.has("metrics") {
				return listMetrics(c.Metrics()), nil
			}
			where, err := args.where()
			if err != nil {
				return Result{}, err
			}
			a, err := c.QueryMetrics(ctx, metric.Request{Metrics: args.texts("metrics"), By: args.texts("by"), Where: where, From: args.text("from"), To: args.text("to"),
				Zone: args.text("timezone"), Compare: args.text("compare"), Share: args.flag("share", false), Running: args.flag("cumulative", false), Order: args.text("order"), Limit: args.number("limit", 0)})
			if err != nil {
				return Result{}, err
			}
			return metricsResult(a, args).in(args), nil
		},
	}
}

// metricsResult returns an answer as JSON and as lines of text, with the definitions of its metrics.
func metricsResult(a *metric.Answer, args arguments) Result {
	more := a.Total > len(a.Rows)
	doc, said := []byte("{"), []byte(nil)
	if asJSON(args) {
		doc, said = appendGroups(append(doc, `"results":[`...), a), appendLines(nil, a)
		doc = append(doc, ']')
	} else {
		output := result.TextOf(result.Format(args.text("format")), a.Columns, a.Rows)
		doc, said = value.AppendQuote(append(doc, `"output":`...), output), []byte(output)
	}
	if len(said) > 0 && said[len(said)-1] != '\n' {
		said = append(said, '\n')
	}
	doc = fmt.Appendf(doc, `,"result_count":%d,"has_more":%t,"definitions":`, len(a.Rows), more)
	doc = append(list(a.Definitions).AppendJSON(doc), '}')
	if more {
		said = fmt.Appendf(said, "%d of %d groups: raise limit, or narrow where\n", len(a.Rows), a.Total)
	}
	for i, d := range a.Definitions {
		if i > 0 {
			said = append(said, '\n')
		}
		said = append(said, d...)
	}
	return Result{Structured: doc, Text: string(said)}
}

// appendGroups appends the rows of an answer as JSON objects, separated by commas.
func appendGroups(dst []byte, a *metric.Answer) []byte {
	for i, row := range a.Rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		members := make([]value.Member, len(row))
		for j, v := range row {
			members[j] = member(a.Columns[j], v)
		}
		dst = value.OfObject(members).AppendJSON(dst)
	}
	return dst
}

// appendLines appends a header line and one line per row, with values as JSON and null as nothing.
func appendLines(dst []byte, a *metric.Answer) []byte {
	for i, c := range a.Columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, c...)
	}
	for _, row := range a.Rows {
		dst = append(dst, '\n')
		for i, v := range row {
			if i > 0 {
				dst = append(dst, ',')
			}
			if !v.IsNull() || len(row) == 1 {
				dst = v.AppendJSON(dst)
			}
		}
	}
	return dst
}

// metricsOn returns the metrics of the class of v, or nil.
func metricsOn(v *policy.View, all []metric.Usable) []metric.Usable {
	var out []metric.Usable
	for _, m := range all {
		if m.View.Class().FullName() == v.Class().FullName() {
			out = append(out, m)
		}
	}
	return out
}

// metricDocs returns the descriptions of metrics for get_schema, as objects.
func metricDocs(all []metric.Usable) []value.Value {
	out := make([]value.Value, len(all))
	for i, m := range all {
		doc := []value.Member{text("name", m.Name), text("meaning", m.Meaning())}
		if m.Description != "" {
			doc = append(doc, text("description", m.Description))
		}
		if m.Unit != "" {
			doc = append(doc, text("unit", m.Unit))
		}
		if m.Dimensions != nil {
			doc = append(doc, member("dimensions", list(m.Dimensions)))
		}
		out[i] = value.OfObject(doc)
	}
	return out
}

// metricLine returns the names of metrics with their meanings, on one line.
func metricLine(all []metric.Usable) string {
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = m.Name + " (" + oneLine(m.Meaning())
		if m.Dimensions != nil {
			texts[i] += ", grouped by " + strings.Join(m.Dimensions, " and ") + " only"
		}
		if texts[i] += ")"; m.Description != "" {
			texts[i] += " " + strings.TrimSuffix(oneLine(m.Description), ".")
		}
	}
	return strings.Join(texts, "; ")
}

package config

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
)

// longestRead is the default maximum time for a tool that reads data.
const longestRead = time.Minute

// statements returns the shape of the limits on the cost of one query.
func (c *Config) statements() yamlconf.Shape {
	agents := yamlconf.Items("bounds", func(int) (yamlconf.Shape, func()) {
		var b policy.AgentBound
		keys := append([]yamlconf.Key{
			{Name: "when", Doc: "The agents: an expression over principal, in CEL, that yields true or false. If it fails for an agent, the agent's queries are refused", Must: true,
				Shape: c.expression(&b.When, expression.Bool)},
		}, bounds(&b.Bounds, &b.Time)...)
		return yamlconf.Object(keys, func(r *yamlconf.Reader, n yamlconf.Node, at string) {
			given := func(k yamlconf.Key) bool { return r.HasAt(query.Pointer(at, k.Name)) }
			if !slices.ContainsFunc(keys[1:], given) {
				r.Wrong(n.Start(), at, "bounds nothing. Write joins, windows, sets, queries or time, or take it out")
			}
		}), func() { c.Rules.AgentBounds = append(c.Rules.AgentBounds, b) }
	})
	keys := bounds(&c.Rules.Bounds, &c.Limits.Statement)
	for i, doc := range []string{"Joins and lookups, each counted as often as it is read. Default 20", "Window functions, counted likewise. Default 50",
		"Set operations, and grouping sets after the first, counted likewise. Default 40", "Sub-queries in expressions, counted likewise. Default 40",
		"The longest that a tool that reads data may take. A shorter one of timeouts holds. Default 10 s to 1 min, by tool"} {
		keys[i].Doc = doc
	}
	keys = append(keys, yamlconf.Key{Name: "agents", Doc: "Smaller bounds for some agents. Of all entries whose condition holds, the smallest bound wins", Shape: agents})
	return yamlconf.Object(keys, func(r *yamlconf.Reader, _ yamlconf.Node, at string) { c.narrower(r, query.Pointer(at, "agents")) })
}

// bounds returns the keys that limit the cost of a query.
func bounds(b *policy.Bounds, most *time.Duration) []yamlconf.Key {
	return []yamlconf.Key{
		{Name: "joins", Doc: "Joins and lookups, as above", Shape: yamlconf.Count(&b.Joins, 1, mostParts)},
		{Name: "windows", Doc: "Window functions, as above", Shape: yamlconf.Count(&b.Windows, 1, 10*mostParts)},
		{Name: "sets", Doc: "Set operations and grouping sets, as above", Shape: yamlconf.Count(&b.Sets, 1, 10*mostParts)},
		{Name: "queries", Doc: "Sub-queries in expressions, as above", Shape: yamlconf.Count(&b.Queries, 1, 10*mostParts)},
		{Name: "time", Doc: "The longest that a tool that reads data may take", Shape: yamlconf.Span(most, 10*time.Millisecond, MaxTimeout)},
	}
}

// narrower reports each limit for some agents that is larger than the general limit, because it would have no effect.
func (c *Config) narrower(r *yamlconf.Reader, at string) {
	general := c.Rules.Bounds.WithDefaults()
	longest := longestRead
	for _, d := range c.Limits.Timeouts {
		longest = max(longest, d)
	}
	longest = cmp.Or(c.Limits.Statement, longest)
	for i, b := range c.Rules.AgentBounds {
		entry := query.Pointer(at, fmt.Sprint(i))
		for _, bound := range []struct {
			key       string
			own, most int
		}{{"joins", b.Bounds.Joins, general.Joins}, {"windows", b.Bounds.Windows, general.Windows}, {"sets", b.Bounds.Sets, general.Sets}, {"queries", b.Bounds.Queries, general.Queries}} {
			if bound.own > bound.most {
				r.WrongAt(query.Pointer(entry, bound.key), fmt.Sprintf("%d is more than every agent may have: limits.statements.%s is %d. Write a smaller number, or raise that one", bound.own, bound.key, bound.most))
			}
		}
		if b.Time > longest {
			r.WrongAt(query.Pointer(entry, "time"), fmt.Sprintf("%s is more than any tool that reads may take: %s. Write a shorter time, or raise limits.statements.time", b.Time, longest))
		}
	}
}

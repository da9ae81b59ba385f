package config

import (
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/query"
)

// Limits are the limits for one principal. A zero field uses the default.
type Limits struct {
	Rate        Rate
	Burst       int                      // additional calls at once beyond Rate
	Concurrency int                      // concurrent calls of one principal
	QueryRows   int                      // rows of query_class if the caller gives no limit
	SampleRows  int                      // rows of get_sample_objects if the caller gives no limit
	Timeouts    map[string]time.Duration // by tool name
	Statement   time.Duration            // maximum time for a tool that reads data, or 0 for the timeout of each tool
	Daily       Daily                    // for each owner
	TokenDaily  Daily                    // for each token
	Pending     int                      // maximum changes of one principal that wait for review. 0 means 200
	Proposals   int                      // maximum changes that one principal may propose per minute. 0 means 60
	Price       int64                    // price of a million estimated tokens, in millionths of a US dollar, or 0
}

// A Rate is a number of calls per duration, for each owner and for each token.
type Rate struct {
	Calls int
	Per   time.Duration
}

// Daily limits the use per day in UTC. A zero field means no limit.
type Daily struct {
	Calls  int
	Rows   int
	Bytes  int
	Tokens int
	Cost   int64 // in millionths of a US dollar
}

const (
	maxDaily = 1_000_000_000_000 // calls, rows and tokens
	maxBytes = 1 << 50
	maxPrice = 1_000_000 // US dollars

	mostParts = 60 // joins of a statement. SQLite supports 64 tables in a join
)

func (d *Daily) shape() yamlconf.Shape {
	return yamlconf.Object([]yamlconf.Key{
		{Name: "calls", Doc: "Calls that were admitted", Shape: yamlconf.Count(&d.Calls, 1, maxDaily)},
		{Name: "rows", Doc: "Records that left", Shape: yamlconf.Count(&d.Rows, 1, maxDaily)},
		{Name: "bytes", Doc: "Bytes of answers, also with a unit: 100 MiB", Shape: yamlconf.Size(&d.Bytes, 1, maxBytes)},
		{Name: "tokens", Doc: "Tokens of answers, estimated as bytes/4", Shape: yamlconf.Count(&d.Tokens, 1, maxDaily)},
		{Name: "cost", Doc: "What these tokens cost, in US dollars: 2.50", Shape: yamlconf.Dollars(&d.Cost, maxPrice)},
	}, nil)
}

// limits returns the shape of the limits of a principal. A limit on cost without a price would never refuse a call,
// so it is an error.
func (c *Config) limits() yamlconf.Shape {
	l := &c.Limits
	return yamlconf.Object([]yamlconf.Key{
		{Name: "rate", Doc: "Calls in a time, for each owner and each token: 600/min", Shape: yamlconf.Rate(&l.Rate.Calls, &l.Rate.Per),
			Meant: []string{"calls", "calls_per_minute", "calls_per_second", "calls_per_hour", "requests_per_minute", "requests_per_second", "rpm", "rate_limit"}},
		{Name: "burst", Doc: "Calls at once on top of the rate", Shape: yamlconf.Count(&l.Burst, 1, many)},
		{Name: "concurrency", Doc: "Calls of one principal at a time", Shape: yamlconf.Count(&l.Concurrency, 1, 10_000)},
		{Name: "rows", Doc: "Rows when the caller gives no limit", Shape: yamlconf.Object([]yamlconf.Key{
			{Name: "query", Doc: "Of query_class. Default 100", Shape: yamlconf.Count(&l.QueryRows, 1, maxRows)},
			{Name: "samples", Doc: "Of get_sample_objects. Default 5", Shape: yamlconf.Count(&l.SampleRows, 1, maxSamples)},
		}, nil)},
		{Name: "timeouts", Doc: "How long a tool may take, by its name", Shape: yamlconf.Each(yamlconf.Table{Names: "tool", Of: func(name string) (yamlconf.Shape, func()) {
			var d time.Duration
			return yamlconf.Span(&d, 10*time.Millisecond, MaxTimeout), func() {
				if l.Timeouts == nil {
					l.Timeouts = map[string]time.Duration{}
				}
				l.Timeouts[name] = d
			}
		}})},
		{Name: "statements", Doc: "What one query may cost: a SELECT, a pipeline, a find", Shape: c.statements()},
		{Name: "daily", Doc: "The most that one owner may use on a day of UTC, with all tokens together", Shape: l.Daily.shape()},
		{Name: "daily_per_token", Doc: "The most that one token may use on a day of UTC", Shape: l.TokenDaily.shape()},
		{Name: "price_per_million_tokens", Doc: "What a million tokens that a model reads cost, in US dollars: 3.00. The tokens of an answer are estimated as its bytes/4",
			Shape: yamlconf.Dollars(&l.Price, maxPrice)},
		{Name: "pending_changes", Doc: "Changes of one person that may wait for review, those of all agents that act for them together. Of an agent without an owner, its own and those of its sub-principals. Default 200", Shape: yamlconf.Count(&l.Pending, 1, 10_000)},
		{Name: "changes_per_minute", Doc: "Changes that the agents of one person may propose in a minute, or one agent without an owner. Default 60", Shape: yamlconf.Count(&l.Proposals, 1, 10_000)},
	}, func(r *yamlconf.Reader, _ yamlconf.Node, at string) {
		for _, key := range []string{"daily", "daily_per_token"} {
			if cost := query.Pointer(query.Pointer(at, key), "cost"); r.HasAt(cost) && l.Price == 0 {
				r.WrongAt(cost, "needs limits.price_per_million_tokens, or no call costs anything")
			}
		}
	})
}

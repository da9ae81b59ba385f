package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

func TestDaily(t *testing.T) {
	const src = "sources: {s: {url: sqlite:x}}\nlimits: "
	schema, _ := compiled(t)
	for _, tt := range []struct {
		text string
		want config.Limits
		err  string // the first line, after the position, or ""
	}{
		{text: "{daily: {calls: 10000, rows: 1000000, bytes: 2 GiB, tokens: 5, cost: 20.00}, price_per_million_tokens: 3}",
			want: config.Limits{Daily: config.Daily{Calls: 10_000, Rows: 1_000_000, Bytes: 2 << 30, Tokens: 5, Cost: 20_000_000}, Price: 3_000_000}},
		{text: "{daily_per_token: {rows: 1, cost: 0.000001}, price_per_million_tokens: 0.25}",
			want: config.Limits{TokenDaily: config.Daily{Rows: 1, Cost: 1}, Price: 250_000}},
		{text: "{daily: {bytes: 10 GB}, price_per_million_tokens: 1000000}", want: config.Limits{Daily: config.Daily{Bytes: 10_000_000_000}, Price: 1_000_000_000_000}},
		{text: "{daily: {cost: 1}}", err: "limits.daily.cost: needs limits.price_per_million_tokens, or no call costs anything"},
		{text: "{daily_per_token: {cost: 1}}", err: "limits.daily_per_token.cost: needs limits.price_per_million_tokens, or no call costs anything"},
		{text: "{daily: {calls: 0}}", err: "limits.daily.calls: must be from 1 to 1000000000000"},
		{text: "{daily: {bytes: 2 PB}}", err: "limits.daily.bytes: must be a number of bytes from 1 to 1125899906842624, such as 100 KB or 1 MiB"},
		{text: "{daily: {call: 5}}", err: `limits.daily: unknown key "call". Did you mean calls?`},
		{text: "{price_per_million_tokens: 0}", err: "limits.price_per_million_tokens: must be a number of US dollars above 0 and up to 1000000, with at most six decimals, such as 3 or 2.50"},
		{text: "{price_per_million_tokens: 1000000.01}", err: "limits.price_per_million_tokens: must be a number of US dollars above 0 and up to 1000000, with at most six decimals, such as 3 or 2.50"},
		{text: "{price_per_million_tokens: -3}", err: "limits.price_per_million_tokens: must be a number of US dollars above 0 and up to 1000000, with at most six decimals, such as 3 or 2.50"},
		{text: "{price_per_million_tokens: 1.5e1}", err: "limits.price_per_million_tokens: must be a number of US dollars above 0 and up to 1000000, with at most six decimals, such as 3 or 2.50"},
		{text: "{price_per_million_tokens: '3'}", err: "limits.price_per_million_tokens: must be a number of US dollars above 0 and up to 1000000, with at most six decimals, such as 3 or 2.50, not text"},
		{text: "{price_per_million_tokens: 3 USD}", err: "limits.price_per_million_tokens: must be a number of US dollars above 0 and up to 1000000, with at most six decimals, such as 3 or 2.50, not text"},
		{text: "{pending_changes: 5}", want: config.Limits{Pending: 5}},
		{text: "{pending_changes: 0}", err: "limits.pending_changes: must be from 1 to 10000"},
	} {
		c, err := config.Parse("f.yaml", []byte(src+tt.text+"\n"), env)
		if err == nil {
			if diff := cmp.Diff(tt.want, c.Limits); diff != "" || tt.err != "" {
				t.Errorf("%s: want %q %s", tt.text, tt.err, diff)
			}
		} else if _, after, _ := strings.Cut(strings.SplitN(err.Error(), "\n", 2)[0], ": "); tt.err == "" || after != tt.err {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.text, after, tt.err)
		}
		if err := schema.Validate(document(t, src+tt.text)); err != nil && tt.err == "" {
			t.Errorf("%s: the schema says %v", tt.text, err)
		}
	}
}

// TestAgentBounds checks the entries of limits.statements.agents. Each must have a valid condition and bounds below
// the general ones.
func TestAgentBounds(t *testing.T) {
	const src = "sources: {s: {url: sqlite:x}}\nlimits:\n  statements:\n    joins: 10\n    agents:\n      - "
	schema, _ := compiled(t)
	for text, want := range map[string]string{
		"{when: 'principal.id == \"a\"', joins: 10, time: 1m}": "",
		"{when: 'principal.id == \"a\"', joins: 11}":           "f.yaml:6:39: limits.statements.agents.0.joins: 11 is more than every agent may have: limits.statements.joins is 10. Write a smaller number, or raise that one",
		"{when: 'true', windows: 51}":                          "f.yaml:6:24: limits.statements.agents.0.windows: 51 is more than every agent may have: limits.statements.windows is 50. Write a smaller number, or raise that one",
		"{when: 'true', time: 2m}":                             "f.yaml:6:24: limits.statements.agents.0.time: 2m0s is more than any tool that reads may take: 1m0s. Write a shorter time, or raise limits.statements.time",
		"{when: 'true', time: 31s}\n    time: 30s":             "f.yaml:6:24: limits.statements.agents.0.time: 31s is more than any tool that reads may take: 30s. Write a shorter time, or raise limits.statements.time",
		"{when: 'true'}":                                       "f.yaml:6:9: limits.statements.agents.0: bounds nothing. Write joins, windows, sets, queries or time, or take it out",
		"{joins: 3}":                                           "f.yaml:6:9: limits.statements.agents.0: needs the key when",
		"{when: 'principal.idd == \"a\"', joins: 3}":           `f.yaml:6:17: limits.statements.agents.0.when: character 1 of the expression: a principal has no "idd". Did you mean id?`,
		"{when: 'principal.depth + \"a\" == \"b\"', joins: 3}": "f.yaml:6:33: limits.statements.agents.0.when: character 17",
		"{when: 'principal.id', joins: 3}":                     "f.yaml:6:16: limits.statements.agents.0.when: it yields a string, and has to yield true or false",
		"{when: 'true', queries: 0}":                           "f.yaml:6:33: limits.statements.agents.0.queries: must be from 1 to 600",
	} {
		_, err := config.Parse("f.yaml", []byte(src+text+"\n"), env)
		if got := strings.SplitN(fmt.Sprint(err), "\n", 2)[0]; want == "" && err != nil || !strings.HasPrefix(got, want) && want != "" {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
		if err := schema.Validate(document(t, src+text)); err != nil && want == "" {
			t.Errorf("%s: the schema says %v", text, err)
		}
	}
}

package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// TestRun searches a small log.
func TestRun(t *testing.T) {
	start := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	log := &audit.Memory{}
	for i := range 20 {
		r := &audit.Record{Time: start.Add(time.Duration(i) * 12 * time.Hour), Principal: fmt.Sprintf("token:%d", i%2), Owner: "ann", Tenant: []string{"acme", "globex"}[i%2],
			Tool: []string{"query_class", "aggregate"}[i%2], Outcome: audit.OK, Tokens: 10, Cost: 5, Micros: int64(1000 * (i + 1)), Change: fmt.Sprintf("c%d", i)}
		switch i {
		case 4:
			r.Outcome, r.Kind = audit.Refused, "hidden_class"
		case 6:
			r.Outcome = audit.Approved
		}
		if err := log.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Append(t.Context(), &audit.Record{Time: start.Add(229 * time.Hour), Principal: "token:p", Owner: "ann", Tenant: "acme", Tool: "console/audit", Outcome: audit.OK, Person: true}); err != nil {
		t.Fatal(err)
	}
	end := start.Add(10 * 24 * time.Hour)
	for _, row := range []struct {
		name string
		s    usageSearch
		want string
	}{
		{"all", usageSearch{From: start, To: end}, "20 calls 1 refused 200 tokens 100 cost, 21 read, days 11, tools aggregate:10 query_class:10"},
		{"a part of the time", usageSearch{From: start.Add(24 * time.Hour), To: start.Add(72 * time.Hour)}, "4 calls 1 refused 40 tokens 20 cost, 19 read, hours 48, tools aggregate:2 query_class:2"},
		{"a tool", usageSearch{From: start, To: end, Tool: "aggregate"}, "10 calls 0 refused 100 tokens 50 cost, 21 read, days 11, tools aggregate:10"},
		{"refusals", usageSearch{From: start, To: end, Outcome: audit.Refused, Text: "HIDDEN"}, "1 calls 1 refused 10 tokens 5 cost, 21 read, days 11, tools query_class:1"},
		{"a change", usageSearch{From: start, To: end, Text: "c13"}, "1 calls 0 refused 10 tokens 5 cost, 21 read, days 11, tools aggregate:1"},
		{"an owner", usageSearch{From: start, To: end, Agent: "bob"}, "0 calls 0 refused 0 tokens 0 cost, 21 read, days 11, tools"},
		{"a tenant", usageSearch{From: start, To: end, Tenant: "acme", Tenanted: true}, "10 calls 1 refused 100 tokens 50 cost, 21 read, days 11, tools query_class:10"},
		{"no tenant", usageSearch{From: start, To: end, Tenanted: true}, "0 calls 0 refused 0 tokens 0 cost, 21 read, days 11, tools"},
		{"with people", usageSearch{From: start, To: end, People: true}, "21 calls 1 refused 200 tokens 100 cost, 21 read, days 11, tools aggregate:10 query_class:10 console/audit:1"},
		{"too many", usageSearch{From: start, To: end, Most: 5 * direct}, "4 calls 0 refused 40 tokens 20 cost, 5 read, cut, days 11, tools aggregate:2 query_class:2"},
	} {
		f, err := searchUsage(t.Context(), log, row.s)
		if err != nil {
			t.Fatal(err)
		}
		sum := f.Sums.Total
		got := fmt.Sprintf("%d calls %d refused %d tokens %d cost, %d read, ", sum.Calls, sum.Refused, sum.Tokens, sum.Cost, f.Read)
		if f.Cut {
			got += "cut, "
		}
		if f.Sums.Hourly {
			got += "hours "
		} else {
			got += "days "
		}
		got += fmt.Sprintf("%d, tools", len(f.Sums.Days))
		for _, tool := range f.Sums.Tools {
			got += fmt.Sprintf(" %s:%d", tool.Name, tool.Calls)
		}
		if got != row.want {
			t.Errorf("%s: %s\nwant %s", row.name, got, row.want)
		}
	}
	// The pages of the list contain every record once.
	var seen []string
	for s := (usageSearch{From: start, To: end, Limit: 7}); ; {
		f, err := searchUsage(t.Context(), log, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range f.Records {
			seen = append(seen, fmt.Sprint(r.Seq))
		}
		if !f.More {
			break
		}
		s.Before = f.Records[len(f.Records)-1].Seq
	}
	if got := strings.Join(seen, " "); got != "20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1" {
		t.Error(got)
	}
}

func TestBuckets(t *testing.T) {
	var b buckets
	if b.below(95) != 0 {
		t.Error("of none")
	}
	for i := range int64(1000) {
		b.add(i * 1000)
	}
	if got := b.below(95); got < 950_000*95/100 || got > 950_000*106/100 {
		t.Error("95 of 100 are below", got)
	}
	var small buckets
	small.add(0)
	if got := small.below(95); got != 1 {
		t.Error(got)
	}
}

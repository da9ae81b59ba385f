package console

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// A usageSearch is a filter. It finds records that match all its non-zero fields.
type usageSearch struct {
	From, To time.Time // From is inclusive, To exclusive
	Agent    string    // a substring of Principal or Owner
	Tool     string
	Class    string
	Outcome  string
	Text     string // a substring of the code, the kind, the correlation or the change ID
	Tenant   string // the tenant of the reader, if Tenanted
	Tenanted bool
	People   bool  // also calls of people
	Before   int64 // a Seq: the list contains only older records. 0 means all
	Limit    int   // maximum number of records in the list
	Most     int   // maximum number of records read. 0 means 100,000
}

// A usageFound is the result of a usageSearch.
type usageFound struct {
	Records []audit.Record // newest first
	More    bool           // there are older records
	Sums    usageSums
	Read    int       // records read
	Cut     bool      // Most was reached: Sums cover only the time since Since
	Since   time.Time // the time of the oldest record read
	Damaged int64     // the Seq of an unreadable record that ended the search, or 0
}

// usageSums are the totals of a usageSearch.
type usageSums struct {
	Total  usageSum
	Days   []usageSum // one per day of the period, oldest first, or one per hour if the period is two days or less
	Hourly bool
	Tools  []usageSum // most calls first
	Agents []usageSum // most calls first
}

// A usageSum is the total of the calls of one day, tool or agent.
type usageSum struct {
	Name    string
	Owner   string    // for an agent: the owner of its newest call
	At      time.Time // for a day or hour: its start
	Calls   int
	Refused int   // refused, failed and cancelled calls
	Tokens  int64 // estimated
	Cost    int64 // in millionths of a US dollar
	Slow    int64 // the 95th percentile in microseconds, accurate to 5%

	took buckets
}

// A reading is a usageSearch in progress.
type reading struct {
	search usageSearch
	found  *usageFound
	times  map[int64]*usageSum  // by the start of the step, in Unix seconds
	tools  map[string]*usageSum // by name
	agents map[string]*usageSum // by principal
	step   time.Duration        // an hour or a day
}

const mostUsage = 100_000

// searchUsage searches log for records that match s.
func searchUsage(ctx context.Context, log audit.Reader, s usageSearch) (usageFound, error) {
	s.Most = cmp.Or(s.Most, mostUsage)
	r := reading{search: s, found: &usageFound{}, times: map[int64]*usageSum{}, tools: map[string]*usageSum{}, agents: map[string]*usageSum{}, step: 24 * time.Hour}
	if s.To.Sub(s.From) <= 48*time.Hour {
		r.step, r.found.Sums.Hourly = time.Hour, true
	}
	for at := s.From.Truncate(r.step); at.Before(s.To); at = at.Add(r.step) {
		r.times[at.Unix()] = &usageSum{At: at}
	}
	err := log.Backwards(ctx, audit.Last, r.take)
	if damage, ok := errors.AsType[*audit.Damage](err); ok {
		r.found.Damaged, err = damage.Seq, nil
	}
	if err != nil {
		return usageFound{}, err
	}
	sums := &r.found.Sums
	sums.Days, sums.Tools, sums.Agents = sortedSums(r.times), sortedSums(r.tools), sortedSums(r.agents)
	slices.SortFunc(sums.Days, func(a, b usageSum) int { return a.At.Compare(b.At) })
	sums.Total.Slow = sums.Total.took.below(95)
	return *r.found, nil
}

// take processes one record. It reports whether to continue.
func (r *reading) take(rec audit.Record) bool {
	if rec.Step != "" && rec.Time.Before(r.search.From) {
		return true // a step can be recorded long after it happened
	}
	if rec.Time.Before(r.search.From) {
		return false // records are in chronological order, except for concurrent calls
	}
	if r.found.Read == r.search.Most {
		r.found.Cut = true
		return false
	}
	r.found.Read++
	r.found.Since = rec.Time
	if !r.search.fits(&rec) {
		return true
	}
	if r.search.Before == 0 || rec.Seq < r.search.Before {
		if len(r.found.Records) < r.search.Limit {
			r.found.Records = append(r.found.Records, rec)
		} else {
			r.found.More = true
		}
	}
	if rec.Step != "" {
		return true // not a call
	}
	r.found.Sums.Total.add(&rec)
	if day := r.times[rec.Time.Truncate(r.step).Unix()]; day != nil {
		day.add(&rec)
	}
	sumFor(r.tools, rec.Tool).add(&rec)
	agent := sumFor(r.agents, rec.Principal)
	agent.Owner = cmp.Or(agent.Owner, rec.Owner)
	agent.add(&rec)
	return true
}

func (s *usageSearch) fits(r *audit.Record) bool {
	has := func(text, part string) bool {
		return part == "" || strings.Contains(strings.ToLower(text), strings.ToLower(part))
	}
	return r.Checkpoint == "" && (s.People || !r.Person) && (!s.Tenanted || r.Tenant == s.Tenant) && r.Time.Before(s.To) &&
		(has(r.Principal, s.Agent) || has(r.Owner, s.Agent)) && (s.Tool == "" || r.Tool == s.Tool) && has(r.Class, s.Class) &&
		(s.Outcome == "" || r.Outcome == s.Outcome) && has(r.Code+" "+r.Kind+" "+r.Correlation+" "+r.Change, s.Text)
}

func sumFor(all map[string]*usageSum, name string) *usageSum {
	s := all[name]
	if s == nil {
		s = &usageSum{Name: name}
		all[name] = s
	}
	return s
}

func (s *usageSum) add(r *audit.Record) {
	s.Calls++
	if !r.Well() {
		s.Refused++
	}
	s.Tokens += int64(r.Tokens)
	s.Cost += r.Cost
	s.took.add(r.Micros)
}

func sortedSums[K comparable](all map[K]*usageSum) []usageSum {
	out := make([]usageSum, 0, len(all))
	for _, s := range all {
		s.Slow = s.took.below(95)
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b usageSum) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name)) })
	return out
}

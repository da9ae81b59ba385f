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
	Text     string // a substring of the code or the kind, or the beginning of the correlation or the change ID
	Tenant   string // the tenant of the reader, if Tenanted
	Tenanted bool
	People   bool  // also calls of people
	Before   int64 // a Seq: the list contains only older records. 0 means all
	Limit    int   // maximum number of records in the list
	Most     int   // how much is read at most: a record counts as one, and as direct if it has no summary. 0 means mostUsage
}

// A usageFound is the result of a usageSearch.
type usageFound struct {
	Records []audit.Record // newest first
	More    bool           // there are older records
	Sums    usageSums
	Read    int       // records read for the sums
	Cut     bool      // Most was reached: Sums cover only the time since Since
	Since   time.Time // the time of the oldest record read
	Short   bool      // Most was reached before the list was full: it covers only the time since Listed
	Listed  time.Time // the time of the oldest record read for the list
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
	spent  int                  // of Most, for the sums
	listed int                  // of Most, for the list
}

// mostUsage is usageSearch.Most by default. direct is what a record without a summary counts: reading it takes so much
// longer.
const mostUsage, direct = 500_000, 5

// A summarized log finds records by summaries. See store.BlockStore.
type summarized interface {
	Search(ctx context.Context, period [2]time.Time, before int64, words map[string]string, yield func(*audit.Record) bool) error
	RecordsAt(ctx context.Context, numbers []int64) ([]audit.Record, error)
}

// searchUsage searches log for records that match s. It reads the newest records for the sums and, if the list begins
// elsewhere, the records from there on.
func searchUsage(ctx context.Context, log audit.Reader, s usageSearch) (usageFound, error) {
	s.Most = cmp.Or(s.Most, mostUsage)
	r := reading{search: s, found: &usageFound{}, times: map[int64]*usageSum{}, tools: map[string]*usageSum{}, agents: map[string]*usageSum{}, step: 24 * time.Hour}
	if s.To.Sub(s.From) <= 48*time.Hour {
		r.step, r.found.Sums.Hourly = time.Hour, true
	}
	for at := s.From.Truncate(r.step); at.Before(s.To); at = at.Add(r.step) {
		r.times[at.Unix()] = &usageSum{At: at}
	}
	err := s.walk(ctx, log, 0, func(rec *audit.Record) bool { return (s.Before != 0 || r.list(rec)) && r.sum(rec) })
	if err == nil && s.Before != 0 {
		err = s.walk(ctx, log, s.Before, r.list)
	}
	if err == nil {
		err = r.complete(ctx, log)
	}
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

// walk passes records that may match s to yield, the newest first.
func (s *usageSearch) walk(ctx context.Context, log audit.Reader, before int64, yield func(*audit.Record) bool) error {
	if log, ok := log.(summarized); ok {
		words := map[string]string{"agent": s.Agent, "tool": s.Tool, "class": s.Class, "outcome": s.Outcome, "text": s.Text}
		if s.Tenanted {
			words["tenant"] = s.Tenant
		}
		return log.Search(ctx, [2]time.Time{s.From, s.To}, before, words, yield)
	}
	return log.Backwards(ctx, audit.Last, func(rec audit.Record) bool {
		switch {
		case rec.Step != "" && rec.Time.Before(s.From): // a step can be recorded long after it happened
			return true
		case rec.Time.Before(s.From):
			return false // records are in chronological order, except for concurrent calls
		case before != 0 && rec.Seq >= before:
			return true
		}
		return yield(&rec)
	})
}

// weight returns what a record counts for Most.
func weight(rec *audit.Record) int {
	if rec.Hash == "" {
		return 1
	}
	return direct
}

// sum adds a record to the sums. It returns false after Most.
func (r *reading) sum(rec *audit.Record) bool {
	if r.spent += weight(rec); r.spent > r.search.Most {
		r.found.Cut = true
		return false
	}
	r.found.Read++
	r.found.Since = rec.Time
	if rec.Step != "" || !r.search.fits(rec) { // a step is not a call
		return true
	}
	r.found.Sums.Total.add(rec)
	if day := r.times[rec.Time.Truncate(r.step).Unix()]; day != nil {
		day.add(rec)
	}
	sumFor(r.tools, rec.Tool).add(rec)
	agent := sumFor(r.agents, rec.Principal)
	agent.Owner = cmp.Or(agent.Owner, rec.Owner)
	agent.add(rec)
	return true
}

// list adds a record to the list. It returns false if the list is full and the sums are complete.
func (r *reading) list(rec *audit.Record) bool {
	if r.listed += weight(rec); r.listed > r.search.Most {
		r.found.Short = !r.found.More
		return r.search.Before == 0 // sum then ends the walk
	}
	r.found.Listed = rec.Time
	switch {
	case !r.search.fits(rec):
	case len(r.found.Records) < r.search.Limit:
		r.found.Records = append(r.found.Records, *rec)
	default:
		r.found.More = true
	}
	return !r.found.More || r.search.Before == 0
}

// complete replaces the summaries in the list by the records themselves. It fails at one that can't be read.
func (r *reading) complete(ctx context.Context, log audit.Reader) error {
	var numbers []int64
	for _, rec := range r.found.Records {
		if rec.Hash == "" {
			numbers = append(numbers, rec.Seq)
		}
	}
	from, ok := log.(summarized)
	if !ok || len(numbers) == 0 {
		return nil
	}
	whole, err := from.RecordsAt(ctx, numbers)
	if err != nil {
		return err
	}
	for _, rec := range whole {
		i := slices.IndexFunc(r.found.Records, func(one audit.Record) bool { return one.Seq == rec.Seq && one.Hash == "" })
		if i >= 0 {
			r.found.Records[i] = rec
		}
	}
	r.found.Records = slices.DeleteFunc(r.found.Records, func(one audit.Record) bool { return slices.Contains(numbers, one.Seq) && one.Hash == "" }) // archived meanwhile
	return nil
}

func (s *usageSearch) fits(r *audit.Record) bool {
	has := func(text, part string) bool {
		return part == "" || strings.Contains(strings.ToLower(text), strings.ToLower(part))
	}
	begins := func(text string) bool { return strings.HasPrefix(strings.ToLower(text), strings.ToLower(s.Text)) }
	return r.Checkpoint == "" && (s.People || !r.Person) && (!s.Tenanted || r.Tenant == s.Tenant) && r.Time.Before(s.To) &&
		(has(r.Principal, s.Agent) || has(r.Owner, s.Agent)) && (s.Tool == "" || r.Tool == s.Tool) && has(r.Class, s.Class) &&
		(s.Outcome == "" || r.Outcome == s.Outcome) && (has(r.Code, s.Text) || has(r.Kind, s.Text) || begins(r.Correlation) || begins(r.Change))
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

package console

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// pageSize is the number of changes on a page of the queue.
const pageSize = 50

// A queuePage is the list of changes.
type queuePage struct {
	Groups []group
	More   string // the address of the next page, or ""
	Back   string // the address of the first page; "" on that page
	Filter asked
	Chips  []chip // one filter per state, with counts
	Any    bool   // a filter besides the state is set
	Batch  bool   // some changes can be approved together
}

// An asked is the filter in the address.
type asked struct{ State, Risk, Op, Source, Class, Agent, Owner, Text, Before string }

type chip struct {
	Href, Label string
	Count       int
	Here        bool
}

// A group is a series of similar changes; most groups have one.
type group struct {
	Rows []row
	Href string // a page for all of them; "" if there is only one
}

// First returns the change that represents the group.
func (g group) First() row { return g.Rows[0] }

// A row is a change as the queue shows it.
type row struct {
	review.Row
	Batch bool // it can be approved together with others
	Stale bool
	Soon  bool // it expires within the hour
}

// queueStates are the states to filter by; the first is the default.
func queueStates() []struct {
	key, label string
	states     []change.State
} {
	return []struct {
		key, label string
		states     []change.State
	}{
		{"open", "To review", []change.State{change.Pending, change.Stale}},
		{"running", "Running", []change.State{change.Granted, change.Applying}},
		{"unsettled", "Unsettled", []change.State{change.Unknown}},
		{"applied", "Applied", []change.State{change.Applied}},
		{"refused", "Refused", []change.State{change.Rejected, change.Cancelled, change.Expired}},
		{"failed", "Failed", []change.State{change.Failed}},
		{"all", "All", nil},
	}
}

// readFilter parses the filter in the address.
func readFilter(q url.Values) (asked, change.Filter, error) {
	a := asked{State: q.Get("state"), Risk: q.Get("risk"), Op: q.Get("op"), Source: q.Get("source"), Class: q.Get("class"),
		Agent: q.Get("agent"), Owner: q.Get("owner"), Text: q.Get("q"), Before: q.Get("before")}
	if a.State == "" {
		a.State = "open"
	}
	f := change.Filter{Risk: change.Risk(a.Risk), Op: a.Op, Source: a.Source, Class: a.Class, Principal: a.Agent, Owner: a.Owner,
		Text: a.Text, Before: a.Before, Limit: pageSize}
	if a.Risk != "" && !slices.Contains([]change.Risk{change.Low, change.Medium, change.High}, f.Risk) {
		return a, f, problem.New(problem.InvalidArgument, "A risk is low, medium or high.")
	}
	for _, s := range queueStates() {
		if s.key == a.State {
			f.States = s.states
			return a, f, nil
		}
	}
	return a, f, problem.New(problem.InvalidArgument, "There is no such state.")
}

// address returns the address of the queue with this filter.
func (a asked) address() string {
	q := url.Values{}
	for _, p := range [][2]string{{"state", a.State}, {"risk", a.Risk}, {"op", a.Op}, {"source", a.Source}, {"class", a.Class},
		{"agent", a.Agent}, {"owner", a.Owner}, {"q", a.Text}, {"before", a.Before}} {
		if p[1] != "" && (p[0] != "state" || p[1] != "open") {
			q.Set(p[0], p[1])
		}
	}
	if len(q) == 0 {
		return Path + "/changes"
	}
	return Path + "/changes?" + q.Encode()
}

func (c *Console) queue(v *visit) error {
	a, f, err := readFilter(v.r.URL.Query())
	if err != nil {
		return err
	}
	desk := c.desk(v)
	rows, more, err := desk.Queue(v.ctx(), f)
	if err != nil {
		return err
	}
	everywhere := f
	everywhere.States, everywhere.Before = nil, ""
	counts, err := desk.Counts(v.ctx(), everywhere)
	if err != nil {
		return err
	}
	p := queuePage{Filter: a, Chips: chips(a, counts), Any: a.Risk+a.Op+a.Source+a.Class+a.Agent+a.Owner+a.Text != ""}
	p.Groups = grouped(c.rows(v.who, rows))
	for _, g := range p.Groups {
		p.Batch = p.Batch || slices.ContainsFunc(g.Rows, func(r row) bool { return r.Batch })
	}
	if first := a; a.Before != "" {
		first.Before = ""
		p.Back = first.address()
	}
	if more && len(rows) > 0 {
		next := a
		next.Before = rows[len(rows)-1].ID
		p.More = next.address()
	}
	return c.render(v, "queue", frame{Title: "Changes", At: Path + "/changes", Page: p, Live: true})
}

func chips(a asked, counts map[change.State]int) []chip {
	var out []chip
	for _, s := range queueStates() {
		n := 0
		for state, count := range counts {
			if s.states == nil || slices.Contains(s.states, state) {
				n += count
			}
		}
		to := a
		to.State, to.Before = s.key, ""
		out = append(out, chip{Href: to.address(), Label: s.label, Count: n, Here: s.key == a.State})
	}
	return out
}

func (c *Console) rows(p identity.Principal, all []review.Row) []row {
	out := make([]row, len(all))
	for i, r := range all {
		out[i] = row{Row: r, Batch: inBatch(r, p), Stale: r.State == change.Stale,
			Soon: !r.State.Ended() && r.Expires.Sub(c.now()) < time.Hour}
	}
	return out
}

// inBatch reports whether r may be approved together with others: not if it is stale, risky or proposed by the
// viewer's own agent.
func inBatch(r review.Row, p identity.Principal) bool {
	return r.State == change.Pending && r.Risk != change.High && !r.Mine && identity.Person(r.Owner) != p.Person()
}

// grouped groups three or more similar changes on the page, at the position of the first.
func grouped(rows []row) []group {
	shape := func(r row) string {
		return strings.Join([]string{string(r.State), r.Op, strings.Join(r.Classes, ","), strings.Join(r.Fields, ","), r.Agent, r.Owner,
			string(r.Risk)}, "\x00")
	}
	number := map[string]int{}
	for _, r := range rows {
		number[shape(r)]++
	}
	var out []group
	at := map[string]int{}
	for _, r := range rows {
		s := shape(r)
		if i, ok := at[s]; ok && number[s] >= 3 {
			out[i].Rows = append(out[i].Rows, r)
			continue
		}
		at[s] = len(out)
		out = append(out, group{Rows: []row{r}})
	}
	for i, g := range out {
		if len(g.Rows) > 1 && g.Rows[0].Batch {
			out[i].Href = batchAddress(g.Rows)
		}
	}
	return out
}

func batchAddress(rows []row) string {
	q := url.Values{}
	for _, r := range rows {
		if r.Batch {
			q.Add("id", r.ID)
		}
	}
	return Path + "/batch?" + q.Encode()
}

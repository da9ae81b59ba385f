package console

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// queuePageSize is the number of changes on a page of the queue. It is the maximum that a store lists at once.
const queuePageSize = 200

// A queueFilter is the filter of the queue in an address.
type queueFilter struct{ State, Risk, Op, Source, Class, Agent, Owner, Text, Before, By string }

// queueMine is the queueState of changes that the visitor may decide about.
const queueMine = "mine"

// A queueState is a state to filter by.
type queueState struct {
	Key, Label string
	States     []change.State
}

// queueStates returns the states to filter by. The first is the default.
func queueStates() []queueState {
	open := []change.State{change.Pending, change.Stale}
	return []queueState{
		{queueMine, "Needs me", open},
		{"open", "To review", open},
		{"returned", "With agents", []change.State{change.Returned}},
		{"running", "Running", []change.State{change.Granted, change.Applying}},
		{"unsettled", "Unsettled", []change.State{change.Unknown}},
		{"applied", "Applied", []change.State{change.Applied}},
		{"refused", "Refused", []change.State{change.Rejected, change.Cancelled, change.Expired, change.Replaced}},
		{"failed", "Failed", []change.State{change.Failed}},
		{"all", "All", nil},
	}
}

// queueGroupings returns the properties by which changes can be grouped. The first is the default, the shape of the
// change.
func queueGroupings() []string { return []string{"", "agent", "class", "verb"} }

// readFilter parses a query. It returns the filter and the form of it that stores accept. For queueMine,
// change.Filter.For is "me".
func readFilter(q url.Values) (queueFilter, change.Filter, error) {
	a := queueFilter{State: cmp.Or(q.Get("state"), queueMine), Risk: q.Get("risk"), Op: q.Get("op"), Source: q.Get("source"), Class: q.Get("class"),
		Agent: q.Get("agent"), Owner: q.Get("owner"), Text: q.Get("q"), Before: q.Get("before"), By: q.Get("by")}
	f := change.Filter{Risk: change.Risk(a.Risk), Op: a.Op, Source: a.Source, Class: a.Class, Principal: a.Agent, Owner: a.Owner,
		Text: a.Text, Before: a.Before, Limit: queuePageSize}
	if a.Risk != "" && !slices.Contains([]change.Risk{change.Low, change.Medium, change.High}, f.Risk) {
		return a, f, problem.New(problem.InvalidArgument, "A risk is low, medium or high.")
	}
	if !slices.Contains(queueGroupings(), a.By) {
		return a, f, problem.New(problem.InvalidArgument, "Changes are grouped by agent, class or verb.")
	}
	for _, s := range queueStates() {
		if s.Key == a.State {
			f.States = s.States
			if s.Key == queueMine {
				f.For = "me"
			}
			return a, f, nil
		}
	}
	return a, f, problem.New(problem.InvalidArgument, "There is no such state.")
}

// Query returns the filter as a query, or "" for the default.
func (a queueFilter) Query() string {
	q := url.Values{}
	for _, p := range [][2]string{{"state", a.State}, {"risk", a.Risk}, {"op", a.Op}, {"source", a.Source}, {"class", a.Class},
		{"agent", a.Agent}, {"owner", a.Owner}, {"q", a.Text}, {"before", a.Before}, {"by", a.By}} {
		if p[1] != "" && (p[0] != "state" || p[1] != queueMine) {
			q.Set(p[0], p[1])
		}
	}
	return q.Encode()
}

// IsNarrowed reports whether the filter has a condition other than the state and the page.
func (a queueFilter) IsNarrowed() bool {
	return a.Risk+a.Op+a.Source+a.Class+a.Agent+a.Owner+a.Text != ""
}

// These limit the number of saved filters and the length of their names in characters.
const maxKept, maxName = 10, 40

// A keptFilters contains saved filters by the names that the visitor chose.
type keptFilters map[string]queueFilter

// parseKeptFilters parses the text that Encode wrote. It omits filters that it can't parse.
func parseKeptFilters(text string) keptFilters {
	out := keptFilters{}
	q, err := url.ParseQuery(text)
	if err != nil {
		return out
	}
	for name := range q {
		if in, err := url.ParseQuery(q.Get(name)); err == nil {
			out.Keep(name, in)
		}
	}
	return out
}

// Keep adds the filter of a query under a name, if the filter and the name are valid and there is room.
func (k keptFilters) Keep(name string, q url.Values) {
	a, _, err := readFilter(q)
	if err != nil || name == "" || len([]rune(name)) > maxName || len(k) == maxKept {
		return
	}
	a.Before = ""
	k[name] = a
}

// Encode writes k as one text.
func (k keptFilters) Encode() string {
	q := url.Values{}
	for name, a := range k {
		q.Set(name, a.Query())
	}
	return q.Encode()
}

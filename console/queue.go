package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// A queuePage is the list of changes.
type queuePage struct {
	Groups   []group
	More     string // the address of the next page, or ""
	Back     string // the address of the first page, or "" on that page
	Filter   queueFilter
	Chips    []chip // one filter per state, with counts
	By       []chip // links to group the page
	Saved    []chip // the visitor's saved filters
	Any      bool   // a filter other than the state is set
	Batch    bool   // some changes can be approved together
	In       string // the address of the queue, for pages that link back to it
	Waiting  chip   // the changes that wait for other people, if none wait for the visitor
	Cleared  string // if a search found nothing: the address of the queue without it
	Other    chip   // if a search found nothing in this state: the link to what it found in all states
	Searched string // if a search found nothing: the states in which it looked
}

// A chip is a link that filters or groups a list. Here is true if the page already shows the target of the link.
// Count is 0 if nothing is counted. Further is true if there are more than Count.
type chip struct {
	Href, Label   string
	Count         int
	Further, Here bool
}

// Number returns the count, with a plus if there are more.
func (c chip) Number() string { return countText(c.Count) + map[bool]string{true: "+"}[c.Further] }

// A group is a series of similar changes. Most groups contain one change.
type group struct {
	Rows []row
	Name string // the property that they share, or "" for changes of one shape
	Href string // a page for the changes that can be decided together, or ""
}

// First returns the change that represents the group.
func (g group) First() row { return g.Rows[0] }

// A row is a change in the form in which the queue shows it.
type row struct {
	review.Row
	Batch bool   // it can be decided together with others
	In    string // the filter under which it is listed, for pages that link back
	Stale bool
	Soon  bool // it expires within an hour
}

// address returns the address of the queue with a filter.
func address(a queueFilter) string {
	if q := a.Query(); q != "" {
		return Path + "/changes?" + q
	}
	return Path + "/changes"
}

// queue lists changes by the filter in the query, in groups, with links to the next and the first page. If the
// visitor has no change to decide, the page contains the number of changes that wait for others.
func (c *Console) queue(v *visit) error {
	a, f, err := readFilter(v.r.URL.Query())
	if err != nil {
		return err
	}
	reviewer := c.reviewer(v)
	rows, more, err := reviewer.Queue(v.ctx(), f)
	if err != nil {
		return err
	}
	chips, err := c.chips(v, a, f)
	if err != nil {
		return err
	}
	p := queuePage{Filter: a, Chips: chips, By: by(a), Any: a.IsNarrowed()}
	p.Saved = savedFilters(v)
	if len(rows) == 0 && a.State == queueMine {
		p.Waiting = chips[1]
	}
	if len(rows) == 0 && a.Text != "" {
		cleared := a
		cleared.Text, cleared.Before = "", ""
		p.Cleared, p.Other = address(cleared), chips[len(chips)-1]
		p.Searched = chips[slices.IndexFunc(chips, func(c chip) bool { return c.Here })].Label
	}
	here := a
	here.Before = ""
	p.In = address(here)
	p.Groups = groupRows(c.rows(v.who, rows, address(here)), a.By)
	for _, g := range p.Groups {
		p.Batch = p.Batch || slices.ContainsFunc(g.Rows, func(r row) bool { return r.Batch })
	}
	if first := a; a.Before != "" {
		first.Before = ""
		p.Back = address(first)
	}
	if more && len(rows) > 0 {
		next := a
		next.Before = rows[len(rows)-1].ID
		p.More = address(next)
	}
	return c.render(v, "queue", frame{Title: "Changes", At: Path + "/changes", Page: p, Live: true})
}

// mostCounted is the largest exact count of a state. See bailiwick.Reviewer.
const mostCounted = 1000

// chips returns the links that filter by state, with counts.
func (c *Console) chips(v *visit, a queueFilter, f change.Filter) ([]chip, error) {
	f.States, f.Before, f.For = nil, "", "me"
	all, mine, err := c.reviewer(v).Counts(v.ctx(), f)
	if err != nil {
		return nil, err
	}
	var out []chip
	for _, s := range queueStates() {
		counts := all
		if s.Key == queueMine {
			counts = mine
		}
		to := a
		to.State, to.Before = s.Key, ""
		one := chip{Href: address(to), Label: s.Label, Here: s.Key == a.State}
		for state, count := range counts {
			if s.States == nil || slices.Contains(s.States, state) {
				one.Count += min(count, mostCounted)
				one.Further = one.Further || count > mostCounted
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// A grouping is a way to group the queue. The function of returns the property that the changes of a group share.
type grouping struct {
	key, label string
	of         func(row) string
}

func groupings() []grouping {
	return []grouping{
		{"", "Shape", nil},
		{"agent", "Agent", func(r row) string { return r.Agent + " → " + r.Owner }},
		{"class", "Class", func(r row) string { return strings.Join(r.Classes, ", ") }},
		{"verb", "Verb", func(r row) string { return verbText(r.Op) }},
	}
}

// by returns a link for each grouping.
func by(a queueFilter) []chip {
	var out []chip
	for _, g := range groupings() {
		to := a
		to.By, to.Before = g.key, ""
		out = append(out, chip{Href: address(to), Label: g.label, Here: g.key == a.By})
	}
	return out
}

func (c *Console) rows(p identity.Principal, all []review.Row, in string) []row {
	out := make([]row, len(all))
	for i, r := range all {
		out[i] = row{Row: r, Batch: inBatch(r, p), Stale: r.State == change.Stale, In: in,
			Soon: !r.State.IsFinal() && r.Expires.Sub(c.now()) < time.Hour}
	}
	return out
}

// inBatch reports whether r may be approved together with others. This is false if r is stale, risky or proposed by
// the viewer's own agent.
func inBatch(r review.Row, p identity.Principal) bool {
	return r.State == change.Pending && r.Risk != change.High && !r.Mine && change.Party{Owner: r.Owner}.Human() != change.PartyOf(p).Human()
}

// groupRows groups the changes of the page by the property that by names. Each group is at the position of its first
// change. Without a grouping, it groups three or more changes of one shape.
func groupRows(rows []row, by string) []group {
	of, least := shape, 3
	if by != "" {
		of, least = groupings()[slices.IndexFunc(groupings(), func(g grouping) bool { return g.key == by })].of, 1
	}
	number := map[string]int{}
	for _, r := range rows {
		number[of(r)]++
	}
	var out []group
	at := map[string]int{}
	for _, r := range rows {
		s := of(r)
		if i, ok := at[s]; ok && number[s] >= least {
			out[i].Rows = append(out[i].Rows, r)
			continue
		}
		at[s] = len(out)
		g := group{Rows: []row{r}}
		if by != "" {
			g.Name = s
		}
		out = append(out, g)
	}
	for i, g := range out {
		if len(g.Rows) > 1 && slices.ContainsFunc(g.Rows, func(r row) bool { return r.Batch }) {
			out[i].Href = batchAddress(g.Rows)
		}
	}
	return out
}

// shape returns the property that similar changes share.
func shape(r row) string {
	return strings.Join([]string{string(r.State), r.Op, strings.Join(r.Classes, ","), strings.Join(r.Fields, ","), r.Agent, r.Owner, string(r.Risk), strconv.FormatBool(r.Batch), strconv.FormatBool(r.Rows == 1)}, "\x00")
}

// batchAddress returns the page that decides together about those rows that allow it.
func batchAddress(rows []row) string {
	q := url.Values{}
	for _, r := range rows {
		if r.Batch {
			q.Add("id", r.ID)
			q.Set("in", r.In)
		}
	}
	return Path + "/batch?" + q.Encode()
}

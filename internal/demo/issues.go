package demo

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// An issue is one row of the table issues, with its comments and labels. Empty texts and zero times are stored as
// NULL.
type issue struct {
	id, org, project               string
	number                         int
	typ, status, priority          string
	title, body                    string
	assignee, reporter, parent     string
	estimate                       float64 // 0 is stored as NULL
	custom                         string
	legacy                         int64 // 0 is stored as NULL
	note                           string
	created, updated, deleted, due time.Time
	labels                         []int
	comments                       []comment
}

type comment struct {
	issue, author, body string
	created             time.Time
}

// A team generates the issues of one project.
type team struct {
	rng     *rand.Rand
	domain  domain
	project string
	users   []user
	people  []string
	labels  []int
	legacy  int64 // the next legacy_id
}

// issues returns all issues of the project, oldest first.
func (t *team) issues() []issue {
	times := t.workingTimes(t.domain.issues)
	out := make([]issue, 0, len(times))
	var epics, stories []string
	for i, created := range times {
		is := issue{id: uuid(t.rng, created), org: t.domain.org, project: t.project, number: i + 1, created: created}
		is.typ = t.kind(i)
		switch is.typ {
		case "Epic":
			epics = append(epics, is.id)
		case "Story":
			if t.rng.IntN(10) > 0 {
				is.parent = recent(t.rng, epics, 3)
			}
			stories = append(stories, is.id)
		default:
			is.parent = recent(t.rng, stories, 8)
			if t.rng.IntN(7) == 0 {
				is.parent = recent(t.rng, epics, 3)
			}
		}
		t.fill(&is, float64(i)/float64(len(times)))
		out = append(out, is)
	}
	return out
}

// kind returns the type of the i-th issue of a project. The first two issues are an Epic and a Story, so that later
// issues have parents.
func (t *team) kind(i int) string {
	n := t.rng.IntN(100)
	switch {
	case i == 0 || i > 1 && n < 3:
		return "Epic"
	case i == 1 || n < 25:
		return "Story"
	case n < 68:
		return "Task"
	}
	return "Bug"
}

// fill sets all fields of the issue except its position in the project. age is between 0 for the oldest issue and 1
// for the newest.
func (t *team) fill(is *issue, age float64) {
	text := about(t.rng, t.domain, t.people)
	is.title, is.body = text.title(is.typ), text.body(is.typ)
	is.status = t.status(age)
	is.priority = pick(t.rng, []string{"Low", "Low", "Medium", "Medium", "Medium", "Medium", "High", "High", "Critical"})
	is.reporter = pick(t.rng, t.users).id
	if is.status != "Backlog" || t.rng.IntN(4) == 0 {
		is.assignee = pick(t.rng, t.users).id
	}
	if is.typ != "Epic" && t.rng.IntN(4) > 0 {
		is.estimate = pick(t.rng, []float64{0.5, 1, 2, 3, 5, 8, 13, 20, 40})
	}
	if t.rng.IntN(8) == 0 {
		is.note = text.say(privateNotes())
	}
	if t.rng.IntN(5) == 0 {
		is.due = is.created.AddDate(0, 0, 10+t.rng.IntN(90))
	}
	if age < 0.4 {
		// The value is larger than 2^53, so it changes if any code converts it to a double.
		is.legacy = t.legacy
		t.legacy += 2 + 2*t.rng.Int64N(50)
	}
	is.custom = t.custom(text)
	is.updated = t.later(is.created, 60*24*time.Hour)
	if (is.typ == "Task" || is.typ == "Bug") && t.rng.IntN(18) == 0 {
		is.deleted = is.updated
	}
	for _, at := range t.rng.Perm(len(t.labels))[:t.rng.IntN(4)] {
		is.labels = append(is.labels, t.labels[at])
	}
	t.comment(is, text)
}

// status returns a random status. Old issues are mostly done, and new issues are mostly open.
func (t *team) status(age float64) string {
	if t.rng.Float64() > age*age {
		return pick(t.rng, []string{"Done", "Done", "Done", "Done", "Done", "Done", "Done", "Done", "Cancelled", "Backlog"})
	}
	return pick(t.rng, []string{"Backlog", "Backlog", "Backlog", "Todo", "Todo", "InProgress", "InProgress", "Review", "Done"})
}

// comment adds up to nine comments to is.
func (t *team) comment(is *issue, text prose) {
	n := t.rng.IntN(5) + t.rng.IntN(6)
	at := is.created
	for range n {
		at = t.later(at, 4*24*time.Hour)
		is.comments = append(is.comments, comment{is.id, pick(t.rng, t.users).id, text.say(remarks()), at})
	}
	if at.After(is.updated) && is.deleted.IsZero() {
		is.updated = at
	}
}

// custom returns the JSON of the column custom. It is nested, and some members are missing in some issues.
func (t *team) custom(text prose) string {
	if t.rng.IntN(6) == 0 {
		return "{}"
	}
	type customer struct {
		Name string `json:"name"`
		Tier string `json:"tier"`
	}
	c := struct {
		Component string    `json:"component"`
		Customer  *customer `json:"customer,omitempty"`
		Tags      []string  `json:"tags"`
		Sprint    int       `json:"sprint,omitempty"`
		Risk      float64   `json:"risk"`
		External  bool      `json:"external"`
	}{Component: text.system, Tags: []string{}, Risk: float64(t.rng.IntN(100)) / 100, External: t.rng.IntN(3) == 0}
	if t.rng.IntN(3) > 0 {
		c.Customer = &customer{pick(t.rng, customers()), pick(t.rng, []string{"bronze", "silver", "gold"})}
	}
	for _, at := range t.rng.Perm(len(t.domain.things))[:t.rng.IntN(3)] {
		c.Tags = append(c.Tags, strings.ReplaceAll(t.domain.things[at], " ", "-"))
	}
	if t.rng.IntN(2) == 0 {
		c.Sprint = 1 + t.rng.IntN(44)
	}
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // can't fail for plain data
	}
	return string(b)
}

// later returns a time after from, at most span later and not after Clock.
func (t *team) later(from time.Time, span time.Duration) time.Time {
	end := from.Add(span)
	if now := Clock(); end.After(now) {
		end = now
	}
	if !end.After(from) {
		return from
	}
	return from.Add(time.Duration(t.rng.Int64N(int64(end.Sub(from))))).Truncate(time.Second)
}

// workingTimes returns n times on working days between the start of 2025 and Clock, sorted.
func (t *team) workingTimes(n int) []time.Time {
	start := time.Date(2025, time.January, 6, 0, 0, 0, 0, time.UTC)
	days := int(Clock().Sub(start).Hours() / 24)
	out := make([]time.Time, 0, n)
	for len(out) < n {
		day := start.AddDate(0, 0, t.rng.IntN(days))
		if day.Weekday() != time.Saturday && day.Weekday() != time.Sunday {
			out = append(out, day.Add(8*time.Hour+time.Duration(t.rng.IntN(10*3600))*time.Second))
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return out
}

// recent picks one of the last n of ids.
func recent(rng *rand.Rand, ids []string, n int) string {
	return pick(rng, ids[max(0, len(ids)-n):])
}

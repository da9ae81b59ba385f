package change

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// teamMark is the beginning of the name of a team. Other names of reviewers are those of people.
const teamMark = "team:"

// A Reviewer is a person or a team that a Rule names. Only its reviewers can approve the changes that the rule matches.
// The zero Reviewer matches no person.
type Reviewer struct {
	Name   string              // "team:billing", or the name of a person
	People []string            // the people of a team
	Claims map[string][]string // the claims of the other people of a team, each with the values that make them one of it
}

// has reports whether p is the person r, or in the team r.
func (r Reviewer) has(p identity.Principal) bool {
	human := PartyOf(p).Human()
	if human == "" {
		return false
	}
	people := r.People
	if !strings.HasPrefix(r.Name, teamMark) {
		people = []string{r.Name}
	}
	if slices.ContainsFunc(people, func(name string) bool { return Party{Owner: name}.Human() == human }) {
		return true
	}
	for claim, values := range r.Claims {
		has, _ := p.Claims.Get(claim)
		list := has.List()
		if has.Kind() == value.String {
			list = []value.Value{has}
		}
		if slices.ContainsFunc(list, func(v value.Value) bool { return v.Kind() == value.String && slices.Contains(values, v.Text()) }) {
			return true
		}
	}
	return false
}

// String returns the name of r. For a team it adds who is in it.
func (r Reviewer) String() string {
	const most = 5
	who := slices.Clone(r.People)
	for _, claim := range slices.Sorted(maps.Keys(r.Claims)) {
		for _, is := range r.Claims[claim] {
			who = append(who, "the "+claim+" "+is)
		}
	}
	switch {
	case len(who) == 0:
		return r.Name
	case len(who) > most:
		who = append(who[:most], fmt.Sprintf("%d more", len(who)-most))
	}
	return r.Name + " (" + strings.Join(who, ", ") + ")"
}

// A Panel is the reviewers that one rule requires for a change. Need of them must approve it.
type Panel struct {
	Rule  string   `json:"rule"`
	Names []string `json:"names"` // as in Reviewer
	Need  int      `json:"need"`
}

// panel returns the panel of r, if it names reviewers.
func (r *Rule) panel() (Panel, bool) {
	p := Panel{Rule: r.Name, Need: max(r.Approvals, 1)}
	for _, one := range r.Reviewers {
		p.Names = append(p.Names, one.Name)
	}
	return p, len(p.Names) > 0
}

// Missing returns the panels of c that haven't approved its current digest, each with the number of people that is
// missing. If none is missing but c requires more approvals, it returns all panels, with 0.
func (c *Change) Missing() []Panel {
	var open []Panel
	for _, panel := range c.Panels {
		var by []string
		for _, d := range c.Decisions {
			if d.Approve && d.Digest == c.Digest && holdsAny(d.As, panel.Names) && !slices.Contains(by, d.By.Human()) {
				by = append(by, d.By.Human())
			}
		}
		if panel.Need -= len(by); panel.Need > 0 {
			open = append(open, panel)
		}
	}
	if open != nil || len(c.Approvers()) >= c.Need {
		return open
	}
	for _, panel := range c.Panels {
		panel.Need = 0
		open = append(open, panel)
	}
	return open
}

func holdsAny(some, names []string) bool {
	return slices.ContainsFunc(some, func(name string) bool { return slices.Contains(names, name) })
}

// Covers reports whether every panel of now is at least as strict in c.
func (c *Change) Covers(now *Change) bool {
	for _, panel := range now.Panels {
		narrower := func(had Panel) bool {
			wider := slices.ContainsFunc(had.Names, func(name string) bool { return !slices.Contains(panel.Names, name) })
			return !wider && had.Need >= panel.Need
		}
		if !slices.ContainsFunc(c.Panels, narrower) {
			return false
		}
	}
	return true
}

// Roles returns the names of the reviewers in the rules in force that p is: their own name, and their teams.
func (q *Queue) Roles(p identity.Principal) []string {
	var out []string
	for i := range q.rules {
		for _, r := range q.rules[i].Reviewers {
			if r.has(p) && !slices.Contains(out, r.Name) {
				out = append(out, r.Name)
			}
		}
	}
	return out
}

// Admits returns the names of the reviewers of c that p is under the rules in force. If c has reviewers and p is not one
// of them, the error is a problem.PermissionDenied that says who can approve.
func (q *Queue) Admits(p identity.Principal, c *Change) ([]string, error) {
	if len(c.Panels) == 0 {
		return nil, nil
	}
	var names []string
	for _, panel := range c.Panels {
		names = append(names, panel.Names...)
	}
	as := slices.DeleteFunc(q.Roles(p), func(name string) bool { return !slices.Contains(names, name) })
	if len(as) == 0 {
		return nil, &problem.Error{Code: problem.PermissionDenied, Kind: "reviewers", Detail: "this change is for " + q.Named(c.Panels), Suggestion: "ask one of them to look at it"}
	}
	return as, nil
}

// Named returns the reviewers of panels for people, with the members of teams.
func (q *Queue) Named(panels []Panel) string {
	var out []string
	for _, panel := range panels {
		var names []string
		for _, name := range panel.Names {
			names = append(names, q.reviewer(name).String())
		}
		if one := strings.Join(names, " or "); !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return strings.Join(out, ", and for ")
}

// reviewer returns the reviewer with a name in the rules in force, or one with this name that has no members.
func (q *Queue) reviewer(name string) Reviewer {
	for i := range q.rules {
		for _, r := range q.rules[i].Reviewers {
			if r.Name == name {
				return r
			}
		}
	}
	return Reviewer{Name: name}
}

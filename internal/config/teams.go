package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// teamMark is the beginning of the name of a team in a list of reviewers.
const teamMark = "team:"

// teamsShape returns the shape of the teams of people, by name.
func (c *Config) teamsShape() yamlconf.Shape {
	return yamlconf.Each(yamlconf.Table{Names: "team", Check: sourceName, Of: func(name string) (yamlconf.Shape, func()) {
		team := change.Reviewer{Name: teamMark + name}
		return yamlconf.Object([]yamlconf.Key{
			{Name: "people", Doc: "Who is in it", Shape: yamlconf.List(&team.People, "people", personName)},
			{Name: "claims", Doc: "Who else is in it, such as a group of the issuer: {groups: [billing]}. Name the claim in auth.oidc.sign_in.claims.keep", Shape: yamlconf.Each(yamlconf.Table{Names: "claim", Of: func(claim string) (yamlconf.Shape, func()) {
				var values []string
				return yamlconf.List(&values, "values", nil), func() {
					if team.Claims == nil {
						team.Claims = map[string][]string{}
					}
					team.Claims[claim] = values
				}
			}})},
		}, func(r *yamlconf.Reader, _ yamlconf.Node, at string) {
			if len(team.People) == 0 && len(team.Claims) == 0 {
				r.WrongAt(at, "is a team of nobody. Name its people or claims")
			}
		}), func() { c.teams = append(c.teams, team) }
	}})
}

// reviewerName returns the fault of the name of a reviewer, or "".
func reviewerName(name string) string {
	if strings.HasPrefix(name, teamMark) {
		return "" // resolveTeams looks for it
	}
	return personName(name)
}

// personName returns the fault of the name of a person, or "".
func personName(name string) string {
	switch {
	case strings.HasPrefix(name, teamMark):
		return "is a team. Name people"
	case identity.Person(name) == "":
		return "is the name of nobody"
	}
	return ""
}

// resolveTeams gives the rules of review the members of the teams that they name. It reports unknown teams, and claims that
// people who sign in don't keep.
func (c *Config) resolveTeams(r *yamlconf.Reader) {
	var known []string
	for _, team := range c.teams {
		known = append(known, team.Name)
		for claim := range team.Claims {
			c.checkTeamClaim(r, strings.TrimPrefix(team.Name, teamMark), claim)
		}
	}
	for i := range c.Rules.Review {
		for k := range c.Rules.Review[i].Reviewers {
			one := &c.Rules.Review[i].Reviewers[k]
			n := slices.Index(known, one.Name)
			switch {
			case n >= 0:
				*one = c.teams[n]
			case strings.HasPrefix(one.Name, teamMark):
				at := "/review/" + strconv.Itoa(i)
				if r.HasAt("/review/rules") {
					at = "/review/rules/" + strconv.Itoa(i)
				}
				message := "there is no team " + strconv.Quote(problem.Cut(one.Name)) + " in review.teams" + problem.DidYouMean(problem.Nearest(one.Name, known, 1))
				r.WrongAt(at+"/reviewers/"+strconv.Itoa(k), message)
			}
		}
	}
}

// checkTeamClaim reports a claim of a team that sign-in doesn't keep. Then no person has it.
func (c *Config) checkTeamClaim(r *yamlconf.Reader, team, claim string) {
	if c.Auth.SignIn == nil {
		return // tokens can have any claim
	}
	if keep := c.Auth.SignIn.Claims.Keep; !slices.Contains(keep, claim) {
		r.WrongAt("/review/teams/"+team+"/claims/"+claim, "isn't in auth.oidc.sign_in.claims.keep, so that nobody has it"+problem.DidYouMean(problem.Nearest(claim, keep, 1)))
	}
}

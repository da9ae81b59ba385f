package spec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// near returns up to three names that are similar to name. If there are none, it returns the shortest names that
// begin with name or contain it: Pers for Person, get_project for get_projects_projectId.
func near(name string, names []string) []string {
	if found := problem.Nearest(name, names, 3); len(found) > 0 {
		return found
	}
	name = strings.ToLower(name)
	if len(name) < 3 {
		return nil
	}
	var found []string
	for _, is := range []func(string, string) bool{strings.HasPrefix, strings.Contains} {
		for _, n := range names {
			if is(strings.ToLower(n), name) {
				found = append(found, n)
			}
		}
		if found != nil {
			break
		}
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return found[:min(len(found), 3)]
}

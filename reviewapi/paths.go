package reviewapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// noPath returns the error for a path that isn't among known, which has the methods of each pattern. It names the next
// parts of the path, or the nearest names. A path with another / at its end is nearest to the one without.
func noPath(path string, known map[string][]string) error {
	path = strings.TrimSuffix(path, "/")
	parts := strings.Split(path, "/")
	patterns := map[string]string{} // by what they are with the path's own ids
	var longer []string
	for pattern := range known {
		own := strings.Split(pattern, "/")
		for i, part := range own {
			if strings.HasPrefix(part, "{") && i < len(parts) {
				own[i] = parts[i]
			}
		}
		filled := strings.Join(own, "/")
		patterns[filled] = pattern
		if len(parts) > 2 && strings.HasPrefix(filled, path+"/") {
			longer = append(longer, filled)
		}
	}
	near := slices.Sorted(slices.Values(longer))
	if _, is := patterns[path]; is || near == nil {
		near = problem.Nearest(path, slices.Sorted(maps.Keys(patterns)), 1)
	}
	if len(near) == 0 {
		return problem.New(problem.NotFound, "there is no such path; GET /api/changes lists changes")
	}
	for i, filled := range near {
		near[i] = strings.Join(known[patterns[filled]], ", ") + " " + patterns[filled]
	}
	return problem.New(problem.NotFound, "there is no such path; near: "+strings.Join(near, "; "))
}

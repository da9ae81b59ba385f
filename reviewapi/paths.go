package reviewapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// noPath returns the error for a path that doesn't match a pattern in known, which maps patterns to methods. The
// error contains the possible next parts of the path, or near names. A trailing slash is ignored when near names are
// searched.
func noPath(path string, known map[string][]string) error {
	path = strings.TrimSuffix(path, "/")
	parts := strings.Split(path, "/")
	patterns := map[string]string{} // the original patterns, by the form that contains the ids of the path
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
		return problem.New(problem.NotFound, "there is no such path. GET /api/changes lists changes")
	}
	for i, filled := range near {
		near[i] = strings.Join(known[patterns[filled]], "|") + " " + patterns[filled]
	}
	return problem.New(problem.NotFound, "there is no such path"+problem.DidYouMean(near))
}

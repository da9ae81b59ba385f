package interpret

import (
	"regexp"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/value"
)

// findMatches returns the list of the matches of an expression in x, or only the first match.
func findMatches(x, expression string, all bool) value.Value {
	re, err := regexp.Compile(expression)
	if err != nil || len(x) > plan.MostSearched {
		return value.Value{}
	}
	most := 1
	if all {
		most = plan.MostMatches + 1
	}
	var list []value.Value
	end, before := 0, 0 // the beginning of the last match, and the number of characters before it
	for _, at := range re.FindAllStringSubmatchIndex(x, most) {
		before += utf8.RuneCountInString(x[end:at[0]])
		end = at[0]
		list = append(list, matchPart(x, at, before))
	}
	switch {
	case all && len(list) <= plan.MostMatches:
		return value.OfArray(list)
	case all || len(list) == 0:
		return value.Value{}
	}
	return list[0]
}

// matchPart returns a match in x as an object. The argument at contains the positions of the match, followed by the
// positions of each group. The argument before is the number of characters before the match.
func matchPart(x string, at []int, before int) value.Value {
	groups := []value.Value{}
	for i := 2; i < len(at); i += 2 {
		var group value.Value
		if at[i] >= 0 {
			group = value.OfString(x[at[i]:at[i+1]])
		}
		groups = append(groups, group)
	}
	return value.OfObject([]value.Member{{Name: "match", Value: value.OfString(x[at[0]:at[1]])}, {Name: "idx", Value: value.OfInt(int64(before))},
		{Name: "captures", Value: value.OfArray(groups)}})
}

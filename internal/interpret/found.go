package interpret

import (
	"regexp"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/value"
)

// findMatches returns the parts of x that an expression matches, or the first of them.
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
	end, before := 0, 0 // where the last part began, and the characters before it
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

// matchPart returns the part of x at some places, those of the whole and then those of each group, behind a number of characters.
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

package problem

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Nearest returns up to most of names that are similar to got, closest first. The distance is the number of edits,
// including transpositions. Names further away than a third of their length are left out.
func Nearest(got string, names []string, most int) []string {
	type scored struct {
		name string
		d    int
	}
	var near []scored
	away := distanceFrom(got)
	for _, n := range names {
		if d := away(n); isNear(n, d) {
			near = append(near, scored{n, d})
		}
	}
	sort.Slice(near, func(i, j int) bool {
		if near[i].d != near[j].d {
			return near[i].d < near[j].d
		}
		return near[i].name < near[j].name
	})
	near = slices.Compact(near) // several fields may have one name
	if len(near) > most {
		near = near[:most]
	}
	out := make([]string, len(near))
	for i, s := range near {
		out[i] = s.name
	}
	return out
}

// Similar returns a function that reports whether Nearest could return a name for got. It is for long lists, of which a
// caller wants to look up only the similar names. It isn't safe for concurrent use.
func Similar(got string) func(name string) bool {
	away := distanceFrom(got)
	return func(name string) bool { return isNear(name, away(name)) }
}

// isNear reports whether a name is similar at a distance.
func isNear(name string, d int) bool { return d <= mostAway(name) && d < len(name) }

// mostAway is the largest distance at which a name is similar.
func mostAway(name string) int { return max(1, (len(name)+1)/3) }

// distanceFrom returns a function that returns the distance of a name from got, or a larger number if the name isn't
// similar.
func distanceFrom(got string) func(name string) int {
	from, to := fold(nil, got), []byte(nil)
	var rows [3][]int
	return func(name string) int {
		to = fold(to[:0], name)
		if most := mostAway(name); len(to) > len(from)+most || len(from) > len(to)+most {
			return most + 1
		}
		return distance(from, to, &rows)
	}
}

// fold appends s to b. It converts ASCII to lower case and drops separators, in which spellings of a name differ (createdAt, created_at).
// It cuts names at 64 bytes.
func fold(b []byte, s string) []byte {
	for i := 0; i < len(s) && len(b) < 64; i++ {
		c := s[i]
		switch {
		case c == '_' || c == '-' || c == '.' || c == '$' || c == ' ':
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		default:
			b = append(b, c)
		}
	}
	return b
}

// distance returns the optimal string alignment distance of a and b in bytes. It reuses rows.
func distance(a, b []byte, rows *[3][]int) int {
	for i := range rows {
		rows[i] = slices.Grow(rows[i][:0], len(b)+1)[:len(b)+1]
	}
	before, last, row := rows[0], rows[1], rows[2]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// ShortList returns names as a list for a message, where they are few enough to be read at a glance. It returns "" if
// they are more than 24, or longer than 400 bytes, or none.
func ShortList(names []string) string {
	if all := strings.Join(names, ", "); len(names) <= 24 && len(all) <= 400 {
		return all
	}
	return ""
}

// DidYouMean returns the end of a message that suggests names, or "" if near is empty.
func DidYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return ". " + Question(near)
}

// Question asks whether the caller meant one of names, of which there is one at least.
func Question(names []string) string {
	if last := len(names) - 1; last > 0 {
		return "Did you mean " + strings.Join(names[:last], ", ") + " or " + names[last] + "?"
	}
	return "Did you mean " + names[0] + "?"
}

// Instead returns the end of a message about an unknown name. It suggests the near names, or otherwise lists the first
// known names, at most most of them. verb is the verb before the list, such as "takes" or "has".
func Instead(near, known []string, verb string, most int) string {
	if len(near) > 0 {
		return DidYouMean(near)
	}
	if len(known) == 0 {
		return ". It " + verb + " none"
	}
	text := ". It " + verb + " " + strings.Join(known[:min(len(known), most)], ", ")
	if more := len(known) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Cut shortens caller input for a message: to 64 characters and an ellipsis.
func Cut(s string) string {
	const most = 64
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

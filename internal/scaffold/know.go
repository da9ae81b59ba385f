package scaffold

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// know adds the facts of a preset to the guesses. It never makes a denied or masked field visible.
func know(guesses []guess, p Preset) {
	byName := classesByName(guesses)
	for name, c := range p.Classes {
		if g := byName[name]; g != nil && c.Hidden != "" {
			g.hidden, g.preset = c.Hidden, p.Name
		}
	}
	for name, c := range p.Classes {
		g := byName[name]
		if g == nil || g.hidden != "" {
			continue
		}
		g.preset = p.Name
		for _, field := range slices.Sorted(maps.Keys(c.Denied)) {
			if f := g.class.Field(field); f != nil && !g.isDenied(field) {
				g.masked = slices.DeleteFunc(g.masked, func(n noted) bool { return strings.HasPrefix(n.name, yamlKey(field)+":") })
				if len(g.masked) == 0 {
					g.masked = nil
				}
				g.denied = append(g.denied, noted{field, c.Denied[field]})
			}
		}
		if g.class.Field(c.Label) != nil && g.whole(c.Label) {
			g.label = c.Label
		}
		for _, field := range slices.Sorted(maps.Keys(c.Live)) {
			if g.class.Field(field) != nil && g.whole(field) {
				g.canonical = slices.DeleteFunc(g.canonical, func(live string) bool { return strings.HasPrefix(live, yamlKey(field)+":") })
				g.canonical = append(g.canonical, yamlKey(field)+": "+liveOf(g.class.Field(field).Type, c.Live[field]))
			}
		}
		for _, field := range slices.Sorted(maps.Keys(c.Pointers)) {
			if target := byName[c.Pointers[field]]; target != nil && g.mayPoint(field, target) {
				g.known = append(g.known, yamlKey(field)+": "+yamlText(target.class.Name))
			}
		}
	}
}

// truths and bits match the booleans, and the numbers that represent booleans, in a condition.
var (
	truths = regexp.MustCompile(`\b(?:true|false)\b`)
	bits   = regexp.MustCompile(`\b[01]\b`)
)

// liveOf adapts the condition of a preset to a field of type t. Databases of the same application may use a boolean
// or a number. For example, xorm uses integers in SQLite, and MariaDB uses tinyint(1) for both.
func liveOf(t schema.Type, condition string) string {
	number := map[string]string{"true": "1", "false": "0"}
	truth := map[string]string{"1": "true", "0": "false"}
	switch t {
	case schema.Integer:
		return truths.ReplaceAllStringFunc(condition, func(v string) string { return number[v] })
	case schema.Boolean:
		return bits.ReplaceAllStringFunc(condition, func(v string) string { return truth[v] })
	}
	return condition
}

// isDenied reports whether a field is denied by the rule or by its name.
func (g *guess) isDenied(field string) bool {
	return slices.Contains(g.floor, field) || slices.ContainsFunc(g.denied, func(n noted) bool { return n.name == field })
}

// whole reports whether a field is visible without a mask.
func (g *guess) whole(field string) bool {
	return !g.isDenied(field) && !slices.ContainsFunc(g.masked, func(n noted) bool { return strings.HasPrefix(n.name, yamlKey(field)+":") })
}

// mayPoint reports whether a field can be declared as a pointer to a class. Both must be visible, and the key of the
// class must be one field of the same type. The database must not declare a pointer for the field itself.
func (g *guess) mayPoint(field string, target *guess) bool {
	f := g.class.Field(field)
	if f == nil || !g.whole(field) || target.hidden != "" || len(target.class.Key) != 1 ||
		slices.ContainsFunc(g.class.Relations, func(r schema.Relation) bool { return slices.Contains(r.Fields, field) }) {
		return false
	}
	key := target.class.Field(target.class.Key[0])
	return key != nil && key.Type == f.Type && target.whole(key.Name)
}

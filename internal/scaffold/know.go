package scaffold

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// know adds the knowledge about an application to guesses. It never shows a field that a guess denies or masks.
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

// truths and bits match truth values, and the numbers that stand for them, in a condition.
var (
	truths = regexp.MustCompile(`\b(?:true|false)\b`)
	bits   = regexp.MustCompile(`\b[01]\b`)
)

// liveOf returns a condition of a preset for a field of type t. Some databases of an application have a boolean where others
// have a number: xorm makes integers in SQLite, and MariaDB has tinyint(1) for both.
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

// isDenied reports whether a field is denied, by rule or by its name.
func (g *guess) isDenied(field string) bool {
	return slices.Contains(g.floor, field) || slices.ContainsFunc(g.denied, func(n noted) bool { return n.name == field })
}

// whole reports whether a field is neither denied nor masked.
func (g *guess) whole(field string) bool {
	return !g.isDenied(field) && !slices.ContainsFunc(g.masked, func(n noted) bool { return strings.HasPrefix(n.name, yamlKey(field)+":") })
}

// mayPoint reports whether a field can be declared a pointer to a class. Both must be visible, the class must have one
// key of the same type, and the database must declare no pointer there.
func (g *guess) mayPoint(field string, target *guess) bool {
	f := g.class.Field(field)
	if f == nil || !g.whole(field) || target.hidden != "" || len(target.class.Key) != 1 ||
		slices.ContainsFunc(g.class.Relations, func(r schema.Relation) bool { return slices.Contains(r.Fields, field) }) {
		return false
	}
	key := target.class.Field(target.class.Key[0])
	return key != nil && key.Type == f.Type && target.whole(key.Name)
}

package sqlparse

import "slices"

// maxSets is the maximum number of grouping sets of a SELECT. Each set becomes a separate query.
const maxSets = 32

// groups parses the list after GROUP BY. ROLLUP, CUBE and GROUPING SETS become sets. If there are several of them, each
// set of one is combined with each set of the others, as in PostgreSQL.
func (p *parser) groups(s *Select) {
	g := &groups{parser: p, of: s}
	sets := [][]int{{}}
	p.commas(func() { sets = g.combineSets(sets, g.item()) })
	at := p.peek().at
	switch {
	case p.word("with", "rollup"): // as in MySQL
		sets = rollupSets(g.alone)
	case p.word("with", "cube"):
		sets = g.cubeSets(g.alone, at)
	}
	if len(sets) != 1 || len(s.Group) == 0 {
		s.Sets = sets
	}
}

// groups parses the elements of a GROUP BY into a Select.
type groups struct {
	*parser
	of    *Select
	alone [][]int // the elements that are expressions
}

// item parses an element and returns its sets. An expression has one set.
func (g *groups) item() [][]int {
	defer g.enter()()
	at := g.peek().at
	follows := func(n int) bool { t := g.ahead(n); return t.kind == symbol && t.low == "(" }
	switch {
	case g.is("rollup") && follows(1):
		return rollupSets(g.elements())
	case g.is("cube") && follows(1):
		return g.cubeSets(g.elements(), at)
	case g.is("grouping", "sets") && follows(2):
		g.i += 3
		var sets [][]int
		g.commas(func() { sets = append(sets, g.item()...) })
		g.mark(")")
		g.few(sets, at)
		return sets
	}
	e := g.element()
	g.alone = append(g.alone, e)
	return [][]int{e}
}

// elements parses the list of a ROLLUP or a CUBE.
func (g *groups) elements() [][]int {
	g.i += 2
	var all [][]int
	g.commas(func() { all = append(all, g.element()) })
	g.mark(")")
	return all
}

// element parses one expression, several expressions in parentheses that belong together, or () for no expression.
func (g *groups) element() []int {
	if n := g.ahead(1); g.peek().kind == symbol && g.peek().low == "(" && n.kind == symbol && n.low == ")" {
		g.i += 2
		return []int{}
	}
	list := []Expr{g.expr()}
	if t, ok := list[0].(*Tuple); ok {
		list = t.Items
	}
	var out []int
	for _, e := range list {
		out = append(out, len(g.of.Group))
		g.of.Group = append(g.of.Group, e)
	}
	return out
}

// rollupSets returns the sets of ROLLUP: all elements, all except the last, and so on, down to no elements.
func rollupSets(elements [][]int) [][]int {
	var sets [][]int
	for n := len(elements); n >= 0; n-- {
		sets = append(sets, slices.Concat(elements[:n]...))
	}
	return sets
}

// cubeSets returns the sets of CUBE: every subset of the elements.
func (g *groups) cubeSets(elements [][]int, at Pos) [][]int {
	sets := [][]int{{}}
	for i := len(elements) - 1; i >= 0; i-- {
		for _, set := range sets {
			sets = append(sets, slices.Concat(elements[i], set))
		}
		g.few(sets, at)
	}
	slices.Reverse(sets)
	return sets
}

// combineSets combines every set of one list with every set of another.
func (g *groups) combineSets(a, b [][]int) [][]int {
	var sets [][]int
	for _, x := range a {
		for _, y := range b {
			sets = append(sets, slices.Concat(x, y))
		}
		g.few(sets, g.peek().at)
	}
	return sets
}

func (g *groups) few(sets [][]int, at Pos) {
	if len(sets) > maxSets {
		g.fail(at, "GROUP BY has more than %d grouping sets", maxSets)
	}
}

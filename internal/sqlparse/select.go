package sqlparse

import (
	"slices"
	"strings"
)

// selectClauses parses the clauses after SELECT in the order that SQL requires. at is the place of SELECT. For
// unsupported clauses, such as INTO, the error contains the name and the replacement.
func (p *parser) selectClauses(at Pos) *Select {
	s := &Select{At: at}
	p.top(s)
	switch {
	case p.word("distinct", "on"):
		s.Distinct = true
		p.mark("(")
		s.On = p.exprs()
		p.mark(")")
	case p.word("distinct"):
		s.Distinct = true
	default:
		p.word("all")
	}
	p.top(s)
	p.commas(func() { s.Items = append(s.Items, p.item()) })
	if t := p.peek(); p.word("into") {
		p.fail(t.at, "INTO can't be used here: a statement only reads")
	}
	if p.word("from") {
		p.commas(func() { s.From = append(s.From, p.from()) })
	}
	if p.word("where") {
		s.Where = p.expr()
	}
	if p.word("group", "by") {
		if all := p.word("all"); all && p.clauseEnds() {
			s.GroupAll = true
		} else {
			p.groups(s)
		}
	}
	if p.word("having") {
		s.Having = p.expr()
	}
	if p.word("qualify") { // before or after WINDOW
		s.Qualify = p.expr()
	}
	if p.word("window") {
		p.commas(func() {
			w := NamedWindow{Name: p.name("the name of a window")}
			p.expect("as")
			w.Window = *p.window()
			s.Windows = append(s.Windows, w)
		})
	}
	if s.Qualify == nil && p.word("qualify") {
		s.Qualify = p.expr()
	}
	return s
}

// top parses SQL Server's TOP n, which is a LIMIT. In other positions, top is a name.
func (p *parser) top(s *Select) {
	n := p.ahead(1)
	if s.Top == nil && p.is("top") && (n.kind == number || n.kind == param || n.kind == symbol && (n.low == "(" || n.low == "?" || n.low == ":")) {
		p.i++
		s.Top = p.binary(11)
	}
}

// item parses one item of a select list with its text. The text is the name of the column if there is no other name.
func (p *parser) item() Item {
	from := p.peek().from
	x := p.expr()
	it := Item{X: x, Text: strings.Join(strings.Fields(p.src[from:p.all[p.i-1].to]), " ")}
	if star, ok := x.(*Star); ok {
		p.except(star)
		return it
	}
	it.Alias = p.alias()
	return it
}

// except parses the columns that * EXCEPT (a, b) or * EXCLUDE a omits. An EXCEPT before a query is a set operation.
func (p *parser) except(star *Star) {
	open, after := p.ahead(1), p.ahead(2)
	listed := open.kind == symbol && open.low == "(" && (after.kind == quoted || after.kind == word && !reserved[after.low] && after.low != "values")
	switch {
	case (p.is("except") || p.is("exclude")) && listed:
		p.i += 2
		p.commas(func() { star.Except = append(star.Except, p.part()) })
		p.mark(")")
	case p.word("exclude"):
		star.Except = []Ident{p.part()}
	}
}

// clauseEnds reports whether the next token ends a clause.
func (p *parser) clauseEnds() bool {
	t := p.peek()
	return t.kind == end || t.kind == symbol && (t.low == ")" || t.low == ";") ||
		t.kind == word && slices.Contains([]string{"having", "qualify", "window", "order", "limit", "offset", "fetch", "union", "intersect", "except", "minus"}, t.low)
}

// alias parses [AS] name, or nothing.
func (p *parser) alias() *Ident {
	if p.word("as") {
		t := p.peek()
		if t.kind == text { // MySQL and SQLite accept 'alias'
			p.i++
			return &Ident{Text: t.text, Quoted: true, At: t.at}
		}
		if t.kind == word {
			p.i++
			return &Ident{Text: t.text, At: t.at}
		}
		n := p.name("a name")
		return &n
	}
	if t := p.peek(); t.kind == quoted || t.kind == word && !reserved[t.low] {
		n := p.name("a name")
		return &n
	}
	return nil
}

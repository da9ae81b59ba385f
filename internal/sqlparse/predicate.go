package sqlparse

import "strings"

// isTest parses IS ….
func (p *parser) isTest(x Expr) Expr {
	at := p.peek().at
	switch p.next().low {
	case "isnull":
		return &Is{X: x, What: "null", At: at}
	case "notnull":
		return &Is{X: x, What: "null", Not: true, At: at}
	}
	e := &Is{X: x, Not: p.word("not"), At: at}
	switch e.What = p.oneOf("null", "true", "false", "unknown"); {
	case e.What != "":
	case p.word("distinct", "from"):
		e.What, e.Y = "distinct", p.binary(5)
	default: // SQLite's x IS y means IS NOT DISTINCT FROM
		e.What, e.Y, e.Not = "distinct", p.binary(5), !e.Not
	}
	return e
}

// test parses [NOT] BETWEEN, IN, LIKE ….
func (p *parser) test(x Expr) Expr {
	not := p.word("not")
	t := p.next()
	switch t.low {
	case "between":
		e := &Between{X: x, Not: not, Symmetric: p.word("symmetric"), At: t.at}
		e.Low = p.binary(5)
		p.expect("and")
		e.High = p.binary(5)
		return e
	case "in":
		e := &In{X: x, Not: not, At: t.at}
		p.mark("(")
		if at := p.peek().at; p.symbol(")") {
			p.fail(at, "a list has at least one value. Nothing is in an empty one, so leave the condition out, or write false")
		}
		if p.queryNext() {
			e.Query = p.query()
		} else {
			e.List = p.items()
		}
		p.mark(")")
		return e
	case "glob":
		s, ok := p.binary(5).(*String)
		if !ok || strings.Contains(s.Text, "[") {
			p.fail(t.at, "GLOB takes a constant text with * and ? only. Use ~ with a regular expression")
		}
		like := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`, "*", "%", "?", "_").Replace(s.Text)
		return &Like{Op: "like", X: x, Not: not, Pattern: &String{Text: like, At: s.At}, At: t.at}
	case "similar":
		p.expect("to")
	}
	e := &Like{Op: t.low, X: x, Not: not, At: t.at}
	if t.low == "regexp" || t.low == "rlike" {
		e.Op = "~"
	}
	if quantifier := p.oneOf("any", "some", "all"); quantifier != "" {
		return p.likeAny(e, quantifier)
	}
	e.Pattern = p.binary(5)
	if p.word("escape") {
		e.Escape = p.binary(5)
	}
	return e
}

// mostPatterns is the maximum number of patterns of LIKE ANY. Each pattern becomes a separate LIKE.
const mostPatterns = 50

// likeAny parses the patterns of LIKE ANY (ARRAY['a%', 'b%']) or LIKE ANY ('a%', 'b%'). They become several LIKE joined
// with OR, or with AND for ALL. Each repeats the column.
func (p *parser) likeAny(e *Like, quantifier string) Expr {
	if _, column := e.X.(*Name); !column {
		p.fail(e.At, "LIKE %s takes a column on its left. Join several LIKE", strings.ToUpper(quantifier))
	}
	at := p.peek().at
	p.mark("(")
	patterns := p.exprs()
	p.mark(")")
	if list, ok := patterns[0].(*Array); ok && len(patterns) == 1 {
		patterns = list.Items
	}
	if len(patterns) == 0 || len(patterns) > mostPatterns {
		p.fail(at, "LIKE %s takes 1 to %d patterns", strings.ToUpper(quantifier), mostPatterns)
	}
	op := "or"
	if quantifier == "all" {
		op = "and"
	}
	var all Expr
	for _, pattern := range patterns {
		p.count()
		one := *e
		one.Pattern = pattern
		if all == nil {
			all = &one
			continue
		}
		all = &Binary{Op: op, L: all, R: &one, At: e.At}
	}
	return all
}

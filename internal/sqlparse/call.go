package sqlparse

import (
	"strings"
)

// call parses a function call.
func (p *parser) call() Expr {
	t := p.next()
	c := &Call{Name: strings.ToLower(t.text), At: t.at}
	p.mark("(")
	switch {
	case p.symbol(")"):
		return p.after(c)
	case p.symbol("*"):
		c.Star = true
		p.mark(")")
		return p.after(c)
	}
	if p.special(c) {
		p.mark(")")
		return p.after(c)
	}
	if c.Distinct = p.word("distinct"); !c.Distinct {
		p.word("all")
	}
	if c.Name == "make_interval" && p.ahead(1).low == "=" && p.ahead(2).low == ">" {
		return p.lengths(c)
	}
	c.Args = p.exprs()
	if p.word("order", "by") {
		c.Order = p.order()
	}
	if p.word("separator") { // GROUP_CONCAT(x SEPARATOR ', ')
		c.Args = append(c.Args, p.expr())
	}
	if t := p.peek(); p.word("limit") {
		if !gathers[c.Name] {
			p.fail(t.at, "LIMIT is only for aggregates that gather values, such as array_agg. Take the records with a LIMIT in a query in FROM")
		}
		c.Limit = p.expr()
	}
	p.mark(")")
	return p.after(c)
}

// lengths parses the arguments of make_interval(days => x, hours => y) and returns their sum.
func (p *parser) lengths(c *Call) Expr {
	var sum Expr
	p.commas(func() {
		unit := p.next()
		p.mark("=")
		p.mark(">")
		one := Expr(&Binary{Op: "*", L: p.expr(), R: &String{Text: "1 " + unit.low, Type: "interval", At: unit.at}, At: unit.at})
		if sum != nil {
			one = &Binary{Op: "+", L: sum, R: one, At: c.At}
		}
		sum = one
	})
	p.mark(")")
	return sum
}

// special parses the arguments of functions with keywords between the arguments. It returns false for other functions.
func (p *parser) special(c *Call) bool {
	field := func() { // a field, written as a word, becomes a string
		t := p.next()
		c.Args = append(c.Args, &String{Text: strings.ToLower(t.text), At: t.at})
	}
	switch c.Name {
	case "extract":
		field()
		p.expect("from")
		c.Args = append(c.Args, p.expr())
	case "position":
		c.Args = append(c.Args, p.binary(5))
		p.expect("in")
		c.Args = append(c.Args, p.expr())
	case "trim":
		side := p.oneOf("leading", "trailing", "both")
		c.Name = map[string]string{"leading": "ltrim", "trailing": "rtrim"}[side]
		if c.Name == "" {
			c.Name = "btrim"
		}
		if p.word("from") {
			c.Args = p.exprs()
			return true
		}
		c.Args = p.exprs()
		if p.word("from") {
			c.Args = append([]Expr{p.expr()}, c.Args...)
		}
	case "substring":
		c.Args = p.exprs()
		if p.word("from") {
			c.Args = append(c.Args, p.expr())
			if p.word("for") {
				c.Args = append(c.Args, p.expr())
			}
		} else if p.word("for") {
			c.Args = append(c.Args, &Number{Text: "1", At: c.At}, p.expr())
		}
	case "overlay":
		c.Args = p.overlay()
	case "timestampdiff", "timestampadd":
		field()
		p.mark(",")
		c.Args = append(c.Args, p.exprs()...)
	case "datediff", "dateadd", "date_diff", "datetrunc":
		if n := p.ahead(1); p.peek().kind == word && n.kind == symbol && n.low == "," && units[p.peek().low] { // DATEDIFF(day, a, b)
			field()
			p.mark(",")
			c.Args = append(c.Args, p.exprs()...)
			return true
		}
		c.Args = p.exprs()
	default:
		return false
	}
	return true
}

// overlay parses the arguments of overlay(x PLACING y FROM n [FOR m]), or arguments with commas.
func (p *parser) overlay() []Expr {
	args := p.exprs()
	if p.word("placing") {
		args = append(args, p.expr())
		p.expect("from")
		args = append(args, p.expr())
		if p.word("for") {
			args = append(args, p.expr())
		}
	}
	return args
}

// units are the names of units of time in functions of other databases.
var units = wordsOf("year years yy yyyy quarter qq month months mm week weeks wk day days dd hour hours hh minute minutes mi second seconds ss")

// gathers are the aggregates that collect values into a list or a text.
var gathers = wordsOf("string_agg listagg group_concat array_agg json_agg jsonb_agg json_group_array")

// after parses WITHIN GROUP, FILTER and OVER.
func (p *parser) after(c *Call) Expr {
	if p.word("within", "group") {
		p.mark("(")
		p.expect("order", "by")
		c.Within = p.order()
		p.mark(")")
		if gathers[c.Name] { // listagg(x, ',') WITHIN GROUP (ORDER BY y) is string_agg(x, ',' ORDER BY y)
			if c.Order != nil {
				p.fail(c.At, "%s has two orders. Leave one out", c.Name)
			}
			c.Order, c.Within = c.Within, nil
		}
	}
	if p.word("filter") {
		p.mark("(")
		p.expect("where")
		c.Filter = p.expr()
		p.mark(")")
	}
	if t := p.peek(); c.Name == "match" && t.low == "against" {
		p.failExpecting("the end of MATCH")
	}
	if t := p.peek(); p.word("over") {
		if c.Limit != nil {
			p.fail(t.at, "%s over a window takes no LIMIT. Number the records with row_number() in a query in FROM", c.Name)
		}
		if p.peek().low == "(" && p.peek().kind == symbol {
			c.Over = p.window()
		} else {
			n := p.name("a window")
			c.Over = &Window{Base: &n, At: t.at}
		}
	}
	return c
}

// typedConstant parses a typed constant such as DATE '2024-01-01' or INTERVAL 7 DAY. It returns nil if there is none.
func (p *parser) typedConstant(t *token) Expr {
	n := p.ahead(1)
	if n.kind == text {
		p.i += 2
		s := &String{Text: n.text, Type: t.low, At: t.at}
		if t.low == "interval" {
			if unit := p.oneOf("year", "month", "week", "day", "hour", "minute", "second"); unit != "" {
				s.Text += " " + unit
			}
		}
		return s
	}
	if t.low == "interval" && (n.kind == number || n.kind == symbol && n.low != "." && n.low != "," && n.low != ")") { // INTERVAL 7 DAY
		p.i++
		x := p.unary(10)
		unit := p.next()
		return &Call{Name: "make_interval", Args: []Expr{x, &String{Text: unit.low, At: unit.at}}, At: t.at}
	}
	return nil
}

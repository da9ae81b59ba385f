package sqlparse

import (
	"slices"
	"strings"
)

// expr parses an expression.
func (p *parser) expr() Expr { return p.binary(0) }

// strength returns the operator at the current token and how tightly it binds, as in PostgreSQL. It returns 0 if there
// is none. It consumes no tokens:
//
//	1 OR · 2 AND · 3 NOT · 4 IS, comparisons · 5 BETWEEN IN LIKE ~ · 6 other operators · 7 + - · 8 * / % · 9 ^ · 10 AT TIME ZONE, COLLATE · 11 unary · 12 :: []
func (p *parser) strength() (op string, level int) {
	t := p.peek()
	switch t.kind {
	case word:
		switch t.low {
		case "or":
			return "or", 1
		case "and":
			return "and", 2
		case "is", "isnull", "notnull":
			return t.low, 4
		case "between", "in", "like", "ilike", "similar", "glob", "regexp", "rlike", "not":
			if t.low == "not" {
				n := p.ahead(1)
				if n.kind != word || !slices.Contains([]string{"between", "in", "like", "ilike", "similar", "regexp", "rlike", "glob"}, n.low) {
					return "", 0
				}
			}
			return t.low, 5
		case "div", "mod":
			return t.low, 8
		case "at":
			if p.is("at", "time", "zone") {
				return "at time zone", 10
			}
		case "collate":
			return "collate", 10
		}
	case symbol:
		switch t.low {
		case "=", "==", "<", ">", "<=", ">=", "<>", "!=":
			return t.low, 4
		case "~", "~*", "!~", "!~*":
			return t.low, 5
		case "||", "->", "->>", "#>", "#>>", "@>", "<@", "&&", "?", "@?", "@@", "<->", "&", "|", "#":
			return t.low, 6
		case "+", "-":
			return t.low, 7
		case "*", "/", "%":
			return t.low, 8
		case "^":
			return "^", 9
		}
	}
	return "", 0
}

// binary parses operators that bind more tightly than level.
func (p *parser) binary(level int) Expr {
	defer p.enter()()
	x := p.unary(level)
	for {
		op, strong := p.strength()
		if op == "" || strong <= level {
			return x
		}
		p.count()
		x = p.operator(x, op, strong)
	}
}

// operator parses op and its right operand.
func (p *parser) operator(x Expr, op string, strong int) Expr {
	at := p.peek().at
	switch op {
	case "is", "isnull", "notnull":
		return p.isTest(x)
	case "not", "between", "in", "like", "ilike", "similar", "glob", "regexp", "rlike":
		return p.test(x)
	case "~", "~*", "!~", "!~*":
		p.i++
		return &Like{Op: strings.TrimPrefix(op, "!"), X: x, Pattern: p.binary(strong), Not: op[0] == '!', At: at}
	case "at time zone":
		p.i += 3
		return &Binary{Op: op, L: x, R: p.binary(strong), At: at}
	case "collate":
		p.collation(p.next())
		return x
	case "=", "==", "<", ">", "<=", ">=", "<>", "!=":
		p.i++
		if op == "<=" && p.symbol(">") { // MySQL's x <=> y
			return &Is{X: x, What: "distinct", Y: p.binary(strong), Not: true, At: at}
		}
		op = map[string]string{"==": "=", "!=": "<>"}[op] + strings.NewReplacer("==", "", "!=", "").Replace(op)
		if quantifier := p.oneOf("any", "some", "all"); quantifier != "" {
			a := &Any{X: x, Op: op, All: quantifier == "all", At: at}
			p.mark("(")
			if p.queryNext() {
				a.Query = p.query()
			} else {
				a.List = p.expr()
			}
			p.mark(")")
			return a
		}
	case "?":
		p.i++
		for _, more := range []string{"|", "&"} { // ?| and ?& are two symbols: as a single symbol, ?||'%' would have another meaning
			if p.symbol(more) {
				op += more
			}
		}
	default:
		p.i++
	}
	return &Binary{Op: op, L: x, R: p.binary(strong), At: at}
}

// unary parses an expression with an optional NOT or sign. NOT binds weakly, so it is allowed only if level permits.
// Signs bind more tightly than binary operators.
func (p *parser) unary(level int) Expr {
	t := p.peek()
	switch {
	case t.kind == word && t.low == "not" && level <= 3:
		p.i++
		return &Unary{Op: "not", X: p.binary(3), At: t.at}
	case t.kind == symbol && (t.low == "-" || t.low == "+"):
		p.i++
		return p.postfix(&Unary{Op: t.low, X: p.binary(10), At: t.at})
	case p.symbol("~"): // as weak as any other operator: ~a + b is ~(a + b)
		return &Unary{Op: "~", X: p.binary(6), At: t.at}
	}
	return p.postfix(p.primary())
}

// postfix parses ::type and [index].
func (p *parser) postfix(x Expr) Expr {
	for {
		at := p.peek().at
		p.count()
		switch {
		case p.symbol("::"):
			x = &Cast{X: x, Type: p.typeName(), At: at}
		case p.symbol("["):
			i := &Index{X: x, At: at}
			if p.peek().low == ":" {
				i.I = &Number{Text: "1", At: at}
			} else {
				i.I = p.expr()
			}
			if p.symbol(":") {
				i.To = p.expr()
			}
			p.mark("]")
			x = i
		default:
			return x
		}
	}
}

// typeName parses the name of a type and returns it in lower case.
func (p *parser) typeName() string {
	t := p.peek()
	if t.kind != word && t.kind != quoted {
		p.failExpecting("a type")
	}
	p.i++
	name := strings.ToLower(t.text)
	for p.symbol(".") { // pg_catalog.text
		name = strings.ToLower(p.part().Text)
	}
	switch name {
	case "double":
		p.word("precision")
	case "character", "char", "nchar":
		p.word("varying")
	case "unsigned", "signed":
		p.word("integer")
	}
	if p.symbol("(") {
		name += "("
		p.commas(func() { name += p.next().text + "," })
		p.mark(")")
		name = strings.TrimSuffix(name, ",") + ")"
	}
	if name == "timestamp" || name == "time" || strings.HasPrefix(name, "timestamp(") {
		if p.word("with", "time", "zone") {
			name = "timestamptz"
		} else {
			p.word("without", "time", "zone")
		}
	}
	for p.symbol("[") {
		p.mark("]")
		name += "[]"
	}
	return name
}

// primary parses a constant, a name, a call, or the contents of parentheses.
func (p *parser) primary() Expr {
	t := p.peek()
	switch t.kind {
	case number:
		p.i++
		return &Number{Text: t.text, At: t.at}
	case text:
		p.i++
		s := &String{Text: t.text, At: t.at}
		for p.peek().kind == text { // 'a' 'b' is one string
			s.Text += p.next().text
		}
		return s
	case param:
		p.i++
		return &Param{Name: t.text, At: t.at}
	case symbol:
		return p.symbolExpr()
	case quoted:
		return p.nameOrCall()
	case word:
		return p.keyword()
	}
	p.failExpecting("an expression")
	return nil
}

// symbolExpr parses an expression that begins with a symbol: *, a parameter or parentheses. Parentheses contain a
// query, an expression or a tuple. It looks ahead first, because in ((SELECT 1) + 2) the outer parenthesis doesn't
// belong to the query.
func (p *parser) symbolExpr() Expr {
	t := p.peek()
	switch {
	case p.symbol("*"):
		return &Star{At: t.at}
	case p.symbol("?"):
		return &Param{Name: "?", At: t.at}
	case p.symbol(":"):
		return &Param{Name: p.part().Text, At: t.at}
	case p.symbol("("):
		p.i--
		if p.queryNext() && p.ahead(1).low != "(" {
			p.i++
			s := &Sub{Query: p.query(), At: t.at}
			p.mark(")")
			return s
		}
		p.i++
		items := p.exprs()
		p.mark(")")
		if len(items) == 1 {
			return items[0]
		}
		return &Tuple{Items: items, At: t.at}
	}
	p.failExpecting("an expression")
	return nil
}

// keyword parses an expression that begins with a word.
func (p *parser) keyword() Expr {
	t := p.peek()
	called := p.ahead(1).kind == symbol && p.ahead(1).low == "("
	if p.reservedName() {
		return p.nameOrCall()
	}
	switch t.low {
	case "true", "false", "null", "current_date", "current_timestamp", "current_time", "localtime", "localtimestamp", "current_user", "session_user":
		p.i++
		if called && p.symbol("(") {
			for !p.symbol(")") {
				if p.next().kind == end {
					p.failExpecting(")")
				}
			}
		}
		return &Word{Text: t.low, At: t.at}
	case "case":
		return p.caseOf()
	case "exists":
		p.i++
		p.mark("(")
		q := p.query()
		p.mark(")")
		return &Exists{Query: q, At: t.at}
	case "cast", "try_cast", "safe_cast":
		p.i++
		p.mark("(")
		x := p.expr()
		p.expect("as")
		c := &Cast{X: x, Type: p.typeName(), At: t.at}
		p.mark(")")
		return c
	case "array":
		if x := p.list(t); x != nil {
			return x
		}
	case "interval", "date", "timestamp", "timestamptz", "time":
		if x := p.typedConstant(t); x != nil {
			return x
		}
	}
	if called && t.low != "in" {
		return p.call()
	}
	if reserved[t.low] {
		p.failExpecting("an expression")
	}
	return p.nameOrCall()
}

// nameOrCall parses a name with its qualifiers, table.*, or a call of a function with a schema.
func (p *parser) nameOrCall() Expr {
	n := &Name{Parts: []Ident{p.part()}}
	for p.symbol(".") {
		if p.symbol("*") {
			return &Star{Table: n.Parts, At: n.Parts[0].At}
		}
		n.Parts = append(n.Parts, p.part())
	}
	if p.peek().kind == symbol && p.peek().low == "(" { // pg_catalog.now()
		p.i--
		return p.call()
	}
	return n
}

// caseOf parses CASE [operand] WHEN … THEN … [ELSE …] END. At least one WHEN is required.
func (p *parser) caseOf() Expr {
	c := &Case{At: p.next().at}
	if !p.is("when") {
		c.Operand = p.expr()
	}
	for p.word("when") {
		c.When = append(c.When, p.expr())
		p.expect("then")
		c.Then = append(c.Then, p.expr())
	}
	if c.When == nil {
		p.failExpecting("WHEN")
	}
	if p.word("else") {
		c.Else = p.expr()
	}
	p.expect("end")
	return c
}

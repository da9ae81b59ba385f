package sqlparse

// from parses a FROM item with its joins.
func (p *parser) from() From {
	defer p.enter()()
	left := p.fromItem()
	for {
		p.count()
		t := p.peek()
		j := &Join{Kind: "inner", Natural: p.word("natural"), At: t.at}
		if kind := p.applyJoin(); kind != "" {
			left = &Join{Kind: kind, Left: left, Right: p.lateral(), On: &Word{Text: "true", At: t.at}, At: t.at}
			continue
		}
		switch {
		case p.word("cross"):
			j.Kind = "cross"
		case p.word("left"):
			j.Kind = "left"
			p.word("outer")
		case p.word("right"):
			j.Kind = "right"
			p.word("outer")
		case p.word("full"):
			j.Kind = "full"
			p.word("outer")
		case p.word("inner"):
		case p.is("join"):
		default:
			if j.Natural {
				p.failExpecting("JOIN")
			}
			return left
		}
		p.expect("join")
		j.Left, j.Right = left, p.fromItem()
		switch {
		case j.Kind == "cross" || j.Natural:
		case p.word("on"):
			j.On = p.expr()
		case p.word("using"):
			p.mark("(")
			p.commas(func() { j.Using = append(j.Using, p.part()) })
			p.mark(")")
		case j.Kind == "inner": // as in SQLite and MySQL
			j.Kind, j.Bare = "cross", true
		default:
			p.fail(t.at, "an outer join needs ON or USING")
		}
		left = j
	}
}

// applyJoin parses CROSS APPLY or OUTER APPLY of SQL Server and Oracle. It returns the kind of join, or "" if neither
// follows.
func (p *parser) applyJoin() string {
	switch {
	case p.word("cross", "apply"):
		return "inner"
	case p.word("outer", "apply"):
		return "left"
	}
	return ""
}

// lateral parses a FROM item that may refer to preceding items.
func (p *parser) lateral() From {
	f := p.fromItem()
	if d, ok := f.(*Derived); ok {
		d.Lateral = true
	}
	return f
}

// fromItem parses one FROM item: a query, a join in parentheses, a function with arguments, or a table. A parenthesis
// begins a query only if a query follows it and any further parentheses.
func (p *parser) fromItem() From {
	t := p.peek()
	lateral := p.word("lateral")
	if p.symbol("(") {
		if p.queryNext() {
			d := &Derived{Query: p.query(), Lateral: lateral, At: t.at}
			p.mark(")")
			d.Alias = p.fromAlias()
			return d
		}
		f := p.from()
		p.mark(")")
		return f
	}
	if n := p.ahead(1); p.peek().kind == word && n.kind == symbol && n.low == "(" {
		c, ok := p.primary().(*Call)
		if !ok {
			p.fail(t.at, "FROM takes a table, a query in parentheses, or a function")
		}
		return &Function{Call: c, Ordinality: p.word("with", "ordinality"), Alias: p.fromAlias()}
	}
	return p.table()
}

// queryNext reports whether a query follows, after any number of parentheses.
func (p *parser) queryNext() bool {
	n := 0
	for p.ahead(n).kind == symbol && p.ahead(n).low == "(" {
		n++
	}
	t := p.ahead(n)
	return t.kind == word && (t.low == "select" || t.low == "with" || t.low == "values" || t.low == "table")
}

// table parses the name of a table, with optional qualifiers, and its alias. It ignores ONLY, because views have no
// inheritance. After the first dot, a keyword is a name.
func (p *parser) table() From {
	p.word("only")
	tb := &Table{Name: []Ident{p.tableName()}}
	for p.symbol(".") {
		tb.Name = append(tb.Name, p.part())
	}
	if t := p.peek(); p.word("tablesample") {
		p.fail(t.at, "TABLESAMPLE is not supported. LIMIT without ORDER BY shows some records, in the order of their keys")
	}
	tb.Alias = p.fromAlias()
	return tb
}

// part parses a name after a dot. There, keywords are names.
func (p *parser) part() Ident {
	t := p.peek()
	if t.kind == word || t.kind == quoted {
		p.i++
		return Ident{Text: t.text, Quoted: t.kind == quoted, At: t.at}
	}
	p.failExpecting("a name")
	return Ident{}
}

// fromAlias parses [AS] name [(column, …)]. It skips types in the list, because the query determines them.
func (p *parser) fromAlias() Alias {
	var a Alias
	if a.Name = p.alias(); a.Name != nil && p.symbol("(") {
		p.commas(func() {
			a.Columns = append(a.Columns, p.part())
			for p.peek().kind == word && !reserved[p.peek().low] { // a type
				p.i++
			}
		})
		p.mark(")")
	}
	return a
}

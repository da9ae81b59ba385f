package sqlparse

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// others are the statements that aren't queries, with the help for each.
var others = map[string]string{
	"insert": writes, "update": writes, "delete": writes, "merge": writes, "replace": writes, "upsert": writes, "truncate": writes,
	"create": "", "alter": "", "drop": "", "grant": "", "revoke": "", "comment": "", "copy": "", "call": "", "do": "", "execute": "", "exec": "", "prepare": "",
	"begin": "", "start": "", "commit": "", "rollback": "", "savepoint": "", "set": "", "reset": "", "lock": "", "vacuum": "", "analyze": "", "attach": "",
	"detach": "", "load": "", "import": "", "export": "", "listen": "", "notify": "", "declare": "", "fetch": "", "use": "", "handler": "", "reindex": "", "cluster": "",
	"explain": "dry_run: true compiles a statement and doesn't run it", "pragma": "information_schema.columns lists the columns",
	"show": "information_schema.tables lists the tables", "describe": "information_schema.columns lists the columns", "desc": "information_schema.columns lists the columns",
}

const writes = "changes are proposed with the tools for changes, and a person reviews them"

// statement refuses a statement that is not a query, by its name.
func (p *parser) statement() {
	t := p.peek()
	if t.kind != word {
		return
	}
	p.refuse(t)
}

func (p *parser) refuse(t *token) {
	instead, ok := others[t.low]
	if !ok {
		return
	}
	f := Faultf(t.at, "%s can't be run here: a statement is one SELECT", strings.ToUpper(t.low))
	f.Code, f.Suggestion = problem.Unsupported, instead
	panic(f)
}

// query parses WITH … body ORDER BY … LIMIT ….
func (p *parser) query() *Query {
	defer p.enter()()
	q := &Query{At: p.peek().at}
	if p.word("with") {
		recursive := p.word("recursive")
		p.commas(func() {
			c := CTE{Name: p.name("the name of a query"), Recursive: recursive}
			if p.symbol("(") {
				p.commas(func() { c.Columns = append(c.Columns, p.part()) })
				p.mark(")")
			}
			p.expect("as")
			if p.word("not") {
				p.expect("materialized")
			} else {
				p.word("materialized")
			}
			p.mark("(")
			p.statement()
			c.Query = p.query()
			p.mark(")")
			q.With = append(q.With, c)
		})
		p.statement()
	}
	q.Body = p.body(0)
	if s, ok := q.Body.(*Select); ok {
		q.Limit = s.Top
	}
	if p.word("order", "by") {
		q.Order = p.order()
	}
	p.limits(q)
	if t := p.peek(); p.oneOf("for", "into", "lock") != "" {
		p.fail(t.at, "%s can't be used here. Leave it out: a statement only reads", strings.ToUpper(t.low))
	}
	return q
}

// limits parses LIMIT, OFFSET and FETCH FIRST in any order, each at most once. It also accepts MySQL's LIMIT offset,
// count. FETCH FIRST ROW without a number means one row.
func (p *parser) limits(q *Query) {
	for {
		at := p.peek()
		switch {
		case p.word("limit"):
			if p.word("all") {
				continue
			}
			p.once(q.Limit, at)
			q.Limit = p.expr()
			if p.symbol(",") { // LIMIT offset, count
				p.once(q.Offset, at)
				q.Offset, q.Limit = q.Limit, p.expr()
			}
		case p.word("offset"):
			p.once(q.Offset, at)
			q.Offset = p.expr()
			p.oneOf("row", "rows")
		case p.word("fetch"):
			p.once(q.Limit, at)
			p.oneOf("first", "next")
			q.Limit = &Number{Text: "1", At: p.peek().at}
			if !p.is("row") && !p.is("rows") {
				q.Limit = p.expr()
			}
			p.oneOf("row", "rows")
			if p.word("with") {
				p.fail(at.at, "FETCH … WITH TIES isn't there. Use rank() OVER (…) and keep the ranks")
			}
			p.expect("only")
		default:
			return
		}
	}
}

func (p *parser) once(have Expr, at *token) {
	if have != nil {
		p.fail(at.at, "%s is there twice", strings.ToUpper(at.low))
	}
}

// body parses set operations. INTERSECT binds more tightly than the other operations.
func (p *parser) body(level int) Body {
	defer p.enter()()
	left := p.single()
	for {
		t := p.peek()
		op := map[string]string{"union": "union", "intersect": "intersect", "except": "except", "minus": "except"}[t.low]
		strength := 1
		if op == "intersect" {
			strength = 2
		}
		if t.kind != word || op == "" || strength <= level {
			return left
		}
		p.i++
		s := &SetOp{Op: op, At: t.at}
		if s.All = p.word("all"); !s.All {
			p.word("distinct")
		}
		s.Left, s.Right = left, p.body(strength)
		left = s
	}
}

// single parses one SELECT, VALUES, TABLE, or a query in parentheses.
func (p *parser) single() Body {
	t := p.peek()
	switch {
	case p.symbol("("):
		q := p.query()
		p.mark(")")
		return q
	case p.word("values"):
		v := &Values{At: t.at}
		p.commas(func() {
			p.mark("(")
			v.Rows = append(v.Rows, p.items())
			p.mark(")")
		})
		return v
	case p.word("table"):
		return &Select{Items: []Item{{X: &Star{At: t.at}, Text: "*"}}, From: []From{p.table()}, At: t.at}
	case p.word("select"):
		return p.selectClauses(t.at)
	}
	p.refuse(t)
	p.failExpecting("SELECT")
	return nil
}

// order parses the expressions of an ORDER BY with their directions.
func (p *parser) order() []Order {
	var out []Order
	p.commas(func() {
		o := Order{X: p.expr()}
		if t := p.peek(); p.word("collate") {
			p.collation(t)
		}
		if o.Desc = p.word("desc"); !o.Desc {
			p.word("asc")
		}
		if p.word("nulls") {
			if o.Nulls = p.oneOf("first", "last"); o.Nulls == "" {
				p.failExpecting("FIRST or LAST")
			}
		}
		out = append(out, o)
	})
	return out
}

// byPoints are the collations that compare texts by code points, as all comparisons here do.
var byPoints = wordsOf("c c.utf8 c.utf-8 posix ucs_basic binary utf8mb4_bin utf8_bin pg_c_utf8")

// collation parses the name of a collation after COLLATE, which is at t. It refuses all collations that don't compare
// by code points.
func (p *parser) collation(t *token) {
	names := []string{p.part().Text}
	for p.symbol(".") { // pg_catalog."C"
		names = append(names, p.part().Text)
	}
	name := strings.ToLower(names[len(names)-1])
	switch {
	case byPoints[name]:
	case name == "nocase" || strings.HasSuffix(name, "_ci"):
		p.fail(t.at, "texts are compared letter by letter here, not by the collation %s. lower(x) on both sides ignores case, and so does ILIKE", names[len(names)-1])
	default:
		p.fail(t.at, "texts are ordered by their code points here, not by the collation %s. Leave COLLATE out, or sort what was found", names[len(names)-1])
	}
}

func (p *parser) exprs() []Expr {
	var out []Expr
	p.commas(func() { out = append(out, p.expr()) })
	return out
}

// items parses the elements of a list. A constant element doesn't count as an expression.
func (p *parser) items() []Expr {
	var out []Expr
	p.commas(func() {
		t, next := p.peek(), p.ahead(1)
		if (t.kind != number && t.kind != text) || next.kind != symbol || !strings.Contains(",)]", next.low) {
			out = append(out, p.expr())
			return
		}
		if p.values++; p.values > MaxValues {
			p.fail(t.at, "the lists of the statement have more than %d values", MaxValues)
		}
		out = append(out, p.primary())
	})
	return out
}

// window parses the parentheses of OVER or WINDOW: a base window, PARTITION BY, ORDER BY and a frame. Each part is
// optional. A frame with only a start ends at the current row.
func (p *parser) window() *Window {
	w := &Window{At: p.peek().at}
	p.mark("(")
	if t := p.peek(); t.kind == quoted || t.kind == word && t.low != "partition" && t.low != "order" && t.low != "rows" && t.low != "range" && t.low != "groups" {
		n := p.name("PARTITION BY or ORDER BY")
		w.Base = &n
	}
	if p.word("partition", "by") {
		w.Partition = p.exprs()
	}
	if p.word("order", "by") {
		w.Order = p.order()
	}
	at := p.peek().at
	if unit := p.oneOf("rows", "range", "groups"); unit != "" {
		f := &Frame{Unit: unit, At: at, End: Bound{Current: true}}
		if p.word("between") {
			f.Start = p.frameEnd()
			p.expect("and")
			f.End = p.frameEnd()
		} else {
			f.Start = p.frameEnd()
		}
		if p.word("exclude") {
			p.fail(at, "EXCLUDE isn't there in a frame")
		}
		w.Frame = f
	}
	p.mark(")")
	return w
}

// frameEnd parses one end of a frame. The offset ends before PRECEDING or FOLLOWING.
func (p *parser) frameEnd() Bound {
	switch {
	case p.word("current", "row"):
		return Bound{Current: true}
	case p.word("unbounded", "preceding"):
		return Bound{Unbounded: true}
	case p.word("unbounded", "following"):
		return Bound{Unbounded: true, Following: true}
	}
	b := Bound{Offset: p.binary(6)}
	if b.Following = p.word("following"); !b.Following {
		p.expect("preceding")
	}
	return b
}

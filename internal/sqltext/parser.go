package sqltext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Parse parses a statement: one SELECT, WITH or VALUES, perhaps ended by a semicolon.
func Parse(src string) (q *Query, err error) {
	all, err := tokens(src)
	if err != nil {
		return nil, err
	}
	p := &parser{src: src, all: all}
	defer func() {
		if f := recover(); f != nil {
			fault, ok := f.(*problem.Error)
			if !ok {
				panic(f)
			}
			q, err = nil, fault
		}
	}()
	p.statement()
	q = p.query()
	p.symbol(";")
	if p.peek().kind != end {
		if p.all[p.i-1].low == ";" {
			p.fail(p.peek().at, "one statement at a time; send what follows the semicolon by itself")
		}
		p.unexpected("the end of the statement")
	}
	return q, nil
}

// A parser reads tokens. It panics with a *problem.Error, which Parse returns.
type parser struct {
	src   string
	all   []token
	i     int
	depth int
	nodes int
}

func (p *parser) peek() *token { return &p.all[p.i] }

// ahead returns the token n places on.
func (p *parser) ahead(n int) *token { return &p.all[min(p.i+n, len(p.all)-1)] }

func (p *parser) next() *token {
	t := &p.all[p.i]
	if t.kind != end {
		p.i++
	}
	return t
}

func (p *parser) fail(at Pos, format string, args ...any) { panic(Faultf(at, format, args...)) }

// unexpected fails at the current token, with an excerpt of the text.
func (p *parser) unexpected(wanted string) {
	t := p.peek()
	if t.kind == end {
		p.fail(t.at, "the statement ends here; %s is expected", wanted)
	}
	f := Faultf(t.at, "%s is expected, not %s", wanted, excerpt(p.src[t.from:]))
	if t.kind == word {
		f.Near = problem.Nearest(t.low, []string{"select", "from", "where", "group", "order", "having", "limit", "offset", "join", "left", "inner", "union", "case", "when", "then", "else", "end"}, 1)
	}
	panic(f)
}

// excerpt returns the beginning of s on one line, in quotes.
func excerpt(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 30 {
		s = string(r[:30]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// enter counts a level of nesting and an expression; the result leaves the level.
func (p *parser) enter() func() {
	p.depth++
	if p.nodes++; p.nodes > MaxNodes {
		p.fail(p.peek().at, "the statement has more than %d expressions", MaxNodes)
	}
	if p.depth > MaxDepth {
		p.fail(p.peek().at, "expressions and queries nest more than %d deep", MaxDepth)
	}
	return func() { p.depth-- }
}

// is reports whether the words are next.
func (p *parser) is(words ...string) bool {
	for n, w := range words {
		if t := p.ahead(n); t.kind != word || t.low != w {
			return false
		}
	}
	return true
}

// word takes the words if they are next.
func (p *parser) word(words ...string) bool {
	if !p.is(words...) {
		return false
	}
	p.i += len(words)
	return true
}

// oneOf takes one of the words, and returns it, or "".
func (p *parser) oneOf(words ...string) string {
	if t := p.peek(); t.kind == word && slices.Contains(words, t.low) {
		p.i++
		return t.low
	}
	return ""
}

func (p *parser) expect(words ...string) {
	if !p.word(words...) {
		p.unexpected(strings.ToUpper(strings.Join(words, " ")))
	}
}

func (p *parser) symbol(s string) bool {
	if t := p.peek(); t.kind == symbol && t.low == s {
		p.i++
		return true
	}
	return false
}

func (p *parser) mark(s string) {
	if !p.symbol(s) {
		p.unexpected(s)
	}
}

// commas reads a list.
func (p *parser) commas(one func()) {
	one()
	for p.symbol(",") {
		one()
	}
}

// others are the statements that aren't queries.
var others = map[string]string{
	"insert": writes, "update": writes, "delete": writes, "merge": writes, "replace": writes, "upsert": writes, "truncate": writes,
	"create": "", "alter": "", "drop": "", "grant": "", "revoke": "", "comment": "", "copy": "", "call": "", "do": "", "execute": "", "exec": "", "prepare": "",
	"begin": "", "start": "", "commit": "", "rollback": "", "savepoint": "", "set": "", "reset": "", "lock": "", "vacuum": "", "analyze": "", "attach": "",
	"detach": "", "load": "", "import": "", "export": "", "listen": "", "notify": "", "declare": "", "fetch": "", "use": "", "handler": "", "reindex": "", "cluster": "",
	"explain": "dry_run: true compiles a statement and doesn't run it", "pragma": "information_schema.columns lists the columns",
	"show": "information_schema.tables lists the tables", "describe": "information_schema.columns lists the columns", "desc": "information_schema.columns lists the columns",
}

const writes = "changes are proposed with the tools for changes, and a person reviews them"

// statement refuses what is no query, by name.
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

// query reads WITH … body ORDER BY … LIMIT ….
func (p *parser) query() *Query {
	defer p.enter()()
	q := &Query{At: p.peek().at}
	if p.word("with") {
		recursive := p.word("recursive")
		p.commas(func() {
			c := CTE{Name: p.name("the name of a query"), Recursive: recursive}
			if p.symbol("(") {
				p.commas(func() { c.Columns = append(c.Columns, p.name("a column name")) })
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
	if p.word("order", "by") {
		q.Order = p.order()
	}
	p.limits(q)
	if t := p.peek(); p.oneOf("for", "into", "lock") != "" {
		p.fail(t.at, "%s can't be used here: a statement only reads", strings.ToUpper(t.low))
	}
	return q
}

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
				p.fail(at.at, "FETCH … WITH TIES isn't there; use rank() OVER (…) and keep the ranks")
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

// body reads set operations; INTERSECT binds more tightly than the others.
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

// single reads one SELECT, VALUES, TABLE, or a query in parentheses.
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
			v.Rows = append(v.Rows, p.exprs())
			p.mark(")")
		})
		return v
	case p.word("table"):
		return &Select{Items: []Item{{X: &Star{At: t.at}, Text: "*"}}, From: []From{p.table()}, At: t.at}
	case p.word("select"):
		return p.selected(t.at)
	}
	p.refuse(t)
	p.unexpected("SELECT")
	return nil
}

func (p *parser) selected(at Pos) *Select {
	s := &Select{At: at}
	top := p.word("top")
	if top { // TOP n is a limit
		t := p.peek()
		p.symbol("(")
		n := p.next()
		p.symbol(")")
		p.fail(t.at, "write LIMIT %s at the end, in place of TOP", n.text)
	}
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
		p.word("all")
		s.Group = p.exprs()
	}
	if p.word("having") {
		s.Having = p.expr()
	}
	if p.word("window") {
		p.commas(func() {
			w := NamedWindow{Name: p.name("the name of a window")}
			p.expect("as")
			w.Window = *p.window()
			s.Windows = append(s.Windows, w)
		})
	}
	if t := p.peek(); p.word("qualify") {
		p.fail(t.at, "QUALIFY isn't there; compute the window function in a query in FROM, and test its column with WHERE")
	}
	return s
}

func (p *parser) item() Item {
	from := p.peek().from
	x := p.expr()
	it := Item{X: x, Text: strings.Join(strings.Fields(p.src[from:p.all[p.i-1].to]), " ")}
	if _, star := x.(*Star); star {
		return it
	}
	it.Alias = p.alias()
	return it
}

// alias reads [AS] name, or nothing.
func (p *parser) alias() *Ident {
	if p.word("as") {
		t := p.peek()
		if t.kind == text { // 'alias' is taken by MySQL and SQLite
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

// reserved are the words that can't be names without quotes.
var reserved = wordsOf("all and any array as asc between both case cast check collate column constraint create cross current_date " +
	"current_time current_timestamp default desc distinct do else end except exists false fetch for foreign from full grant group having " +
	"in inner intersect into is isnull join lateral leading left like ilike similar limit localtime localtimestamp minus natural not notnull null offset on only or order " +
	"outer over overlaps primary qualify references returning right select some symmetric table then to trailing true union unique using " +
	"values when where window with")

func wordsOf(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

func (p *parser) name(what string) Ident {
	t := p.peek()
	if t.kind == quoted || t.kind == word && !reserved[t.low] {
		p.i++
		return Ident{Text: t.text, Quoted: t.kind == quoted, At: t.at}
	}
	p.unexpected(what)
	return Ident{}
}

// from reads a FROM item with its joins.
func (p *parser) from() From {
	defer p.enter()()
	left := p.fromItem()
	for {
		t := p.peek()
		j := &Join{Kind: "inner", Natural: p.word("natural"), At: t.at}
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
				p.unexpected("JOIN")
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
			p.commas(func() { j.Using = append(j.Using, p.name("a column name")) })
			p.mark(")")
		default:
			p.fail(t.at, "a join needs ON or USING; CROSS JOIN takes every pair")
		}
		left = j
	}
}

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
		p.word("with", "ordinality")
		return &Function{Call: c, Alias: p.fromAlias()}
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

func (p *parser) table() From {
	p.word("only")
	tb := &Table{Name: []Ident{p.name("the name of a table")}}
	for p.symbol(".") {
		tb.Name = append(tb.Name, p.part())
	}
	if t := p.peek(); p.word("tablesample") {
		p.fail(t.at, "TABLESAMPLE isn't there; ORDER BY md5(…) LIMIT n, or get_sample_objects")
	}
	tb.Alias = p.fromAlias()
	return tb
}

// part reads a name after a point: keywords are names there.
func (p *parser) part() Ident {
	t := p.peek()
	if t.kind == word || t.kind == quoted {
		p.i++
		return Ident{Text: t.text, Quoted: t.kind == quoted, At: t.at}
	}
	p.unexpected("a name")
	return Ident{}
}

func (p *parser) fromAlias() Alias {
	var a Alias
	if a.Name = p.alias(); a.Name != nil && p.symbol("(") {
		p.commas(func() {
			a.Columns = append(a.Columns, p.name("a column name"))
			for p.peek().kind == word && !reserved[p.peek().low] { // a type
				p.i++
			}
		})
		p.mark(")")
	}
	return a
}

func (p *parser) order() []Order {
	var out []Order
	p.commas(func() {
		o := Order{X: p.expr()}
		if p.word("collate") {
			p.part()
		}
		if o.Desc = p.word("desc"); !o.Desc {
			p.word("asc")
		}
		if p.word("nulls") {
			if o.Nulls = p.oneOf("first", "last"); o.Nulls == "" {
				p.unexpected("FIRST or LAST")
			}
		}
		out = append(out, o)
	})
	return out
}

func (p *parser) exprs() []Expr {
	var out []Expr
	p.commas(func() { out = append(out, p.expr()) })
	return out
}

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
			f.Start = p.bound()
			p.expect("and")
			f.End = p.bound()
		} else {
			f.Start = p.bound()
		}
		if p.word("exclude") {
			p.fail(at, "EXCLUDE isn't there in a frame")
		}
		w.Frame = f
	}
	p.mark(")")
	return w
}

func (p *parser) bound() Bound {
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

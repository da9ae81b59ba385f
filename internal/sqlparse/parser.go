package sqlparse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Parse parses one statement: a SELECT, WITH or VALUES, with an optional semicolon at the end.
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
			p.fail(p.peek().at, "one statement at a time. Send what follows the semicolon by itself")
		}
		if t := &p.all[p.i-1]; t.kind == word && !reserved[p.peek().low] { // the alias may be a misspelled keyword
			if near := problem.Nearest(t.low, keywords, 1); len(near) > 0 && near[0] != t.low {
				f := Faultf(t.at, "%s has no meaning here", excerpt(p.src[t.from:]))
				f.Near = near
				panic(f)
			}
		}
		p.failExpecting("the end of the statement")
	}
	return q, nil
}

// A parser consumes tokens. It panics with a *problem.Error, which Parse returns.
type parser struct {
	src   string
	all   []token
	i     int
	depth int
	nodes int

	values int // the number of constants in lists
}

func (p *parser) peek() *token { return &p.all[p.i] }

// ahead returns the token n places ahead.
func (p *parser) ahead(n int) *token { return &p.all[min(p.i+n, len(p.all)-1)] }

func (p *parser) next() *token {
	t := &p.all[p.i]
	if t.kind != end {
		p.i++
	}
	return t
}

func (p *parser) fail(at Pos, format string, args ...any) { panic(Faultf(at, format, args...)) }

// failExpecting fails at the current token. The error contains an excerpt of the text.
func (p *parser) failExpecting(wanted string) {
	t := p.peek()
	if t.kind == end {
		p.fail(t.at, "the statement ends here, but %s is expected", wanted)
	}
	f := Faultf(t.at, "%s is expected, not %s", wanted, excerpt(p.src[t.from:]))
	if f.Suggestion = p.instead(); f.Suggestion == "" && t.kind == word && !reserved[t.low] {
		f.Near = problem.Nearest(t.low, keywords, 1)
	}
	if f.Suggestion == "" && (strings.HasPrefix(wanted, "an expression") || strings.Contains(wanted, "name")) {
		f.Suggestion = quoteInstead(t)
	}
	panic(f)
}

// instead returns how to replace a construct of another SQL dialect at this place, or "". The parser may have read its
// first word as an alias: FROM t PIVOT (sum(a) …, FROM t START WITH ….
func (p *parser) instead() string {
	if t := p.peek(); t.kind == word && t.low != "with" && t.low != "by" {
		return hint.SQLWord(t.low)
	}
	for _, t := range p.all[max(0, p.i-3):p.i] {
		if t.low == "pivot" || t.low == "unpivot" {
			return hint.SQLWord(t.low)
		}
	}
	if before := p.all[max(0, p.i-1)].low; before == "start" || before == "connect" {
		return hint.SQLWord("connect")
	}
	return ""
}

// keywords are the words that are suggested for a misspelled keyword.
var keywords = []string{"select", "from", "where", "group", "order", "having", "limit", "offset", "join", "left", "inner", "union", "case", "when", "then", "else", "end"}

// excerpt returns the beginning of s in quotes, without line breaks.
func excerpt(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 30 {
		s = string(r[:30]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// enter counts a level of nesting and an expression. The returned function leaves the level.
func (p *parser) enter() func() {
	p.depth++
	p.count()
	if p.depth > MaxDepth {
		p.fail(p.peek().at, "expressions and queries nest more than %d deep", MaxDepth)
	}
	return func() { p.depth-- }
}

// count counts an expression or another part of the statement.
func (p *parser) count() {
	if p.nodes++; p.nodes > MaxNodes {
		p.fail(p.peek().at, "the statement has more than %d expressions", MaxNodes)
	}
}

// is reports whether the next tokens are these words.
func (p *parser) is(words ...string) bool {
	for n, w := range words {
		if t := p.ahead(n); t.kind != word || t.low != w {
			return false
		}
	}
	return true
}

// word consumes these words if they are the next tokens.
func (p *parser) word(words ...string) bool {
	if !p.is(words...) {
		return false
	}
	p.i += len(words)
	return true
}

// oneOf consumes the next token if it is one of the words, and returns it. Otherwise it returns "".
func (p *parser) oneOf(words ...string) string {
	if t := p.peek(); t.kind == word && slices.Contains(words, t.low) {
		p.i++
		return t.low
	}
	return ""
}

func (p *parser) expect(words ...string) {
	if !p.word(words...) {
		p.failExpecting(strings.ToUpper(strings.Join(words, " ")))
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
		p.failExpecting(s)
	}
}

// commas parses a list with commas. The function one parses an element.
func (p *parser) commas(one func()) {
	one()
	for p.symbol(",") {
		one()
	}
}

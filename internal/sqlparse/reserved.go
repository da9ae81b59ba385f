package sqlparse

import (
	"slices"
	"strings"
)

// reserved are the words that can't be names without quotes, except in places where only a name is possible.
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
	p.failExpecting(what)
	return Ident{}
}

// constants are the words that are always values.
var constants = wordsOf("true false null current_date current_timestamp current_time localtime localtimestamp")

// reservedName reports whether the word at the beginning of an expression is a column, although it is reserved. It is a
// column if an operator, a comma or the end of the list follows. An example is SELECT end, count(*).
func (p *parser) reservedName() bool {
	t, n := p.peek(), p.ahead(1)
	special := reserved[t.low] || t.low == "exists" || t.low == "cast" || t.low == "try_cast" || t.low == "safe_cast"
	if t.kind != word || !special || constants[t.low] {
		return false
	}
	switch {
	case n.kind == end:
		return !structural[t.low]
	case n.kind == word:
		return !structural[t.low] && slices.Contains([]string{"from", "as", "is", "in", "between", "like", "ilike", "and", "or", "then", "else", "end", "asc", "desc", "nulls", "where", "group", "having", "order", "limit"}, n.low)
	}
	return n.kind == symbol && slices.Contains([]string{",", ")", "=", "<", ">", "<=", ">=", "<>", "!=", "*", "/", "%", "||", "::", "."}, n.low)
}

// structural are the reserved words that are misplaced by mistake more often than they are meant as names.
var structural = wordsOf("select from where and or on join having union with by then when else as not null true false")

// quoteInstead returns how to write a reserved word as a name. It returns "" for all other tokens.
func quoteInstead(t *token) string {
	if t.kind != word || !reserved[t.low] || structural[t.low] {
		return ""
	}
	return `if ` + t.text + ` is a name, write it in double quotes: "` + t.text + `"`
}

// tables are the reserved words that applications use as names of tables.
var tables = wordsOf("case cast check column constraint default desc end foreign grant group limit offset order primary references table unique window")

// tableName parses the first part of the name of a table. It accepts a reserved word if the word has no meaning at this
// place.
func (p *parser) tableName() Ident {
	if t, n := p.peek(), p.ahead(1); t.kind == word && tables[t.low] && n.low != "by" && n.kind != number && n.kind != param {
		return p.part()
	}
	return p.name("the name of a table")
}

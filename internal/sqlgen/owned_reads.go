package sqlgen

import (
	"slices"
	"strings"
)

// OnlyReads reports whether a statement of the application's owner surely changes nothing. It reports false if it
// can't be sure: a function that is not known here can write.
func OnlyReads(d Dialect, text string) (bool, error) {
	t, err := NewText(d)
	if err != nil {
		return false, err
	}
	parts, err := readOwned(&t.Writes, text)
	if err != nil {
		return false, nil // several statements
	}
	words := ownedWords(parts)
	if len(words) == 0 || !slices.Contains(readingStatements, words[0].text) {
		return false, nil
	}
	for _, w := range words {
		switch {
		case slices.Contains(writingWords, w.text), w.calls && !slices.Contains(beforeParenthesis, w.text):
			return false, nil
		}
	}
	return true, nil
}

// readingStatements are the first words of statements that read.
var readingStatements = []string{"select", "with", "values", "table", "show", "explain", "describe", "desc"}

// writingWords are words of a statement that can write: SELECT INTO, and the parts of WITH.
var writingWords = []string{"into", "insert", "update", "delete", "merge", "replace", "call", "exec", "execute"}

// beforeParenthesis are the words after which a parenthesis can follow without a call of an unknown function.
var beforeParenthesis = []string{
	"select", "with", "values", "from", "join", "lateral", "on", "using", "where", "and", "or", "not", "in", "any", "some", "all", "exists",
	"as", "materialized", "over", "filter", "within", "group", "by", "having", "union", "intersect", "except", "distinct", "case", "when", "then", "else",
	"is", "like", "between", "limit", "offset", "fetch", "order", "partition", "analyze", "array", "row", "interval", "rollup", "cube", "sets", "recursive",
	"char", "varchar", "numeric", "decimal", "character", "varying", "time", "timestamp",
	"count", "sum", "avg", "min", "max", "total", "group_concat", "string_agg", "array_agg", "json_agg", "jsonb_agg", "row_number", "rank", "dense_rank", "lag", "lead",
	"first_value", "last_value", "ntile", "coalesce", "nullif", "ifnull", "if", "iif", "cast", "convert", "extract", "lower", "upper", "trim", "ltrim", "rtrim",
	"substr", "substring", "left", "right", "length", "char_length", "concat", "concat_ws", "round", "floor", "ceil", "ceiling", "abs", "mod", "power", "sqrt", "sign",
	"greatest", "least", "now", "date", "datetime", "strftime", "date_trunc", "date_part", "date_add", "date_sub", "date_format", "datediff", "timestampdiff",
	"year", "month", "day", "hour", "minute", "second", "to_char", "to_date", "to_timestamp", "curdate", "current_date", "current_timestamp", "json_extract", "random",
}

// An ownedWord is a bare word of a statement, in lower case.
type ownedWord struct {
	text  string
	calls bool // a parenthesis follows
}

// ownedWords returns the words of a statement. A name that a point joins to others is one word, which no list here
// contains. A quoted name is the word " only if a parenthesis follows it.
func ownedWords(parts []ownedPart) []ownedWord {
	var out []ownedWord
	qualified := false
	for i, p := range parts {
		next := slices.IndexFunc(parts[i+1:], func(p ownedPart) bool { return strings.TrimSpace(p.text) != "" })
		calls := next >= 0 && parts[i+1+next].text == "("
		switch {
		case p.kind == ownedWordPart:
			name := strings.ToLower(p.text)
			if qualified {
				name = "." + name
			}
			out = append(out, ownedWord{name, calls})
		case calls && strings.IndexByte("\"`", p.text[0]) >= 0:
			out = append(out, ownedWord{`"`, true})
		}
		if strings.TrimSpace(p.text) != "" {
			qualified = p.text == "."
		}
	}
	return out
}

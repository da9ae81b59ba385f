package sqldriver

import (
	"maps"
	"slices"
	"strconv"
)

// A selecting traces the columns of one view's SELECT to their origins. It reads the structure of the statement:
// WITH, UNION, INTERSECT, EXCEPT, FROM and the list of columns. In an expression it reads only the names, and all
// columns that the expression names count.
type selecting struct {
	*FoundViews
	space string // the space of the view
	depth int
}

// A level is a SELECT within outer SELECTs, with the tables that it reads.
type level struct {
	items   []item
	common  map[string][]origin // the tables of WITH, by name in lower case
	windows []Token             // the clause WINDOW
	up      *level
}

// An item is a table, a view or a query of FROM.
type item struct {
	alias   string
	columns []origin
	open    func(name string) origin // returns the origin of a column if the columns aren't known, or nil
}

// deepestQuery is the maximum nesting of queries.
const deepestQuery = 100

// query returns the columns of a query: a WITH, a UNION, INTERSECT or EXCEPT, or one SELECT.
func (s *selecting) query(ts []Token, up *level) ([]origin, error) {
	if s.depth++; s.depth > deepestQuery {
		return nil, errShape
	}
	defer func() { s.depth-- }()
	lv := &level{common: map[string][]origin{}, up: up}
	if len(ts) > 0 && ts[0].Is("WITH") {
		var err error
		if ts, err = s.with(ts[1:], lv); err != nil {
			return nil, err
		}
	}
	return s.arms(ts, lv)
}

// arms returns the columns of a UNION, INTERSECT or EXCEPT. The origins of a column are the origins of that column in
// all parts.
func (s *selecting) arms(ts []Token, up *level) ([]origin, error) {
	var out []origin
	for i, arm := range armsOf(ts) {
		columns, err := s.arm(arm, up)
		if err != nil || i > 0 && len(columns) != len(out) {
			return nil, errShape
		}
		if i == 0 {
			out = columns
			continue
		}
		for j := range columns {
			out[j].add(columns[j])
		}
	}
	return out, nil
}

// armsOf splits a query at UNION, INTERSECT and EXCEPT.
func armsOf(ts []Token) (out [][]Token) {
	at := cut(ts, "UNION", "INTERSECT", "EXCEPT")
	for ; at < len(ts); at = cut(ts, "UNION", "INTERSECT", "EXCEPT") {
		out = append(out, ts[:at])
		ts = ts[at+1:]
		for len(ts) > 0 && (ts[0].Is("ALL") || ts[0].Is("DISTINCT")) {
			ts = ts[1:]
		}
	}
	return append(out, ts)
}

// cut returns the index of the first token outside parentheses that is one of words, or the length of ts.
func cut(ts []Token, words ...string) int {
	depth := 0
	for i, t := range ts {
		switch {
		case t.Is("("):
			depth++
		case t.Is(")"):
			depth--
		case depth == 0 && slices.ContainsFunc(words, t.Is):
			if t.Is("FROM") && i > 1 && ts[i-1].Is("DISTINCT") && (ts[i-2].Is("IS") || ts[i-2].Is("NOT")) || t.Is("GROUP") && i > 0 && ts[i-1].Is("WITHIN") {
				continue
			}
			if i+1 < len(ts) && ts[i+1].Is("(") && (t.Is("LEFT") || t.Is("RIGHT")) || i > 0 && ts[i-1].Is(".") {
				continue // a function LEFT or RIGHT, or a column after a dot
			}
			return i
		}
	}
	return len(ts)
}

// with adds the tables of a WITH to lv and returns the tokens after them. It traces a recursive table again until no
// origin is added.
func (s *selecting) with(ts []Token, lv *level) ([]Token, error) {
	if len(ts) > 0 && ts[0].Is("RECURSIVE") {
		ts = ts[1:]
	}
	for {
		if len(ts) < 3 || ts[0].Kind > QuotedToken {
			return nil, errShape
		}
		name, names, rest := LowerASCII(ts[0].Text), []string(nil), ts[1:]
		if inner, after, ok := TokenGroup(rest); ok && rest[0].Is("(") {
			for _, part := range SplitTokens(inner, ",") {
				if len(part) != 1 {
					return nil, errShape
				}
				names = append(names, part[0].Text)
			}
			rest = after
		}
		for len(rest) > 0 && (rest[0].Is("AS") || rest[0].Is("NOT") || rest[0].Is("MATERIALIZED")) {
			rest = rest[1:]
		}
		if len(rest) == 0 || !rest[0].Is("(") {
			return nil, errShape
		}
		body, after, ok := TokenGroup(rest)
		if !ok {
			return nil, errShape
		}
		if err := s.define(lv, name, names, body); err != nil {
			return nil, err
		}
		if len(after) == 0 || !after[0].Is(",") {
			return after, nil
		}
		ts = after[1:]
	}
}

// define adds a table of a WITH.
func (s *selecting) define(lv *level, name string, names []string, body []Token) error {
	itself := slices.ContainsFunc(body, func(t Token) bool { return t.Kind <= QuotedToken && LowerASCII(t.Text) == name })
	if arms := armsOf(body); itself && len(arms) > 1 {
		first, err := s.query(arms[0], lv)
		if err != nil {
			return err
		}
		lv.common[name] = renameColumns(first, names)
	}
	for range 50 {
		columns, err := s.query(body, lv)
		if err != nil {
			return err
		}
		before := lv.common[name]
		grown := len(before) != len(columns)
		for i := range before {
			if !grown {
				was := len(before[i].from)
				columns[i].add(before[i])
				grown = len(columns[i].from) > was
			}
		}
		lv.common[name] = renameColumns(columns, names)
		if !itself || !grown {
			return nil
		}
	}
	return errShape
}

// renameColumns returns a copy of columns with the given names. Columns without a given name keep theirs.
func renameColumns(columns []origin, names []string) []origin {
	out := slices.Clone(columns)
	for i := range out {
		out[i].from = maps.Clone(out[i].from)
		if i < len(names) {
			out[i].name = names[i]
		}
	}
	return out
}

// arm returns the columns of a SELECT, of VALUES, or of a query in parentheses.
func (s *selecting) arm(ts []Token, up *level) ([]origin, error) {
	switch {
	case len(ts) == 0:
		return nil, errShape
	case ts[0].Is("("):
		inner, _, ok := TokenGroup(ts)
		if !ok {
			return nil, errShape
		}
		return s.query(inner, up)
	case ts[0].Is("VALUES"):
		return s.values(ts[1:], up)
	case !ts[0].Is("SELECT"):
		return nil, errShape
	}
	lv := &level{up: up}
	ts = ts[1:]
	ts = ts[:cut(ts, "ORDER", "LIMIT")]
	from := cut(ts, "FROM", "WHERE", "GROUP", "HAVING")
	list, rest := ts[:from], ts[from:]
	if len(rest) > 0 && rest[0].Is("FROM") {
		end := cut(rest, "WHERE", "GROUP", "HAVING", "WINDOW", "FOR", "PROCEDURE", "INTO")
		if err := s.from(rest[1:end], lv); err != nil {
			return nil, err
		}
		lv.windows = rest[cut(rest, "WINDOW"):]
	}
	for len(list) > 1 && slices.ContainsFunc([]string{"DISTINCT", "ALL", "DISTINCTROW", "STRAIGHT_JOIN", "HIGH_PRIORITY", "SQL_CACHE", "SQL_NO_CACHE", "SQL_SMALL_RESULT",
		"SQL_BIG_RESULT", "SQL_BUFFER_RESULT", "SQL_CALC_FOUND_ROWS"}, list[0].Is) {
		list = list[1:]
	}
	return s.list(list, lv)
}

// values returns the columns of VALUES. The origins of a column are the origins of that column in all rows.
func (s *selecting) values(ts []Token, up *level) (out []origin, err error) {
	for i, row := range SplitTokens(ts, ",") {
		inner, _, ok := TokenGroup(row)
		if !ok {
			return nil, errShape
		}
		parts := SplitTokens(inner, ",")
		if i > 0 && len(parts) != len(out) {
			return nil, errShape
		}
		for j, part := range parts {
			o := s.expression(part, &level{up: up})
			if i == 0 {
				o.name = "column" + strconv.Itoa(j+1)
				out = append(out, o)
			} else {
				out[j].add(o)
			}
		}
	}
	return out, nil
}

// list returns the columns of the list of a SELECT, including the columns of each *.
func (s *selecting) list(ts []Token, lv *level) (out []origin, err error) {
	for _, part := range SplitTokens(ts, ",") {
		n := len(part)
		switch {
		case n == 0:
			return nil, errShape
		case n == 1 && part[0].Is("*"):
			for _, it := range lv.items {
				if it.open != nil {
					return nil, errShape
				}
				out = append(out, it.columns...)
			}
		case n > 2 && part[n-1].Is("*") && part[n-2].Is("."):
			found := false
			for _, it := range lv.items {
				if LowerASCII(it.alias) == LowerASCII(part[n-3].Text) && it.open == nil {
					out, found = append(out, it.columns...), true
				}
			}
			if !found {
				return nil, errShape
			}
		default:
			expression, alias := splitAlias(part)
			o := s.expression(expression, lv)
			o.name = alias
			out = append(out, o)
		}
	}
	return renameColumns(out, nil), nil
}

// splitAlias splits a column of a SELECT into its expression and its name. Without an alias, the name is the name of
// the column that the expression consists of. It is "" for other expressions.
func splitAlias(ts []Token) (expression []Token, name string) {
	n := len(ts)
	if n > 2 && ts[n-2].Is("AS") && ts[n-1].Kind <= TextToken {
		return ts[:n-2], ts[n-1].Text
	}
	if n > 1 && ts[n-1].Kind <= TextToken && ends(ts[n-2]) {
		return ts[:n-1], ts[n-1].Text
	}
	plain := strip(ts)
	for len(plain) > 2 && plain[len(plain)-2].Is("COLLATE") {
		plain = strip(plain[:len(plain)-2])
	}
	for i, t := range plain {
		if i%2 == 0 && t.Kind > QuotedToken || i%2 == 1 && !t.Is(".") {
			return ts, ""
		}
	}
	if len(plain) == 0 {
		return ts, ""
	}
	return ts, plain[len(plain)-1].Text
}

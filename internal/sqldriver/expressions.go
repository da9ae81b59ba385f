package sqldriver

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// ends reports whether an expression may end with t. Then a name after t is an alias.
func ends(t Token) bool {
	switch t.Kind {
	case TextToken, NumberToken, QuotedToken:
		return true
	case punctToken:
		return t.Is(")")
	}
	return !slices.ContainsFunc([]string{"AND", "OR", "NOT", "IS", "IN", "LIKE", "GLOB", "COLLATE", "BETWEEN", "THEN", "ELSE", "WHEN", "CASE", "OVER", "DIV", "MOD", "REGEXP", "RLIKE", "XOR", "ESCAPE", "FROM", "DISTINCT", "BINARY", "INTERVAL"}, t.Is)
}

// expression returns the columns that an expression is computed from. These are all columns that the expression and
// its subqueries name. Conditions of subqueries don't count. An EXISTS doesn't count, because it returns no value of
// a record.
func (s *selecting) expression(ts []Token, lv *level) origin {
	o := origin{from: map[schema.Origin]bool{}}
	for i := 0; i < len(ts); i++ {
		t := ts[i]
		switch {
		case t.Is("("):
			inner, rest, ok := TokenGroup(ts[i:])
			if !ok {
				o.unknown = errShape.Error()
				return o
			}
			if len(inner) > 0 && (inner[0].Is("SELECT") || inner[0].Is("WITH") || inner[0].Is("VALUES")) || s.isNestedQuery(inner) {
				columns, err := s.query(inner, lv)
				if err != nil {
					o.unknown = err.Error()
				}
				for _, c := range columns {
					if i == 0 || !ts[i-1].Is("EXISTS") {
						o.add(c)
					}
				}
				i = len(ts) - len(rest) - 1
			}
		case t.Is("OVER") && i+1 < len(ts) && !ts[i+1].Is("("):
			i++
			windows := lv.windows
			lv.windows = nil
			o.add(s.expression(slices.DeleteFunc(slices.Clone(windows), func(w Token) bool { return w.Is("WINDOW") || w.Is("AS") || w.Text == ts[i].Text }), lv))
			lv.windows = windows
		case t.Kind <= QuotedToken:
			i += s.name(ts[i:], lv, &o) - 1
		}
	}
	return o
}

// isNestedQuery reports whether ts, the tokens inside parentheses, are a SELECT, with or without further parentheses.
func (s *selecting) isNestedQuery(ts []Token) bool {
	for len(ts) > 0 && ts[0].Is("(") {
		ts = ts[1:]
	}
	return len(ts) > 0 && ts[0].Is("SELECT")
}

// name adds the column or function at the beginning of ts to o. It returns the number of tokens in the name.
func (s *selecting) name(ts []Token, lv *level, o *origin) int {
	chain := []Token{ts[0]}
	n := 1
	for n+1 < len(ts) && ts[n].Is(".") && ts[n+1].Kind <= QuotedToken {
		chain = append(chain, ts[n+1])
		n += 2
	}
	last := chain[len(chain)-1]
	if n < len(ts) && ts[n].Is("(") {
		for routine := range s.Routines {
			if LowerASCII(routine) == LowerASCII(last.Text) {
				s.call(routine, o, map[string]bool{})
			}
		}
		if s.Space != "" && last.Kind == QuotedToken && len(chain) > 1 {
			if _, ok := s.Routines[last.Text]; !ok {
				s.call(last.Text, o, map[string]bool{})
			}
		}
		return n
	}
	alias := ""
	if len(chain) > 1 {
		alias = LowerASCII(chain[len(chain)-2].Text)
	}
	for at := lv; at != nil; at = at.up {
		if at.column(alias, last.Text, o) {
			return n
		}
	}
	if alias == "" && last.Kind == WordToken && (slices.ContainsFunc(keywords, last.Is) || strings.HasPrefix(last.Text, "_") && n < len(ts) && ts[n].Kind == TextToken) {
		if last.Is("AS") || last.Is("USING") || last.Is("COLLATE") || last.Is("CHARSET") { // a type, a character set, or a collation
			for n < len(ts) && ts[n].Kind <= QuotedToken {
				n++
			}
		}
		return n
	}
	o.unknown = "its text names " + last.Text + ", which isn't found"
	return n
}

// keywords are the words of expressions that aren't names.
var keywords = strings.Fields("AND OR NOT NULL IS IN LIKE GLOB REGEXP RLIKE MATCH BETWEEN CASE WHEN THEN ELSE END CAST AS COLLATE ESCAPE DISTINCT ALL EXISTS TRUE FALSE UNKNOWN " +
	"CURRENT_TIMESTAMP CURRENT_DATE CURRENT_TIME CURRENT_USER OVER PARTITION BY ORDER ASC DESC ROWS RANGE GROUPS UNBOUNDED PRECEDING FOLLOWING CURRENT ROW EXCLUDE TIES NO OTHERS " +
	"FILTER WHERE NULLS FIRST LAST ISNULL NOTNULL FROM USING SEPARATOR LIMIT INTERVAL DIV MOD XOR BINARY WITHIN GROUP BOTH LEADING TRAILING FOR SOUNDS ANY SOME CHAR CHARSET " +
	"YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MICROSECOND YEAR_MONTH DAY_HOUR DAY_MINUTE DAY_SECOND HOUR_MINUTE HOUR_SECOND MINUTE_SECOND DAY_MICROSECOND " +
	"HOUR_MICROSECOND MINUTE_MICROSECOND SECOND_MICROSECOND")

// column adds the columns called name of the items of a level to o. A non-empty alias restricts it to items with that
// alias. It reports whether there are such columns. Names are compared without case.
func (lv *level) column(alias, name string, o *origin) (found bool) {
	for _, it := range lv.items {
		if alias != "" && LowerASCII(it.alias) != alias {
			continue
		}
		for _, c := range it.columns {
			if LowerASCII(c.name) == LowerASCII(name) {
				o.add(c)
				found = true
			}
		}
	}
	if found {
		return true
	}
	for _, it := range lv.items {
		if alias != "" && LowerASCII(it.alias) != alias {
			continue
		}
		for _, c := range it.columns {
			if c.name == "" { // a column without an alias, which has the text of its expression as its name
				o.add(c)
				found = true
			}
		}
		if it.open != nil && (alias != "" || !slices.ContainsFunc(keywords, Token{WordToken, name}.Is)) {
			o.add(it.open(name))
			found = true
		}
	}
	return found
}

package sqldriver

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// table returns the columns of a table of a WITH of this level or of an outer level.
func (lv *level) table(name string) ([]origin, bool) {
	for at := lv; at != nil; at = at.up {
		if columns, ok := at.common[LowerASCII(name)]; ok {
			return columns, true
		}
	}
	return nil, false
}

// joins are the words that separate items of FROM, and the comma.
var joins = []string{",", "JOIN", "STRAIGHT_JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "OUTER"}

// from adds the items of FROM to lv. Conditions of joins don't count as origins.
func (s *selecting) from(ts []Token, lv *level) error {
	for len(ts) > 0 {
		natural := false
		for len(ts) > 0 && slices.ContainsFunc(joins, ts[0].Is) {
			natural = natural || ts[0].Is("NATURAL")
			ts = ts[1:]
		}
		end := cut(ts, joins...)
		part, condition := ts[:end], []Token(nil)
		ts = ts[end:]
		if on := cut(part, "ON", "USING"); on < len(part) {
			part, condition = part[:on], part[on:]
		}
		before := len(lv.items)
		if err := s.item(part, lv); err != nil {
			return err
		}
		if natural || len(condition) > 1 && condition[0].Is("USING") {
			if before != len(lv.items)-1 {
				return errShape
			}
			lv.merge(condition, natural)
		}
	}
	return nil
}

// merge handles a join with USING or NATURAL. It adds each merged column to the column of the same name in an earlier
// item, so that * returns it once.
func (lv *level) merge(condition []Token, natural bool) {
	last := &lv.items[len(lv.items)-1]
	var kept []origin
	for _, c := range last.columns {
		named := slices.ContainsFunc(condition, func(t Token) bool { return t.Kind <= QuotedToken && LowerASCII(t.Text) == LowerASCII(c.name) })
		merged := false
		for i := range lv.items[:len(lv.items)-1] {
			for j := range lv.items[i].columns {
				if before := &lv.items[i].columns[j]; !merged && (natural || named) && LowerASCII(before.name) == LowerASCII(c.name) {
					before.add(c)
					merged = true
				}
			}
		}
		if !merged {
			kept = append(kept, c)
		}
	}
	if len(kept) < len(last.columns) { // a name that is qualified with the alias still finds the merged columns
		lv.up = &level{up: lv.up, items: []item{{alias: last.alias, columns: last.columns}}}
	}
	last.columns = kept
}

// item adds one item of FROM: a query, a list in parentheses, a function, or a table.
func (s *selecting) item(ts []Token, lv *level) error {
	if len(ts) > 0 && ts[0].Is("LATERAL") {
		ts = ts[1:]
	}
	if len(ts) == 0 {
		return errShape
	}
	if ts[0].Is("(") {
		inner, rest, ok := TokenGroup(ts)
		switch {
		case !ok:
			return errShape
		case s.isNestedQuery(inner) || len(inner) > 0 && (inner[0].Is("WITH") || inner[0].Is("VALUES")):
			columns, err := s.query(inner, lv)
			if err != nil {
				return err
			}
			alias, names := aliasOf(rest)
			lv.items = append(lv.items, item{alias: alias, columns: renameColumns(columns, names)})
			return nil
		case len(rest) > 0:
			return errShape
		}
		return s.from(inner, lv)
	}
	if ts[0].Kind > QuotedToken {
		return errShape
	}
	space, name, rest := "", ts[0].Text, ts[1:]
	if len(rest) > 1 && rest[0].Is(".") && rest[1].Kind <= QuotedToken {
		space, name, rest = name, rest[1].Text, rest[2:]
	}
	if len(rest) > 0 && rest[0].Is("(") {
		inner, after, ok := TokenGroup(rest)
		if !ok {
			return errShape
		}
		made := s.expression(inner[:cut(inner, "COLUMNS")], lv) // the rest of JSON_TABLE contains names and types
		alias, _ := aliasOf(after)
		if alias == "" {
			alias = name
		}
		lv.items = append(lv.items, item{alias: alias, open: func(string) origin { return made }})
		return nil
	}
	alias, names := aliasOf(rest)
	if alias == "" {
		alias = name
	}
	lv.items = append(lv.items, s.relation(space, name, alias, names, lv))
	return nil
}

// relation returns the item for a table, a view or a table of WITH.
func (s *selecting) relation(space, name, alias string, names []string, lv *level) item {
	if columns, ok := lv.table(name); ok && space == "" {
		return item{alias: alias, columns: renameColumns(columns, names)}
	}
	if space == "" {
		space = s.space
	}
	f := s.find(space, name)
	if f != nil && (s.Space == "" || f.View && !s.kept[[2]string{f.Space, f.Table}]) {
		return item{alias: alias, columns: renameColumns(s.table(f), names)}
	}
	if f != nil {
		return item{alias: alias, columns: s.table(f), open: func(column string) origin { // an unreadable column
			return origin{from: map[schema.Origin]bool{{Space: f.Space, Table: f.Table, Column: column}: true}}
		}}
	}
	if s.Space != "" { // the texts name each column, but the columns of other databases aren't known
		return item{alias: alias, open: func(column string) origin {
			return origin{from: map[schema.Origin]bool{{Space: space, Table: name, Column: column}: true}}
		}}
	}
	return item{alias: alias, open: func(string) origin {
		return origin{from: map[schema.Origin]bool{{Space: space, Table: strings.TrimSpace(name)}: true}}
	}}
}

// aliasOf returns the alias that follows a table of FROM, and the names that it gives to columns.
func aliasOf(ts []Token) (alias string, names []string) {
	if len(ts) > 0 && ts[0].Is("AS") {
		ts = ts[1:]
	}
	if len(ts) == 0 || ts[0].Kind > TextToken || slices.ContainsFunc([]string{"INDEXED", "NOT", "USE", "FORCE", "IGNORE", "PARTITION"}, ts[0].Is) {
		return "", nil
	}
	if inner, _, ok := TokenGroup(ts[1:]); ok {
		for _, part := range SplitTokens(inner, ",") {
			if len(part) == 1 {
				names = append(names, part[0].Text)
			}
		}
	}
	return ts[0].Text, names
}

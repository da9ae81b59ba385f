package catalogue

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A selecting follows the columns of the SELECT of one view. It reads the structure of the statement: WITH, UNION and its
// like, FROM and the list of columns. Of an expression it reads the names alone: all columns that it names count.
type selecting struct {
	*Views
	space string // of the view
	depth int
}

// A level is a SELECT, with what it reads, inside of others.
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
	open    func(name string) origin // of a table whose columns aren't known; nil for others
}

// deepestQuery is how deep queries may be nested.
const deepestQuery = 100

// query returns the columns of a query: of a WITH, of a UNION and its like, or of one SELECT.
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

// arms returns the columns of a UNION and its like, each made of the column of each part.
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

// cut returns the index of the first of words outside of parentheses, or the length of ts.
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
				continue // a function, and a column
			}
			return i
		}
	}
	return len(ts)
}

// with adds the tables of a WITH to lv and returns the tokens after them. A recursive one is traced until nothing is added.
func (s *selecting) with(ts []Token, lv *level) ([]Token, error) {
	if len(ts) > 0 && ts[0].Is("RECURSIVE") {
		ts = ts[1:]
	}
	for {
		if len(ts) < 3 || ts[0].Kind > Quoted {
			return nil, errShape
		}
		name, names, rest := LowerASCII(ts[0].Text), []string(nil), ts[1:]
		if inner, after, ok := Group(rest); ok && rest[0].Is("(") {
			for _, part := range Split(inner, ",") {
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
		body, after, ok := Group(rest)
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
	itself := slices.ContainsFunc(body, func(t Token) bool { return t.Kind <= Quoted && LowerASCII(t.Text) == name })
	if arms := armsOf(body); itself && len(arms) > 1 {
		first, err := s.query(arms[0], lv)
		if err != nil {
			return err
		}
		lv.common[name] = renamed(first, names)
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
		lv.common[name] = renamed(columns, names)
		if !itself || !grown {
			return nil
		}
	}
	return errShape
}

// renamed returns columns with the names given, as far as there are any.
func renamed(columns []origin, names []string) []origin {
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
		inner, _, ok := Group(ts)
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

// values returns the columns of VALUES, each made of that of each row.
func (s *selecting) values(ts []Token, up *level) (out []origin, err error) {
	for i, row := range Split(ts, ",") {
		inner, _, ok := Group(row)
		if !ok {
			return nil, errShape
		}
		parts := Split(inner, ",")
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

// list returns the columns of the list of a SELECT, with those of each *.
func (s *selecting) list(ts []Token, lv *level) (out []origin, err error) {
	for _, part := range Split(ts, ",") {
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
			expression, alias := aliased(part)
			o := s.expression(expression, lv)
			o.name = alias
			out = append(out, o)
		}
	}
	return renamed(out, nil), nil
}

// aliased splits a column of a SELECT into its expression and its name. An expression without an alias has the name of
// the column that it is, and "" if it isn't one.
func aliased(ts []Token) (expression []Token, name string) {
	n := len(ts)
	if n > 2 && ts[n-2].Is("AS") && ts[n-1].Kind <= Text {
		return ts[:n-2], ts[n-1].Text
	}
	if n > 1 && ts[n-1].Kind <= Text && ends(ts[n-2]) {
		return ts[:n-1], ts[n-1].Text
	}
	plain := strip(ts)
	for len(plain) > 2 && plain[len(plain)-2].Is("COLLATE") {
		plain = strip(plain[:len(plain)-2])
	}
	for i, t := range plain {
		if i%2 == 0 && t.Kind > Quoted || i%2 == 1 && !t.Is(".") {
			return ts, ""
		}
	}
	if len(plain) == 0 {
		return ts, ""
	}
	return ts, plain[len(plain)-1].Text
}

// ends reports whether an expression may end with t, so that a name after it is an alias.
func ends(t Token) bool {
	switch t.Kind {
	case Text, Number, Quoted:
		return true
	case Punct:
		return t.Is(")")
	}
	return !slices.ContainsFunc([]string{"AND", "OR", "NOT", "IS", "IN", "LIKE", "GLOB", "COLLATE", "BETWEEN", "THEN", "ELSE", "WHEN", "CASE", "OVER", "DIV", "MOD", "REGEXP", "RLIKE", "XOR", "ESCAPE", "FROM", "DISTINCT", "BINARY", "INTERVAL"}, t.Is)
}

// expression returns what an expression is made of: all columns that it names, and those of the queries in it. The
// conditions of these queries don't count, and an EXISTS has no value of its records.
func (s *selecting) expression(ts []Token, lv *level) origin {
	o := origin{from: map[schema.Origin]bool{}}
	for i := 0; i < len(ts); i++ {
		t := ts[i]
		switch {
		case t.Is("("):
			inner, rest, ok := Group(ts[i:])
			if !ok {
				o.unknown = errShape.Error()
				return o
			}
			if len(inner) > 0 && (inner[0].Is("SELECT") || inner[0].Is("WITH") || inner[0].Is("VALUES")) || s.arranged(inner) {
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
		case t.Kind <= Quoted:
			i += s.name(ts[i:], lv, &o) - 1
		}
	}
	return o
}

// arranged reports whether tokens in parentheses are a query in parentheses.
func (s *selecting) arranged(ts []Token) bool {
	for len(ts) > 0 && ts[0].Is("(") {
		ts = ts[1:]
	}
	return len(ts) > 0 && ts[0].Is("SELECT")
}

// name adds the column that ts begins with to o, and returns how many tokens its name has.
func (s *selecting) name(ts []Token, lv *level, o *origin) int {
	chain := []Token{ts[0]}
	n := 1
	for n+1 < len(ts) && ts[n].Is(".") && ts[n+1].Kind <= Quoted {
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
		if s.Space != "" && last.Kind == Quoted && len(chain) > 1 {
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
	if alias == "" && last.Kind == Word && (slices.ContainsFunc(keywords, last.Is) || strings.HasPrefix(last.Text, "_") && n < len(ts) && ts[n].Kind == Text) {
		if last.Is("AS") || last.Is("USING") || last.Is("COLLATE") || last.Is("CHARSET") { // a type, a character set, or a collation
			for n < len(ts) && ts[n].Kind <= Quoted {
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

// column adds the columns of this name of the items of a level, or of those called alias, and reports whether there are
// any. Names are compared without case.
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
			if c.name == "" { // its name is the text of its expression
				o.add(c)
				found = true
			}
		}
		if it.open != nil && (alias != "" || !slices.ContainsFunc(keywords, Token{Word, name}.Is)) {
			o.add(it.open(name))
			found = true
		}
	}
	return found
}

// table returns a table of a WITH, of this level or those around it.
func (lv *level) table(name string) ([]origin, bool) {
	for at := lv; at != nil; at = at.up {
		if columns, ok := at.common[LowerASCII(name)]; ok {
			return columns, true
		}
	}
	return nil, false
}

// joins are the words between items of FROM, besides the comma.
var joins = []string{",", "JOIN", "STRAIGHT_JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "OUTER"}

// from adds the items of FROM to lv. Conditions of joins don't count.
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

// merge moves the columns that a join with USING or NATURAL merges into those of the items before, so that * has them once.
func (lv *level) merge(condition []Token, natural bool) {
	last := &lv.items[len(lv.items)-1]
	var kept []origin
	for _, c := range last.columns {
		named := slices.ContainsFunc(condition, func(t Token) bool { return t.Kind <= Quoted && LowerASCII(t.Text) == LowerASCII(c.name) })
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
	if len(kept) < len(last.columns) { // a name with the alias still finds the merged ones
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
		inner, rest, ok := Group(ts)
		switch {
		case !ok:
			return errShape
		case s.arranged(inner) || len(inner) > 0 && (inner[0].Is("WITH") || inner[0].Is("VALUES")):
			columns, err := s.query(inner, lv)
			if err != nil {
				return err
			}
			alias, names := aliasOf(rest)
			lv.items = append(lv.items, item{alias: alias, columns: renamed(columns, names)})
			return nil
		case len(rest) > 0:
			return errShape
		}
		return s.from(inner, lv)
	}
	if ts[0].Kind > Quoted {
		return errShape
	}
	space, name, rest := "", ts[0].Text, ts[1:]
	if len(rest) > 1 && rest[0].Is(".") && rest[1].Kind <= Quoted {
		space, name, rest = name, rest[1].Text, rest[2:]
	}
	if len(rest) > 0 && rest[0].Is("(") {
		inner, after, ok := Group(rest)
		if !ok {
			return errShape
		}
		made := s.expression(inner[:cut(inner, "COLUMNS")], lv) // what follows in JSON_TABLE are names and types
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

// relation returns the item of a table, a view or a table of WITH.
func (s *selecting) relation(space, name, alias string, names []string, lv *level) item {
	if columns, ok := lv.table(name); ok && space == "" {
		return item{alias: alias, columns: renamed(columns, names)}
	}
	if space == "" {
		space = s.space
	}
	f := s.find(space, name)
	if f != nil && (s.Space == "" || f.View && !s.kept[[2]string{f.Space, f.Table}]) {
		return item{alias: alias, columns: renamed(s.table(f), names)}
	}
	if f != nil {
		return item{alias: alias, columns: s.table(f), open: func(column string) origin { // one that the account can't read
			return origin{from: map[schema.Origin]bool{{Space: f.Space, Table: f.Table, Column: column}: true}}
		}}
	}
	if s.Space != "" { // the texts name each column, and the columns of other databases aren't known
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
	if len(ts) == 0 || ts[0].Kind > Text || slices.ContainsFunc([]string{"INDEXED", "NOT", "USE", "FORCE", "IGNORE", "PARTITION"}, ts[0].Is) {
		return "", nil
	}
	if inner, _, ok := Group(ts[1:]); ok {
		for _, part := range Split(inner, ",") {
			if len(part) == 1 {
				names = append(names, part[0].Text)
			}
		}
	}
	return ts[0].Text, names
}

package postgres

import (
	"slices"
	"strconv"
)

// A lineage contains the columns from which one column of a query is computed.
type lineage struct {
	columns   map[attribute]bool
	functions map[uint32]bool // the user-defined functions that it calls
	operators map[uint32]bool // the user-defined operators that it uses
	unknown   string          // the part that wasn't understood, or ""
}

// An attribute is a column of a table or view. Number 0 means all columns.
type attribute struct {
	relation uint32
	number   int
}

func (l *lineage) fails(what string) {
	if l.unknown == "" {
		l.unknown = what
	}
}

// A scope is a query whose columns are traced, with its outer queries.
type scope struct {
	query  node
	around *scope
	seen   map[part]bool
}

// A part is a column of an entry of a range table, or of a WITH. Each part is traced only once, so that recursive
// queries end.
type part struct {
	of     *node
	number int
}

// up returns the scope n levels further out, or nil if it doesn't exist.
func (s *scope) up(n int) *scope {
	for ; n > 0 && s != nil; n-- {
		s = s.around
	}
	return s
}

// firstOwn is the first object id of user-defined objects.
const firstOwn = 16384

// seenBefore records that a column is traced, and reports whether it was already recorded.
func (s *scope) seenBefore(of *node, number int) bool {
	at := part{of, number}
	if s.seen[at] {
		return true
	}
	s.seen[at] = true
	return false
}

// lineageOf returns the lineage of each column of a stored query, in order, and all tables and views that the query
// names.
func lineageOf(text string) (columns []lineage, reads map[uint32]bool, err error) {
	all, err := parseNodes(text)
	if err != nil {
		return nil, nil, err
	}
	if all.Tag == "" && len(all.List) == 1 {
		all = all.List[0]
	}
	reads = map[uint32]bool{}
	all.reads(reads)
	for _, t := range all.Of("targetList").List {
		if t.Of("resjunk").Text == "true" {
			continue
		}
		l := lineage{columns: map[attribute]bool{}, functions: map[uint32]bool{}, operators: map[uint32]bool{}}
		s := &scope{query: all, seen: map[part]bool{}}
		s.output(t.Int("resno"), &l)
		columns = append(columns, l)
	}
	return columns, reads, nil
}

// output adds the columns from which the query's column with this number is computed. In a UNION, INTERSECT or
// EXCEPT, these are the columns of all parts.
func (s *scope) output(number int, l *lineage) {
	if s.query.Tag != "QUERY" {
		l.fails("a part that is no query")
		return
	}
	if set := s.query.Of("setOperations"); set.Tag != "" {
		s.arms(set, number, l)
		return
	}
	for _, t := range s.query.Of("targetList").List {
		if t.Int("resno") == number {
			s.expression(t.Of("expr"), l)
			return
		}
	}
	s.everything(l) // a column that SEARCH or CYCLE adds
}

// everything adds the columns from which all columns of the query are computed.
func (s *scope) everything(l *lineage) {
	if set := s.query.Of("setOperations"); set.Tag != "" {
		for _, t := range s.query.Of("targetList").List {
			s.arms(set, t.Int("resno"), l)
		}
		return
	}
	for _, t := range s.query.Of("targetList").List {
		s.expression(t.Of("expr"), l)
	}
}

// arms adds the columns of each part of a UNION, INTERSECT or EXCEPT.
func (s *scope) arms(set node, number int, l *lineage) {
	switch set.Tag {
	case "SETOPERATIONSTMT":
		s.arms(set.Of("larg"), number, l)
		s.arms(set.Of("rarg"), number, l)
	case "RANGETBLREF":
		s.variable(set.Int("rtindex"), number, l)
	default:
		l.fails("a set operation " + set.Tag)
	}
}

// understood lists the nodes of expressions whose value depends only on the expressions within them.
var understood = []string{"", "TARGETENTRY", "CONST", "OPEXPR", "FUNCEXPR", "BOOLEXPR", "CASEEXPR", "CASE", "CASEWHEN", "WHEN", "CASETESTEXPR", "COALESCE", "COALESCEEXPR",
	"MINMAX", "MINMAXEXPR", "NULLIFEXPR", "DISTINCTEXPR", "SCALARARRAYOPEXPR", "RELABELTYPE", "COERCEVIAIO", "ARRAYCOERCEEXPR", "CONVERTROWTYPEEXPR",
	"COERCETODOMAIN", "COERCETODOMAINVALUE", "ARRAY", "ARRAYEXPR", "ROW", "ROWEXPR", "ROWCOMPARE", "ROWCOMPAREEXPR", "FIELDSELECT", "FIELDSTORE",
	"SUBSCRIPTINGREF", "NULLTEST", "BOOLEANTEST", "COLLATE", "COLLATEEXPR", "NAMEDARGEXPR", "AGGREF", "WINDOWFUNC", "GROUPINGFUNC", "SQLVALUEFUNCTION", "XMLEXPR",
	"SORTGROUPCLAUSE", "NEXTVALUEEXPR", "JSONFORMAT", "JSONRETURNING", "JSONVALUEEXPR", "JSONCONSTRUCTOREXPR", "JSONISPREDICATE", "JSONEXPR", "JSONBEHAVIOR",
	"RANGETBLFUNCTION", "TABLEFUNC", "TABLEFUNCEXPR", "SETTODEFAULT", "MERGESUPPORTFUNC", "JSONTABLEPATHSCAN", "JSONTABLESIBLINGJOIN", "JSONTABLEPATH"}

// expression adds all columns in an expression, at any depth. If it finds a node that it doesn't understand, it calls
// fails.
func (s *scope) expression(n node, l *lineage) {
	switch n.Tag {
	case "VAR":
		if at := s.up(n.Int("varlevelsup")); at != nil {
			at.variable(n.Int("varno"), n.Int("varattno"), l)
		} else {
			l.fails("a column of a query that isn't around")
		}
		return
	case "SUBLINK":
		s.expression(n.Of("testexpr"), l)
		if n.Of("subLinkType").Text != "0" { // EXISTS returns no value of the records
			(&scope{query: n.Of("subselect"), around: s, seen: s.seen}).everything(l)
		}
		return
	case "QUERY":
		(&scope{query: n, around: s, seen: s.seen}).everything(l)
		return
	case "WINDOWFUNC":
		s.window(n.Of("winref").Text, l)
	case "PARAM":
		if n.Of("paramkind").Text == "2" { // a column of the subquery of the enclosing SUBLINK, which is traced there
			return
		}
	}
	if !slices.Contains(understood, n.Tag) {
		l.fails("an expression " + n.Tag)
	}
	for _, id := range []string{"funcid", "aggfnoid", "winfnoid", "opfuncid"} {
		note(l.functions, n.Of(id).Text)
	}
	note(l.operators, n.Of("opno").Text)
	for _, inner := range n.Fields {
		s.expression(inner, l)
	}
	for _, inner := range n.List {
		s.expression(inner, l)
	}
}

// runners lists PostgreSQL's own functions that run a query given as text, or read a table given by name. They are
// query_to_xml and similar functions, ts_rewrite and ts_stat.
var runners = []uint64{2923, 2924, 2925, 2929, 2930, 2933, 2935, 2936, 2938, 3685, 3689, 3690}

// note adds the object with this id if it is user-defined or one of runners.
func note(ids map[uint32]bool, text string) {
	if id, err := strconv.ParseUint(text, 10, 32); err == nil && (id >= firstOwn || slices.Contains(runners, id)) {
		ids[uint32(id)] = true
	}
}

// window adds the columns that partition and order a window, because a rank reveals something about them.
func (s *scope) window(ref string, l *lineage) {
	for _, w := range s.query.Of("windowClause").List {
		if w.Of("winref").Text != ref {
			continue
		}
		for _, by := range slices.Concat(w.Of("partitionClause").List, w.Of("orderClause").List) {
			for _, t := range s.query.Of("targetList").List {
				if group := by.Of("tleSortGroupRef").Text; group != "" && group != "0" && t.Of("ressortgroupref").Text == group {
					s.expression(t.Of("expr"), l)
				}
			}
		}
		s.expression(w.Of("startOffset"), l)
		s.expression(w.Of("endOffset"), l)
	}
}

// The kinds of entries of a range table.
const (
	relationEntry = "0"
	subqueryEntry = "1"
	joinEntry     = "2"
	functionEntry = "3"
	tableEntry    = "4"
	valuesEntry   = "5"
	commonEntry   = "6"
	resultEntry   = "8"
	groupEntry    = "9"
)

// variable adds the columns from which a column of an entry of the range table is computed. Number 0 is the whole
// record.
func (s *scope) variable(entry, number int, l *lineage) {
	entries := s.query.Of("rtable").List
	if entry < 1 || entry > len(entries) {
		l.fails("a column of an entry that isn't there")
		return
	}
	e := entries[entry-1]
	if s.seenBefore(&entries[entry-1], number) {
		return
	}
	switch e.Of("rtekind").Text {
	case relationEntry:
		if id, err := strconv.ParseUint(e.Of("relid").Text, 10, 32); err != nil || id == 0 {
			l.fails("a table without an id")
		} else if number >= 0 { // negative numbers are system columns
			l.columns[attribute{uint32(id), number}] = true
		}
	case subqueryEntry:
		s.inner(&scope{query: e.Of("subquery"), around: s, seen: s.seen}, number, l)
	case joinEntry:
		s.among(e.Of("joinaliasvars").List, number, l)
	case groupEntry:
		s.among(e.Of("groupexprs").List, number, l)
	case functionEntry:
		s.expression(e.Of("functions"), l)
	case tableEntry:
		s.expression(e.Of("tablefunc"), l)
	case valuesEntry:
		for _, row := range e.Of("values_lists").List {
			s.among(row.List, number, l)
		}
	case commonEntry:
		s.common(e, number, l)
	case resultEntry:
	default:
		l.fails("an entry of kind " + e.Of("rtekind").Text)
	}
}

// inner adds a column of a subquery of s, or all columns for number 0.
func (s *scope) inner(of *scope, number int, l *lineage) {
	if number == 0 {
		of.everything(l)
	} else {
		of.output(number, l)
	}
}

// among adds the columns of the expression with this number, or of all expressions if there is no such expression.
func (s *scope) among(expressions []node, number int, l *lineage) {
	if number >= 1 && number <= len(expressions) {
		s.expression(expressions[number-1], l)
		return
	}
	for _, n := range expressions {
		s.expression(n, l)
	}
}

// common adds a column of a common table expression, which may refer to itself.
func (s *scope) common(e node, number int, l *lineage) {
	at := s.up(e.Int("ctelevelsup"))
	if at == nil {
		l.fails("a WITH that isn't around")
		return
	}
	list := at.query.Of("cteList").List
	for i, c := range list {
		if c.Of("ctename").Text != e.Of("ctename").Text {
			continue
		}
		if s.seenBefore(&list[i], number) {
			return
		}
		s.inner(&scope{query: c.Of("ctequery"), around: at, seen: s.seen}, number, l)
		return
	}
	l.fails("a WITH that isn't there")
}

// reads adds all tables and views that a stored query names anywhere to relations.
func (n node) reads(relations map[uint32]bool) {
	if n.Of("rtekind").Text == relationEntry {
		relations[uint32(n.Int("relid"))] = true
	}
	for _, inner := range n.Fields {
		inner.reads(relations)
	}
	for _, inner := range n.List {
		inner.reads(relations)
	}
}

package sqlgen

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// all is the limit of a query that keeps all records.
const all = math.MaxInt64

// A relation is a SELECT under construction:
//
//	SELECT columns FROM item WHERE where GROUP BY group HAVING having ORDER BY order LIMIT limit OFFSET skip
type relation struct {
	shape   plan.Shape
	columns []string // the texts of the columns of shape
	from    string   // the FROM item at the bottom
	alias   string   // the alias of the only FROM item, or "" if there are several
	names   []string // columns of the FROM item whose names aren't generated here
	levels  []level  // derived tables around from, each with the same alias and additional columns
	where   []string
	part    *part // nil if records aren't divided
	plain   bool  // a view with values computed from each record: reading it twice costs less than storing it
	grouped bool  // it has GROUP BY or an aggregate
	group   []string
	having  string

	cut     bool // order, skip and limit are set
	order   []string
	inOrder bool // it is cut, in the order of shape
	skip    int64
	limit   int64
}

// A part is a value that divides records into parts. Stages that cut or group then treat each part separately. If
// derived tables can't refer to the surrounding record, the lists of a Nest are made this way, all at once.
type part struct {
	x string
	t schema.Type
}

// A level is a derived table that adds columns. Each text is a column with the name at the same index. Its conditions
// are inside the derived table.
type level struct {
	where, texts, names []string
	end                 string // the barrier
}

// field returns the stored field in column i, or nil if the column is computed. It isn't NotNull if a join may have
// added nulls.
func (r *relation) field(i int) *schema.Field {
	c := &r.shape.Columns[i]
	if c.Field == nil || c.NotNull {
		return c.Field
	}
	f := *c.Field
	f.NotNull = false
	return &f
}

// item returns the FROM item of r with all its levels.
func (r *relation) item() string { return r.upTo(len(r.levels)) }

// upTo returns the FROM item of r with its first n levels. Each level is a derived table that adds columns and
// conditions.
func (r *relation) upTo(n int) string {
	text := r.from
	for _, l := range r.levels[:n] {
		var b strings.Builder
		b.WriteString("(SELECT " + r.alias + ".*")
		for i, x := range l.texts {
			b.WriteString(", " + x + " AS " + l.names[i])
		}
		b.WriteString(" FROM " + text + conditions(l.where) + l.end + ") AS " + r.alias)
		text = b.String()
	}
	return text
}

func conditions(where []string) string {
	if len(where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(where, " AND ")
}

// let returns the name of a column that contains x. It adds the column to the lowest possible level.
func (b *builder) let(r *relation, x string) string {
	depth := r.depth(x)
	for i := range r.levels {
		for j, text := range r.levels[i].texts {
			if text == x {
				return r.alias + "." + r.levels[i].names[j]
			}
		}
	}
	if depth == len(r.levels) {
		b.level(r)
	}
	return b.add(r, depth, x)
}

// window returns the name of a column that contains a window function over the current records.
func (b *builder) window(r *relation, x string) string {
	b.level(r)
	return b.add(r, len(r.levels)-1, x)
}

// level puts a derived table around the current item and moves the conditions into it.
func (b *builder) level(r *relation) {
	r.levels = append(r.levels[:len(r.levels):len(r.levels)], level{where: r.where, end: b.d.Barrier()})
	r.where = nil
}

// add adds the text x as a column of a level. It returns the column, which has a new name in the relation.
func (b *builder) add(r *relation, depth int, x string) string {
	name := b.s.Alias("l")
	for r.has(name) {
		name = b.s.Alias("l")
	}
	l := &r.levels[depth]
	l.texts = append(l.texts[:len(l.texts):len(l.texts)], x)
	l.names = append(l.names[:len(l.names):len(l.names)], name)
	return r.alias + "." + name
}

func (r *relation) has(name string) bool {
	for _, n := range r.names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// depth returns the number of levels that x requires below it.
func (r *relation) depth(x string) int {
	for i := len(r.levels); i > 0; i-- {
		for _, name := range r.levels[i-1].names {
			if mentions(x, r.alias+"."+name) {
				return i
			}
		}
	}
	return 0
}

// mentions reports whether name occurs in text as a whole identifier.
func mentions(text, name string) bool {
	for {
		i := strings.Index(text, name)
		if i < 0 {
			return false
		}
		end := i + len(name)
		if (i == 0 || !word(text[i-1])) && (end == len(text) || !word(text[end])) {
			return true
		}
		text = text[end:]
	}
}

func word(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// open returns a form of r over which expressions can be written. Conditions can be added to it.
func (b *builder) open(r *relation) *relation {
	if r.grouped || r.cut || r.alias == "" {
		return b.wrap(r)
	}
	next := *r
	next.columns = slices.Clone(r.columns)
	next.where = r.where[:len(r.where):len(r.where)]
	next.levels = slices.Clone(r.levels)
	return &next
}

// wrap makes r a derived table.
func (b *builder) wrap(r *relation) *relation {
	alias := b.s.Alias("t")
	next := &relation{shape: r.shape, alias: alias, from: "(" + b.subquery(r) + ") AS " + alias, columns: positions(alias, len(r.columns))}
	if r.part != nil {
		next.part = &part{alias + ".p", r.part.t}
	}
	return next
}

// constantRecords returns a relation of the constant records at the beginning of p.
func (b *builder) constantRecords(p *plan.Program) *relation {
	alias := b.s.Alias("t")
	s := &scope{b: b, r: &relation{}}
	terms := make([]string, len(p.Rows))
	for i, row := range p.Rows {
		columns := make([]string, len(row))
		for j, v := range row {
			columns[j] = b.d.Const(s, v, p.Base.Columns[j].Type) + " AS c" + strconv.Itoa(j+1)
		}
		if len(row) == 0 {
			columns = []string{"1 AS c0"}
		}
		terms[i] = "SELECT " + strings.Join(columns, ", ")
	}
	for len(terms) > mostUnion {
		var next []string
		for some := range slices.Chunk(terms, mostUnion) {
			next = append(next, "SELECT * FROM ("+strings.Join(some, " UNION ALL ")+") AS "+b.s.Alias("u"))
		}
		terms = next
	}
	text := strings.Join(terms, " UNION ALL ")
	return &relation{shape: p.Base, from: "(" + text + ") AS " + alias, alias: alias, columns: positions(alias, len(p.Base.Columns))}
}

// mostUnion is the maximum number of terms in a union. SQLite accepts 500, and PostgreSQL nests them.
const mostUnion = 400

// subquery returns r as a query with its columns named by their positions.
func (b *builder) subquery(r *relation) string {
	columns := make([]string, len(r.columns))
	for i, c := range r.columns {
		columns[i] = c + " AS c" + strconv.Itoa(i+1)
	}
	if r.part != nil {
		columns = append(columns, r.part.x+" AS p")
	}
	return b.selectQuery(r, columns)
}

// positions returns the columns of a derived table.
func positions(alias string, n int) []string {
	columns := make([]string, n)
	for i := range columns {
		columns[i] = alias + ".c" + strconv.Itoa(i+1)
	}
	return columns
}

// selectQuery returns r as a query that selects columns.
func (b *builder) selectQuery(r *relation, columns []string) string {
	switch {
	case len(columns) == 0 && r.grouped:
		columns = []string{"count(*)"} // without an aggregate, it would not be a group
	case len(columns) == 0:
		columns = []string{"1"}
	}
	var t strings.Builder
	t.WriteString("SELECT " + strings.Join(columns, ", ") + " FROM " + r.item() + conditions(r.where))
	for i, g := range r.group {
		sep := ", "
		if i == 0 {
			sep = " GROUP BY "
		}
		t.WriteString(sep + ordinal(g, columns))
	}
	if r.having != "" {
		t.WriteString(" HAVING " + r.having)
	}
	if !r.cut {
		return t.String()
	}
	if len(r.order) > 0 {
		t.WriteString(" ORDER BY " + strings.Join(r.order, ", "))
	}
	if r.limit != all || r.skip > 0 {
		t.WriteString(" LIMIT " + b.s.Limit(r.limit))
	}
	if r.skip > 0 {
		t.WriteString(" OFFSET " + b.s.Limit(r.skip))
	}
	return t.String()
}

// ordinal returns the position of a column whose text is g, so that the database computes it once. Otherwise it returns
// g.
func ordinal(g string, columns []string) string {
	for i, c := range columns {
		if c == g || c == g+" AS c"+strconv.Itoa(i+1) {
			return strconv.Itoa(i + 1)
		}
	}
	return g
}

package sqlgen

import (
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// group writes a Group as GROUP BY. Each key has an expression that is equal for equal keys, and an expression to show.
// Without keys, SQL makes one group even without records. HAVING removes that group unless st.Always is set.
func (b *builder) group(r *relation, st *plan.Group, outer *scope) (*relation, error) {
	r = b.open(r)
	s := &scope{b: b, r: r, outer: outer, lets: true}
	next := &relation{shape: st.Shape, grouped: true}
	for i, k := range st.Keys {
		if by, show := b.storedKey(s, k); by != "" {
			next.group, next.columns = append(next.group, by), append(next.columns, show)
			continue
		}
		x, err := WriteExpr(b.d, s, k)
		if err != nil {
			return nil, err
		}
		if _, ok := k.(plan.Const); ok { // a constant doesn't divide groups, and a database may read it as a column number
			next.columns = append(next.columns, x)
			continue
		}
		x = b.narrow(r, k, x)
		by, show := b.d.Key(s, x, st.Keys[i].Type(), brief(r, k))
		if by != show && !mentions(x, r.alias) { // see accumulate
			by, show = b.d.Key(s, b.let(r, x), st.Keys[i].Type(), false)
		}
		next.group = append(next.group, by)
		next.columns = append(next.columns, show)
	}
	if r.part != nil {
		if st.Always {
			return nil, notApart() // without records there would be no group
		}
		by, show := b.d.Key(s, r.part.x, r.part.t, false)
		next.group, next.part = append(next.group, by), &part{show, r.part.t}
	}
	if err := b.accumulate(s, next, st.Accumulators, next.group); err != nil {
		return nil, err
	}
	for i, by := range next.group { // only GROUP BY uses the cheaper term: windows sort by the keys themselves
		next.group[i] = b.d.GroupTerm(by)
	}
	if len(next.group) == 0 && !st.Always {
		next.having = "count(*) > 0"
		for i := range st.Keys { // SQLite requires an aggregate with HAVING
			next.columns[i] = "CASE WHEN count(*) > 0 THEN " + next.columns[i] + " END"
		}
	}
	return next, nil
}

// storedKey returns the expressions to group by and to show, for a key that is a stored column of s. Both are "" if
// Dialect.KeyOf has none.
func (b *builder) storedKey(s *scope, k plan.Expr) (by, show string) {
	if _, ok := k.(plan.Ref); !ok {
		return "", ""
	}
	x, f := s.Field(k)
	if f == nil {
		return "", ""
	}
	return b.d.KeyOf(x, f)
}

// brief reports whether e is a column whose texts are known to be short.
func brief(r *relation, e plan.Expr) bool {
	ref, ok := e.(plan.Ref)
	if !ok || r.shape.Columns[ref.Column].Field == nil {
		return false
	}
	n := r.shape.Columns[ref.Column].Field.Length
	return n > 0 && n <= shortText
}

// narrow returns x, the text of e. If the database would sort long texts to compute x, narrow returns a column below
// the group that contains x.
func (b *builder) narrow(r *relation, e plan.Expr, x string) string {
	long := func(ref plan.Ref) bool { return r.shape.Columns[ref.Column].Type.Open() && !brief(r, ref) }
	if _, ok := e.(plan.Ref); ok || !b.d.Gathers() || !plan.Reads(e, long) {
		return x
	}
	return b.let(r, x)
}

// accumulate adds the accumulators over s to group. The argument by contains the texts of the group's keys. It then
// closes the group.
func (b *builder) accumulate(s *scope, group *relation, all []plan.Accumulator, by []string) error {
	xs := make([]string, len(all))
	for i, a := range all {
		if a.X == nil || a.Op == plan.Unread {
			continue
		}
		var err error
		if xs[i], err = b.element(s, a); err != nil {
			return err
		}
		xs[i] = b.narrow(s.r, a.X, xs[i])
		if !mentions(xs[i], s.r.alias) { // SQL assigns an aggregate to a surrounding query if the aggregate has no column of its own
			xs[i] = b.let(s.r, xs[i])
		}
	}
	// First is the record with number 1 in its group. Last is the record with number 1 if the count begins at the end.
	var first, last string
	if slices.ContainsFunc(all, func(a plan.Accumulator) bool { return a.Op == plan.First }) {
		first = b.number(s, by, false)
	}
	if slices.ContainsFunc(all, func(a plan.Accumulator) bool { return a.Op == plan.Last }) {
		last = b.number(s, by, true)
	}
	for i, a := range all {
		var text string
		var err error
		switch a.Op {
		case plan.First:
			text = b.d.Pick(s, xs[i], first+" = 1", a.X.Type())
		case plan.Last:
			text = b.d.Pick(s, xs[i], last+" = 1", a.X.Type())
		case plan.Percentile:
			text = b.percentile(s, xs[i], a, by)
		case plan.Push:
			text = b.collectList(s, by, Gathered{X: xs[i], Terms: b.terms(s, s.r.shape.Order)})
		case plan.Unread:
			text, err = b.unread(s, a)
		case plan.AddToSet:
			if text = b.d.Distinct(s, xs[i], b.most); text == "" {
				text = b.distinct(s, by, xs[i])
			}
		default:
			text, err = b.accumulateOne(s, a, xs[i])
		}
		if err != nil {
			return err
		}
		group.columns = append(group.columns, text)
	}
	group.from, group.where, group.alias = s.r.item(), s.r.where, s.r.alias
	return nil
}

// unread counts the stored values of a column that expressions read as null. For a column of doubles, it counts the
// values that aren't finite. It fails for a computed column, because that has no stored values.
func (b *builder) unread(s *scope, a plan.Accumulator) (string, error) {
	x, f := s.Field(a.X)
	switch {
	case f == nil:
		return "", problem.New(problem.Internal, "sqlgen can't count values that aren't stored")
	case f.Type == schema.Double: // a NaN is more than every number
		return "count(CASE WHEN abs(" + b.d.StoredValue(s, x, f) + ") > 1.7976931348623157e308 THEN 1 END)", nil
	}
	return "count(CASE WHEN " + x + " IS NOT NULL AND " + b.d.StoredValue(s, x, f) + " IS NULL THEN 1 END)", nil
}

// accumulateOne returns the text of the accumulator a, given the text x of its operand. It uses Dialect.AccumulateOf if
// that has a text for the column, otherwise Accumulate.
func (b *builder) accumulateOne(s *scope, a plan.Accumulator, x string) (string, error) {
	if a.X == nil {
		return b.d.Accumulate(s, a.Op, x, schema.Any)
	}
	if _, own := a.X.(plan.Ref); own {
		if column, f := s.Field(a.X); f != nil {
			if text := b.d.AccumulateOf(a.Op, column, f); text != "" {
				return text, nil
			}
		}
	}
	return b.d.Accumulate(s, a.Op, x, a.X.Type())
}

// element writes the input of an accumulator. In a list, it omits a text that is larger than the maximum size of the
// list.
func (b *builder) element(s *scope, a plan.Accumulator) (string, error) {
	of, _ := a.X.(plan.ToJSON)
	if _, column := of.X.(plan.Ref); !column || of.X.Type() != schema.String || a.Op != plan.Push && a.Op != plan.AddToSet {
		return WriteExpr(b.d, s, a.X)
	}
	x, err := WriteExpr(b.d, s, of.X)
	return b.d.ToJSON(s, b.d.Short(x, b.most), schema.String), err
}

// collectList returns the text of the list l. The argument by contains the texts of the group's keys.
func (b *builder) collectList(s *scope, by []string, l Gathered) string {
	l.Most = b.most
	if size := b.d.Size(s, l.X); size != "" {
		if l.When != "" {
			size = "CASE WHEN " + l.When + " THEN " + size + " END"
		}
		l.Size = b.window(s.r, "sum("+size+") OVER ("+partition(by)+")")
	}
	return b.d.Collect(s, l)
}

// distinct collects the different values of x in a group: each value from one of its records.
func (b *builder) distinct(s *scope, by []string, x string) string {
	x = s.Atom(x)
	key, _ := b.d.Key(s, x, schema.JSON, false)
	written := b.d.Order(s, b.d.Written(x), schema.String, false)
	first := b.window(s.r, "row_number() OVER ("+partition(append(slices.Clone(by), key))+orderClause(written)+")")
	return b.collectList(s, by, Gathered{X: x, Terms: append(b.d.Order(s, x, schema.JSON, false), written...), When: first + " = 1"})
}

// number returns the name of a column that numbers the records of each group in order, from 1. With back, it numbers
// them from the end.
func (b *builder) number(s *scope, by []string, back bool) string {
	order := slices.Clone(s.r.shape.Order)
	for i := range order {
		order[i].Desc = order[i].Desc != back
	}
	return b.window(s.r, "row_number() OVER ("+partition(by)+orderClause(b.terms(s, order))+")")
}

// percentile picks one value of a group that isn't null, by its position from the greatest. a determines the position.
func (b *builder) percentile(s *scope, x string, a plan.Accumulator, by []string) string {
	t := a.X.Type()
	x = s.Atom(b.oneForm(s, x, t))
	number := b.window(s.r, "row_number() OVER ("+partition(by)+orderClause(b.d.Order(s, x, t, true))+")") // nulls come last
	count := b.add(s.r, len(s.r.levels)-1, "count("+x+") OVER ("+partition(by)+")")
	// The remainder is subtracted first, so that the division has a whole result.
	part := func(of string, point int64) string {
		scaled, points := "("+of+" * "+strconv.FormatInt(point, 10)+")", strconv.Itoa(plan.Points)
		return "(" + scaled + " - " + scaled + " % " + points + ") / " + points
	}
	var place string
	switch a.Among {
	case plan.AfterPlace:
		place = "(" + part("("+count+" - 1)", plan.Points-a.Point) + " + 1)"
	case plan.BeforePlace:
		place = "(" + count + " - " + part("("+count+" - 1)", a.Point) + ")"
	default:
		place = "(" + part(count, plan.Points-a.Point) + " + 1)"
		place = "(CASE WHEN " + place + " > " + count + " THEN " + count + " ELSE " + place + " END)"
	}
	return b.d.Pick(s, x, number+" = "+place, t)
}

// oneForm returns x with equal numbers in one form, such as 0 for 0.00 and -0. Otherwise the shown form would depend on
// the physical order of the records.
func (b *builder) oneForm(s *scope, x string, t schema.Type) string {
	switch t {
	case schema.Decimal:
		x, _ = b.d.Key(s, x, t, false)
	case schema.Double:
		x = "(" + x + " + 0.0)"
	}
	return x
}

func partition(by []string) string {
	if len(by) == 0 {
		return ""
	}
	return "PARTITION BY " + commaList(by) + " "
}

func orderClause(terms []string) string {
	if len(terms) == 0 {
		return ""
	}
	return "ORDER BY " + commaList(terms)
}

// buckets ranks the records, divides the ranks into ranges, and groups by range. A range ends where the next range
// begins. A window over the groups reads that value.
func (b *builder) buckets(r *relation, st *plan.Buckets, outer *scope) (*relation, error) {
	r = b.open(r)
	s := &scope{b: b, r: r, outer: outer, lets: true}
	by, err := WriteExpr(b.d, s, st.By)
	if err != nil {
		return nil, err
	}
	t := st.By.Type()
	by = s.Atom(b.oneForm(s, by, t))
	up, down := commaList(b.d.Order(s, by, t, false)), commaList(b.d.Order(s, by, t, true))
	rank := b.window(r, "rank() OVER (ORDER BY "+up+")")
	count := b.add(r, len(r.levels)-1, "count(*) OVER ()")
	scaled := "((" + rank + " - 1) * " + b.s.Arg(st.N, "int8") + ")"
	number := "((" + scaled + " - " + scaled + " % " + count + ") / " + count + ")" // exact in whole numbers, however a database divides
	number = b.let(r, number)
	if t == schema.JSON { // some unequal lists and objects compare as equal: which one is shown must not depend on physical order
		tie := ", " + commaList(b.d.Order(s, b.d.Written(by), schema.String, false))
		up, down = up+tie, down+tie
	}
	least := b.window(r, "row_number() OVER (PARTITION BY "+number+" ORDER BY "+up+")")
	most := b.add(r, len(r.levels)-1, "row_number() OVER (PARTITION BY "+number+" ORDER BY "+down+")")

	g := &relation{grouped: true, group: []string{number}}
	g.columns = []string{number, b.d.Pick(s, by, least+" = 1", t), b.d.Pick(s, by, most+" = 1", t)}
	if err := b.accumulate(s, g, st.Accumulators, g.group); err != nil {
		return nil, err
	}
	g = b.wrap(g)
	following := "lead(" + g.columns[0] + ") OVER (ORDER BY " + g.columns[0] + ") IS NULL"
	upper := "CASE WHEN " + following + " THEN " + g.columns[2] + " ELSE lead(" + g.columns[1] + ") OVER (ORDER BY " + g.columns[0] + ") END"
	g.columns = append([]string{g.columns[1], upper}, g.columns[3:]...)
	g.shape = st.Shape
	return b.wrap(g), nil
}

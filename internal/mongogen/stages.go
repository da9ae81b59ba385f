package mongogen

import (
	"math"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// memberNames returns the names of the members for the columns of a shape. It uses the name of the column if it is
// unique and Nameable. Otherwise it uses a name that no column can have.
func memberNames(s *plan.Shape) []string {
	out := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		out[i] = "~" + strconv.Itoa(i)
		if len(c.Path) == 1 && Nameable(c.Path[0]) && c.Path[0][0] != '~' && !slices.Contains(out[:i], c.Path[0]) {
			out[i] = c.Path[0]
		}
	}
	return out
}

// project writes a $project of members.
func (f *flow) project(names []string, values []any) {
	doc := bson.D{}
	for i, name := range names {
		doc = append(doc, bson.E{Key: name, Value: values[i]})
	}
	if !slices.Contains(names, "_id") {
		doc = append(doc, bson.E{Key: "_id", Value: int32(0)})
	}
	f.add("$project", doc)
	f.names = names
}

// columns writes the expressions of columns. A Ref passes on the stored value.
func (f *flow) columns(es []plan.Expr, to []plan.Column) ([]any, bool) {
	out := make([]any, len(es))
	for i, e := range es {
		if ref, ok := e.(plan.Ref); ok && Nameable(f.names[ref.Column]) && (to[i].Field != nil || f.shape.Columns[ref.Column].Field == nil) {
			out[i] = "$" + f.names[ref.Column]
			continue
		}
		var ok bool
		if out[i], ok = f.expr(e); !ok {
			return nil, false
		}
	}
	return out, true
}

func (f *flow) writeMap(s *plan.Map) bool {
	values, ok := f.columns(s.Columns, s.Shape.Columns)
	if !ok || f.w.Level != MongoDB {
		return false
	}
	f.project(memberNames(&s.Shape), values)
	return true
}

// unwind writes a stage that yields one record for each element of a list.
func (f *flow) unwind(s *plan.Unwind) bool {
	list, ok := f.expr(s.List)
	if !ok || f.w.Level != MongoDB || slices.ContainsFunc(f.names, func(n string) bool { return !Nameable(n) }) {
		return false
	}
	names := append(slices.Clone(f.names), "~list")
	values := make([]any, 0, len(names))
	for _, n := range f.names {
		values = append(values, "$"+n)
	}
	f.project(names, append(slices.Clone(values), list))
	f.add("$unwind", bson.D{{Key: "path", Value: "$~list"}, {Key: "includeArrayIndex", Value: "~at"}, {Key: "preserveNullAndEmptyArrays", Value: s.Keep}})
	element := op("$ifNull", "$~list", nil)
	at := op("$ifNull", "$~at", cond3(op("$eq", element, nil), nil, literal(int64(0)))) // the position 0 for a value that is not a list
	f.project(memberNames(&s.Shape), append(values, element, at))
	return true
}

// group writes a group and its accumulators.
func (f *flow) group(s *plan.Group) bool {
	if f.w.Level != MongoDB {
		return false
	}
	// Only keys of types with the same order in MongoDB and here can be grouped there.
	keys, ok := f.all(s.Keys)
	if !ok || slices.ContainsFunc(s.Keys, func(e plan.Expr) bool { return !hasSameOrder(e.Type()) }) {
		return false
	}
	by := any(nil)
	values := []any{}
	if len(keys) > 0 {
		doc := bson.D{}
		for i, k := range keys {
			name := "k" + strconv.Itoa(i)
			doc = append(doc, bson.E{Key: name, Value: k})
			values = append(values, op("$ifNull", "$_id."+name, nil))
		}
		by = doc
	}
	g := accumulators{flow: f, doc: bson.D{{Key: "_id", Value: by}}}
	for i, a := range s.Accumulators {
		v, ok := g.add(i, a)
		if !ok {
			return false
		}
		values = append(values, v)
	}
	// First, Last and Push read the records in their order.
	if g.ordered {
		sort, ok := f.order(f.shape)
		if !ok {
			return false
		}
		f.add("$sort", sort)
	}
	if s.Always { // one record even without input records
		f.add("$facet", bson.D{{Key: "~all", Value: bson.A{stage("$group", g.doc)}}})
		f.add("$project", bson.D{{Key: "~all", Value: cond3(op("$eq", bson.D{{Key: "$size", Value: "$~all"}}, literal(int64(0))), literal(bson.A{g.none}), "$~all")}})
		f.add("$unwind", "$~all")
		f.add("$replaceWith", "$~all")
	} else {
		f.add("$group", g.doc)
	}
	f.project(memberNames(&s.Shape), values)
	return true
}

// accumulators writes the accumulators of a group.
type accumulators struct {
	*flow
	doc     bson.D
	none    bson.D // the members of a group of no records
	ordered bool   // the records must be in order
}

// set adds a member to the group.
func (g *accumulators) set(name, operator string, x, none any) string {
	g.doc = append(g.doc, bson.E{Key: name, Value: bson.D{{Key: operator, Value: x}}})
	g.none = append(g.none, bson.E{Key: name, Value: none})
	return "$" + name
}

// add writes accumulator i. It returns the expression of its value after the group.
func (g *accumulators) add(i int, a plan.Accumulator) (any, bool) {
	name := "a" + strconv.Itoa(i)
	if a.X == nil {
		return g.set(name, "$sum", literal(int64(1)), int64(0)), true
	}
	x, ok := g.expr(a.X)
	if !ok {
		return nil, false
	}
	t := a.X.Type()
	switch a.Op {
	case plan.Count:
		return g.set(name, "$sum", notNull(x), int64(0)), true
	case plan.Sum:
		return g.sum(name, x, t, a.T)
	case plan.Avg:
		sum, ok := g.sum(name, x, t, schema.Double)
		n := g.set(name+"n", "$sum", notNull(x), int64(0))
		return let(sum, func(x string) any {
			return cond3(op("$or", op("$eq", x, nil), op("$eq", n, literal(int64(0)))), nil, op("$divide", x, n))
		}), ok
	case plan.Min:
		return op("$ifNull", g.set(name, "$min", x, nil), nil), hasSameOrder(t)
	case plan.Max:
		return op("$ifNull", g.set(name, "$max", x, nil), nil), hasSameOrder(t)
	case plan.First:
		g.ordered = true
		return op("$ifNull", g.set(name, "$first", x, nil), nil), true
	case plan.Last:
		g.ordered = true
		return op("$ifNull", g.set(name, "$last", x, nil), nil), true
	case plan.Push:
		g.ordered = true
		return g.set(name, "$push", x, bson.A{}), true
	}
	return nil, false
}

func notNull(x any) any { return cond3(op("$eq", x, nil), literal(int64(0)), literal(int64(1))) }

// sum adds exactly, in decimals of 34 digits. A Double counts by its shortest decimal form. The result is null if its
// type can't represent it.
func (g *accumulators) sum(name string, x any, from, as schema.Type) (any, bool) {
	decimal := to(x, "decimal")
	if from == schema.Double {
		decimal = to(bson.D{{Key: "$toString", Value: x}}, "decimal") // a double itself would be rounded to 15 digits
	}
	total := g.set(name, "$sum", decimal, int64(0))
	switch {
	case from != schema.Integer && from != schema.Double:
		return nil, false
	case as == schema.Integer:
		return to(total, "long"), true
	}
	return let(to(total, "double"), func(x string) any {
		return cond3(op("$and", op("$gte", x, literal(-math.MaxFloat64)), op("$lte", x, literal(math.MaxFloat64))), x, nil)
	}), true
}

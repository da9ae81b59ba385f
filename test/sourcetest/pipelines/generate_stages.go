package pipelines

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// deviation is the prefix of columns with standard deviations. Their last digits differ between sources, so
// expressions don't use them.
const deviation = "deviation"

// stage draws a stage on the columns of d, or two stages that belong together.
func (g *generator) stage(d *draft, nests bool) []value.Value {
	kinds := []string{"$match", "$match", "$project", "$addFields", "$unset", "$group", "$group", "$sort", "$sort", "$skip", "$limit", "$unwind", "$unwind",
		"$bucket", "$bucketAuto", "$setWindowFields", "$fill", "$densify", "$sortByCount", "$replaceWith", "$sample", "$count", "$addFields", "$project"}
	if nests {
		kinds = append(kinds, "$lookup", "$lookup", "join", "$graphLookup", "$unionWith", "$facet")
	}
	s := d.columns()
	name := pick(g, "stage", kinds...)
	one := func(operand value.Value) []value.Value { return []value.Value{object1(name, operand)} }
	switch name {
	case "$match":
		return one(g.match(s))
	case "$project":
		return one(g.project(s))
	case "$addFields":
		return one(g.newColumns(s, g.times("fields", 1, 2)))
	case "$unset":
		return one(value.OfString(g.columnOr(s, "id")))
	case "$sort":
		return one(g.sort(s))
	case "$skip":
		return one(whole(pick(g, "skip", 0, 1, 2, 5)))
	case "$limit":
		return one(whole(pick(g, "limit", 1, 2, 3, 7, 100)))
	case "$count":
		return one(value.OfString(g.fresh()))
	case "$sample":
		return one(members("size", whole(pick(g, "size", 1, 2, 5, 100))))
	case "$unwind":
		return one(g.unwind(s))
	case "$replaceWith":
		if g.chance("merge", 3) {
			return one(object1("$mergeObjects", list(value.OfString("$$ROOT"), g.newColumns(s, 1))))
		}
		return one(g.newColumns(s, g.times("fields", 1, 3)))
	case "$lookup", "join", "$graphLookup", "$unionWith", "$facet":
		return g.nestedStage(d, s, name)
	}
	return g.grouping(s, name)
}

func (g *generator) columnOr(s scope, other string) string {
	if name := g.column(s); name != "" {
		return name
	}
	return other
}

// newColumns draws an object of new columns. Some of them replace existing columns.
func (g *generator) newColumns(s scope, n int) value.Value {
	var out []value.Member
	for range n {
		name := g.fresh()
		if len(s) > 0 && g.chance("in place", 5) {
			name = g.column(s)
		}
		v := g.value(s, 3)
		if g.chance("nested", 6) {
			v = members("p", v, "q", g.value(s, 2))
		}
		if !slices.ContainsFunc(out, func(m value.Member) bool { return m.Name == name }) {
			out = append(out, value.Member{Name: name, Value: v})
		}
	}
	return value.OfObject(out)
}

// value draws an expression of any kind.
func (g *generator) value(s scope, depth int) value.Value {
	return g.expr(pick(g, "value", number, textual, integer, condition, instant, listed), s, depth)
}

func (g *generator) project(s scope) value.Value {
	out := slices.Clone(g.newColumns(s, g.times("computed", 0, 2)).Members())
	for i, m := range out {
		if m.Value.IsNumber() || m.Value.Kind() == value.Bool || m.Value.IsNull() {
			out[i].Value = object1("$literal", m.Value) // without $literal it would mean that the field is kept
		}
	}
	for range g.times("kept", 1, 3) {
		if name := g.column(s); name != "" && !slices.ContainsFunc(out, func(m value.Member) bool { return m.Name == name }) {
			out = append(out, value.Member{Name: name, Value: whole(1)})
		}
	}
	return value.OfObject(out)
}

func (g *generator) sort(s scope) value.Value {
	var out []value.Member
	for range g.times("sorts", 1, 2) {
		if name := g.column(s); name != "" && !slices.ContainsFunc(out, func(m value.Member) bool { return m.Name == name }) {
			out = append(out, value.Member{Name: name, Value: whole(pick(g, "direction", 1, -1))})
		}
	}
	return value.OfObject(out)
}

func (g *generator) unwind(s scope) value.Value {
	from := s.lists()
	if len(from) == 0 || g.chance("dynamic", 3) {
		from = append(s.dynamic(), s.lists()...)
	}
	path := g.columnOr(from, "tags")
	if len(s.lists()) == 0 && g.chance("step", 2) {
		path += "." + g.step()
	}
	m := members("path", ref(path), "preserveNullAndEmptyArrays", value.OfBool(pick(g, "keep", false, true)))
	if g.chance("index", 3) {
		m = value.OfObject(append(m.Members(), value.Member{Name: "includeArrayIndex", Value: value.OfString(g.fresh())}))
	}
	return m
}

// grouping draws a stage that combines several records into one record.
func (g *generator) grouping(s scope, name string) []value.Value {
	one := func(operand value.Value) []value.Value { return []value.Value{object1(name, operand)} }
	switch name {
	case "$bucket":
		k := pick(g, "by", number, textual, instant)
		bounds := map[kind][]value.Value{number: list(value.OfInt(-5), value.OfInt(0), value.OfDecimal("1.5"), value.OfInt(100)).List(),
			textual: list(value.OfString("A"), value.OfString("a"), value.OfString("ap"), value.OfString("é")).List(),
			instant: list(value.OfString("1970-01-01"), value.OfString("2026-01-01T00:00:00Z"), value.OfString("2026-02-01T00:00:00Z")).List()}[k]
		by := s.ofTypes(kindTypes[k]...)
		if len(by) == 0 || g.chance("expression", 3) {
			m := members("groupBy", g.expr(k, s.scalar(), 2), "boundaries", value.OfArray(bounds), "output", g.accumulators(s))
			return one(m)
		}
		m := members("groupBy", ref(g.column(by)), "boundaries", value.OfArray(bounds))
		if g.chance("default", 2) {
			m = value.OfObject(append(m.Members(), value.Member{Name: "default", Value: value.OfString("other")}))
		}
		return one(m)
	case "$bucketAuto":
		return one(members("groupBy", g.key(s), "buckets", whole(pick(g, "buckets", 1, 2, 3, 10)), "output", g.accumulators(s)))
	case "$setWindowFields":
		return one(g.windows(s))
	case "$fill":
		return one(g.filling(s))
	case "$densify":
		return one(g.densify(s))
	case "$sortByCount":
		return one(g.key(s))
	}
	m := g.accumulators(s).Members()
	if dynamic := s.dynamic(); len(dynamic) > 0 && g.chance("dynamic", 5) {
		return one(value.OfObject(append([]value.Member{{Name: "_id", Value: ref(g.column(dynamic))}}, m...)))
	}
	key := g.key(s)
	switch pick(g, "keys", 1, 1, 0, 2) {
	case 0:
		key = value.Value{}
	case 2:
		key = members("k", key, "l", g.key(s))
	}
	return one(value.OfObject(append([]value.Member{{Name: "_id", Value: key}}, m...)))
}

// key draws a group key with a defined order.
func (g *generator) key(s scope) value.Value {
	s = s.scalar()
	if len(s) > 0 && g.chance("plain", 2) {
		return ref(g.column(s))
	}
	return g.expr(pick(g, "key", number, textual, integer, condition, instant), s, 2)
}

// accumulators draws the columns of a group.
func (g *generator) accumulators(s scope) value.Value {
	var out []value.Member
	for range g.times("accumulators", 1, 3) {
		op := pick(g, "accumulator", "$sum", "$sum", "$avg", "$min", "$max", "$count", "$first", "$last", "$push", "$addToSet", "$stdDevPop", "$stdDevSamp", "$percentile", "$median")
		name, operand := g.fresh(), value.Value{}
		switch op {
		case "$sum", "$avg":
			k := number
			if g.d.lacks(Spread) {
				k = integer
			}
			operand = g.expr(k, s, 2)
		case "$stdDevPop", "$stdDevSamp":
			name, operand = deviation+name, g.expr(number, s.ofTypes(schema.Integer), 0)
		case "$percentile", "$median":
			operand = members("input", g.expr(number, s, 1))
			if op == "$percentile" {
				operand = members("input", g.expr(number, s, 1), "p", list(value.OfDecimal(pick(g, "point", "0", "0.05", "0.5", "0.75", "0.999999", "1")), value.OfDecimal("0.5")))
			}
		case "$count":
			operand = members()
		case "$min", "$max", "$addToSet": // all objects have the same position in the order, and so do all lists
			operand = g.expr(pick(g, "kind", number, textual, integer, condition, instant), s.scalar(), 2)
		case "$push":
			operand = g.value(s, 2)
			if g.chance("object", 3) {
				operand = members("a", operand, "b", g.value(s, 1))
			}
		default:
			operand = g.value(s, 2)
		}
		out = append(out, value.Member{Name: name, Value: object1(op, operand)})
	}
	return value.OfObject(out)
}

// links contains pairs of fields that may contain equal values, by class.
var links = []struct{ class, field, target, key string }{
	{"people", "boss", "people", "id"}, {"people", "team", "teams", "id"}, {"teams", "id", "people", "team"}, {"sales", "seller", "people", "id"},
	{"people", "id", "sales", "seller"}, {"hops", "next", "hops", "n"}, {"users", "org", "orgs", "id"}, {"users", "id", "comments", "author"},
	{"comments", "author", "users", "id"}, {"posts", "author", "users", "id"}, {"texts", "s", "texts", "ci"}, {"texts", "ci", "texts", "code"},
	{"numbers", "n", "numbers", "small"}, {"numbers", "x", "numbers", "n"}, {"numbers", "d", "numbers", "x"}, {"times", "at", "times", "local"},
	{"times", "day", "times", "at"}, {"events", "kind", "events", "kind"}, {"events", "at", "times", "at"}, {"docs", "doc", "numbers", "n"},
	{"docs", "doc.a", "docs", "id"}, {"kinds", "u", "kinds", "u"}, {"sales", "item", "sales", "item"}, {"posts", "num", "parts", "num"},
}

// nestedStage draws a stage that contains a short pipeline of its own.
func (g *generator) nestedStage(d *draft, s scope, name string) []value.Value {
	as := g.fresh()
	switch name {
	case "$facet":
		var branches []value.Member
		for range g.times("branches", 1, 2) {
			inner := g.pipeline(d.class, d.stages, 2)
			branches = append(branches, value.Member{Name: g.fresh(), Value: value.OfArray(inner.stages[len(d.stages):])})
		}
		return []value.Value{object1(name, value.OfObject(branches))}
	case "$unionWith":
		class := pick(g, "class", g.d.names...)
		return []value.Value{object1(name, members("coll", class, "pipeline", value.OfArray(g.pipeline(class, nil, 2).stages)))}
	}
	link := links[g.times("link", 0, len(links)-1)]
	for _, l := range links { // usually choose a link that begins in this class
		if l.class == d.class && slices.ContainsFunc(s, func(c column) bool { return c.name == l.field }) && g.chance("this link", 2) {
			link = l
		}
	}
	if name == "$graphLookup" {
		m := members("from", link.class, "startWith", g.leafOf(s, link.field), "connectFromField", link.field, "connectToField", link.key, "as", as,
			"depthField", "steps", "maxDepth", whole(pick(g, "depth", 0, 1, 2, 5)))
		if g.chance("restrict", 3) {
			m = value.OfObject(append(m.Members(), value.Member{Name: "restrictSearchWithMatch", Value: g.where(g.pipeline(link.class, nil, 0).columns(), 1)}))
		}
		return []value.Value{object1(name, m)}
	}
	m := members("from", link.target, "localField", g.columnOr(s.of(func(c column) bool { return c.name == link.field }), g.columnOr(s, "id")), "foreignField", link.key, "as", as)
	if name == "join" {
		return []value.Value{object1("$lookup", m), object1("$unwind", members("path", ref(as), "preserveNullAndEmptyArrays", value.OfBool(pick(g, "keep", true, false))))}
	}
	return []value.Value{object1(name, g.inner(s, m, link.target))}
}

// leafOf refers to the named column, or to another column if it doesn't exist.
func (g *generator) leafOf(s scope, name string) value.Value {
	if s := s.of(func(c column) bool { return c.name == name }); len(s) > 0 {
		return ref(name)
	}
	return g.leaf(pick(g, "start", textual, integer), s)
}

// inner adds a pipeline to a $lookup. The first stage of the pipeline uses variables.
func (g *generator) inner(s scope, m value.Value, target string) value.Value {
	if g.chance("plain", 3) {
		return m
	}
	d := g.pipeline(target, nil, 2)
	with := m.Members()
	stages := d.stages
	if g.chance("variables", 2) {
		if g.chance("no equality", 2) {
			with = slices.DeleteFunc(slices.Clone(with), func(m value.Member) bool { return m.Name == "localField" || m.Name == "foreignField" })
		}
		k := pick(g, "variable", number, textual, instant)
		there := g.pipeline(target, nil, 0).columns()
		variable := column{name: "$it", is: kindTypes[k][0]}
		with = append(with, value.Member{Name: "let", Value: members("it", g.expr(k, s, 1))})
		first := object1("$match", object1("$expr", object1(pick(g, "op", "$eq", "$gt", "$lte"), list(g.leaf(k, there), ref("$it")))))
		if g.chance("compute", 2) {
			first = object1("$addFields", members(g.fresh(), g.expr(k, append(there, variable), 2)))
		}
		stages = append(list(first).List(), stages...)
	}
	return value.OfObject(append(with, value.Member{Name: "pipeline", Value: value.OfArray(stages)}))
}

// filling draws the operand of a $fill.
func (g *generator) filling(s scope) value.Value {
	order := s.ofTypes(kindTypes[number]...)
	var output []value.Member
	for range g.times("fields", 1, 2) {
		how := members("value", g.value(s, 1))
		numbers := s.ofTypes(kindTypes[number]...)
		name := g.column(s)
		switch method := pick(g, "method", "value", "locf", "linear"); {
		case len(order) == 0 || method == "value":
		case method == "locf":
			how = members("method", value.OfString(method))
			name = g.column(s.scalar())
		case !g.d.lacks(Spread) && len(numbers) > 0:
			how = members("method", value.OfString(method))
			name = g.column(numbers)
		}
		if name != "" && !slices.ContainsFunc(output, func(m value.Member) bool { return m.Name == name }) {
			output = append(output, value.Member{Name: name, Value: how})
		}
	}
	if output == nil {
		output = []value.Member{{Name: g.fresh(), Value: members("value", whole(1))}}
	}
	m := []value.Member{{Name: "output", Value: value.OfObject(output)}}
	if g.chance("partition", 2) {
		m = append(m, value.Member{Name: "partitionBy", Value: g.key(s)})
	}
	if len(order) > 0 {
		m = append(m, value.Member{Name: "sortBy", Value: members(g.column(order), whole(pick(g, "direction", 1, -1)))})
	}
	return value.OfObject(m)
}

// densify draws the operand of a $densify.
func (g *generator) densify(s scope) value.Value {
	span := members("step", whole(pick(g, "step", 1, 2, 7)), "bounds", list(whole(pick(g, "from", -3, 0, 1)), whole(pick(g, "to", 2, 9))))
	fields := s.ofTypes(schema.Integer, schema.Double, schema.Decimal)
	if times := s.ofTypes(schema.Date); len(times) > 0 && (len(fields) == 0 || g.chance("times", 2)) {
		fields = times
		span = members("step", whole(pick(g, "step", 1, 2)), "unit", value.OfString(pick(g, "unit", "day", "week", "month", "hour")),
			"bounds", list(value.OfString("2026-01-30"), value.OfString(pick(g, "to", "2026-01-31", "2026-02-03"))))
	}
	m := []value.Member{{Name: "field", Value: value.OfString(g.columnOr(fields, "id"))}, {Name: "range", Value: span}}
	if name := g.column(s.scalar()); name != "" && g.chance("partition", 2) {
		m = append(m, value.Member{Name: "partitionByFields", Value: list(value.OfString(name))})
	}
	return value.OfObject(m)
}

// windows draws the operand of a $setWindowFields.
func (g *generator) windows(s scope) value.Value {
	var output []value.Member
	ordered := len(s.scalar()) > 0 && g.chance("sorted", 2)
	functions := []string{"$sum", "$avg", "$min", "$max", "$count", "$first", "$last"}
	if ordered {
		functions = append(functions, "$rank", "$denseRank", "$documentNumber", "$shift", "$sum", "$avg")
	}
	for range g.times("functions", 1, 3) {
		op, operand := pick(g, "function", functions...), members()
		switch op {
		case "$sum", "$avg":
			k := number
			if g.d.lacks(Spread) {
				k = integer
			}
			operand = g.expr(k, s, 2)
		case "$min", "$max":
			operand = g.expr(pick(g, "kind", number, textual, integer, condition, instant), s.scalar(), 2)
		case "$first", "$last":
			operand = g.value(s, 1)
		case "$shift":
			operand = members("output", g.expr(number, s, 1), "by", whole(pick(g, "by", -2, -1, 0, 1, 3)))
			if g.chance("default", 2) {
				operand = members("output", g.expr(integer, s, 1), "by", whole(pick(g, "by", -2, -1, 1)), "default", whole(7))
			}
		}
		f := members(op, operand)
		if ordered && slices.Contains(functions[:7], op) && g.chance("framed", 1) {
			lower, upper := pick(g, "lower", value.OfString("unbounded"), whole(-3), whole(-1), value.OfString("current"), whole(1)),
				pick(g, "upper", value.OfString("unbounded"), whole(1), whole(2), whole(4))
			f = members(op, operand, "window", members("documents", list(lower, upper)))
		}
		output = append(output, value.Member{Name: g.fresh(), Value: f})
	}
	m := []value.Member{{Name: "output", Value: value.OfObject(output)}}
	if g.chance("partition", 1) {
		m = append(m, value.Member{Name: "partitionBy", Value: g.key(s)})
	}
	if ordered {
		m = append(m, value.Member{Name: "sortBy", Value: g.sort(s.scalar())})
	}
	return value.OfObject(m)
}

package sourcetest

import (
	"cmp"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"pgregory.net/rapid"
)

// A generator draws one random query on a view.
type generator struct {
	t    *rapid.T
	d    *differential
	as   asker
	view *policy.View
	pool map[string][]value.Value
}

func pick[T any](g *generator, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(g.t, label)
}

func one(name string, v value.Value) value.Value {
	return value.OfObject([]value.Member{{Name: name, Value: v}})
}

// object draws a where object. depth is the remaining number of nested levels.
func (g *generator) object(depth int) value.Value {
	if depth > 0 {
		switch op := pick(g, "logic", "", "", "", "", "$and", "$or", "$nor", "$not"); op {
		case "":
		case "$not":
			return one(op, g.object(depth-1))
		default:
			parts := make([]value.Value, pick(g, "parts", 1, 2, 3))
			for i := range parts {
				parts[i] = g.object(depth - 1)
			}
			return one(op, value.OfArray(parts))
		}
	}
	first, behind := g.field("field"), ""
	if to := g.behind(first.Name); to != nil {
		first, g, behind = to.field("field"), to, first.Name+"."
	}
	members := []value.Member{g.member(first)}
	if members[0].Name = behind + members[0].Name; behind != "" {
		return value.OfObject(members)
	}
	if second := g.field("second"); pick(g, "both", false, false, true) {
		if m := g.member(second); m.Name != members[0].Name {
			members = append(members, m)
		}
	}
	return value.OfObject(members)
}

// behind sometimes returns a generator for the view that a pointer leads to. Otherwise it returns nil, and the field
// is not treated as a pointer.
func (g *generator) behind(pointer string) *generator {
	to, ok := g.view.Pointer(pointer)
	if !ok || pick(g, "behind", true, false, false) {
		return nil
	}
	v, err := g.as.policy.View(g.as.who, to.Target, "", false)
	if err != nil {
		g.t.Fatal(err)
	}
	return &generator{t: g.t, d: g.d, as: g.as, view: v, pool: g.d.pool[to.Target]}
}

// leads reports whether f is a pointer or a list of pointers.
func (g *generator) leads(f *schema.Field) bool {
	_, ok := g.view.Pointer(f.Name)
	return ok
}

func (g *generator) field(label string) *schema.Field {
	fields := g.view.Fields()
	return fields[rapid.IntRange(0, len(fields)-1).Draw(g.t, label)]
}

// member draws a condition on a field or on a part of the field.
func (g *generator) member(f *schema.Field) value.Member {
	path := f.Name
	if f.Type.IsStructured() && !g.leads(f) {
		for range pick(g, "steps", 0, 1, 1, 2, 2, 3) {
			path += "." + g.step()
		}
	}
	if pick(g, "plain", false, false, false, true) {
		return value.Member{Name: path, Value: g.literal(f, true)}
	}
	return value.Member{Name: path, Value: g.operators(f, 1)}
}

func (g *generator) step() string {
	steps := []string{"a", "a", "a", "b", "b", "c", "t", "x", "tags", "n", "k", "0", "naïve", "it's", "flags", "on"}
	if _, lacks := g.d.limits[AnyKey]; !lacks {
		steps = append(steps, `q"k`, `b\s`)
	}
	return rapid.SampledFrom(steps).Draw(g.t, "step")
}

// operators draws an object {$op: operand, …} for values of a field's type.
func (g *generator) operators(f *schema.Field, depth int) value.Value {
	var members []value.Member
	for range pick(g, "operators", 1, 1, 1, 2) {
		op := g.operator(f, depth)
		have := false
		for _, m := range members {
			have = have || m.Name == op
		}
		if !have {
			members = append(members, g.operand(op, f, depth)...)
		}
	}
	return value.OfObject(members)
}

func (g *generator) operator(f *schema.Field, depth int) string {
	ops := []string{"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$all", "$exists", "$regex", "$startsWith", "$size"}
	if f.Type.IsStructured() {
		ops = append(ops, "$size", "$all")
	}
	if f.Type == schema.String { // refused for JSON
		ops = append(ops, "$contains")
	}
	if depth > 0 {
		ops = append(ops, "$not")
		if f.Type.IsStructured() {
			ops = append(ops, "$elemMatch", "$elemMatch")
		}
	}
	if f.Type.IsStructured() {
		ops = append(ops, "$geoWithin")
	}
	return rapid.SampledFrom(ops).Draw(g.t, "operator")
}

func (g *generator) operand(op string, f *schema.Field, depth int) []value.Member {
	v := value.Value{}
	switch op {
	case "$in", "$nin", "$all":
		list := make([]value.Value, pick(g, "values", 0, 1, 2, 3))
		for i := range list {
			list[i] = g.literal(f, true)
		}
		v = value.OfArray(list)
	case "$exists":
		v = value.OfBool(pick(g, "exists", true, false))
	case "$regex":
		return g.regex()
	case "$contains":
		v = value.OfString(cmp.Or(g.prefix(f), "a"))
	case "$startsWith":
		v = value.OfString(g.prefix(f))
	case "$geoWithin":
		v = one("$box", ofJSON("[[-1, -10.5], [10.7522, 60]]"))
		if pick(g, "round", true, false) {
			v = one("$centerSphere", value.OfArray([]value.Value{ofJSON("[10.7522, 59.9139]"), value.OfFloat(pick(g, "radius", 0, 0.05, 0.5, 3.15))}))
		}
	case "$size":
		v = value.OfInt(pick[int64](g, "size", 0, 1, 2, 3, 6))
	case "$not":
		v = g.operators(f, depth-1)
	case "$elemMatch":
		if v = g.operators(f, depth-1); pick(g, "inside", true, false) {
			v = one(g.step(), v)
		}
	default:
		v = g.literal(f, op == "$eq" || op == "$ne")
	}
	return []value.Member{{Name: op, Value: v}}
}

// nearby sometimes adds $near to a where object, for a field that may contain points.
func (g *generator) nearby(where value.Value) value.Value {
	at := slices.IndexFunc(g.view.Fields(), func(f *schema.Field) bool { return f.Type.IsStructured() && !g.leads(f) })
	if at < 0 || !pick(g, "near", true, false, false) {
		return where
	}
	near := []value.Member{{Name: "$nearSphere", Value: ofJSON(pick(g, "center", "[10.7522, 59.9139]", "[21, 10]", "[0, 0]", "[-179.5, 0.25]"))}}
	if most := pick(g, "most", 0, 0.05, 0.5, 3.15); most > 0 {
		near = append(near, value.Member{Name: "$maxDistance", Value: value.OfFloat(most)})
	}
	if least := pick(g, "least", 0, 0, 0.04); least > 0 {
		near = append(near, value.Member{Name: "$minDistance", Value: value.OfFloat(least)})
	}
	path := g.view.Fields()[at].Name + pick(g, "part", "", "", ".p", ".a")
	return one("$and", value.OfArray([]value.Value{where, one(path, value.OfObject(near))}))
}

// ofJSON parses a JSON text from this package.
func ofJSON(text string) value.Value {
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		panic(err)
	}
	return v
}

// regex draws a regular expression. Some of them are chosen for the data.
func (g *generator) regex() []value.Member {
	pattern := pick(g, "pattern", "^a", "a|b", "[a-c]+$", `\bap`, ".", "^$", `\d+`, "[^a]", "ß|İ", "(?s).e", `\W`, "x{0,2}$", `\pL+$`, "(ab|b)*c",
		`^.{2,3}$`, `\s`, `[[:upper:]]`, `(?i:APP)le`, "k", "s+", `\x{1D4B3}`, "^[^x]*$", `a.*?e`, `\Bp`, "σ", `[^\x00-\x7f]`, "", `(?m)^line2$`, `\.`)
	if pick(g, "quoted", false, false, true) {
		pattern = regexp.QuoteMeta(g.prefix(nil))
	}
	out := []value.Member{{Name: "$regex", Value: value.OfString(pattern)}}
	if options := pick(g, "options", "", "", "i", "m", "im", "x"); options != "" {
		out = append(out, value.Member{Name: "$options", Value: value.OfString(options)})
	}
	return out
}

// prefix draws the beginning of a text in the data.
func (g *generator) prefix(f *schema.Field) string {
	name := ""
	if f != nil {
		name = f.Name
	}
	pool := g.pool[name]
	if len(pool) == 0 {
		pool = g.d.pool["texts"]["s"]
	}
	runes := []rune(rapid.SampledFrom(pool).Draw(g.t, "text").String())
	return string(runes[:min(len(runes), pick(g, "runes", 0, 1, 2, 3, 5, 100))])
}

// literal draws a value for a comparison: from the data, near to a value in the data, or of another type. whole
// allows lists and objects.
func (g *generator) literal(f *schema.Field, whole bool) value.Value {
	pool := append(g.pool[f.Name], others...)
	if len(g.pool[f.Name]) > 0 && pick(g, "own", true, true, true, false) {
		pool = g.pool[f.Name]
	}
	v := rapid.SampledFrom(pool).Draw(g.t, "literal")
	if pick(g, "near", false, false, true) {
		v = g.near(v)
	}
	if !whole && (v.Kind() == value.Array || v.Kind() == value.Object) {
		return value.OfInt(1)
	}
	return v
}

// others contains literals whose type may differ from the field's type.
var others = []value.Value{{}, value.OfBool(true), value.OfInt(0), value.OfInt(1), value.OfInt(-1), value.OfDecimal("1.0"), value.OfDecimal("0.5"),
	value.OfString(""), value.OfString("1"), value.OfString("a"), value.OfString("2026-01-31T08:00:00Z"), value.OfString("00000000-0000-0000-0000-000000000001"),
	value.OfArray([]value.Value{value.OfInt(1)}), value.OfArray([]value.Value{}), value.OfObject([]value.Member{{Name: "b", Value: value.OfInt(1)}}),
	value.OfInt(9223372036854775807), value.OfDecimal("9223372036854775808"), value.OfDecimal("9007199254740992.5"), value.OfDecimal("1e3")}

// near draws a value near v.
func (g *generator) near(v value.Value) value.Value {
	switch v.Kind() {
	case value.Int, value.Decimal:
		return g.nearNumber(v)
	case value.String:
		if date, ok := value.OfDateText(v.Text()); ok && date.Kind() == value.Date && date.Micros() < 2e17 && pick(g, "as date", true, false) {
			date = value.OfDate(date.Micros() + pick[int64](g, "micros", 0, 1000, -1000, 500))
			return value.OfObject([]value.Member{{Name: "__type", Value: value.OfString("Date")}, {Name: "iso", Value: value.OfString(date.String())}})
		}
		runes := []rune(v.Text())
		return value.OfString(pick(g, "text near", string(runes[:len(runes)/2]), v.Text()+"a", v.Text()+" ", strings.ToUpper(v.Text()), strings.ToLower(v.Text())))
	case value.Array:
		return value.OfArray(append(v.List()[:len(v.List()):len(v.List())], value.OfInt(1)))
	}
	return v
}

// nearNumber changes a number by one or a half, if the source compares it exactly.
func (g *generator) nearNumber(v value.Value) value.Value {
	exact, ok := new(big.Rat).SetString(v.String())
	if _, fits := v.AsInt(); !ok || !fits && len(v.Text()) > 15 {
		return v
	}
	exact.Add(exact, pick(g, "step by", big.NewRat(1, 1), big.NewRat(-1, 1), big.NewRat(1, 2), new(big.Rat)))
	text := strings.TrimSuffix(exact.FloatString(1), ".0")
	if near, err := value.Read([]byte(text), 0); err == nil {
		return near
	}
	return v
}

// order draws an order of fields that have a defined order.
func (g *generator) order() []query.Sort {
	var out []query.Sort
	for range pick(g, "sorts", 0, 0, 1, 1, 2) {
		f, path := g.field("sort"), query.Path(nil)
		if to := g.behind(f.Name); to != nil && !f.Type.IsStructured() {
			f, path = to.field("sort"), query.Path{f.Name}
		}
		// A date column of SQLite with values other than dates has no defined order.
		if !f.Type.IsStructured() && (g.view.Name() != "untyped" || f.Name != "at") {
			out = append(out, query.Sort{Path: append(path, f.Name), Desc: pick(g, "desc", false, true)})
		}
	}
	return out
}

// keys draws fields to return, including parts of JSON and fields of target records.
func (g *generator) keys() []query.Path {
	var out []query.Path
	for range pick(g, "keys", 0, 0, 1, 2, 3) {
		f := g.field("key")
		path := query.Path{f.Name}
		if f.Type.IsStructured() && !g.leads(f) && pick(g, "part", true, false) {
			path = append(path, g.step())
		}
		if into := g.follow(); into != nil && pick(g, "behind", true, false) {
			path = append(into, "name")
			if into[len(into)-1] == "author" || into[len(into)-1] == "boss" {
				path[len(path)-1] = pick(g, "behind", "name", "id", "org")
			}
		}
		out = append(out, path)
	}
	return out
}

func (g *generator) include() []query.Path {
	if path := g.follow(); path != nil && pick(g, "include", true, false) {
		return []query.Path{path}
	}
	return nil
}

// follow draws a path of pointers, or nil if the class has none.
func (g *generator) follow() query.Path {
	switch g.view.Name() {
	case "users":
		return pick(g, "pointer", query.Path{"boss"}, query.Path{"org"}, query.Path{"boss", "org"}, query.Path{"boss", "boss", "org"})
	case "visits":
		return pick(g, "pointer", query.Path{"who"}, query.Path{"who", "boss"}, query.Path{"who", "org"})
	case "comments", "posts":
		return pick(g, "pointer", query.Path{"author"}, query.Path{"author", "org"}, query.Path{"author", "boss"})
	}
	return nil
}

// pools collects the literals of every field.
func (s *subject) pools(t *testing.T) map[string]map[string][]value.Value {
	t.Helper()
	out := map[string]map[string][]value.Value{}
	for _, table := range s.data.Tables {
		out[table.Name] = map[string][]value.Value{}
		for _, row := range table.Records(t) {
			for i, v := range row {
				name := table.Columns[i].Name
				out[table.Name][name] = within(out[table.Name][name], v)
			}
		}
	}
	if held := out["held"]; held != nil { // values in the forms that the rules declare
		for _, text := range []string{"2026-01-31T08:00:00Z", "2026-01-31T08:00:00.001Z", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z", "2026-01-31"} {
			for _, name := range []string{"ms", "s", "at"} {
				held[name] = append(held[name], value.OfString(text))
			}
		}
		for _, name := range []string{"price", "n", "rate"} {
			held[name] = append(held[name], value.OfInt(7), value.OfInt(-3), value.OfInt(1000), value.OfDecimal("0.5"))
		}
		held["day"] = append(held["day"], value.OfString("2026-01-31"), value.OfString("1969-12-31"))
		held["on"] = append(held["on"], value.OfBool(true), value.OfBool(false))
	}
	return out
}

// within appends v and all nested values that can be written in a query.
func within(to []value.Value, v value.Value) []value.Value {
	for _, e := range v.List() {
		to = within(to, e)
	}
	for _, m := range v.Members() {
		if m.Name == "$sql" {
			return to
		}
		to = within(to, m.Value)
	}
	return append(to, v)
}

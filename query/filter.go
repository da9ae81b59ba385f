package query

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Filter is a predicate over a record. It is true or false for each record, never unknown. The set is closed.
type Filter interface{ isFilter() }

// A Condition is a filter on the value at one path.
type Condition interface {
	Filter
	// Place returns the path, and the JSON pointer of the operand.
	Place() (Path, string)
	// On returns the condition on another path.
	On(Path) Filter
	// OfNull reports whether null satisfies it.
	OfNull() bool
	// whole returns the condition in the form for Whole. in means that a true condition lets a record in.
	whole(in bool) Filter
	// operators returns its operators in the form that ParseWhere accepts for a field.
	operators() value.Value
}

type (
	// Compare compares the value at Path with Value. Values of different types never match. Null equals null and
	// missing. At is the JSON pointer of the operand, for messages.
	Compare struct {
		Path  Path
		Op    Op
		Value value.Value
		At    string
		Own   bool // with Eq: compares texts like the source's own column, for example ignoring case. Never set by a caller
		Whole bool // see Whole
	}
	// In is true if the value at Path equals one of Values. With Not, it is true if the value equals none.
	In struct {
		Path   Path
		Values []value.Value
		Not    bool
		At     string
		Whole  bool // see Whole
	}
	// Exists is true if the value at Path exists and is not null. With Want false, it is true if the value is missing
	// or null.
	Exists struct {
		Path  Path
		Want  bool
		At    string
		Whole bool // see Whole
	}
	// Regex is true if the text at Path matches Pattern, in RE2 syntax with the options imx.
	Regex struct {
		Path    Path
		Pattern string
		Options string
		// Contains is the text of $contains, whose meaning depends on the type of the field. A bound filter doesn't
		// have it.
		Contains string
		At       string
		Whole    bool // see Whole
	}
	// GeoWithin is true if the value at Path is a point in an area. Near orders records by distance, the nearest first,
	// if they have no other order. A Find has at most one Near. Its Where must be this GeoWithin or an And with it.
	GeoWithin struct {
		Path  Path
		Area  literals.Area
		Near  bool
		Text  bool // the point has the form (1.5,2). A bound filter sets it for a column of points
		At    string
		Whole bool // see Whole
	}
	// StartsWith is true if the text at Path begins with Prefix.
	StartsWith struct {
		Path   Path
		Prefix string
		At     string
		Whole  bool // see Whole
	}
	// Size is true if the value at Path is an array of N elements.
	Size struct {
		Path Path
		N    int64
		At   string
	}
	// ElemMatch is true if the value at Path is an array with an element that satisfies Match. Paths in Match are
	// relative to the element. An empty path is the element itself.
	ElemMatch struct {
		Path  Path
		Match Filter
		At    string
	}
	// InQuery is true if the value at Path is the Key of a record of Class that satisfies Where, or of any record if
	// Where is nil. With Not, it is true if the value is not the Key of such a record. Key is nil for $inQuery, which
	// uses the target key of the pointer at Path. View is the number of the plan's view that it reads, from 1. Policy
	// sets it.
	InQuery struct {
		Path  Path
		Class string
		Where Filter
		Key   Path
		Not   bool
		At    string
		View  int
	}
	// And is true if every part is true. An empty And is invalid.
	And []Filter
	// Or is true if at least one part is true. An empty Or is invalid.
	Or []Filter
	// Not is true if Part is false.
	Not struct{ Part Filter }
	// Deferred is a comparison in a rule, or an In if List is set. Its operand is the value of a CEL expression over
	// the principal. With List, Op is Eq or Ne. Only ParseRule makes it, and policy replaces it before the filter is
	// bound.
	Deferred struct {
		Path Path
		Op   Op
		List bool
		CEL  string
		At   string
	}
	// Never is always false: it replaces a comparison that can't match. It has no written form.
	Never struct{}
)

func (Compare) isFilter()    {}
func (In) isFilter()         {}
func (Exists) isFilter()     {}
func (Regex) isFilter()      {}
func (StartsWith) isFilter() {}
func (GeoWithin) isFilter()  {}
func (Size) isFilter()       {}
func (ElemMatch) isFilter()  {}
func (InQuery) isFilter()    {}
func (And) isFilter()        {}
func (Or) isFilter()         {}
func (Not) isFilter()        {}
func (Deferred) isFilter()   {}
func (Never) isFilter()      {}

// With returns the filter for the value v of d's expression: a scalar, or a list of scalars with List.
func (d Deferred) With(v value.Value) Filter {
	if d.List {
		return In{Path: d.Path, Values: v.List(), Not: d.Op == Ne, At: d.At}
	}
	return Compare{Path: d.Path, Op: d.Op, Value: v, At: d.At}
}

// fieldOps are the operators on the value of a field.
var fieldOps = []string{"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$regex", "$options",
	"$startsWith", "$contains", "$all", "$size", "$elemMatch", "$not", "$inQuery", "$notInQuery", "$select", "$dontSelect", "$geoWithin", "$near", "$nearSphere"}

// operator parses one operator. among has all operators of the object. It returns nil for $options, which is parsed
// with its $regex.
func (o operand) operator(path Path, among value.Value) Filter {
	if o.rule {
		if f := o.celFilter(path); f != nil {
			return o.countCondition(f)
		}
	}
	switch o.name {
	case "$inQuery", "$notInQuery", "$select", "$dontSelect":
		return o.countCondition(o.inQuery(path))
	case "$in", "$nin", "$all":
		return o.countCondition(o.list(path))
	case "$exists":
		if !o.is(value.Bool) {
			o.refuse(invalid(o.at, "$exists takes true or false"))
		}
		return o.countCondition(Exists{Path: path, Want: o.v.Bool(), At: o.at})
	case "$regex":
		options, _ := among.Get("$options")
		f, err := regex(path, o.v, options, o.at)
		o.refuse(err)
		return o.countCondition(f)
	case "$options":
		if _, ok := among.Get("$regex"); !ok {
			o.refuse(invalid(o.at, "$options goes with $regex"))
		}
		return nil
	case "$geoWithin", "$near", "$nearSphere", "$maxDistance", "$minDistance", "$maxDistanceInRadians", "$maxDistanceInKilometers", "$maxDistanceInMiles":
		return o.place(path, among)
	case "$startsWith", "$contains":
		return o.countCondition(o.part(path))
	case "$size":
		if !o.is(value.Int) || o.v.Int() < 0 {
			o.refuse(invalid(o.at, "$size takes a whole number, 0 or more"))
		}
		return o.countCondition(Size{Path: path, N: o.v.Int(), At: o.at})
	case "$elemMatch":
		if len(o.v.Members()) == 0 {
			o.refuse(invalid(o.at, "$elemMatch takes an object with a condition in it"))
		}
		o.element, o.within, o.match, o.ordered = true, true, 0, false
		return o.countCondition(ElemMatch{Path: path, Match: all(o.conditions()), At: o.at})
	case "$not":
		if !operators(o.v) {
			o.refuse(invalid(o.at, `$not takes operators, as in {"$not": {"$gt": 5}}; use $ne for a value`))
		}
		o.ordered = false
		return o.countCondition(Not{all(o.operators(path))})
	}
	op := slices.Index(opNames[:], o.name)
	if op < 0 {
		o.refuse(hint.Operator("condition", o.name, o.at, fieldOps))
		return nil
	}
	v, err := literals.Value(o.v, o.at)
	if err == nil && Op(op) > Ne && (v.Kind() == value.Array || v.Kind() == value.Object) {
		err = invalid(o.at, fmt.Sprintf("%s takes a number, a string, a date or a boolean, not %s", o.name, o.a()))
	}
	o.refuse(err)
	return o.countCondition(Compare{Path: path, Op: Op(op), Value: v, At: o.at})
}

// part parses $startsWith and $contains. For a list, package typecheck changes $contains to a comparison.
func (o operand) part(path Path) Filter {
	if o.name == "$startsWith" {
		if !o.is(value.String) {
			o.refuse(invalid(o.at, "$startsWith takes a string"))
		}
		return StartsWith{Path: path, Prefix: o.v.Text(), At: o.at}
	}
	if !o.is(value.String) || o.v.Text() == "" {
		o.refuse(invalidWithHint(o.at, "$contains takes a string with a character in it", `A list that holds a value is asked for as {"field": value}.`))
	}
	r, err := ParseRegex(regexp.QuoteMeta(o.v.Text()), "", o.at)
	o.refuse(err)
	r.Path, r.Contains = path, o.v.Text()
	return r
}

// Place implements Condition.
func (f Compare) Place() (Path, string) { return f.Path, f.At }

// On implements Condition.
func (f Compare) On(p Path) Filter { f.Path = p; return f }

// OfNull implements Condition.
func (f Compare) OfNull() bool {
	if f.Value.IsNull() { // null satisfies Gte and Lte null
		return f.Op == Eq || f.Op == Gte || f.Op == Lte
	}
	return f.Op == Ne
}
func (f Compare) whole(in bool) Filter   { f.Whole = in != (f.Op == Ne); return f }
func (f Compare) operators() value.Value { return one(f.Op.String(), literalText(f.Value)) }

// Place implements Condition.
func (f In) Place() (Path, string) { return f.Path, f.At }

// On implements Condition.
func (f In) On(p Path) Filter { f.Path = p; return f }

// OfNull implements Condition.
func (f In) OfNull() bool         { return slices.ContainsFunc(f.Values, value.Value.IsNull) != f.Not }
func (f In) whole(in bool) Filter { f.Whole = in != f.Not; return f }
func (f In) operators() value.Value {
	list := make([]value.Value, len(f.Values))
	for i, v := range f.Values {
		list[i] = literalText(v)
	}
	op := "$in"
	if f.Not {
		op = "$nin"
	}
	return one(op, value.OfArray(list))
}

// Place implements Condition.
func (f Exists) Place() (Path, string) { return f.Path, f.At }

// On implements Condition.
func (f Exists) On(p Path) Filter { f.Path = p; return f }

// OfNull implements Condition.
func (f Exists) OfNull() bool           { return !f.Want }
func (f Exists) whole(in bool) Filter   { f.Whole = in != f.Want; return f }
func (f Exists) operators() value.Value { return one("$exists", value.OfBool(f.Want)) }

// Place implements Condition.
func (f Regex) Place() (Path, string) { return f.Path, f.At }

// On implements Condition.
func (f Regex) On(p Path) Filter { f.Path = p; return f }

// OfNull implements Condition.
func (f Regex) OfNull() bool         { return false }
func (f Regex) whole(in bool) Filter { f.Whole = in; return f }
func (f Regex) operators() value.Value {
	switch {
	case f.Contains != "":
		return one("$contains", value.OfString(f.Contains))
	case f.Options == "":
		return one("$regex", value.OfString(f.Pattern))
	}
	return value.OfObject([]value.Member{{Name: "$regex", Value: value.OfString(f.Pattern)}, {Name: "$options", Value: value.OfString(f.Options)}})
}

// Place implements Condition.
func (f GeoWithin) Place() (Path, string) { return f.Path, f.At }

// On implements Condition.
func (f GeoWithin) On(p Path) Filter { f.Path = p; return f }

// OfNull implements Condition.
func (f GeoWithin) OfNull() bool         { return false }
func (f GeoWithin) whole(in bool) Filter { f.Whole = in; return f }
func (f GeoWithin) operators() value.Value {
	if f.Near {
		return f.Area.Near()
	}
	return one("$geoWithin", f.Area.Value())
}

// Place implements Condition.
func (f StartsWith) Place() (Path, string) { return f.Path, f.At }

// On implements Condition.
func (f StartsWith) On(p Path) Filter { f.Path = p; return f }

// OfNull implements Condition.
func (f StartsWith) OfNull() bool           { return false }
func (f StartsWith) whole(in bool) Filter   { f.Whole = in; return f }
func (f StartsWith) operators() value.Value { return one("$startsWith", value.OfString(f.Prefix)) }

// Place implements Condition.
func (f Size) Place() (Path, string) { return f.Path, f.At }

// On implements Condition.
func (f Size) On(p Path) Filter { f.Path = p; return f }

// OfNull implements Condition.
func (f Size) OfNull() bool           { return false }
func (f Size) whole(bool) Filter      { return f }
func (f Size) operators() value.Value { return one("$size", value.OfInt(f.N)) }

// Place implements Condition.
func (f ElemMatch) Place() (Path, string) { return f.Path, f.At }

// On implements Condition.
func (f ElemMatch) On(p Path) Filter { f.Path = p; return f }

// OfNull implements Condition.
func (f ElemMatch) OfNull() bool           { return false }
func (f ElemMatch) whole(in bool) Filter   { f.Match = comparesWhole(f.Match, in); return f }
func (f ElemMatch) operators() value.Value { return one("$elemMatch", Print(f.Match)) }

// Place implements Condition.
func (f InQuery) Place() (Path, string) { return f.Path, f.At }

// On implements Condition.
func (f InQuery) On(p Path) Filter { f.Path = p; return f }

// OfNull implements Condition.
func (f InQuery) OfNull() bool      { return f.Not }
func (f InQuery) whole(bool) Filter { return f }

// operators returns the operator that parses to f: $select if there is a key, or otherwise $inQuery, or their
// negations.
func (f InQuery) operators() value.Value {
	from := object("query", text("className", f.Class), when(f.Where != nil, "where", Print(f.Where)))
	op, operand := "$inQuery", from.Value
	switch {
	case f.Key == nil && f.Not:
		op = "$notInQuery"
	case f.Key != nil:
		op, operand = "$select", object("", from, text("key", f.Key.String())).Value
		if f.Not {
			op = "$dontSelect"
		}
	}
	return one(op, operand)
}

// Place implements Condition.
func (f Deferred) Place() (Path, string) { return f.Path, f.At }

// On implements Condition.
func (f Deferred) On(p Path) Filter { f.Path = p; return f }

// OfNull implements Condition.
func (f Deferred) OfNull() bool      { return false }
func (f Deferred) whole(bool) Filter { return f }
func (f Deferred) operators() value.Value {
	op := f.Op.String()
	if f.List {
		op = map[Op]string{Eq: "$in", Ne: "$nin"}[f.Op]
	}
	return one(op, one("$cel", value.OfString(f.CEL)))
}

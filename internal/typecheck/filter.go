package typecheck

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Scope resolves the paths of a filter.
type Scope interface {
	// Field returns the field to which path refers. It also returns the key of the field in a bound path, and the
	// number of parts of path that name the field. Any further parts refer to a value inside the field. Otherwise
	// Field returns an error with the JSON pointer at.
	Field(path query.Path, at string) (f *schema.Field, key string, parts int, err error)
	// ID reports whether the field with that key contains ids.
	ID(key string) bool
	// Pointer returns the class to which a pointer refers, in the caller's spelling, and the field of that class whose
	// value the pointer contains. It returns "" if the field isn't a pointer. A structured field contains a list of
	// such values.
	Pointer(key string) (class, field string)
	// AllowedValues returns the values that the field may have, as text and as documented to the caller. It returns nil
	// if there is no list.
	AllowedValues(key string) []Allowed
}

// Filter converts each operand of f to the type of the field with which it is compared. It replaces comparisons that
// can't match by Never. Each replacement adds a note, so that an agent doesn't conclude that there are no records.
// relations opens the classes that f names. If relations is nil, Filter rejects such classes.
func Filter(f query.Filter, s Scope, relations Relations) (query.Filter, []string, error) {
	b := &filters{scope: s, relations: relations}
	out, err := b.filter(f)
	return out, b.notes, err
}

// filters binds the filters of one scope.
type filters struct {
	scope     Scope
	relations Relations
	notes     []string
	within    bool // binds the where of an $inQuery
}

// filter binds f to the fields of the scope. Operands are converted to the types of their fields. A condition that no
// value of its field can satisfy becomes Never, with a note. A nil filter matches all records and stays nil.
func (b *filters) filter(f query.Filter) (query.Filter, error) {
	if q := b.toInQuery(f); q != nil {
		return b.filter(q)
	}
	switch f := f.(type) {
	case nil:
		return nil, nil
	case query.And:
		parts, err := b.all(f)
		return query.And(parts), err
	case query.Or:
		parts, err := b.all(f)
		return query.Or(parts), err
	case query.Not:
		part, err := b.filter(f.Part)
		return query.Not{Part: part}, err
	case query.Compare:
		return b.compare(f)
	case query.In:
		return b.in(f)
	case query.Exists:
		_, err := b.target(&f.Path, f.At, presence)
		return f, err
	case query.Regex:
		if f.Contains != "" {
			return b.contains(f)
		}
		b.noteSlashes(f)
		ok, err := b.textual(&f.Path, f.At, "$regex")
		return orNever(f, ok), err
	case query.StartsWith:
		ok, err := b.textual(&f.Path, f.At, "$startsWith")
		return orNever(f, ok), err
	case query.GeoWithin:
		return b.bindGeo(f)
	case query.Size:
		ok, err := b.canMatchList(&f.Path, f.At, "$size")
		return orNever(f, ok), err
	case query.ElemMatch:
		ok, err := b.canMatchList(&f.Path, f.At, "$elemMatch")
		if err != nil {
			return nil, err
		}
		known := b.knowledge(f.Path).Of()
		match, notes, err := inElement(f.Match, known)
		for _, n := range notes {
			if known != nil {
				b.say(n)
			}
		}
		f.Match = match
		return orNever(f, ok), err
	case query.InQuery:
		return b.inQuery(f)
	}
	return nil, problem.New(problem.Internal, fmt.Sprintf("policy can't bind %T", f))
}

// orNever returns f, or Never if can is false.
func orNever(f query.Filter, can bool) query.Filter {
	if can {
		return f
	}
	return query.Never{}
}

// all binds each part. An empty list is an error, because the parser never makes one.
func (b *filters) all(parts []query.Filter) ([]query.Filter, error) {
	if len(parts) == 0 {
		return nil, problem.New(problem.InvalidQuery, "an empty list of conditions")
	}
	out := make([]query.Filter, len(parts))
	for i, p := range parts {
		bound, err := b.filter(p)
		if err != nil {
			return nil, err
		}
		out[i] = bound
	}
	return out, nil
}

// An aspect is the kind of a condition on a field.
type aspect uint8

const (
	ranges   aspect = iota // compares parts of the value
	order                  // tests whether the value is less or more
	equality               // tests whether the value equals another
	presence               // tests whether the value is null
)

// target returns the field at the beginning of a path. It replaces that beginning by the field's key. Further names may
// follow only if the field is structured.
func (b *filters) target(path *query.Path, at string, about aspect) (*schema.Field, error) {
	f, key, parts, err := b.scope.Field(*path, at)
	if err != nil {
		return nil, err
	}
	whole := *path
	if parts > 0 && (parts != 1 || key != whole[0]) {
		*path = append(query.Path{key}, whole[parts:]...)
	}
	if len(*path) > 1 && !f.Type.IsStructured() {
		return nil, &problem.Error{Code: problem.InvalidQuery, Pointer: at,
			Detail: fmt.Sprintf("%q: %s is of type %s and has no parts", whole, f.Name, f.Type)}
	}
	if b.relations != nil && len(*path) > 1 {
		b.say(listIndexNote(f, *path, (*path)[1:], at))
	}
	switch {
	case f.Type != schema.Opaque || about == presence || about == equality && f.Form != "" || about == order && f.Ordered:
	case f.Form != "":
		return nil, &problem.Error{Code: problem.Unsupported, Pointer: at, Detail: fmt.Sprintf("%s is %s: conditions on it are %s", f.Name, f.Form, f.Operators())}
	default:
		return nil, &problem.Error{Code: problem.Unsupported, Pointer: at,
			Detail: fmt.Sprintf("%s can't be filtered: only the database knows its type. $exists works on it", f.Name)}
	}
	return f, nil
}

// compare binds a comparison of a field with a constant. Null equals only null and is neither above nor below other
// values. For a Date field, a day means its 24 hours. A constant that the field's type can't contain equals no value,
// so Ne holds for all records.
func (b *filters) compare(c query.Compare) (query.Filter, error) {
	about := order
	switch {
	case c.Value.IsNull():
		about = presence
	case c.Op == query.Eq, c.Op == query.Ne:
		about = equality
	}
	written := c
	f, err := b.target(&c.Path, c.At, about)
	if err != nil {
		return nil, err
	}
	if meant, err := b.intendedFilter(written, f); meant != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return b.filter(meant)
	}
	if c.Value.IsNull() {
		switch c.Op {
		case query.Gt, query.Lt:
			return query.Never{}, nil
		case query.Gte, query.Lte:
			c.Op = query.Eq // only null is at least null, or at most null
		}
		return c, nil
	}
	if k := b.single(c.Path); k != nil {
		return b.compareJSON(c, k)
	}
	if err := b.checkPointerForm(c.At, f, c.Path, c.Value); err != nil {
		return nil, err
	}
	b.noteUnknownValues(c.At, f, c.Path, c.Op <= query.Ne, c.Value)
	b.noteMixedTypes(c.At, f, c.Path, c.Op, c.Value)
	v, ok := b.operand(f, c.Path, c.Value)
	if !ok {
		v, ok = b.asType(c.At, f, c.Value)
	}
	if also := b.also(f, c.Value, ok); also != nil {
		if ok {
			also = append([]value.Value{v}, also...)
		}
		return query.In{Path: c.Path, Values: also, At: c.At}, nil
	}
	if day, is := b.day(c.At, f, c.Path, c.Value); is && ok {
		return whole(c, day), nil
	}
	if !ok {
		b.note(c.At, f, c.Value)
		if c.Op == query.Ne {
			return query.Not{Part: query.Never{}}, nil
		}
		return query.Never{}, nil
	}
	c.Value = v
	return c, nil
}

// in binds $in and $nin. It binds each value as compare does. It omits values that the field can't contain, with a
// note. For a Date field, days become separate ranges beside the list.
func (b *filters) in(in query.In) (query.Filter, error) {
	f, err := b.target(&in.Path, in.At, equality)
	if err != nil {
		return nil, err
	}
	values := make([]value.Value, 0, len(in.Values))
	var days []query.Filter
	for _, v := range in.Values {
		bound, ok := v, true
		if k := b.single(in.Path); k != nil && !v.IsNull() {
			if bound, ok, err = b.inJSON(in.At, k, v); err != nil {
				return nil, err
			}
			if ok {
				values = append(values, bound)
			} else {
				b.note(in.At, &schema.Field{Name: in.Path.String(), Type: k.Type}, v)
			}
			continue
		}
		if !v.IsNull() {
			if err := b.checkPointerForm(in.At, f, in.Path, v); err != nil {
				return nil, err
			}
			if bound, ok = b.operand(f, in.Path, v); !ok {
				bound, ok = b.asType(in.At, f, v)
			}
		}
		if day, is := b.day(in.At, f, in.Path, v); is && ok {
			days = append(days, whole(query.Compare{Path: in.Path, At: in.At}, day))
			continue
		}
		if ok {
			values = append(values, bound)
		} else {
			b.note(in.At, f, v)
		}
		values = append(values, b.also(f, v, ok)...)
	}
	b.noteUnknownValues(in.At, f, in.Path, true, in.Values...)
	if len(in.Values) > 0 {
		b.noteMixedTypes(in.At, f, in.Path, query.Eq, in.Values[0])
	}
	if len(in.Values) == 0 && b.relations != nil {
		b.say(fmt.Sprintf("%s: no value is in an empty list", in.At))
	}
	if in.Values = values; days == nil {
		return in, nil
	}
	if len(values) > 0 {
		days = append(days, query.In{Path: in.Path, Values: values, At: in.At})
	}
	if in.Not {
		return query.Not{Part: query.Or(days)}, nil
	}
	return query.Or(days), nil
}

// textual reports whether a string operator can match the value at path.
func (b *filters) textual(path *query.Path, at, op string) (bool, error) {
	f, err := b.target(path, at, ranges)
	if err != nil {
		return false, err
	}
	switch f.Type {
	case schema.String, schema.UUID, schema.Any, schema.JSON, schema.Array:
		return true, nil
	}
	b.say(fmt.Sprintf("%s: %s is of type %s, and %s matches strings alone: it matches nothing", at, f.Name, f.Type, op))
	return false, nil
}

// canMatchList reports whether a list operator can match the value at path.
func (b *filters) canMatchList(path *query.Path, at, op string) (bool, error) {
	f, err := b.target(path, at, ranges)
	if err != nil {
		return false, err
	}
	if f.Type.IsStructured() {
		return true, nil
	}
	b.notes = append(b.notes, fmt.Sprintf("%s: %s is of type %s, and %s matches lists alone: it matches nothing", at, f.Name, f.Type, op))
	return false, nil
}

// bindGeo binds $geoWithin and $near. Fields of JSON and columns of points can satisfy them. Behind a list of pointers
// there would be several distances, so $near is refused.
func (b *filters) bindGeo(g query.GeoWithin) (query.Filter, error) {
	f, err := b.target(&g.Path, g.At, equality)
	if err == nil && g.Near && b.within {
		err = &problem.Error{Code: problem.Unsupported, Pointer: g.At, Detail: "a record has no one distance behind a list of pointers, so it can't be ordered by it",
			Suggestion: "use $geoWithin with $centerSphere, which finds the records without an order"}
	}
	g.Text = err == nil && f.Point
	switch {
	case err != nil || f.Type.IsStructured() || g.Text:
	case f.Type == schema.Opaque:
		err = &problem.Error{Code: problem.Unsupported, Pointer: g.At,
			Detail:     fmt.Sprintf("%s is not of a type of points. %s takes JSON that holds points, and columns of the types point, geometry(Point, 4326) and geography(Point)", f.Name, g.Operator()),
			Suggestion: "ask the owner for a view with such a column"}
	default:
		err = &problem.Error{Code: problem.Unsupported, Pointer: g.At,
			Detail:     fmt.Sprintf("%s is of type %s. %s takes JSON that holds points: GeoJSON, [longitude, latitude], or an object with both by name", f.Name, f.Type, g.Operator()),
			Suggestion: "where longitude and latitude are numbers, compare each with $gte and $lte"}
	}
	return g, err
}

// note adds a note that a comparison with v matches nothing. It names the reason: f contains ids or has another type.
func (b *filters) note(at string, f *schema.Field, v value.Value) {
	what, instead := v.Kind().String(), ""
	if class, _ := b.scope.Pointer(f.Name); class != "" && b.relations != nil {
		b.say(fmt.Sprintf(`%s: %s holds the ids of records of %s, and this is none; a field of these is asked for as "%[2]s.field"`, at, f.Name, class))
		return
	}
	switch {
	case v.Kind() == value.String && (f.Type == schema.Date || f.Type == schema.Day):
		what, instead = "string that isn't an ISO 8601 date", `; write one, or {"$relativeTime": "7 days ago"}`
	case v.Kind() == value.String && f.Type == schema.UUID:
		what = "string that isn't a UUID"
	}
	article := "a"
	if c := what[0]; c == 'a' || c == 'i' || c == 'o' {
		article = "an"
	}
	b.notes = append(b.notes, fmt.Sprintf("%s: %s is of type %s, which is never like %s %s: this comparison matches nothing%s", at, f.Name, f.Type, article, what, instead))
}

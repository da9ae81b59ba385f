package policy

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A scope is what a filter's paths can name: a whole class for rules, a view for callers.
type scope interface {
	// field returns the field called name, or a refusal for the place at.
	field(name, at string) (*schema.Field, error)
	// id reports whether the field holds ids, and pointsTo the class that a pointer leads to.
	id(name string) bool
	pointsTo(name string) string
}

// ruleScope is all fields of a class.
type ruleScope struct{ *class }

func (s ruleScope) field(name, at string) (*schema.Field, error) {
	if f := s.class.Field(name); f != nil && !internal(name) {
		return f, nil
	}
	return nil, &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: fmt.Sprintf("unknown field %q", problem.Cut(name)),
		Near: problem.Nearest(name, fieldNames(s.Fields), 3)}
}

func (s ruleScope) id(name string) bool {
	for _, k := range s.Key {
		if k == name {
			return true
		}
	}
	return s.relation(name) != nil
}

func (s ruleScope) pointsTo(name string) string {
	if r := s.relation(name); r != nil {
		return r.target.Name
	}
	return ""
}

// tenantScope is a ruleScope in which every field takes its value from text.
type tenantScope struct{ *class }

func (s tenantScope) field(name, at string) (*schema.Field, error) {
	return ruleScope(s).field(name, at)
}
func (s tenantScope) id(string) bool         { return true }
func (s tenantScope) pointsTo(string) string { return "" }

// viewScope is the visible fields of a view.
type viewScope struct{ *View }

func (s viewScope) field(name, at string) (*schema.Field, error) {
	if f := s.Field(name); f != nil {
		return f, nil
	}
	return nil, s.unknown(name, at)
}

func (s viewScope) id(name string) bool { return s.ID(name) }

func (s viewScope) pointsTo(name string) string {
	if p := s.pointer(name); p != nil {
		return p.Target
	}
	return ""
}

// keyScope is a view in which every part of the key takes its value from text, as ids are written.
type keyScope struct{ viewScope }

func (keyScope) id(string) bool { return true }

// unknown refuses a field in the same bytes whether it is hidden or has never existed.
func (v *View) unknown(name, at string) error {
	kind := "unknown_field"
	if v.class.Field(name) != nil {
		kind = "field_denied"
	}
	names := make([]string, len(v.Fields()))
	for i, f := range v.Fields() {
		names[i] = f.Name
	}
	return &problem.Error{Code: problem.InvalidQuery, Kind: kind, Pointer: at,
		Detail: fmt.Sprintf("unknown field %q of %s", problem.Cut(name), v.name), Near: problem.Nearest(name, names, 3),
		Suggestion: "get_schema lists the fields"}
}

// bind gives every operand of f the kind of the field it is compared with, and replaces what can't match by Never.
// Each such replacement is told in a note, so that an agent doesn't take "no such records" for an answer.
func bind(f query.Filter, s scope) (query.Filter, []string, error) {
	b := &binder{scope: s}
	out, err := b.filter(f)
	return out, b.notes, err
}

type binder struct {
	scope scope
	notes []string
}

func (b *binder) filter(f query.Filter) (query.Filter, error) {
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
		_, err := b.target(f.Path, f.At, true)
		return f, err
	case query.Regex:
		return b.textual(f, f.Path, f.At, "$regex")
	case query.StartsWith:
		return b.textual(f, f.Path, f.At, "$startsWith")
	case query.Size:
		return b.structured(f, f.Path, f.At, "$size")
	case query.ElemMatch:
		match, err := inElement(f.Match)
		if err != nil {
			return nil, err
		}
		f.Match = match
		return b.structured(f, f.Path, f.At, "$elemMatch")
	}
	return nil, problem.New(problem.Internal, fmt.Sprintf("policy can't bind %T", f))
}

func (b *binder) all(parts []query.Filter) ([]query.Filter, error) {
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

// target returns the field that a path begins with. A path goes on only into fields that have parts.
func (b *binder) target(path query.Path, at string, nullOnly bool) (*schema.Field, error) {
	first := "" // an empty path is the element of an $elemMatch
	if len(path) > 0 {
		first = path[0]
	}
	f, err := b.scope.field(first, at)
	if err != nil {
		return nil, err
	}
	if len(path) > 1 && !f.Type.Structured() {
		return nil, &problem.Error{Code: problem.InvalidQuery, Pointer: at,
			Detail: fmt.Sprintf("%q: %s is of type %s and has no parts", path, f.Name, f.Type)}
	}
	if f.Type == schema.Opaque && !nullOnly {
		return nil, &problem.Error{Code: problem.Unsupported, Pointer: at,
			Detail: fmt.Sprintf("%s can't be filtered: its type is known to the database alone; only $exists works on it", f.Name)}
	}
	return f, nil
}

func (b *binder) compare(c query.Compare) (query.Filter, error) {
	f, err := b.target(c.Path, c.At, c.Value.IsNull())
	if err != nil {
		return nil, err
	}
	if c.Value.IsNull() {
		switch c.Op {
		case query.Gt, query.Lt:
			return query.Never{}, nil
		case query.Gte, query.Lte:
			c.Op = query.Eq // null is at least and at most null, and nothing else is
		}
		return c, nil
	}
	v, ok := b.operand(f, c.Path, c.Value)
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

func (b *binder) in(in query.In) (query.Filter, error) {
	f, err := b.target(in.Path, in.At, false)
	if err != nil {
		return nil, err
	}
	values := make([]value.Value, 0, len(in.Values))
	for _, v := range in.Values {
		bound, ok := v, true
		if !v.IsNull() {
			bound, ok = b.operand(f, in.Path, v)
		}
		if ok {
			values = append(values, bound)
		} else {
			b.note(in.At, f, v)
		}
	}
	in.Values = values
	return in, nil
}

func (b *binder) textual(whole query.Filter, path query.Path, at, op string) (query.Filter, error) {
	f, err := b.target(path, at, false)
	if err != nil {
		return nil, err
	}
	switch f.Type {
	case schema.String, schema.UUID, schema.Any, schema.JSON, schema.Array:
		return whole, nil
	}
	b.notes = append(b.notes, fmt.Sprintf("%s: %s is of type %s, and %s matches strings alone: it matches nothing", at, f.Name, f.Type, op))
	return query.Never{}, nil
}

func (b *binder) structured(whole query.Filter, path query.Path, at, op string) (query.Filter, error) {
	f, err := b.target(path, at, false)
	if err != nil {
		return nil, err
	}
	if f.Type.Structured() {
		return whole, nil
	}
	b.notes = append(b.notes, fmt.Sprintf("%s: %s is of type %s, and %s matches lists alone: it matches nothing", at, f.Name, f.Type, op))
	return query.Never{}, nil
}

func (b *binder) note(at string, f *schema.Field, v value.Value) {
	what := v.Kind().String()
	switch {
	case v.Kind() == value.String && (f.Type == schema.Date || f.Type == schema.Day):
		what = "string that isn't an ISO 8601 date"
	case v.Kind() == value.String && f.Type == schema.UUID:
		what = "string that isn't a UUID"
	}
	b.notes = append(b.notes, fmt.Sprintf("%s: %s is of type %s, which is never like a %s: this comparison matches nothing", at, f.Name, f.Type, what))
}

// operand returns v as the kind that field f holds, and whether the two are alike at all.
func (b *binder) operand(f *schema.Field, path query.Path, v value.Value) (value.Value, bool) {
	if _, ok := v.Get("__type"); ok {
		class, _ := v.Get("className")
		if target := b.scope.pointsTo(f.Name); target == "" || target != class.Text() {
			return v, false
		}
		v, _ = v.Get("objectId")
	}
	if len(path) > 1 || f.Type.Structured() {
		return v, v.Kind() != value.Date && v.Kind() != value.Day // JSON has no dates
	}
	switch f.Type {
	case schema.Integer, schema.Double, schema.Decimal:
		if v.Kind() == value.String && b.scope.id(f.Name) {
			return idNumber(v.Text())
		}
		return v, v.IsNumber()
	case schema.Boolean:
		return v, v.Kind() == value.Bool
	case schema.String:
		return v, v.Kind() == value.String
	case schema.UUID:
		return uuid(v)
	case schema.Date, schema.Day:
		if v.Kind() == value.String {
			return value.OfDateText(v.Text())
		}
		return v, v.Kind() == value.Date || v.Kind() == value.Day
	case schema.Bytes:
		raw, err := base64.StdEncoding.DecodeString(v.Text())
		return value.OfBytes(string(raw)), err == nil && v.Kind() == value.String
	case schema.Any:
		return v, v.IsNumber() || v.Kind() == value.String
	}
	return v, false
}

// idNumber reads the id of a numeric key. Only the form in which ids are written counts: "042" is no id.
func idNumber(s string) (value.Value, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return value.OfInt(n), err == nil && strconv.FormatInt(n, 10) == s
}

func uuid(v value.Value) (value.Value, bool) {
	s := strings.ToLower(v.Text())
	if v.Kind() != value.String || len(s) != 36 {
		return v, false
	}
	for i := range len(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (s[i] == '-') || !dash && !strings.ContainsRune("0123456789abcdef", rune(s[i])) {
			return v, false
		}
	}
	return value.OfString(s), true
}

// inElement binds a filter over the elements of a JSON array, which have no declared types.
func inElement(f query.Filter) (query.Filter, error) {
	return (&binder{scope: elementScope{&schema.Field{Type: schema.JSON}}}).filter(f)
}

// elementScope is the element of a JSON array: every path leads into JSON.
type elementScope struct{ any *schema.Field }

func (s elementScope) field(string, string) (*schema.Field, error) { return s.any, nil }
func (s elementScope) id(string) bool                              { return false }
func (s elementScope) pointsTo(string) string                      { return "" }

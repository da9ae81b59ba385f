package typecheck

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// columns is the Scope for the columns of records.
type columns struct{ *records }

// Field implements Scope. For a computed column, it returns a field that belongs to no class.
func (s columns) Field(path query.Path, at string) (*schema.Field, string, int, error) {
	if s.alias(path[0]) {
		path = append(query.Path{s.key}, path[1:]...)
	}
	if err := s.behind(path, at); err != nil {
		return nil, "", 0, err
	}
	for n := len(path); n > 0; n-- {
		key := path[:n].String()
		i := s.shape.Find(key)
		if i < 0 {
			continue
		}
		c := &s.shape.Columns[i]
		if c.Mask != nil {
			return nil, "", 0, c.Mask.Refuse(key, at)
		}
		if _, err := Within(c.Known, path[:n], path[n:], at); err != nil {
			return nil, "", 0, err
		}
		f := schema.Field{Type: c.Type}
		if c.Field != nil {
			s.relations.RecordUse(c.Field)
			f = *c.Field
		}
		f.Name = key
		return &f, key, n, nil
	}
	if n, ok := s.below(path, at, false); ok {
		return nil, "", 0, problem.Invalid(at, "%s is an object. Name one of its members, such as %s.%s", path, path, n.Members[0].Name)
	}
	_, err := s.records.Field(path, at)
	return nil, "", 0, err
}

// knowledge returns the Known of the value at a bound path.
func (s columns) knowledge(path query.Path) *plan.Known {
	i := s.shape.Find(path[0])
	if i < 0 {
		return nil
	}
	k, _, _ := s.shape.Columns[i].Known.At(path[1:])
	return k
}

// ID implements Scope.
func (s columns) ID(key string) bool {
	i := s.shape.Find(key)
	return i >= 0 && s.shape.Columns[i].ID
}

// Pointer implements Scope. A computed column is not a pointer.
func (s columns) Pointer(key string) (class, field string) {
	if i := s.shape.Find(key); i >= 0 && s.shape.Columns[i].Field != nil {
		return s.shape.Columns[i].Class, s.shape.Columns[i].ClassKey
	}
	return "", ""
}

// AllowedValues implements Scope.
func (s columns) AllowedValues(key string) []Allowed {
	if i := s.shape.Find(key); i >= 0 && s.shape.Columns[i].Field != nil {
		return s.relations.AllowedValues(s.shape.Columns[i].Field)
	}
	return nil
}

// inQuery binds the condition that a value exists in a field of another class.
func (b *filters) inQuery(f query.InQuery) (query.Filter, error) {
	op := "$inQuery"
	if f.Key != nil {
		op = "$select"
	}
	if b.relations == nil {
		return nil, &problem.Error{Code: problem.Unsupported, Pointer: f.At, Detail: op + " can't stand here"}
	}
	field, err := b.target(&f.Path, f.At, ranges)
	if err != nil {
		return nil, err
	}
	other, err := b.relations.Open(f.Class, query.Pointer(f.At, "className"))
	if err != nil {
		return nil, err
	}
	// $inQuery compares the pointer with the key of its class. $select names a field of any class.
	pointed := f.Key == nil
	if pointed {
		class, key := b.scope.Pointer(field.Name)
		if class != other.Name {
			return nil, problem.Invalid(f.At, "%s doesn't point to %s. $select compares with any of its fields", f.Path, other.Name)
		}
		f.Key = query.Path{key}
	}
	target, name, _, err := other.Scope.Field(f.Key, query.Pointer(f.At, "key"))
	if err != nil {
		return nil, err
	}
	list := pointed && field.Type.IsStructured() // it is a list of pointers
	if len(f.Path) > 1 || len(f.Key) > 1 || field.Type.IsStructured() && !list || target.Type.IsStructured() {
		return nil, &problem.Error{Code: problem.Unsupported, Pointer: f.At, Detail: op + " compares whole fields, not JSON or parts of it"}
	}
	// The inner where is bound to the caller's view of the other class. It joins no records: see toInQuery.
	inner := &filters{scope: other.Scope, relations: b.relations, within: true}
	if f.Where, err = inner.filter(f.Where); err != nil {
		return nil, err
	}
	for _, n := range inner.notes {
		b.say(n)
	}
	if !list && !comparable(field.Type, target.Type) {
		b.notes = append(b.notes, fmt.Sprintf("%s: %s is of type %s, which is never like %s of type %s: this comparison matches nothing",
			f.At, f.Path, field.Type, f.Key, target.Type))
		if f.Not {
			return query.Not{Part: query.Never{}}, nil
		}
		return query.Never{}, nil
	}
	f.Key = query.Path{name} // _id and objectId refer to the key of the class
	f.View = other.Number + 1
	return f, nil
}

// comparable reports whether values of two types can be equal.
func comparable(x, y schema.Type) bool {
	date := func(t schema.Type) bool { return t == schema.Date || t == schema.Day }
	return x == y && x != schema.Opaque || Numeric(x) && Numeric(y) || date(x) && date(y)
}

// inElement binds a filter over the elements of a JSON array. The argument known describes the elements.
func inElement(f query.Filter, known *plan.Known) (query.Filter, []string, error) {
	b := &filters{scope: elementScope{&schema.Field{Type: schema.JSON}, known}}
	out, err := b.filter(f)
	return out, b.notes, err
}

// elementScope is the scope of an element of a JSON array. Every path refers to JSON.
type elementScope struct {
	any     *schema.Field
	element *plan.Known
}

// Field implements Scope. It returns an error for a member that no element can have.
func (s elementScope) Field(path query.Path, at string) (*schema.Field, string, int, error) {
	if _, err := Within(s.element, query.Path{"the element"}, path, at); err != nil {
		return nil, "", 0, err
	}
	if len(path) == 0 { // the element itself
		return s.any, "", 0, nil
	}
	return s.any, path[0], 1, nil
}

// knowledge returns the Known of the value at a path.
func (s elementScope) knowledge(path query.Path) *plan.Known {
	k, _, _ := s.element.At(path)
	return k
}

func (s elementScope) ID(string) bool                  { return false }
func (s elementScope) Pointer(string) (string, string) { return "", "" }
func (s elementScope) AllowedValues(string) []Allowed  { return nil }

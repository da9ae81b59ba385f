package policy

import (
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// declared adds the pointers of the rule to the relations of the class.
func (c *class) declared(p *Policy, fail func(string, ...any)) {
	for _, name := range slices.Sorted(maps.Keys(c.rule.Pointers)) {
		wrong := func(format string, args ...any) { fail("pointers."+name+": "+format, args...) }
		if c.Field(name) == nil {
			wrong("there is no such field%s", problem.DidYouMean(problem.Nearest(name, c.FieldNames(), 2)))
			continue
		}
		to := c.rule.Pointers[name]
		target, err := p.named(to.Class)
		if err != nil && p.byFull[c.Source+"."+to.Class] != nil {
			target, err = p.byFull[c.Source+"."+to.Class], nil // several sources have the name, this one too
		}
		if err != nil {
			wrong("%s: %v", to.Class, err)
			continue
		}
		if key := c.pointed(name, to.Key, target, wrong); key != "" {
			c.point(schema.Relation{Fields: []string{name}, Target: target.Name, TargetFields: []string{key}, Declared: true}, wrong)
		}
	}
}

// pointed returns the field of target whose value the pointer called name holds, or "" after a fault. At most one record
// may have a value of it, and both fields must be of one type, or values that differ would be taken as equal.
func (c *class) pointed(name, key string, target *class, wrong func(string, ...any)) string {
	if key == "" && len(target.Key) == 1 {
		key = target.Key[0]
	}
	f, k := c.Field(name), target.Field(key)
	switch {
	case target.Source != c.Source:
		wrong("%s is in another source; a pointer leads to a class of its own", target.full)
	case c.Recordless || target.Recordless:
		wrong("a description without records has no pointers")
	case key == "":
		wrong("%s has no key of one field; write {class: %s, key: …}", target.full, target.Name)
	case k == nil:
		wrong("%s has no field %q%s", target.full, key, problem.DidYouMean(problem.Nearest(key, target.FieldNames(), 2)))
	case !target.unique(key):
		wrong("%s of %s isn't unique by a key or an index, so it could lead to several records", key, target.full)
	case f.Type != k.Type:
		wrong("it is of type %s, and %s of %s is of type %s; types can convert it", f.Type, key, target.full, k.Type)
	case !slices.Contains([]schema.Type{schema.Integer, schema.String, schema.UUID, schema.Decimal, schema.Any}, k.Type):
		wrong("%s of %s is of type %s; a pointer holds a number, a text or a UUID", key, target.full, k.Type)
	default:
		return key
	}
	return ""
}

// unique reports whether at most one record has a value of the field.
func (c *class) unique(field string) bool {
	only := []string{field}
	return slices.Equal(c.Key, only) || slices.ContainsFunc(c.Indexes, func(x schema.Index) bool { return x.Unique && !x.More && slices.Equal(x.Fields, only) })
}

// point adds a relation, unless the source has the same.
func (c *class) point(r schema.Relation, wrong func(string, ...any)) {
	for _, have := range c.Relations {
		if !slices.Equal(have.Fields, r.Fields) {
			continue
		}
		if have.Target != r.Target || !slices.Equal(have.TargetFields, r.TargetFields) {
			wrong("the source says that it points to %s of %s", have.TargetFields[0], have.Target)
		}
		return
	}
	c.Relations = append(c.Relations, r)
}

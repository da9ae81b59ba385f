package policy

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// The limits of one answer, within those of every database: SQLite joins 64 tables, PostgreSQL returns 1,664 columns.
const (
	MaxHops    = query.MaxHops
	MaxJoins   = 40   // pointers followed in total
	MaxColumns = 1000 // fields of a record and of those included in it
)

// A projection computes which columns are returned.
type projection struct {
	plan    *Plan
	lean    bool           // omit large fields unless they are named
	omitted []string       // the large fields that were left out
	joined  map[string]int // the join of a dotted pointer path
	shown   map[int]bool   // joins with at least one returned column
	lists   []*wanted      // the lists of pointers whose records are asked for
}

func newProjection(plan *Plan, lean bool) *projection {
	return &projection{plan: plan, lean: lean, joined: map[string]int{}, shown: map[int]bool{}}
}

// project adds the joins and columns for keys and include.
func (p *projection) project(keys, include []query.Path) error {
	if err := p.own(keys); err != nil {
		return err
	}
	for i, path := range include {
		if is, err := p.through(path, place{"/include", i}); err != nil {
			return err
		} else if is {
			continue
		}
		if _, err := p.join(path, place{"/include", i}); err != nil {
			return err
		}
		named := slices.ContainsFunc(keys, func(k query.Path) bool { return len(k) > len(path) && slices.Equal(k[:len(path)], path) })
		if !named {
			p.addIncludedColumns(path)
		}
	}
	if n := len(p.plan.Columns); n > MaxColumns {
		return &problem.Error{Code: problem.InvalidQuery, Pointer: "/keys", Suggestion: "name the fields that you need in keys",
			Detail: fmt.Sprintf("a record would have %d fields with those of the records it includes. At most %d are supported", n, MaxColumns)}
	}
	p.setLists()
	for i := range p.plan.Columns {
		c := &p.plan.Columns[i]
		c.Leads = slices.IndexFunc(p.plan.Joins, func(j Join) bool { return c.Mask == nil && j.From == c.Join && j.Field == c.Field.Name })
		if !p.shown[c.Leads] { // -1 is not in the map either
			c.Leads = -1
		}
	}
	return nil
}

// own adds the columns of the class itself, and the columns behind pointers in keys. The key of a record is always
// returned, so that the caller can refer to the record.
func (p *projection) own(keys []query.Path) error {
	v := p.plan.View
	if len(keys) == 0 {
		p.plan.Columns = make([]Column, 0, len(v.Fields()))
		for _, f := range v.Fields() {
			if p.lean && v.Large(f.Name) {
				p.omitted = append(p.omitted, f.Name)
				continue
			}
			p.add(Column{Path: query.Path{f.Name}, Join: -1, Field: f})
		}
		return nil
	}
	p.identify(keys)
	for i, path := range keys {
		if err := p.key(path, place{"/keys", i}); err != nil {
			return err
		}
	}
	return nil
}

// identify adds the key of a record unless it is in keys.
func (p *projection) identify(keys []query.Path) {
	v := p.plan.View
	p.plan.Columns = make([]Column, 0, len(keys)+len(v.Key()))
	for _, k := range v.Key() {
		if !slices.ContainsFunc(keys, func(path query.Path) bool { return len(path) == 1 && path[0] == k }) {
			p.add(Column{Path: query.Path{k}, Join: -1, Field: v.Field(k)})
		}
	}
}

// A place is an element of a list argument. Its JSON pointer is built only when an error needs it.
type place struct {
	list  string
	index int
}

func (at place) pointer() string { return query.Pointer(at.list, strconv.Itoa(at.index)) }

// key adds the column that path names: a field, a part of a JSON field, or a field behind pointers.
func (p *projection) key(path query.Path, at place) error {
	if is, err := p.through(path, at); is {
		return err
	}
	v, join := p.plan.View, -1
	path = slices.Clone(path)
	for i, name := range path {
		f := v.fieldOrKey(name)
		rest := path[i+1:]
		if f != nil {
			path[i] = f.Name
		}
		switch {
		case f == nil:
			return v.unknownFieldError(name, at.pointer())
		case len(rest) == 0:
			v.policy.uses.reads(f)
			p.add(Column{Path: path, Join: join, Field: f})
			if join >= 0 && f.Name == p.plan.Joins[join].Key { // the pointer shows it
				p.ask(path[:i])
			}
			return nil
		case f.Type.IsStructured():
			v.policy.uses.reads(f)
			p.add(Column{Path: path, Join: join, Field: f, Part: rest})
			return nil
		}
		next, err := p.join(path[:i+1], at)
		if err != nil {
			return err
		}
		join, v = next, p.plan.Joins[next].View
	}
	return nil
}

// join returns the join of a pointer path, and adds its pointer and key as columns.
func (p *projection) join(path query.Path, at place) (int, error) {
	j, err := p.follow(path, at.pointer)
	if err != nil || p.shown[j] {
		return j, err
	}
	if len(path) > 1 {
		if _, err := p.join(path[:len(path)-1], at); err != nil {
			return 0, err
		}
	}
	to := p.plan.Joins[j]
	p.shown[j] = true
	p.add(Column{Path: path, Join: to.From, Field: p.view(to.From).Field(to.Field), Implied: true})
	p.add(Column{Path: append(slices.Clone(path), to.Key), Join: j, Field: to.View.Field(to.Key), Implied: true})
	return j, nil
}

// reach follows the pointers at the beginning of path. It returns the last join, or -1 for none, and the number of
// followed parts.
func (p *projection) reach(path query.Path, at string) (join, n int, err error) {
	join = -1
	for ; n < len(path)-1; n++ {
		v := p.view(join)
		if f := v.Field(path[n]); f == nil || f.Type.IsStructured() || v.pointer(f.Name) == nil {
			break
		}
		if join, err = p.follow(path[:n+1], func() string { return at }); err != nil {
			return -1, 0, err
		}
	}
	return join, n, nil
}

// follow returns the join of a pointer path, and creates it if necessary.
func (p *projection) follow(path query.Path, at func() string) (int, error) {
	if j, ok := p.joined[path.String()]; ok {
		return j, nil
	}
	if len(path) > MaxHops {
		return 0, &problem.Error{Code: problem.InvalidQuery, Pointer: at(), Detail: fmt.Sprintf("a path follows at most %d pointers", MaxHops)}
	}
	if len(p.plan.Joins) == MaxJoins {
		return 0, &problem.Error{Code: problem.InvalidQuery, Pointer: at(), Detail: fmt.Sprintf("a query follows at most %d pointers in all", MaxJoins)}
	}
	from, v := -1, p.plan.View
	if len(path) > 1 {
		var err error
		if from, err = p.follow(path[:len(path)-1], at); err != nil {
			return 0, err
		}
		v = p.plan.Joins[from].View
	}
	name := path[len(path)-1]
	if v.Field(name) == nil {
		return 0, v.unknownFieldError(name, at())
	}
	if m := v.Mask(name); m != nil {
		return 0, m.Refuse(name, at())
	}
	to := v.pointer(name)
	if to == nil {
		refusal := &problem.Error{Code: problem.InvalidQuery, Pointer: at(), Near: problem.Nearest(name, v.pointerNames(), 3),
			Detail: fmt.Sprintf("%s of %s is not a pointer", name, v.name)}
		if r := v.class.relation(name); r != nil {
			return 0, v.denyPointer(refusal, r)
		}
		return 0, refusal
	}
	v.policy.uses.reads(v.Field(name))
	v.policy.uses.names(to.target.class)
	j := len(p.plan.Joins)
	p.plan.Joins = append(p.plan.Joins, Join{From: from, Field: name, View: to.target, Key: to.TargetKey})
	p.joined[path.String()] = j
	return j, nil
}

func (v *View) pointerNames() []string {
	v.followAll()
	names := make([]string, len(v.pointers))
	for i, p := range v.pointers {
		names[i] = p.Field
	}
	return names
}

// addIncludedColumns adds the columns of an included record, and records in the plan which fields are left out.
func (p *projection) addIncludedColumns(path query.Path) {
	j := p.joined[path.String()]
	p.ask(path) // a request for the record includes its id
	c := p.plan.Joins[j].View.class
	for _, f := range c.Included {
		p.add(Column{Path: append(slices.Clone(path), f.Name), Join: j, Field: f})
	}
	p.truncate(path, c.Dropped)
}

// add adds a column once. A whole field replaces parts of it. For a field with pseudonyms, it reads the key.
func (p *projection) add(c Column) {
	v := p.view(c.Join)
	c.Mask = v.Mask(c.Field.Name)
	if c.Mask.Names() {
		c.Field, c.Part = v.Field(v.Key()[0]), nil
	}
	for i := range p.plan.Columns {
		have := &p.plan.Columns[i]
		if have.Join == c.Join && have.Field == c.Field && have.Mask == c.Mask && (have.Part == nil || slices.Equal(have.Part, c.Part)) {
			have.Implied = have.Implied && c.Implied
			return
		}
	}
	if c.Part == nil {
		p.plan.Columns = slices.DeleteFunc(p.plan.Columns, func(have Column) bool {
			return have.Join == c.Join && have.Field == c.Field && have.Mask == c.Mask
		})
	}
	c.ID = c.Mask == nil && c.Field.Type == schema.Integer && v.ID(c.Field.Name)
	p.plan.Columns = append(p.plan.Columns, c)
}

// ask marks the column at path as requested.
func (p *projection) ask(path query.Path) {
	for i := range p.plan.Columns {
		if c := &p.plan.Columns[i]; slices.Equal(c.Path, path) {
			c.Implied = false
		}
	}
}

func (p *projection) view(join int) *View {
	if join < 0 {
		return p.plan.View
	}
	return p.plan.Joins[join].View
}

package bind

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/bind/typed"
	"github.com/bailiwick-dev/bailiwick/query"
)

// column returns a reference to column i.
func (r *records) column(i int, at string) typed.Node {
	c := &r.shape.Columns[i]
	return typed.Node{Expr: algebra.Ref{Column: i, T: c.Type}, Column: c, List: c.List, At: at}
}

// Field implements typed.Names: a column, the object of the columns below a path, or a part of a JSON column.
func (r *records) Field(path query.Path, at string) (typed.Node, error) {
	for n := len(path); n > 0; n-- {
		if i := r.shape.Find(path[:n].String()); i >= 0 {
			if f := r.shape.Columns[i].Field; f != nil {
				r.relations.Named(f)
			}
			return typed.Part(r.column(i, at), path[:n], path[n:], at)
		}
	}
	if n, ok := r.below(path, at); ok {
		return n, nil
	}
	for n := len(path) - 1; n > 0; n-- { // a member that an object hasn't got
		if _, ok := r.below(path[:n], at); ok {
			return typed.Node{}, r.computed(path, at)
		}
	}
	return typed.Node{}, r.unknown(path, at)
}

// Record implements typed.Names.
func (r *records) Record(at string) typed.Node {
	n, _ := r.below(nil, at)
	return n
}

// Outer implements typed.Names: the variables of the lookups that r stands in are columns of their records.
func (r *records) Outer(name, at string) (typed.Node, bool) {
	up := 1
	for of := r; of.outer != nil; of, up = of.outer, up+1 {
		n, ok := of.lets[name]
		if !ok {
			continue
		}
		for inner := r; ; inner = inner.outer {
			inner.used = true
			if inner == of {
				break
			}
		}
		ref := n.Expr.(algebra.Ref)
		return typed.Node{Expr: algebra.Outer{Up: up, Column: ref.Column, T: ref.T}, List: n.List, At: at}, true
	}
	return typed.Node{}, false
}

// below returns the object of the columns whose paths begin with path, and whether there are any.
func (r *records) below(path query.Path, at string) (typed.Node, bool) {
	object := typed.Node{At: at, Optional: slices.ContainsFunc(r.shape.Optional, func(o query.Path) bool { return slices.Equal(o, path) })}
	for i := range r.shape.Columns {
		p := r.shape.Columns[i].Path
		if len(p) <= len(path) || !slices.Equal(p[:len(path)], path) {
			continue
		}
		name := p[len(path)]
		if slices.ContainsFunc(object.Members, func(m typed.Member) bool { return m.Name == name }) {
			continue
		}
		inner := append(slices.Clone(path), name)
		if len(p) == len(inner) {
			object.Members = append(object.Members, typed.Member{Name: name, Node: r.column(i, at)})
			continue
		}
		n, _ := r.below(inner, at)
		object.Members = append(object.Members, typed.Member{Name: name, Node: n})
	}
	return object, object.Members != nil
}

package typecheck

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// column returns a reference to column i.
func (r *records) column(i int, at string) Node {
	c := &r.shape.Columns[i]
	return Node{Expr: plan.Ref{Column: i, T: c.Type}, Column: c, List: c.List, Known: c.Known, At: at}
}

// Field implements Names. It returns an unmasked column, the object of the columns below a path, or a part of a JSON
// column.
func (r *records) Field(path query.Path, at string) (Node, error) {
	return r.find(path, at, false)
}

// find is Field, but with masked set it also returns masked columns, which may only be passed on unchanged.
func (r *records) find(path query.Path, at string, masked bool) (Node, error) {
	if r.alias(path[0]) {
		path = append(query.Path{r.key}, path[1:]...)
	}
	if err := r.behind(path, at); err != nil {
		return Node{}, err
	}
	for n := len(path); n > 0; n-- {
		i := r.shape.Find(path[:n].String())
		if i < 0 {
			continue
		}
		c := &r.shape.Columns[i]
		if c.Field != nil {
			r.relations.RecordUse(c.Field)
		}
		if c.Mask != nil && (!masked || n < len(path)) {
			return Node{}, c.Mask.Refuse(path[:n].String(), at)
		}
		if n < len(path) {
			r.note(listIndexNote(&schema.Field{Name: c.Key()}, path, path[n:], at))
		}
		return Part(r.column(i, at), path[:n], path[n:], at)
	}
	if n, ok := r.below(path, at, masked); ok {
		return n, nil
	}
	if n, ok := r.below(path, at, true); ok {
		return Node{}, plan.MaskedFieldError(path.String()+"."+n.Members[0].Name, at)
	}
	for n := len(path) - 1; n > 0; n-- { // a missing member of an object
		if _, ok := r.below(path[:n], at, true); ok {
			return Node{}, r.unknownColumnError(path, at)
		}
	}
	return Node{}, r.unknown(path, at)
}

// alias reports whether name is _id or objectId and refers to the key, because no column has this name.
func (r *records) alias(name string) bool {
	return (name == "_id" || name == "objectId") && r.key != "" && r.shape.Find(name) < 0 && r.shape.Find(r.key) >= 0 &&
		!slices.ContainsFunc(r.shape.Columns, func(c plan.Column) bool { return begins(c.Path, query.Path{name}) })
}

// note adds a note. "" means no note.
func (b *binder) note(text string) {
	if text != "" && !slices.Contains(b.notes, text) {
		b.notes = append(b.notes, text)
	}
}

// bindColumnExpr binds an expression that defines columns. A plain path may refer to masked columns, which are passed
// on unchanged.
func (r *records) bindColumnExpr(e query.Expr) (Node, error) {
	if plain, ok := e.(query.FieldRef); ok {
		return r.find(plain.Path, plain.At, true)
	}
	return bind(e, r)
}

// Record implements Names. It returns the record without its masked columns.
func (r *records) Record(at string) Node {
	if n, ok := r.below(nil, at, false); ok {
		return n
	}
	return Literal(value.OfObject(nil), at)
}

// dropMaskedColumns drops the masked columns, so that a document made of a whole record doesn't contain them.
func (r *records) dropMaskedColumns(at string) error {
	i := slices.IndexFunc(r.shape.Columns, func(c plan.Column) bool { return c.Path != nil && c.Mask != nil })
	if i < 0 {
		return nil
	}
	whole, ok := r.below(nil, at, false)
	if !ok {
		return r.shape.Columns[i].Mask.Refuse(r.shape.Columns[i].Key(), at)
	}
	var defs []definition
	for _, m := range whole.Members {
		defs = append(defs, definition{path: query.Path{m.Name}, node: m.Node, at: at})
	}
	return r.project(defs)
}

// Outer implements Names. The variables of the enclosing lookups are columns of their records.
func (r *records) Outer(name, at string) (Node, bool) {
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
		ref := n.Expr.(plan.Ref)
		return Node{Expr: plan.Outer{Up: up, Column: ref.Column, T: ref.T}, List: n.List, Known: n.Known, At: at}, true
	}
	return Node{}, false
}

// Keep implements Names.
func (r *records) Keep(n Node) Node {
	kept := r.column(r.addHiddenColumns([]Node{n})[0], n.At)
	kept.List, kept.Known = n.List, n.Known
	return kept
}

// below returns the object of the columns whose paths begin with path, and whether there are such columns. With masked,
// it includes masked columns.
func (r *records) below(path query.Path, at string, masked bool) (Node, bool) {
	object := Node{At: at, Optional: slices.ContainsFunc(r.shape.Optional, func(o query.Path) bool { return slices.Equal(o, path) })}
	for i := range r.shape.Columns {
		p := r.shape.Columns[i].Path
		if len(p) <= len(path) || !slices.Equal(p[:len(path)], path) || !masked && r.shape.Columns[i].Mask != nil {
			continue
		}
		name := p[len(path)]
		if slices.ContainsFunc(object.Members, func(m member) bool { return m.Name == name }) {
			continue
		}
		inner := append(slices.Clone(path), name)
		if len(p) == len(inner) {
			object.Members = append(object.Members, member{Name: name, Node: r.column(i, at)})
			continue
		}
		n, _ := r.below(inner, at, masked)
		object.Members = append(object.Members, member{Name: name, Node: n})
	}
	return object, object.Members != nil
}

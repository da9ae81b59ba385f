package sqlparse

import "strings"

// First returns the name of the first table in q that isn't a query of a WITH clause. It returns the name as written,
// or "" if there is none.
func (q *Query) First() string {
	var defined []string
	for _, c := range q.With {
		if name := c.Query.First(); name != "" {
			return name
		}
		defined = append(defined, c.Name.Text)
	}
	name := firstIn(q.Body)
	for _, d := range defined {
		if d == name {
			return ""
		}
	}
	return name
}

// firstIn returns the first table of b in reading order, or "". It doesn't search sub-queries in expressions.
func firstIn(b Body) string {
	switch b := b.(type) {
	case *Select:
		for _, f := range b.From {
			if name := firstOf(f); name != "" {
				return name
			}
		}
	case *SetOp:
		if name := firstIn(b.Left); name != "" {
			return name
		}
		return firstIn(b.Right)
	case *Query:
		return b.First()
	}
	return ""
}

// firstOf returns the name of the first table in a FROM item, with dots between its parts, or "" for a function.
func firstOf(f From) string {
	switch f := f.(type) {
	case *Table:
		name := ""
		for _, p := range f.Name {
			if name != "" {
				name += "."
			}
			name += p.Text
		}
		return name
	case *Derived:
		return f.Query.First()
	case *Join:
		if name := firstOf(f.Left); name != "" {
			return name
		}
		return firstOf(f.Right)
	}
	return ""
}

// RefersTo reports whether a FROM item of q, or of a query in its FROM, is a table with this name.
func (q *Query) RefersTo(name Ident) bool {
	var inBody func(b Body) bool
	var inFrom func(f From) bool
	inFrom = func(f From) bool {
		switch f := f.(type) {
		case *Table:
			return len(f.Name) == 1 && strings.EqualFold(f.Name[0].Text, name.Text)
		case *Derived:
			return f.Query.RefersTo(name)
		case *Join:
			return inFrom(f.Left) || inFrom(f.Right)
		}
		return false
	}
	inBody = func(b Body) bool {
		switch b := b.(type) {
		case *Select:
			for _, f := range b.From {
				if inFrom(f) {
					return true
				}
			}
		case *SetOp:
			return inBody(b.Left) || inBody(b.Right)
		case *Query:
			return b.RefersTo(name)
		}
		return false
	}
	return inBody(q.Body)
}

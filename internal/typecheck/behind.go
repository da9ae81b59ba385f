package typecheck

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// maxBehind is the maximum number of records that the paths of one query join. It is within SQLite's limit of 64 joined
// tables.
const maxBehind = 16

// behind makes the fields behind the pointers in path available. It joins the record of each pointer, through the view
// of its class, and adds its fields as hidden columns. A record is joined only once.
func (r *records) behind(path query.Path, at string) error {
	for n := 1; n < len(path); n++ {
		i := r.shape.Find(path[:n].String())
		if i < 0 {
			continue
		}
		c := r.shape.Columns[i]
		switch {
		case c.Class == "" || c.Type.IsStructured():
			continue
		case c.Mask != nil:
			return c.Mask.Refuse(path[:n].String(), at)
		case r.shape.Find(path[:n+1].String()) >= 0:
			continue // the record is already joined, or a stage has made an object of it
		case n > query.MaxHops:
			return problem.Invalid(at, "%s follows more than %d pointers", path, query.MaxHops)
		}
		if r.joined++; r.joined > maxBehind {
			return problem.Invalid(at, "the paths of a query lead to at most %d other records", maxBehind)
		}
		if err := r.follow(i, path[:n], path[n:], at); err != nil {
			return err
		}
	}
	return nil
}

// follow joins the record to which column i points. path is the name of the column. The argument rest is the path
// within that record.
func (r *records) follow(i int, path, rest query.Path, at string) error {
	c := r.shape.Columns[i]
	to, err := r.relations.Open(c.Class, at)
	if err != nil {
		return err
	}
	right := r.start(to)
	if right.shape.Find(rest[0]) < 0 {
		_, _, _, err := to.Scope.Field(rest, at)
		return err
	}
	key, err := right.Field(query.Path{c.ClassKey}, at)
	if err != nil {
		return err
	}
	on, err := pair(r.column(i, at), key)
	if err != nil {
		return err
	}
	j := &plan.Join{Right: right.program, On: []plan.Pair{on}, Keep: true, Shape: *r.shape}
	j.Shape.Columns = slices.Clone(r.shape.Columns)
	width := len(r.shape.Columns)
	for _, c := range right.shape.Columns {
		c.Behind, c.Path, c.NotNull = append(slices.Clone(path), c.Path...), nil, false
		j.Shape.Columns = append(j.Shape.Columns, c)
	}
	if len(j.Shape.Columns) > MaxColumns {
		return problem.Invalid(at, "the records and those that paths lead to would have %d fields. At most %d are supported", len(j.Shape.Columns), MaxColumns)
	}
	if len(to.Key) != 1 || to.Key[0] != c.ClassKey { // several records may contain the same value
		j.Shape.Order = slices.Clone(j.Shape.Order)
		for _, o := range right.shape.Order {
			j.Shape.Order = append(j.Shape.Order, plan.Place{Column: width + o.Column, Desc: o.Desc})
		}
	}
	r.add(j)
	return nil
}

// listIndexNote returns a note if a part of a path is a number or "length". Such parts have no special meaning.
func listIndexNote(f *schema.Field, path, rest query.Path, at string) string {
	for _, part := range rest {
		if part != "" && part[0] >= '0' && part[0] <= '9' {
			return fmt.Sprintf("%s: %s looks for a member called %q. Lists have no numbered parts: $elemMatch asks for any element, and an expression takes one with "+
				`{"$arrayElemAt": ["$%s", %s]}`, at, path, part, f.Name, part)
		}
	}
	if last := rest[len(rest)-1]; last == "length" {
		return fmt.Sprintf(`%s: %s looks for a member called %q; {"$size": n} asks for the length of a list`, at, path, last)
	}
	return ""
}

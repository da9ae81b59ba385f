package typecheck

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// MaxColumns is the maximum number of columns between two stages. It is within PostgreSQL's limit of 1,664.
const MaxColumns = 1000

// A definition is the path and the expression of a column or of an object of columns.
type definition struct {
	path query.Path
	node Node
	at   string
}

// mapping is a Map under construction.
type mapping struct {
	*records
	stage plan.Map
}

// project adds a Map for the definitions. Columns that the order requires stay, but are hidden if no definition
// contains them.
func (r *records) project(defs []definition) error {
	m := &mapping{records: r}
	for _, d := range defs {
		if err := m.define(d.path, &d.node, d.at); err != nil {
			return err
		}
	}
	m.carry()
	if len(m.stage.Columns) > MaxColumns {
		return problem.Invalid(defs[0].at, "the records would have %d fields. At most %d are supported", len(m.stage.Columns), MaxColumns)
	}
	r.add(&m.stage)
	r.unknown = r.unknownColumnError
	return nil
}

// define adds the columns of one definition.
func (m *mapping) define(path query.Path, n *Node, at string) error {
	if len(path) > query.MaxPath {
		return problem.Invalid(at, "objects nest at most %d deep", query.MaxPath)
	}
	if n.IsObject() {
		if n.Optional {
			m.stage.Shape.Optional = append(m.stage.Shape.Optional, path)
		}
		for i := range n.Members {
			if err := m.define(append(slices.Clone(path), n.Members[i].Name), &n.Members[i].Node, at); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range m.stage.Shape.Columns {
		if have := m.stage.Shape.Columns[i].Path; begins(have, path) || begins(path, have) {
			return problem.Invalid(at, "%s and %s can't both be there", have, path)
		}
	}
	m.stage.Columns = append(m.stage.Columns, n.Expr)
	m.stage.Shape.Columns = append(m.stage.Shape.Columns, columnFor(n, path))
	return nil
}

// columnFor returns the column for n, called path.
func columnFor(n *Node, path query.Path) plan.Column {
	_, plain := n.Expr.(plan.Ref)
	if plain && n.Column != nil {
		c := *n.Column
		c.Path, c.Behind = path, nil
		return c
	}
	c := plan.Column{Path: path, Type: n.Expr.Type(), List: n.List, Known: n.Known}
	if n.Column != nil {
		c.ID, c.Class, c.ClassKey = n.Column.ID, n.Column.Class, n.Column.ClassKey
	}
	return c
}

// carry keeps the columns that the order requires, and the columns in keep.
func (m *mapping) carry() {
	at := func(i int) int {
		for j, e := range m.stage.Columns {
			if ref, ok := e.(plan.Ref); ok && ref.Column == i {
				return j
			}
		}
		c := m.shape.Columns[i]
		c.Path = nil
		m.stage.Columns = append(m.stage.Columns, plan.Ref{Column: i, T: c.Type})
		m.stage.Shape.Columns = append(m.stage.Shape.Columns, c)
		return len(m.stage.Columns) - 1
	}
	for _, o := range m.shape.Order {
		m.stage.Shape.Order = append(m.stage.Shape.Order, plan.Place{Column: at(o.Column), Desc: o.Desc})
	}
	for i, k := range m.keep {
		m.keep[i] = at(k)
	}
	for i, c := range m.shape.Columns { // fields behind a pointer are available as long as the pointer is
		if c.Behind != nil && c.Path == nil && m.passes(c.Behind) {
			at(i)
		}
	}
}

// passes reports whether the pointers in path are kept unchanged.
func (m *mapping) passes(path query.Path) bool {
	for n := 1; n < len(path); n++ {
		i := m.shape.Find(path[:n].String())
		if i < 0 || m.shape.Columns[i].Path == nil {
			continue
		}
		j := m.stage.Shape.Find(path[:n].String())
		ref, ok := plan.Ref{}, false
		if j >= 0 {
			ref, ok = m.stage.Columns[j].(plan.Ref)
		}
		return ok && ref.Column == i
	}
	return false
}

// begins reports whether path begins with prefix.
func begins(path, prefix query.Path) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// all returns definitions of all columns except the columns in the argument without. Columns stay unchanged, and
// objects stay whole.
func (r *records) all(without ...query.Path) []definition {
	var defs []definition
	whole, _ := r.below(nil, "", true)
	var walk func(path query.Path, n Node)
	walk = func(path query.Path, n Node) {
		for _, w := range without {
			if begins(path, w) {
				return
			}
			if begins(w, path) && n.IsObject() { // an object that lost a part is not null as a whole
				for _, m := range n.Members {
					walk(append(slices.Clone(path), m.Name), m.Node)
				}
				return
			}
		}
		defs = append(defs, definition{path: path, node: n})
	}
	for _, m := range whole.Members {
		walk(query.Path{m.Name}, m.Node)
	}
	return defs
}

// addHiddenColumns adds hidden columns for expressions that are not columns yet. It returns the column numbers of all
// nodes.
func (r *records) addHiddenColumns(nodes []Node) []int {
	out := make([]int, len(nodes))
	var fresh []int
	for i := range nodes {
		if ref, ok := nodes[i].Expr.(plan.Ref); ok {
			out[i] = ref.Column
			continue
		}
		fresh = append(fresh, i)
	}
	if fresh == nil {
		return out
	}
	s := &plan.Map{Shape: *r.shape}
	s.Shape.Columns = slices.Clone(r.shape.Columns)
	for i := range r.shape.Columns {
		s.Columns = append(s.Columns, plan.Ref{Column: i, T: r.shape.Columns[i].Type})
	}
	for _, i := range fresh {
		out[i] = len(s.Columns)
		s.Columns = append(s.Columns, nodes[i].Expr)
		s.Shape.Columns = append(s.Shape.Columns, columnFor(&nodes[i], nil))
	}
	r.add(s)
	return out
}

// projectStage binds a $project that keeps fields. If there is a column _id, it stays unless it is excluded or named. A
// masked column may be passed on unchanged, but no expression may contain one.
func (r *records) projectStage(s query.Project) error {
	if s.Drop {
		return r.unset(s.Fields)
	}
	var defs []definition
	id := query.Path{"_id"}
	named := slices.ContainsFunc(s.Fields, func(f query.Computed) bool { return f.Name[0] == "_id" })
	if s.NoID || named || r.alias("_id") {
		// there is no such column to keep
	} else if n, err := r.find(id, s.At, true); err == nil {
		defs = append(defs, definition{path: id, node: n, at: s.At})
	}
	for _, f := range s.Fields {
		n, err := Node{}, error(nil)
		if f.Value == nil {
			n, err = r.find(f.Name, f.At, true)
		} else {
			n, err = r.bindColumnExpr(f.Value)
		}
		if err != nil {
			return err
		}
		if f.Value != nil {
			if err := output(&n); err != nil {
				return err
			}
		}
		defs = append(defs, definition{path: f.Name, node: n, at: f.At})
	}
	return r.project(defs)
}

// output rejects a value that can't be a Column: its type is known only to the database, and it isn't passed on
// unchanged.
func output(n *Node) error {
	if _, plain := n.Expr.(plan.Ref); plain || n.IsObject() {
		return nil
	}
	return n.CheckComputable()
}

// unset binds the fields that a $project drops, as a projection of all other fields. A part of a JSON value can't be
// dropped. _id is accepted even if it doesn't exist. An error is returned if no field would remain.
func (r *records) unset(fields []query.Computed) error {
	var without []query.Path
	for _, f := range fields {
		n, err := r.find(f.Name, f.At, true)
		switch {
		case f.Name.String() == "_id" && (err != nil || r.alias("_id")): // often written unnecessarily
			continue
		case err != nil:
			return err
		case !n.IsObject() && !r.holds(f.Name):
			return problem.UnsupportedError(f.At, "%s is a part of a field and can't be left out. Name the parts that you want instead", f.Name)
		}
		without = append(without, f.Name)
	}
	defs := r.all(without...)
	if defs == nil {
		return problem.Invalid(fields[0].At, "no field would be left")
	}
	return r.project(defs)
}

// holds reports whether path is a visible column.
func (r *records) holds(path query.Path) bool {
	i := r.shape.Find(path.String())
	return i >= 0 && r.shape.Columns[i].Path != nil
}

// addFields binds $addFields. A new value for an existing name replaces the column at its position. New names come
// last. A name inside a JSON column changes that column as a whole.
func (r *records) addFields(s query.AddFields) error {
	var names []query.Path
	for _, f := range s.Fields {
		names = append(names, f.Name)
	}
	defs := r.all(names...)
	for _, f := range s.Fields {
		n, err := r.bindColumnExpr(f.Value)
		if err == nil {
			err = output(&n)
		}
		if err != nil {
			return err
		}
		d, err := r.within(definition{path: f.Name, node: n, at: f.At}, &defs)
		if err != nil {
			return err
		}
		defs = append(defs, d)
	}
	return r.project(r.sortDefinitions(defs))
}

// sortDefinitions sorts definitions by the positions of their names in the records. New names come last, in their
// order.
func (r *records) sortDefinitions(defs []definition) []definition {
	var names []string
	for _, c := range r.shape.Columns {
		if c.Path != nil {
			names = append(names, c.Path[0])
		}
	}
	at := func(d definition) int {
		if i := slices.Index(names, d.path[0]); i >= 0 {
			return i
		}
		return len(names)
	}
	slices.SortStableFunc(defs, func(a, b definition) int { return at(a) - at(b) })
	return defs
}

// within turns a definition inside a JSON column into a definition of the whole column. It replaces the existing
// definition.
func (r *records) within(d definition, defs *[]definition) (definition, error) {
	for n := len(d.path) - 1; n > 0; n-- {
		i := slices.IndexFunc(*defs, func(have definition) bool { return slices.Equal(have.path, d.path[:n]) && !have.node.IsObject() })
		if i < 0 {
			continue
		}
		whole := (*defs)[i]
		if c := whole.node.Column; c != nil && c.Mask != nil {
			return d, c.Mask.Refuse(whole.path.String(), d.at)
		}
		if whole.node.Expr.Type() != schema.JSON || whole.node.List {
			return d, problem.Invalid(d.at, "%s: %s is %s and can't have members", d.path, whole.path, Describe(&whole.node))
		}
		*defs = slices.Delete(*defs, i, i+1)
		set := Node{Expr: plan.SetPart{X: whole.node.Expr, Path: d.path[n:], V: d.node.JSON()}, At: d.at}
		return definition{path: whole.path, node: set, at: d.at}, nil
	}
	return d, nil
}

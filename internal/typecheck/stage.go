package typecheck

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// stages binds a list of stages. A $lookup and a following $unwind of its list become a join, whose columns keep their
// types.
func (r *records) stages(list []query.Stage) error {
	for i := 0; i < len(list); i++ {
		if lookup, ok := list[i].(query.Lookup); ok && i+1 < len(list) {
			if unwind, ok := list[i+1].(query.Unwind); ok && joins(lookup, unwind) {
				if err := r.meter.Add(plan.CostlyJoin, 1, lookup.At); err != nil {
					return err
				}
				if err := r.join(lookup, unwind); err != nil {
					return err
				}
				i++
				continue
			}
		}
		if err := r.stage(list[i]); err != nil {
			return err
		}
	}
	return nil
}

// stage binds one stage to the columns of the preceding stage and adds it to the program. The parser makes only known
// kinds of stages, so an unknown kind is an internal error.
func (r *records) stage(s query.Stage) error {
	if err := r.costs(s); err != nil {
		return err
	}
	switch s := s.(type) {
	case query.Match:
		return r.match(s)
	case query.Project:
		return r.projectStage(s)
	case query.AddFields:
		return r.addFields(s)
	case query.Group:
		return r.group(s)
	case query.SortStage:
		return r.sort(s)
	case query.Skip:
		r.add(&plan.Slice{Skip: s.N, Limit: -1, Shape: *r.shape})
		return nil
	case query.Limit:
		r.add(&plan.Slice{Limit: s.N, Shape: *r.shape})
		return nil
	case query.CountStage:
		g := &plan.Group{Always: true, Accumulators: []plan.Accumulator{{Op: plan.Count, T: schema.Integer}}}
		g.Shape.Columns = []plan.Column{{Path: query.Path{s.Name}, Type: schema.Integer, NotNull: true}}
		r.add(g)
		r.unknown, r.keep = r.unknownColumnError, nil
		return nil
	case query.Unwind:
		return r.unwind(s)
	case query.Lookup:
		return r.lookup(s)
	case query.GraphLookup:
		return r.graphLookup(s)
	case query.UnionWith:
		return r.unionWith(s)
	case query.Facet:
		return r.facet(s)
	case query.Bucket:
		return r.bucket(s)
	case query.BucketAuto:
		return r.bucketAuto(s)
	case query.SetWindowFields:
		return r.setWindowFields(s)
	case query.Fill:
		return r.fill(s)
	case query.Densify:
		return r.densify(s)
	case query.SortByCount:
		return r.sortByCount(s)
	case query.ReplaceRoot:
		return r.replaceRoot(s)
	case query.Sample:
		r.add(&plan.Sample{N: s.N, Seed: r.seed, Shape: *r.shape})
		return nil
	}
	return problem.New(problem.Internal, fmt.Sprintf("bind knows no stage %T", s))
}

// costs counts the costly parts of a stage.
func (r *records) costs(s query.Stage) error {
	switch s := s.(type) {
	case query.Lookup:
		return r.meter.Add(plan.CostlyJoin, 1, s.At)
	case query.GraphLookup:
		return r.meter.Add(plan.CostlyJoin, 1, s.At)
	case query.UnionWith:
		return r.meter.Add(plan.CostlySet, 1, s.At)
	case query.SetWindowFields:
		return r.meter.Add(plan.CostlyWindow, len(s.Output), s.At)
	case query.Densify: // see appendValues and joinValues
		made, windows := plan.CostlySet, 1
		if len(s.By) > 0 {
			made, windows = plan.CostlyJoin, 2
		}
		return cmp.Or(r.meter.Add(made, 1, s.At), r.meter.Add(plan.CostlyWindow, windows, s.At))
	}
	return nil
}

// match binds $match. Where is over fields, for which an index can be used. If is the condition of $expr over computed
// values. The paths of Where may refer to fields behind pointers. The columns behind them are joined to the shape
// first.
func (r *records) match(s query.Match) error {
	f := &plan.Filter{}
	in := &filters{scope: columns{r}, relations: r.relations}
	var err error
	if f.Where, err = in.filter(s.Where); err != nil {
		return err
	}
	for _, n := range in.notes {
		r.note(n)
	}
	if s.If != nil {
		n, err := bind(s.If, r)
		if err != nil {
			return err
		}
		if f.If, err = n.Truth("$expr"); err != nil {
			return err
		}
	}
	f.Shape = *r.shape // includes the columns that the conditions have joined
	r.add(f)
	return nil
}

// sort orders by s, and then by the previous order.
func (r *records) sort(s query.SortStage) error {
	nodes, desc, err := r.sorting(s.Order, s.At)
	if err != nil {
		return err
	}
	at := r.addHiddenColumns(nodes)
	sorted := &plan.Map{Shape: *r.shape}
	for i, c := range r.shape.Columns {
		sorted.Columns = append(sorted.Columns, plan.Ref{Column: i, T: c.Type})
	}
	var order []plan.Place
	for i, column := range at {
		if !slices.Contains(at[:i], column) {
			order = append(order, plan.Place{Column: column, Desc: desc[i]})
		}
	}
	for _, before := range r.shape.Order {
		if !slices.Contains(at, before.Column) {
			order = append(order, before)
		}
	}
	sorted.Shape.Order = order
	r.add(sorted)
	return nil
}

// sorting binds the fields of an order. An object sorts by each of its members in turn.
func (r *records) sorting(order []query.Sort, at string) (nodes []Node, desc []bool, err error) {
	var add func(n Node, down bool) error
	add = func(n Node, down bool) error {
		for _, m := range n.Members {
			if err := add(m.Node, down); err != nil {
				return err
			}
		}
		if n.IsObject() {
			return nil
		}
		nodes, desc = append(nodes, n), append(desc, down)
		return n.CheckComputable()
	}
	for _, o := range order {
		n, err := r.Field(o.Path, query.Pointer(at, o.Path.String()))
		if err == nil {
			err = add(n, o.Desc)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return nodes, desc, nil
}

// unwind binds $unwind. The plan's stage appends two columns, the element and its index. They then replace the list and
// includeArrayIndex. The index becomes part of the order, so that the elements of a record stay in order.
func (r *records) unwind(s query.Unwind) error {
	n, err := r.Field(s.Path, s.At)
	if err != nil {
		return err
	}
	list, err := n.Elements("$unwind")
	if err != nil {
		return err
	}
	u := &plan.Unwind{List: list, Keep: s.Keep, Shape: *r.shape}
	width := len(r.shape.Columns)
	u.Shape.Columns = append(slices.Clone(r.shape.Columns), plan.Column{Type: schema.JSON, Known: n.Known.Of()}, plan.Column{Type: schema.Integer})
	u.Shape.Order = append(slices.Clone(r.shape.Order), plan.Place{Column: width + 1})
	r.add(u)
	element := r.column(width, s.At)
	if c := n.Column; c != nil && c.Class != "" {
		if element, err = r.elementPointer(c, element); err != nil {
			return err
		}
	}
	defs := r.all(s.Path)
	d, err := r.within(definition{path: s.Path, node: element, at: s.At}, &defs)
	if err != nil {
		return err
	}
	defs = append(defs, d)
	if s.Index != "" {
		path := query.Path{s.Index}
		defs = slices.DeleteFunc(defs, func(d definition) bool { return begins(d.path, path) })
		defs = append(defs, definition{path: path, node: r.column(width+1, s.At), at: s.At})
	}
	return r.project(r.sortDefinitions(defs))
}

// elementPointer returns an element of a list of pointers as a pointer. It is null if the element is not a key of the
// class.
func (r *records) elementPointer(list *plan.Column, element Node) (Node, error) {
	to, err := r.relations.Open(list.Class, element.At)
	if err != nil {
		return Node{}, err
	}
	f, _, _, err := to.Scope.Field(query.Path{list.ClassKey}, element.At)
	if err != nil {
		return Node{}, err
	}
	t := f.Type
	if t == schema.UUID {
		t = schema.String // the form of a UUID in a list
	}
	x, err := element.Want(t, "$unwind")
	return Node{Expr: x, Column: &plan.Column{ID: to.Scope.ID(list.ClassKey), Class: list.Class, ClassKey: list.ClassKey}, At: element.At}, err
}

// replaceRoot binds $replaceRoot as a projection of the members of the new root. The members must be known, because
// columns have types.
func (r *records) replaceRoot(s query.ReplaceRoot) error {
	n, err := r.bindColumnExpr(s.Root)
	if err != nil {
		return err
	}
	if !n.IsObject() {
		return problem.UnsupportedError(s.At, "the new root is an object whose members are known before it runs, not %s", Describe(&n))
	}
	var defs []definition
	for _, m := range n.Members {
		defs = append(defs, definition{path: query.Path{m.Name}, node: m.Node, at: s.At})
	}
	return r.project(defs)
}

// facet binds $facet. Each branch is a program over the input of the stage, and its records become one JSON list. The
// lists contain no masked columns.
func (r *records) facet(s query.Facet) error {
	f := &plan.Facet{}
	for _, b := range s.Branches {
		branch := &records{binder: r.binder, program: &plan.Program{From: plan.Input, Base: *r.shape}, unknown: r.unknown}
		branch.shape = &branch.program.Base
		if err := branch.stages(b.Stages); err != nil {
			return err
		}
		if err := branch.dropMaskedColumns(query.Pointer(s.At, b.Name)); err != nil {
			return err
		}
		f.Branches = append(f.Branches, branch.program)
		f.Shape.Columns = append(f.Shape.Columns, plan.Column{Path: query.Path{b.Name}, Type: schema.JSON, List: true, NotNull: true, Known: branch.listKnowledge()})
	}
	r.add(f)
	r.unknown = r.unknownColumnError
	return nil
}

// unionWith gives both sides the same columns with their common types. A column that a side lacks is null there.
func (r *records) unionWith(s query.UnionWith) error {
	other, err := r.relations.Open(s.Class, query.Pointer(s.At, "coll"))
	if err != nil {
		return err
	}
	right := r.start(other)
	if err := right.stages(s.Stages); err != nil {
		return err
	}
	u := &plan.Union{Right: right.program}
	paths := visible(r.shape)
	for _, p := range visible(right.shape) {
		if !slices.ContainsFunc(paths, func(have query.Path) bool { return slices.Equal(have, p) }) {
			paths = append(paths, p)
		}
	}
	// A name that one side lacks is null there. A name must not be an object on one side and a value on the other.
	absent := Node{Expr: plan.Const{T: schema.JSON}, Constant: true, At: s.At}
	for i, p := range paths {
		if slices.ContainsFunc(paths[:i], func(have query.Path) bool { return begins(have, p) || begins(p, have) }) {
			return problem.Invalid(s.At, "%s is an object on one side and a value on the other. Give it another name with $project", p)
		}
		sides := []Node{absent, absent}
		for j, of := range []*records{r, right} {
			if c := of.shape.Find(p.String()); c >= 0 {
				sides[j] = of.column(c, s.At)
			}
		}
		out, t, err := Together(sides, "$unionWith")
		if err != nil {
			return err
		}
		u.Left, u.Added = append(u.Left, out[0]), append(u.Added, out[1])
		c, ok := unionColumn(p, t, sides)
		if !ok {
			return unlike(p, s.At)
		}
		u.Shape.Columns = append(u.Shape.Columns, c)
	}
	// The result is ordered by two hidden columns: the side, left first, and the position in that side.
	n := len(paths)
	u.Shape.Columns = append(u.Shape.Columns, plan.Column{Type: schema.Integer, NotNull: true}, plan.Column{Type: schema.Integer, NotNull: true})
	u.Shape.Order = []plan.Place{{Column: n}, {Column: n + 1}}
	r.add(u)
	r.unknown = r.unknownColumnError
	return nil
}

// unionColumn returns the column for both sides of a union. It returns false if one side is masked and the other isn't,
// or has another mask. The column contains ids if both sides do.
func unionColumn(path query.Path, t schema.Type, sides []Node) (c plan.Column, ok bool) {
	c = plan.Column{Path: path, Type: t, List: Lists(sides), ID: t != schema.JSON} // Known is nil, because the sides may differ
	for _, n := range sides {
		if n.Column != nil && n.Column.Mask != nil {
			c.Mask = n.Column.Mask
		}
	}
	for _, n := range sides {
		switch {
		case n.Column == nil: // null
		case n.Column.Mask != c.Mask || c.Mask != nil && n.Expr.Type() != t:
			return c, false
		case !n.Column.ID:
			c.ID = false
		case c.Class == "":
			c.Class, c.ClassKey = n.Column.Class, n.Column.ClassKey
		case c.Class != n.Column.Class:
			c.Class, c.ClassKey = "", ""
		}
	}
	return c, true
}

// unlike returns the error for a union of masked values with other values.
func unlike(path query.Path, at string) error {
	return &problem.Error{Code: problem.InvalidQuery, Kind: "field_masked", Pointer: at,
		Detail:     fmt.Sprintf("%s is masked, and not the same field on both sides", path),
		Suggestion: "leave it out on one side, or give it another name, with $project"}
}

func visible(s *plan.Shape) []query.Path {
	var out []query.Path
	for _, c := range s.Columns {
		if c.Path != nil {
			out = append(out, c.Path)
		}
	}
	return out
}

// boundaries returns the bounds of a $bucket as constants.
func boundaries(s query.Bucket) []Node {
	out := make([]Node, len(s.Boundaries))
	for i, v := range s.Boundaries {
		at := query.Pointer(query.Pointer(s.At, "boundaries"), fmt.Sprint(i))
		out[i] = Node{Expr: plan.Const{Value: v, T: Natural(v)}, Constant: true, At: at}
	}
	return out
}

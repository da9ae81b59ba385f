package typecheck

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// joins reports whether a $lookup and the $unwind after it form a join. This requires that its stages process each
// record separately, and that the list has no other use.
func joins(l query.Lookup, u query.Unwind) bool {
	return slices.Equal(u.Path, query.ParsePath(l.As)) && u.Index == "" && l.Local != nil && len(l.Let) == 0 && recordwise(l.Stages)
}

// recordwise reports whether the stages process each record separately.
func recordwise(stages []query.Stage) bool {
	return !slices.ContainsFunc(stages, func(s query.Stage) bool {
		switch s.(type) {
		case query.Match, query.Project, query.AddFields:
			return false
		}
		return true
	})
}

// right opens the class of a $lookup and binds its foreign column.
func (r *records) right(l query.Lookup) (*records, Node, error) {
	from, err := r.relations.Open(l.From, query.Pointer(l.At, "from"))
	if err != nil {
		return nil, Node{}, err
	}
	right := r.start(from)
	right.outer = r
	if l.Foreign == nil {
		return right, Node{}, nil
	}
	foreign, err := right.Field(l.Foreign, query.Pointer(l.At, "foreignField"))
	if err != nil {
		return nil, Node{}, err
	}
	if foreign.List {
		return nil, Node{}, problem.UnsupportedError(foreign.At, "%s is a list, and $lookup compares single values. Start from %s and $unwind the list", l.Foreign, from.Name)
	}
	return right, foreign, nil
}

// local returns the local value of a lookup.
func (r *records) local(l query.Lookup) (Node, error) {
	n, err := r.Field(l.Local, query.Pointer(l.At, "localField"))
	if err == nil && n.List {
		err = problem.UnsupportedError(n.At, "%s is a list, and $lookup compares single values. $unwind it first", l.Local)
	}
	return n, err
}

// pair binds the equality of a local and a foreign value.
func pair(local, foreign Node) (plan.Pair, error) {
	x, y, err := Alike(local, foreign, "$lookup")
	return plan.Pair{Left: x, Right: y}, err
}

// bindLookupStages binds the stages of a lookup, which yield documents or columns. It returns the foreign value as a
// column of the result.
func (right *records) bindLookupStages(l query.Lookup, foreign Node, documents bool) (Node, error) {
	at := right.addHiddenColumns([]Node{foreign})
	right.keep = at
	if err := right.stages(l.Stages); err != nil {
		return Node{}, err
	}
	if documents {
		if err := right.dropMaskedColumns(l.At); err != nil {
			return Node{}, err
		}
	}
	return right.column(right.keep[0], query.Pointer(l.At, "foreignField")), nil
}

// join binds a $lookup with the $unwind of its list as one Join, which a database runs much faster than lists. The
// right columns follow the columns of r, under the path in l.As. With u.Keep, a record without a match stays. Then
// right columns may be null, and the object may be absent.
func (r *records) join(l query.Lookup, u query.Unwind) error {
	local, err := r.local(l)
	if err != nil {
		return err
	}
	right, foreign, err := r.right(l)
	if err != nil {
		return err
	}
	if foreign, err = right.bindLookupStages(l, foreign, false); err != nil {
		return err
	}
	if right.used {
		return problem.UnsupportedError(l.At, "a $lookup that is unwound can't use the variables of one around it. Remove the $unwind, or give the $lookup a let of its own")
	}
	on, err := pair(local, foreign)
	if err != nil {
		return err
	}
	j := &plan.Join{Right: right.program, On: []plan.Pair{on}, Keep: u.Keep}
	as := query.ParsePath(l.As)
	j.Shape = r.without(as)
	width := len(j.Shape.Columns)
	for _, c := range right.shape.Columns {
		if c.Path != nil {
			c.Path = append(slices.Clone(as), c.Path...)
		}
		c.NotNull = c.NotNull && !u.Keep
		j.Shape.Columns = append(j.Shape.Columns, c)
	}
	for _, o := range right.shape.Order {
		j.Shape.Order = append(j.Shape.Order, plan.Place{Column: width + o.Column, Desc: o.Desc})
	}
	for _, o := range right.shape.Optional {
		j.Shape.Optional = append(j.Shape.Optional, append(slices.Clone(as), o...))
	}
	if u.Keep {
		j.Shape.Optional = append(j.Shape.Optional, as)
	}
	r.add(j)
	r.unknown = r.unknownColumnError
	return nil
}

// lookup binds a $lookup as a Nest if its list stays. An equality is a join by key if the stages process each record
// separately. With variables, or with stages such as $sort and $limit, the program of the right side is correlated.
// Then it is computed for each record.
func (r *records) lookup(l query.Lookup) error {
	right, foreign, err := r.right(l)
	if err != nil {
		return err
	}
	n := &plan.Nest{}
	var values []Node // the values on which the list depends: the local value, then the variables
	if l.Local != nil {
		local, err := r.local(l)
		if err != nil {
			return err
		}
		if local.IsObject() { // its members are columns, but it is compared as one document
			if _, err := pair(local, foreign); err != nil {
				return err
			}
			local = Node{Expr: local.JSON(), At: local.At}
		}
		values = append(values, local)
	}
	for _, v := range l.Let {
		x, err := bind(v.Value, r)
		if err == nil && x.IsObject() {
			err = problem.UnsupportedError(v.At, "a variable of $lookup holds a single value, not an object")
		}
		if err != nil {
			return err
		}
		values = append(values, x)
	}
	if l.Local != nil && len(l.Let) == 0 && recordwise(l.Stages) {
		if foreign, err = right.bindLookupStages(l, foreign, true); err != nil {
			return err
		}
		on, err := pair(values[0], foreign)
		if err != nil {
			return err
		}
		n.On = []plan.Pair{on}
	} else if err := r.bindCorrelatedStages(l, right, foreign, values); err != nil {
		return err
	}
	n.Right, n.Correlated = right.program, right.used
	r.nest(n, &n.Shape, query.ParsePath(l.As), right.listKnowledge())
	return nil
}

// bindCorrelatedStages binds stages that depend on the outer record. The local value and the variables of that record
// become columns.
func (r *records) bindCorrelatedStages(l query.Lookup, right *records, foreign Node, values []Node) error {
	at := r.addHiddenColumns(values)
	right.lets = map[string]Node{}
	for i, v := range l.Let {
		c := at[len(at)-len(l.Let)+i]
		right.lets[v.Name[0]] = r.column(c, v.At)
	}
	if l.Local != nil {
		column := r.column(at[0], query.Pointer(l.At, "localField"))
		outer := column
		outer.Elsewhere(plan.Outer{Up: 1, Column: at[0], T: column.Expr.Type()})
		x, y, err := Alike(foreign, outer, "$lookup")
		if err != nil {
			return err
		}
		right.add(&plan.Filter{If: plan.Apply{Op: plan.Same, Args: []plan.Expr{x, y}, T: schema.Boolean}, Shape: *right.shape})
		right.used = true
	}
	if err := right.stages(l.Stages); err != nil {
		return err
	}
	return right.dropMaskedColumns(l.At)
}

// listKnowledge returns the Known of a list of the records in r.
func (r *records) listKnowledge() *plan.Known {
	whole := r.Record("")
	return plan.ListOf(whole.Knowledge())
}

// nest adds a stage that appends a list as a column with the path as. The argument known describes the contents of the
// list.
func (r *records) nest(s plan.Stage, shape *plan.Shape, as query.Path, known *plan.Known) {
	*shape = r.without(as)
	shape.Columns = append(shape.Columns, plan.Column{Path: as, Type: schema.JSON, List: true, NotNull: true, Known: known})
	r.add(s)
	r.unknown = r.unknownColumnError
}

// graphLookup binds $graphLookup as a Closure. It opens s.From as the caller's view and filters it by
// restrictSearchWithMatch. The three followed values have one known type, so that equality means the same at every
// step. A list or JSON is refused.
func (r *records) graphLookup(s query.GraphLookup) error {
	from, err := r.relations.Open(s.From, query.Pointer(s.At, "from"))
	if err != nil {
		return err
	}
	right := r.start(from)
	if s.Restrict != nil {
		if err := right.match(query.Match{Where: s.Restrict, At: query.Pointer(s.At, "restrictSearchWithMatch")}); err != nil {
			return err
		}
	}
	start, err := bind(s.Start, r)
	if err != nil {
		return err
	}
	to, err := right.Field(s.ConnectTo, query.Pointer(s.At, "connectToField"))
	if err != nil {
		return err
	}
	next, err := right.Field(s.ConnectFrom, query.Pointer(s.At, "connectFromField"))
	if err != nil {
		return err
	}
	for _, n := range []Node{start, to, next} {
		if n.IsObject() || n.List || n.Kind() == schema.JSON && !n.IsNull() || n.Kind() == schema.Any {
			return problem.UnsupportedError(n.At, "$graphLookup follows single values of a known type, not %s", Describe(&n))
		}
	}
	if to.Kind() != next.Kind() {
		return problem.Invalid(next.At, "$graphLookup follows %s to %s: they must be of one type", Describe(&next), Describe(&to))
	}
	if start.Constant {
		start = AsID(start, to.Column)
	}
	c := &plan.Closure{Right: right.program, Depth: s.MaxDepth, DepthName: s.Depth}
	if c.Start, err = start.Want(to.Kind(), "$graphLookup"); err != nil {
		return err
	}
	right.keep = right.addHiddenColumns([]Node{to, next})
	if err := right.dropMaskedColumns(s.At); err != nil {
		return err
	}
	c.To, c.From = right.keep[0], right.keep[1]
	known := right.listKnowledge()
	if s.Depth != "" && known != nil {
		steps := plan.KnownMember{Name: s.Depth, Value: &plan.Known{Type: schema.Integer}}
		known = plan.ListOf(&plan.Known{Members: append(slices.Clone(known.Element.Members), steps)})
	}
	r.nest(c, &c.Shape, query.ParsePath(s.As), known)
	return nil
}

// without returns the shape with the columns at path or below it hidden.
func (r *records) without(path query.Path) plan.Shape {
	out := *r.shape
	out.Columns = slices.Clone(out.Columns)
	for i := range out.Columns {
		if c := &out.Columns[i]; c.Path != nil && (begins(c.Path, path) || begins(path, c.Path)) {
			c.Path = nil
		}
		if c := &out.Columns[i]; begins(c.Behind, path) && c.Path == nil {
			c.Behind = nil
		}
	}
	out.Order, out.Optional = slices.Clone(out.Order), slices.Clone(out.Optional)
	return out
}

package typecheck

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// setWindowFields adds a Windows. The records are sorted by partition, and within each by the order of the stage.
func (r *records) setWindowFields(s query.SetWindowFields) error {
	nodes, desc, err := r.sorting(s.Order, query.Pointer(s.At, "sortBy"))
	if err != nil {
		return err
	}
	var by []Node
	if s.By != nil {
		if by, err = r.bindPartition(s); err != nil {
			return err
		}
	}
	w := &plan.Windows{}
	var added []plan.Column
	for _, f := range s.Output {
		path := query.Path{f.Name}
		if slices.ContainsFunc(added, func(c plan.Column) bool { return begins(c.Path, path) }) {
			return problem.Invalid(f.At, "%s is there already", f.Name)
		}
		if err := r.function(f, path, func(made plan.Window, c plan.Column) {
			w.Functions, added = append(w.Functions, made), append(added, c)
		}); err != nil {
			return err
		}
	}
	// The result is sorted by partition and order. A column in both is used once.
	at := r.addHiddenColumns(append(slices.Clone(by), nodes...))
	w.By = at[:len(by)]
	var order []plan.Place
	for i, c := range at {
		p := plan.Place{Column: c, Desc: i >= len(by) && desc[i-len(by)]}
		if slices.ContainsFunc(order, func(have plan.Place) bool { return have.Column == c }) {
			continue
		}
		order = append(order, p)
		if i >= len(by) {
			w.Order = append(w.Order, p)
		}
	}
	// An output replaces a column with its name.
	for _, f := range s.Output {
		next := r.without(query.Path{f.Name})
		r.shape = &next
	}
	w.Shape = *r.shape
	w.Shape.Columns = append(slices.Clone(w.Shape.Columns), added...)
	w.Shape.Order = append(order, slices.DeleteFunc(slices.Clone(w.Shape.Order), func(before plan.Place) bool {
		return slices.Contains(at, before.Column)
	})...)
	for i := range added { // records that are equal in all other columns may differ in these
		w.Shape.Order = append(w.Shape.Order, plan.Place{Column: len(w.Shape.Columns) - len(added) + i})
	}
	r.add(w)
	r.unknown = r.unknownColumnError
	return nil
}

// bindPartition binds the partition. An object gives one column for each member, and a constant gives none.
func (r *records) bindPartition(s query.SetWindowFields) ([]Node, error) {
	n, err := bind(s.By, r)
	if err != nil || n.Constant {
		return nil, err
	}
	m := &mapping{records: r}
	if err := m.define(id_, &n, query.Pointer(s.At, "partitionBy")); err != nil {
		return nil, err
	}
	out := make([]Node, len(m.stage.Columns))
	for i, e := range m.stage.Columns {
		out[i] = Node{Expr: e, At: query.Pointer(s.At, "partitionBy")}
		if err := out[i].CheckComputable(); err != nil {
			return nil, err
		}
		if e.Type() == schema.Any {
			out[i].Compute(plan.ToJSON{X: e})
		}
	}
	return out, nil
}

// function binds one window function. path is the path of its columns.
func (r *records) function(f query.Window, path query.Path, add func(plan.Window, plan.Column)) error {
	n := Node{At: f.At, Expr: plan.Const{T: schema.JSON}, Constant: true}
	if f.X != nil {
		var err error
		if n, err = bind(f.X, r); err != nil {
			return err
		}
	}
	kinds := map[string]plan.Rank{"$rank": plan.Ranked, "$denseRank": plan.DenseRanked, "$documentNumber": plan.RowNumber}
	if kind, ok := kinds[f.Op]; ok {
		add(plan.Window{Kind: kind, Accumulator: plan.Accumulator{T: schema.Integer}}, plan.Column{Path: path, Type: schema.Integer, NotNull: true})
		return nil
	}
	if f.Op == "$shift" {
		return shift(f, path, &n, add)
	}
	frame := plan.Frame{From: f.From, To: f.To, First: f.First, Last: f.Last}
	structured := false
	err := accumulator(f.Accumulator, path, &n, func(a plan.Accumulator, c plan.Column) {
		structured = structured || (a.Op == plan.Min || a.Op == plan.Max) && c.Type == schema.JSON
		add(plan.Window{Accumulator: a, Frame: frame}, c)
	})
	if err == nil && structured {
		err = problem.UnsupportedError(f.At, "%s of a window takes a value of a known type: convert it, as in {\"$toDouble\": …}", f.Op)
	}
	return err
}

// shift binds $shift as a Window. The result is the value f.By records further. Beyond the ends of the partition it is
// f.Default, or null without a default. The value and the default are converted to their common type.
func shift(f query.Window, path query.Path, n *Node, add func(plan.Window, plan.Column)) error {
	if n.IsObject() {
		return problem.Invalid(f.At, "$shift takes a single value, not an object")
	}
	if err := n.CheckComputable(); err != nil {
		return err
	}
	w := plan.Window{Kind: plan.Shifted, Offset: f.By}
	c := columnFor(n, path)
	c.Field, c.NotNull = nil, false
	w.X = n.Expr
	if c.Type == schema.Any {
		w.X, c.Type = n.JSON(), schema.JSON
	}
	if !f.Default.IsNull() {
		other := Node{Expr: plan.Const{Value: f.Default, T: Natural(f.Default)}, Constant: true, At: query.Pointer(f.At, "default")}
		both, t, err := Together([]Node{*n, other}, "$shift")
		if err != nil {
			return err
		}
		w.X, w.Default, c.Type = both[0], both[1], t
		c.List = c.List && t == schema.JSON
	}
	w.T = c.Type
	add(w, c)
	return nil
}

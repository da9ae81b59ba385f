package typecheck

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A filling is a $fill under construction, with the stages that replace it.
type filling struct {
	query.Fill
	records *records
	sorted  []query.Sort // the number of the record, or nil before numbers exist
	stages  []query.Stage
	helpers []query.Computed // columns to drop at the end
}

// fill replaces $fill by other stages. A value becomes an $ifNull. A method becomes $setWindowFields stages, which find
// the nearest values.
func (r *records) fill(s query.Fill) error {
	f := &filling{Fill: s, records: r}
	if slices.ContainsFunc(s.Output, func(out query.Filled) bool { return out.Method != "" }) {
		f.number()
	}
	var fields []query.Computed
	for _, out := range s.Output {
		ref := query.FieldRef{Path: out.Name, At: out.At}
		x := out.Value
		switch out.Method {
		case query.LastValue:
			x, _ = f.nearest(ref, true)
		case query.Linear:
			x = f.between(ref)
		}
		fields = append(fields, query.Computed{Name: out.Name, Value: query.Call{Op: "$ifNull", Args: []query.Expr{ref, x}, At: out.At}, At: out.At})
	}
	f.stages = append(f.stages, query.AddFields{Fields: fields, At: s.At})
	if f.helpers != nil {
		f.stages = append(f.stages, query.Project{Fields: f.helpers, Drop: true, At: s.At})
	}
	return r.stages(f.stages)
}

// helper returns a new column with an unused name.
func (f *filling) helper() (string, query.FieldRef) {
	taken := func(name string) bool {
		return f.records.shape.Find(name) >= 0 || slices.ContainsFunc(f.records.shape.Columns, func(c plan.Column) bool { return begins(c.Path, query.Path{name}) }) ||
			slices.ContainsFunc(f.helpers, func(h query.Computed) bool { return h.Name[0] == name })
	}
	n := len(f.helpers)
	for taken(fmt.Sprint("fill", n)) {
		n++
	}
	path := query.Path{fmt.Sprint("fill", n)}
	f.helpers = append(f.helpers, query.Computed{Name: path, At: f.At})
	return path[0], query.FieldRef{Path: path, At: f.At}
}

// number adds the stage that numbers the records of each partition. All further stages sort by the number. So records
// with equal values stay in the same order in each stage.
func (f *filling) number() {
	name, _ := f.helper()
	f.window(f.By, query.Window{Accumulator: query.Accumulator{Name: name, Op: "$documentNumber", At: f.At}, First: true, Last: true})
	f.sorted = []query.Sort{{Path: query.Path{name}}}
}

// nearest adds stages that compute, for each record, the nearest value of x that isn't null. With before, the value is
// at or before the record, otherwise at or after it. nearest returns the value and its place in the order. Records
// between two values have the same number of values before them, so they form one partition.
func (f *filling) nearest(x query.FieldRef, before bool) (v, place query.FieldRef) {
	null := query.Call{Op: "$eq", Args: []query.Expr{x, query.Literal{At: f.At}}, At: f.At}
	one := func(n int64) query.Expr { return query.Literal{Value: value.OfInt(n), At: f.At} }
	there := query.Switch{Cases: []query.Case{{If: null, Then: one(0)}}, Default: one(1), Cond: true, At: f.At}
	name, count := f.helper()
	f.window(f.By, query.Window{Accumulator: query.Accumulator{Name: name, Op: "$sum", X: there, At: f.At}, First: before, Last: !before})

	by := query.ObjectExpr{At: f.At}
	if f.By != nil { // the partition comes first, because the records are sorted by it
		by.Members = append(by.Members, query.Computed{Name: query.Path{"by"}, Value: f.By, At: f.At})
	}
	by.Members = append(by.Members, query.Computed{Name: query.Path{"n"}, Value: count, At: f.At})
	op := "$first"
	if !before {
		op = "$last"
	}
	name, v = f.helper()
	output := []query.Window{{Accumulator: query.Accumulator{Name: name, Op: op, X: x, At: f.At}, First: true, Last: true}}
	if len(f.Order) == 1 {
		name, place = f.helper()
		at := query.FieldRef{Path: f.Order[0].Path, At: f.At}
		output = append(output, query.Window{Accumulator: query.Accumulator{Name: name, Op: op, X: at, At: f.At}, First: true, Last: true})
	}
	f.window(by, output...)
	return v, place
}

// window adds a $setWindowFields stage.
func (f *filling) window(by query.Expr, output ...query.Window) {
	order := f.sorted
	if order == nil {
		order = f.Order
	}
	f.stages = append(f.stages, query.SetWindowFields{By: by, Order: order, Output: output, At: f.At})
}

// between returns the value on a straight line between the nearest values of x before and after the record. It is null
// if either value is missing.
func (f *filling) between(x query.FieldRef) query.Expr {
	high, to := f.nearest(x, false)
	low, from := f.nearest(x, true) // last, because it leaves the records in the order of the stage
	call := func(op string, args ...query.Expr) query.Expr { return query.Call{Op: op, Args: args, At: f.At} }
	here := query.FieldRef{Path: f.Order[0].Path, At: f.At}
	share := call("$divide", call("$subtract", here, from), call("$subtract", to, from))
	return call("$add", low, call("$multiply", call("$subtract", high, low), share))
}

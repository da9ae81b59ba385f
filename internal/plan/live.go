package plan

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
)

// Live reports for each column of a Program's Base whether the result can depend on it. That is the case if a stage or
// an order reads the column, or if the column is returned. Other columns need not be read.
func (p *Program) Live() []bool { return live(&p.Base, p.Stages) }

// live reports the columns of a shape that are returned, or that the order or a later stage reads.
func live(in *Shape, stages []Stage) []bool {
	out := make([]bool, len(in.Columns))
	for _, o := range in.Order {
		out[o.Column] = true
	}
	if len(stages) == 0 {
		for i := range in.Columns {
			out[i] = out[i] || in.Columns[i].Path != nil
		}
		return out
	}
	s := stages[0]
	exprs, ok := reads(s, in, out)
	if !ok {
		return all(out)
	}
	after := live(s.Out(), stages[1:])
	switch s := s.(type) {
	case *Map:
		for i, e := range s.Columns {
			if after[i] {
				exprs = append(exprs, e)
			}
		}
	case *Group, *Buckets: // later stages have no columns from before
	default: // the columns from before come first
		for i := range out {
			out[i] = out[i] || after[i]
		}
	}
	for _, e := range exprs {
		if e != nil && !refers(e, out) {
			return all(out)
		}
	}
	return out
}

// reads returns the expressions that a stage evaluates over each record, except the expressions of a Map. It also marks
// the columns that the stage reads in other ways. It returns false for a stage that may read any column.
func reads(s Stage, in *Shape, set []bool) ([]Expr, bool) {
	var out []Expr
	of := func(list []Accumulator) {
		for _, a := range list {
			out = append(out, a.X)
		}
	}
	switch s := s.(type) {
	case *Filter:
		err := query.Conditions(s.Where, func(_ query.Filter, path query.Path) error {
			if i := in.Find(path[0]); i >= 0 {
				set[i] = true
			}
			return nil
		})
		return []Expr{s.If}, err == nil
	case *Map, *Slice, *Sample:
	case *Group:
		out = append(out, s.Keys...)
		of(s.Accumulators)
	case *Buckets:
		out = append(out, s.By)
		of(s.Accumulators)
	case *Windows:
		return s.reads(), true
	case *Unwind:
		out = append(out, s.List)
	default:
		return nil, false // the programs of these stages may refer to the record
	}
	return out, true
}

// refers marks in set the columns to which e refers. It returns false if it can't determine all of them.
func refers(e Expr, set []bool) bool {
	if ref, ok := e.(Ref); ok {
		if ref.Column < len(set) {
			set[ref.Column] = true
		}
		return true
	}
	parts, err := operands(e)
	for _, p := range parts {
		if err == nil && p != nil && !refers(p, set) {
			return false
		}
	}
	return err == nil
}

// Recalls reports whether e refers, or may refer, to the result so far of a Reduce.
func Recalls(e Expr) bool {
	if _, is := e.(Before); is {
		return true
	}
	parts, err := operands(e)
	return err != nil || slices.ContainsFunc(parts, func(p Expr) bool { return p != nil && Recalls(p) })
}

func all(set []bool) []bool {
	for i := range set {
		set[i] = true
	}
	return set
}

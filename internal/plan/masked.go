package plan

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/query"
)

// CheckMasks returns an error if p uses a masked column in a way that Column.Mask doesn't allow. Package typecheck
// rejects these uses in queries, and CheckMasks verifies the result of typecheck.
func CheckMasks(p *Program) error { return (&masks{}).program(p) }

// masks checks the masked columns of a program. The field around contains the shapes of the enclosing Nests.
type masks struct{ around []*Shape }

// program checks that no stage of p reads a masked column. It also checks that no order, from the base to the result,
// uses one.
func (m *masks) program(p *Program) error {
	in := &p.Base
	for _, s := range p.Stages {
		if err := checkOrder(in); err != nil {
			return err
		}
		if err := m.stage(s, in); err != nil {
			return err
		}
		in = s.Out()
	}
	return checkOrder(in)
}

func checkOrder(s *Shape) error {
	for _, o := range s.Order {
		if s.Columns[o.Column].Mask.Hides() {
			return fmt.Errorf("a masked column decides an order:%s", s)
		}
	}
	return nil
}

// stage checks the columns that s reads. The argument in is the shape before the stage. Masked columns must still be
// masked in the shape after the stage.
func (m *masks) stage(s Stage, in *Shape) error {
	out := s.Out()
	switch s := s.(type) {
	case *Filter:
		if err := where(s.Where, in); err != nil {
			return err
		}
		return first(m.reads(in, s.If), stays(in, out, 0))
	case *Map:
		return m.passes(s.Columns, in, out)
	case *Group:
		return first(m.keys(s, in), m.firsts(s, in), m.accumulators(s.Accumulators, in, true))
	case *Buckets:
		return first(m.reads(in, s.By), m.accumulators(s.Accumulators, in, false))
	case *Windows:
		return first(m.reads(in, s.reads()...), stays(in, out, 0))
	case *Slice, *Sample:
		return stays(in, out, 0)
	case *Unwind:
		return first(m.reads(in, s.List), stays(in, out, 0))
	case *Join:
		right := s.Right.Out()
		return first(m.program(s.Right), m.pairs(s.On, in, &right), m.reads(out, s.If), stays(in, out, 0), stays(&right, out, len(in.Columns)))
	case *Probe:
		right := s.Right.Out()
		return first(m.within(in).program(s.Right), document(&right), stays(in, out, 0))
	case *Nest:
		right := s.Right.Out()
		return first(m.within(in).program(s.Right), m.pairs(s.On, in, &right), document(&right), stays(in, out, 0))
	case *Closure:
		right := s.Right.Out()
		if right.Columns[s.From].Mask != nil || right.Columns[s.To].Mask != nil {
			return fmt.Errorf("a masked column leads on:%s", right)
		}
		return first(m.program(s.Right), m.reads(in, s.Start), document(&right), stays(in, out, 0))
	case *Union:
		right := s.Right.Out()
		return first(m.program(s.Right), m.passes(s.Left, in, out), m.passes(s.Added, &right, out))
	case *Facet:
		for _, b := range s.Branches {
			made := b.Out()
			if err := first(m.program(b), document(&made)); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("masks know no stage %T", s)
}

// reads returns the expressions that s reads for each record.
func (s *Windows) reads() []Expr {
	var out []Expr
	for _, c := range s.By {
		out = append(out, Ref{Column: c})
	}
	for _, o := range s.Order {
		out = append(out, Ref{Column: o.Column})
	}
	for _, f := range s.Functions {
		out = append(out, f.X, f.Default)
	}
	return out
}

// within returns m for programs whose outer record has the shape in.
func (m *masks) within(in *Shape) *masks {
	return &masks{append(m.around[:len(m.around):len(m.around)], in)}
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// stays checks that the columns of one shape stay in another shape with the same masks. They begin at column from of
// the new shape.
func stays(in, out *Shape, from int) error {
	for i, c := range in.Columns {
		if out.Columns[from+i].Mask != c.Mask {
			return fmt.Errorf("column %d lost its mask:%s", from+i, out)
		}
	}
	return nil
}

// document checks a shape whose records become JSON objects.
func document(s *Shape) error {
	for _, c := range s.Columns {
		if c.Path != nil && c.Mask != nil {
			return fmt.Errorf("a document holds the masked column %s", c.Key())
		}
	}
	return nil
}

// where checks the columns to which a bound filter refers.
func where(f query.Filter, in *Shape) error {
	return query.Conditions(f, func(_ query.Filter, path query.Path) error {
		if i := in.Find(path[0]); i >= 0 && in.Columns[i].Mask != nil {
			return fmt.Errorf("a filter names the masked column %s", path)
		}
		return nil
	})
}

// passes checks the expressions for the columns of out. A masked column may only be passed on with its mask.
func (m *masks) passes(list []Expr, in, out *Shape) error {
	for i, e := range list {
		if ref, ok := e.(Ref); ok {
			if mask := in.Columns[ref.Column].Mask; mask != nil && out.Columns[i].Mask != mask {
				return fmt.Errorf("column %d lost its mask:%s", i, out)
			}
			continue
		}
		if err := m.reads(in, e); err != nil {
			return err
		}
	}
	return nil
}

// keys checks the keys of a group. A key may be a column with pseudonyms if the result has the same mask.
func (m *masks) keys(s *Group, in *Shape) error {
	for i, e := range s.Keys {
		if ref, ok := e.(Ref); ok && in.Columns[ref.Column].Mask.Names() {
			if s.Out().Columns[i].Mask != in.Columns[ref.Column].Mask {
				return fmt.Errorf("column %d lost its mask:%s", i, s.Out())
			}
			continue
		}
		if err := m.reads(in, e); err != nil {
			return err
		}
	}
	return nil
}

// firsts checks that the mask stays on a masked column if First selects a value of it in each group.
func (m *masks) firsts(s *Group, in *Shape) error {
	for i, a := range s.Accumulators {
		ref, ok := a.X.(Ref)
		if ok && a.Op == First && in.Columns[ref.Column].Mask != s.Out().Columns[len(s.Keys)+i].Mask {
			return fmt.Errorf("column %d lost its mask:%s", len(s.Keys)+i, s.Out())
		}
	}
	return nil
}

// accumulators checks the accumulators of a group. With firsts, First is allowed for a masked column, because its
// result doesn't depend on the values.
func (m *masks) accumulators(list []Accumulator, in *Shape, firsts bool) error {
	for _, a := range list {
		if _, ok := a.X.(Ref); ok && a.Op == First && firsts {
			continue
		}
		if ref, ok := a.X.(Ref); ok && (a.Op == Count || a.Op == CountDistinct) && in.Columns[ref.Column].Mask.Names() {
			continue
		}
		if err := m.reads(in, a.X); err != nil {
			return err
		}
	}
	return nil
}

// pairs checks equalities. In a Nest, their right sides contain only columns and no Outers.
func (m *masks) pairs(list []Pair, in, right *Shape) error {
	for _, p := range list {
		if err := first(m.reads(in, p.Left), m.reads(right, p.Right)); err != nil {
			return err
		}
	}
	return nil
}

// reads checks the columns to which expressions over the shape in refer.
func (m *masks) reads(in *Shape, list ...Expr) error {
	for _, e := range list {
		masked := false
		switch e := e.(type) {
		case nil:
			continue
		case Ref:
			masked = in.Columns[e.Column].Mask != nil
		case Outer:
			masked = m.around[len(m.around)-e.Up].Columns[e.Column].Mask != nil
		}
		if masked {
			return fmt.Errorf("an expression names a masked column: %s", Text(e))
		}
		parts, err := operands(e)
		if err == nil {
			err = m.reads(in, parts...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// operands returns the operands of e. An operand that e lacks is a nil element.
func operands(e Expr) ([]Expr, error) {
	switch e := e.(type) {
	case Ref, Outer, Element, Before, Const:
		return nil, nil
	case Part:
		return []Expr{e.X}, nil
	case SetPart:
		return []Expr{e.X, e.V}, nil
	case Object:
		return e.Values, nil
	case List:
		return e.Elements, nil
	case Apply:
		return e.Args, nil
	case Case:
		return append(append([]Expr{e.Else}, e.If...), e.Then...), nil
	case As:
		return []Expr{e.X}, nil
	case ToJSON:
		return []Expr{e.X}, nil
	case Convert:
		return []Expr{e.X}, nil
	case Widen:
		return []Expr{e.X}, nil
	case Matches:
		return []Expr{e.X}, nil
	case DatePart:
		return []Expr{e.X}, nil
	case DateTrunc:
		return []Expr{e.X}, nil
	case DateText:
		return []Expr{e.X}, nil
	case DateShift:
		return []Expr{e.X, e.Amount}, nil
	case DateDiff:
		return []Expr{e.From, e.To}, nil
	case Over:
		return []Expr{e.Input, e.Initial, e.Limit, e.Body}, nil
	}
	return nil, fmt.Errorf("masks know no expression %T", e)
}

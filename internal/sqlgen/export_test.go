package sqlgen

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// MaxArguments is the maximum number of arguments of a statement.
const MaxArguments = maxArguments

// Resolve puts placeholders into text at the places of args. The text belongs to the plan.
func Resolve(d Dialect, planned policy.Plan, text string, args ...any) (string, []any, error) {
	w := &writer{Dialect: d, plan: &planned}
	for _, a := range args {
		w.Arg(a, "")
	}
	w.Write(text)
	return w.Writer.Statement(d, w.longest())
}

// Long reports whether values of a field may have any length in d.
func Long(d Dialect, f *schema.Field) bool {
	return (&writer{Dialect: d}).long(f)
}

// Layer returns one condition of a view.
func Layer(d Dialect, v *policy.View, l policy.Layer) (string, error) {
	w := &writer{Dialect: d, plan: &policy.Plan{}}
	return w.Capture(func() error { return w.layer(v, l, class) })
}

// Planned compiles a plan that wasn't made by package policy.
func Planned(planned policy.Plan, d Dialect) (Statement, error) {
	return (&writer{Dialect: d, plan: &planned}).statement()
}

// Faulty compiles p as SQL does, but the n-th step that can fail, counted from 1, fails with fault. It reports whether
// there are n such steps.
func Faulty(p policy.Permit, d Dialect, n int, fault error) (st Statement, reached bool, err error) {
	planned, err := p.Plan()
	if err != nil {
		return Statement{}, false, err
	}
	f := &faults{n, fault}
	var faulty Dialect = faultyDialect{d, f}
	if n, ok := d.(NullComparer); ok {
		faulty = struct {
			faultyDialect
			NullComparer
		}{faultyDialect{d, f}, n}
	}
	st, err = (&writer{Dialect: faulty, plan: &planned}).statement()
	return st, f.left <= 0, err
}

// faults makes one step fail after some steps that succeed.
type faults struct {
	left  int
	fault error
}

func (f *faults) next() error {
	if f.left--; f.left == 0 {
		return f.fault
	}
	return nil
}

type faultyDialect struct {
	Dialect
	*faults
}

func (s faultyDialect) CompareValue(w *Writer, x Operand, op string, v any) error {
	if err := s.next(); err != nil {
		return err
	}
	return s.Dialect.CompareValue(w, x, op, v)
}

func (s faultyDialect) Among(w *Writer, x Operand, values []value.Value) error {
	if err := s.next(); err != nil {
		return err
	}
	return s.Dialect.Among(w, x, values)
}

func (s faultyDialect) After(w *Writer, x string, f *schema.Field, op string, v any) error {
	if err := s.next(); err != nil {
		return err
	}
	return s.Dialect.After(w, x, f, op, v)
}

func (s faultyDialect) Nodes(w *Writer, x Operand, path query.Path) (Operand, error) {
	if err := s.next(); err != nil {
		return Operand{}, err
	}
	return s.Dialect.Nodes(w, x, path)
}

func (s faultyDialect) Search(t SearchedView, space string, of *policy.Search) error {
	if err := s.next(); err != nil {
		return err
	}
	return s.Dialect.Search(t, space, of)
}

func (d faultyDialect) Compare(s Scope, op plan.Op, x, y string, t schema.Type) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Compare(s, op, x, y, t)
}

func (d faultyDialect) Apply(s Scope, e plan.Apply, args []string) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Apply(s, e, args)
}

func (d faultyDialect) Part(s Scope, x string, path query.Path) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Part(s, x, path)
}

func (d faultyDialect) SetPart(s Scope, x string, path query.Path, v string) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.SetPart(s, x, path, v)
}

func (d faultyDialect) Matches(s Scope, x string, r query.Regex) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Matches(s, x, r)
}

func (d faultyDialect) Over(s Scope, o Over) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Over(s, o)
}

func (d faultyDialect) Accumulate(s Scope, op plan.Accumulate, x string, from schema.Type) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Accumulate(s, op, x, from)
}

// ObjectText returns a record of a shape as JSON, with additional members. The columns of the record are t.c1, t.c2, …
// Values are written in place.
func ObjectText(d Dialect, shape plan.Shape, more ...string) string {
	s := scopeIn(d, shape)
	return s.b.object(s, more...)
}

// LeafText returns one column of a record as JSON.
func LeafText(d Dialect, c plan.Column) string {
	s := scopeIn(d, plan.Shape{Columns: []plan.Column{c}})
	return s.b.leaf(s, 0)
}

func scopeIn(d Dialect, shape plan.Shape) *scope {
	return &scope{b: &builder{s: plainStatement{}, d: d}, r: &relation{shape: shape, alias: "t", columns: positions("t", len(shape.Columns))}}
}

// plainStatement is a statement that writes values in place.
type plainStatement struct{ programStatement }

func (plainStatement) Arg(v any, _ string) string { return fmt.Sprintf("<%v>", v) }

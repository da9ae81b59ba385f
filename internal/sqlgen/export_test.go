package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/condition"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The bounds of a statement.
const (
	MaxArguments = condition.MaxArguments
	MaxText      = condition.MaxText
)

// Resolve puts placeholders at the places of args in text, a text for the plan.
func Resolve(d Dialect, planned policy.Plan, text string, args ...any) (string, []any, error) {
	s, err := d.conditions()
	if err != nil {
		return "", nil, err
	}
	w := &writer{Dialect: s, plan: &planned}
	for _, a := range args {
		w.Arg(a, "")
	}
	w.Write(text)
	return w.Writer.Statement(s, w.longest())
}

// Long reports whether values of a field may be of any length in d.
func Long(d Dialect, f *schema.Field) bool {
	s, err := d.conditions()
	return err == nil && (&writer{Dialect: s}).long(f)
}

// Layer returns one condition of a view.
func Layer(d Dialect, v *policy.View, l policy.Layer) (string, error) {
	s, err := d.conditions()
	if err != nil {
		return "", err
	}
	w := &writer{Dialect: s, plan: &policy.Plan{}}
	return w.Captured(func() error { return w.layer(v, l, class) })
}

// Planned compiles a plan that wasn't made by package policy.
func Planned(planned policy.Plan, d Dialect) (Statement, error) {
	s, err := d.conditions()
	if err != nil {
		return Statement{}, err
	}
	return (&writer{Dialect: s, plan: &planned}).statement()
}

// Faulty compiles p as SQL does, but its n-th step that can fail, counted from 1, fails with fault. It reports whether
// there are that many steps.
func Faulty(p policy.Permit, d Dialect, n int, fault error) (st Statement, reached bool, err error) {
	planned, err := p.Plan()
	if err != nil {
		return Statement{}, false, err
	}
	s, err := d.conditions()
	if err != nil {
		return Statement{}, false, err
	}
	f := &faults{n, fault}
	st, err = (&writer{Dialect: faultyConditions{s, f}, plan: &planned}).statement()
	return st, f.left <= 0, err
}

// faults lets one step fail, after some that succeed.
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

type faultyConditions struct {
	condition.Dialect
	*faults
}

func (s faultyConditions) Expressions() expr.Dialect {
	d := faultyDialect{s.Dialect.Expressions(), s.faults}
	if n, ok := s.Dialect.Expressions().(expr.NullComparer); ok {
		return struct {
			faultyDialect
			expr.NullComparer
		}{d, n}
	}
	return d
}

func (s faultyConditions) Compare(w *condition.Writer, x condition.Operand, op string, v any) error {
	if err := s.next(); err != nil {
		return err
	}
	return s.Dialect.Compare(w, x, op, v)
}

func (s faultyConditions) Among(w *condition.Writer, x condition.Operand, values []value.Value) error {
	if err := s.next(); err != nil {
		return err
	}
	return s.Dialect.Among(w, x, values)
}

func (s faultyConditions) After(w *condition.Writer, x string, f *schema.Field, op string, v any) error {
	if err := s.next(); err != nil {
		return err
	}
	return s.Dialect.After(w, x, f, op, v)
}

func (s faultyConditions) Nodes(w *condition.Writer, x condition.Operand, path query.Path) (condition.Operand, error) {
	if err := s.next(); err != nil {
		return condition.Operand{}, err
	}
	return s.Dialect.Nodes(w, x, path)
}

func (s faultyConditions) Search(t condition.Text, space string, of *policy.Search) error {
	if err := s.next(); err != nil {
		return err
	}
	return s.Dialect.Search(t, space, of)
}

type faultyDialect struct {
	expr.Dialect
	*faults
}

func (d faultyDialect) Compare(s expr.Scope, op plan.Op, x, y string, t schema.Type) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Compare(s, op, x, y, t)
}

func (d faultyDialect) Apply(s expr.Scope, e plan.Apply, args []string) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Apply(s, e, args)
}

func (d faultyDialect) Part(s expr.Scope, x string, path query.Path) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Part(s, x, path)
}

func (d faultyDialect) SetPart(s expr.Scope, x string, path query.Path, v string) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.SetPart(s, x, path, v)
}

func (d faultyDialect) Matches(s expr.Scope, x string, r query.Regex) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Matches(s, x, r)
}

func (d faultyDialect) Over(s expr.Scope, o expr.Over) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Over(s, o)
}

func (d faultyDialect) Accumulate(s expr.Scope, op plan.Accumulate, x string, from schema.Type) (string, error) {
	if err := d.next(); err != nil {
		return "", err
	}
	return d.Dialect.Accumulate(s, op, x, from)
}

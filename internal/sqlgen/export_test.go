package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The bounds of a statement.
const (
	MaxArguments = maxArguments
	MaxText      = maxText
)

// Resolve puts placeholders at the places of args in text, a text for the plan.
func Resolve(d Dialect, planned policy.Plan, text string, args ...any) (string, []any, error) {
	s, err := d.speaker()
	if err != nil {
		return "", nil, err
	}
	w := &writer{speaker: s, plan: &planned}
	for _, a := range args {
		w.Arg(a, "")
	}
	return w.resolve(text)
}

// Long reports whether values of a field may be of any length in d.
func Long(d Dialect, f *schema.Field) bool {
	s, err := d.speaker()
	return err == nil && (&writer{speaker: s}).long(f)
}

// Planned compiles a plan that wasn't made by package policy.
func Planned(planned policy.Plan, d Dialect) (Statement, error) {
	s, err := d.speaker()
	if err != nil {
		return Statement{}, err
	}
	return (&writer{speaker: s, plan: &planned}).statement()
}

// Faulty compiles p as SQL does, but its n-th step that can fail, counted from 1, fails with fault. It reports whether
// there are that many steps.
func Faulty(p policy.Permit, d Dialect, n int, fault error) (st Statement, reached bool, err error) {
	planned, err := p.Plan()
	if err != nil {
		return Statement{}, false, err
	}
	s, err := d.speaker()
	if err != nil {
		return Statement{}, false, err
	}
	f := &faults{n, fault}
	st, err = (&writer{speaker: faultySpeaker{s, f}, plan: &planned}).statement()
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

type faultySpeaker struct {
	speaker
	*faults
}

func (s faultySpeaker) expressions() expr.Dialect {
	d := faultyDialect{s.speaker.expressions(), s.faults}
	if n, ok := s.speaker.expressions().(expr.NullComparer); ok {
		return struct {
			faultyDialect
			expr.NullComparer
		}{d, n}
	}
	return d
}

func (s faultySpeaker) compare(w *writer, x operand, op string, v any) error {
	if err := s.next(); err != nil {
		return err
	}
	return s.speaker.compare(w, x, op, v)
}

func (s faultySpeaker) among(w *writer, x operand, values []value.Value) error {
	if err := s.next(); err != nil {
		return err
	}
	return s.speaker.among(w, x, values)
}

func (s faultySpeaker) after(w *writer, x string, f *schema.Field, op string, v any) error {
	if err := s.next(); err != nil {
		return err
	}
	return s.speaker.after(w, x, f, op, v)
}

func (s faultySpeaker) nodes(w *writer, x operand, path query.Path) (operand, error) {
	if err := s.next(); err != nil {
		return operand{}, err
	}
	return s.speaker.nodes(w, x, path)
}

func (s faultySpeaker) search(w *writer, of *policy.Search) error {
	if err := s.next(); err != nil {
		return err
	}
	return s.speaker.search(w, of)
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

// Package metric defines named measures of a class, such as revenue, and answers questions about them.
//
//	Declaration ─Compile, once→ Metric ─Plan, per question→ SELECT per class ─Assemble→ Answer
//
// The owner declares what is summed, counted or averaged, over which records. An agent names the metric and the
// dimensions to group by. A question becomes one SELECT for each class and each time field. The gateway reads each of
// them through the caller's views, like any other SELECT. Package metric reads nothing itself.
//
// A measure is computed over the records of its class, one by one. Dimensions are fields of the class, and fields
// behind pointers, which lead to at most one record. So no dimension counts a record twice. Metrics of several
// statements are joined after the aggregation, by equal dimensions.
//
// A metric whose fields the caller doesn't see unmasked is absent for this caller: it is the same as a metric that
// never existed.
package metric

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Declaration is a metric as its owner declares it. It has either On and Measure, or Ratio.
type Declaration struct {
	Name        string
	On          string       // the class: "source.Class", or a bare name if only one source has it
	Measure     string       // one aggregate in SQL: sum(total), count(), avg(total), min(total), max(total) or count_distinct(customer_id)
	Where       query.Filter // the records that count, or nil for all
	Time        string       // the date field by which periods and from and to are meant, or ""
	Ratio       []string     // the metrics that are divided: the first by the second
	Unit        string       // such as EUR, or ""
	Description string       // for agents
	Dimensions  []string     // the only fields and pointer paths that it can be grouped by. Nil allows all that the caller sees
	When        string       // a CEL expression over principal: who may use it. "" means everybody
}

// A Metric is a compiled Declaration. It is immutable and safe for use by several goroutines.
type Metric struct {
	Declaration
	Class *schema.Class // nil for a ratio

	measure measure
	parts   []*Metric    // of a ratio
	reads   []query.Path // the fields that it needs, from the class on
	when    *expression.Expression
}

// A DeclarationFault is a fault in a declaration.
type DeclarationFault struct {
	Metric  string
	Key     []string // the path below the metric, such as "measure"
	Message string
}

// Error returns the place and the message.
func (f *DeclarationFault) Error() string {
	return "metrics." + strings.Join(append([]string{f.Metric}, f.Key...), ".") + ": " + f.Message
}

// A Set is a set of compiled metrics. The zero Set is empty.
type Set struct {
	metrics []*Metric // sorted by name
}

// All returns the metrics, sorted by name.
func (s *Set) All() []*Metric {
	if s == nil {
		return nil
	}
	return slices.Clone(s.metrics)
}

// named returns the metric called name, or nil.
func (s *Set) named(name string) *Metric {
	for _, m := range s.metrics {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// Compile compiles declarations against the rules in force and their catalogue. The error joins a DeclarationFault for
// each fault.
func Compile(declared []Declaration, p *policy.Policy) (*Set, error) {
	s := &Set{}
	b := builder{set: s, policy: p, expressions: expression.NewCompiler()}
	for _, d := range declared {
		if s.named(d.Name) != nil {
			b.at = d.Name
			b.wrong(nil, "another metric has the name")
			continue
		}
		s.metrics = append(s.metrics, &Metric{Declaration: d})
	}
	slices.SortFunc(s.metrics, func(x, y *Metric) int { return strings.Compare(x.Name, y.Name) })
	for _, m := range s.metrics {
		if b.at = m.Name; m.Ratio == nil {
			b.build(m)
		}
	}
	for _, m := range s.metrics {
		if b.at = m.Name; m.Ratio != nil {
			b.divide(m)
		}
	}
	if b.errs != nil {
		return nil, errors.Join(b.errs...)
	}
	return s, nil
}

// A builder compiles the declarations of a set.
type builder struct {
	set         *Set
	policy      *policy.Policy
	expressions *expression.Compiler
	at          string // the metric
	errs        []error
}

func (b *builder) wrong(key []string, format string, args ...any) {
	b.errs = append(b.errs, &DeclarationFault{b.at, key, fmt.Sprintf(format, args...)})
}

// build compiles a metric with a measure.
func (b *builder) build(m *Metric) {
	b.compileWhen(m)
	switch {
	case m.On == "":
		b.wrong(nil, "needs on and measure, or ratio")
		return
	case strings.TrimSpace(m.Declaration.Measure) == "":
		b.wrong(nil, "needs measure: one aggregate, such as sum(total) or count()")
		return
	}
	class, visible, _, err := b.policy.VisibleClass(m.On)
	if err != nil {
		b.wrong([]string{"on"}, "%v", err)
		return
	}
	if m.Class = class; class.Recordless {
		b.wrong([]string{"on"}, "%s is a description without records", class.Name)
		return
	}
	var names []string
	for _, f := range visible {
		names = append(names, f.Name)
	}
	before := len(b.errs)
	b.compileMeasure(m, names)
	b.compileTime(m, names)
	pathsOf(m.Where, func(path query.Path, at string) {
		if !slices.Contains(names, path[0]) {
			b.wrong([]string{"where"}, "%s", unknown(m.Class.Name, path[0], names))
			return
		}
		m.reads = append(m.reads, path)
	})
	for i, path := range m.Dimensions {
		if name, _, _ := strings.Cut(path, "."); !slices.Contains(names, name) {
			b.wrong([]string{"dimensions", fmt.Sprint(i)}, "%s", unknown(m.Class.Name, name, names))
		}
	}
	if len(b.errs) == before {
		b.try(m)
	}
}

// compileWhen compiles the condition on callers.
func (b *builder) compileWhen(m *Metric) {
	if m.When == "" {
		return
	}
	var err error
	if m.when, err = b.expressions.Compile(m.When, expression.Bool); err != nil {
		b.wrong([]string{"when"}, "%v", err)
	}
}

// compileMeasure parses the measure.
func (b *builder) compileMeasure(m *Metric, names []string) {
	var fields []string
	var err error
	if m.measure, fields, err = parseMeasure(m.Declaration.Measure); err != nil {
		b.wrong([]string{"measure"}, "%v", err)
		return
	}
	for _, f := range fields {
		name := exactly(f, names)
		if name == "" {
			b.wrong([]string{"measure"}, "%s", unknown(m.Class.Name, f, names))
			continue
		}
		m.reads = append(m.reads, query.Path{name})
	}
}

// compileTime checks the time field.
func (b *builder) compileTime(m *Metric, names []string) {
	if m.Time == "" {
		return
	}
	switch f := m.Class.Field(m.Time); {
	case f == nil || !slices.Contains(names, m.Time):
		b.wrong([]string{"time"}, "%s", unknown(m.Class.Name, m.Time, names))
	case f.Type != schema.Date && f.Type != schema.Day:
		b.wrong([]string{"time"}, "%s is a field of type %s. Periods need a date", m.Time, f.Type)
	default:
		m.reads = append(m.reads, query.Path{m.Time})
	}
}

// try binds the metric against a view of everything that one principal may see, so that types that don't fit are
// faults. It reads no records.
func (b *builder) try(m *Metric) {
	p := b.policy.AtMost().InAnySchema()
	who := identity.Principal{ID: "check", Scopes: []identity.Scope{identity.Read}}
	v, err := p.View(who, m.Class.FullName(), "", false)
	if err != nil || !m.shown(v) {
		return // it depends on the caller whether it exists
	}
	s := newStatement(v, "", nil)
	m.addTo(s)
	for i, path := range m.Dimensions {
		if _, _, err := s.column(query.ParsePath(path), ""); err != nil {
			b.wrong([]string{"dimensions", fmt.Sprint(i)}, "%s", problem.Of(err).Detail)
		}
	}
	if s.err == nil {
		_, s.err = p.Read(who, s.query(1))
	}
	if s.err == nil {
		return
	}
	wrong, key := problem.Of(s.err), "measure"
	if m.Where != nil {
		all, of := newStatement(v, "", nil), *m
		of.Where = nil
		of.addTo(all)
		if _, err := p.Read(who, all.query(1)); err == nil {
			key = "where"
		}
	}
	text := placeless(wrong.Detail)
	if wrong.Suggestion != "" {
		text += " (" + wrong.Suggestion + ")"
	}
	b.wrong([]string{key}, "%s", text)
}

// divide compiles a metric that divides two others.
func (b *builder) divide(m *Metric) {
	b.compileWhen(m)
	for key, given := range map[string]bool{"on": m.On != "", "measure": m.Declaration.Measure != "", "where": m.Where != nil, "time": m.Time != "", "dimensions": m.Dimensions != nil} {
		if given {
			b.wrong([]string{key}, "belongs to a metric with a measure. A ratio has it from its two metrics")
		}
	}
	if len(m.Ratio) != 2 {
		b.wrong([]string{"ratio"}, "names two metrics: the first is divided by the second")
		return
	}
	for i, name := range m.Ratio {
		part := b.set.named(name)
		switch {
		case part == nil:
			var names []string
			for _, other := range b.set.metrics {
				if other.Ratio == nil {
					names = append(names, other.Name)
				}
			}
			b.wrong([]string{"ratio", fmt.Sprint(i)}, "there is no metric %q%s", problem.Cut(name), problem.DidYouMean(problem.Nearest(name, names, 2)))
		case part.Ratio != nil:
			b.wrong([]string{"ratio", fmt.Sprint(i)}, "%s is a ratio. Name metrics with a measure", name)
		default:
			m.parts = append(m.parts, part)
		}
	}
}

// unknown says that a class has no such field.
func unknown(class, name string, names []string) string {
	return fmt.Sprintf("%s has no field %q that agents see%s", class, problem.Cut(name), problem.DidYouMean(problem.Nearest(name, names, 2)))
}

// exactly returns the one of names that name means, as in SQL: the same, or the same in another case.
func exactly(name string, names []string) string {
	if slices.Contains(names, name) {
		return name
	}
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return n
		}
	}
	return ""
}

// placeless returns the text of an error of a statement without the place in the statement, which nobody wrote.
func placeless(detail string) string {
	if rest, ok := strings.CutPrefix(detail, "line "); ok {
		if _, after, ok := strings.Cut(rest, ": "); ok {
			return after
		}
	}
	return detail
}

// Notes returns the notes about a statement without their places, and without those about forms that a caller of metrics
// doesn't write.
func Notes(notes []string) []string {
	var out []string
	for _, n := range notes {
		if n = placeless(n); !strings.HasPrefix(n, "AT TIME ZONE") {
			out = append(out, n)
		}
	}
	return out
}

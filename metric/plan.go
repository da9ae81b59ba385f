package metric

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// The limits of a question.
const (
	maxMetrics = 8
	maxBy      = 4
	maxGroups  = 10_000 // of one statement, and of the whole answer before its limit

	DefaultLimit, MaxLimit = 200, 1000
)

// A Request is a question about metrics.
type Request struct {
	Metrics  []string
	By       []string     // fields, pointer paths, and dates with a period: placed_at:month
	Where    query.Filter // over the class of each metric, or nil
	From, To string       // the range of the metrics' own time, or "" for no bound. A period as To is included whole
	Zone     string       // of periods and of the range. "" is UTC
	Compare  string       // previousPeriod or previousYear: also the values of an earlier range. "" compares nothing
	Share    bool         // also the share of each group in the total of its period, of sums and counts
	Running  bool         // also the running total over the periods, of sums and counts
	Order    string       // "" orders by time, or else by the first metric, the largest first
	Limit    int          // of groups. 0 is DefaultLimit
}

// A Plan is the statements that answer a question, and how their results are put together.
type Plan struct {
	Statements []*query.SQL

	request Request
	metrics []Usable // as asked
	by      []dimension
	zone    *time.Location
	span    span
	order   []term
	views   viewsOf
	places  map[string]place // of each metric with a measure
	earlier *comparison      // or nil
}

// A place is a column of the result of a statement, after the dimensions.
type place struct{ statement, column int }

// NewPlan plans the answer to a question of a caller with these metrics.
// views returns all views of the caller, for errors.
func NewPlan(r Request, usable []Usable, views viewsOf) (*Plan, error) {
	p := &Plan{request: r, views: views, places: map[string]place{}}
	if err := p.find(usable); err != nil {
		return nil, err
	}
	if err := p.parse(); err != nil {
		return nil, err
	}
	if err := p.build(); err != nil {
		return nil, err
	}
	if p.earlier != nil {
		p.Statements = append(p.Statements, p.earlier.plan.Statements...)
	}
	return p, nil
}

// build makes the statements.
func (p *Plan) build() error {
	for _, atoms := range p.alike() {
		q, err := p.statement(atoms)
		if err != nil {
			return err
		}
		for i, m := range atoms {
			p.places[m.Name] = place{len(p.Statements), len(p.by) + i}
		}
		p.Statements = append(p.Statements, q)
	}
	return nil
}

// find finds the metrics by their names.
func (p *Plan) find(usable []Usable) error {
	if n := len(p.request.Metrics); n == 0 || n > maxMetrics {
		return &problem.Error{Code: problem.InvalidArgument, Pointer: "/metrics", Detail: fmt.Sprintf("metrics names 1 to %d metrics", maxMetrics)}
	}
	for i, name := range p.request.Metrics {
		at := fmt.Sprintf("/metrics/%d", i)
		k := slices.IndexFunc(usable, func(u Usable) bool { return u.Name == name })
		if k < 0 {
			return Unknown(name, at, usable)
		}
		if slices.ContainsFunc(p.metrics, func(u Usable) bool { return u.Name == name }) {
			return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: name + " is named twice"}
		}
		p.metrics = append(p.metrics, usable[k])
	}
	return nil
}

// Unknown returns the error for a metric that doesn't exist for a caller with these metrics.
func Unknown(name, at string, usable []Usable) error {
	names := make([]string, len(usable))
	for i, u := range usable {
		names[i] = u.Name
	}
	refusal := &problem.Error{Code: problem.NotFound, Kind: "unknown_metric", Pointer: at, Detail: fmt.Sprintf("unknown metric %q", problem.Cut(name)), Near: problem.Nearest(name, names, 3)}
	if all := problem.ShortList(names); len(refusal.Near) == 0 && all != "" {
		refusal.Suggestion = "the metrics are " + all
	}
	return refusal
}

// parse parses the dimensions, the range and the order.
func (p *Plan) parse() (err error) {
	r := &p.request
	if len(r.By) > maxBy {
		return &problem.Error{Code: problem.InvalidArgument, Pointer: "/by", Detail: fmt.Sprintf("by names at most %d dimensions", maxBy)}
	}
	for i, text := range r.By {
		d, err := parseDimension(text, fmt.Sprintf("/by/%d", i))
		if err != nil {
			return err
		}
		if slices.ContainsFunc(p.by, func(o dimension) bool { return o.text == d.text }) {
			return &problem.Error{Code: problem.InvalidArgument, Pointer: d.at, Detail: d.text + " is named twice"}
		}
		p.by = append(p.by, d)
	}
	if p.zone, err = parseZone(r.Zone); err != nil {
		return err
	}
	if r.From != "" {
		if p.span.from, _, err = parseEnd(r.From, "/from", p.zone); err != nil {
			return err
		}
	}
	if r.To != "" {
		if _, p.span.to, err = parseEnd(r.To, "/to", p.zone); err != nil {
			return err
		}
	}
	if r.From != "" && r.To != "" && !p.span.from.Before(p.span.to) {
		return &problem.Error{Code: problem.InvalidArgument, Pointer: "/to", Detail: "to is before from"}
	}
	if r.Limit == 0 {
		r.Limit = DefaultLimit
	}
	if err := p.checkMore(); err != nil {
		return err
	}
	if err := p.planComparison(); err != nil {
		return err
	}
	return p.parseOrder()
}

// atoms returns the metrics with a measure that the answer needs, each once.
func (p *Plan) atoms() []Usable {
	var out []Usable
	add := func(u Usable) {
		if !slices.ContainsFunc(out, func(o Usable) bool { return o.Name == u.Name }) {
			out = append(out, u)
		}
	}
	for _, u := range p.metrics {
		if u.Ratio == nil {
			add(u)
		}
		for _, part := range u.parts {
			add(part)
		}
	}
	return out
}

// alike returns the metrics of each statement: those of one class, and where time matters, of one time field.
func (p *Plan) alike() [][]Usable {
	timed := p.span != span{} || slices.ContainsFunc(p.by, func(d dimension) bool { return d.path.String() == ownTime })
	var out [][]Usable
	for _, u := range p.atoms() {
		i := slices.IndexFunc(out, func(of []Usable) bool {
			return of[0].Class.FullName() == u.Class.FullName() && (!timed || of[0].Time == u.Time)
		})
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], u)
	}
	return out
}

// statement returns the SELECT for metrics of one class and one time field. If they have one filter in common, it is a
// condition on the records. Otherwise each filter belongs to its aggregate, and a record counts that any of them lets
// through.
func (p *Plan) statement(atoms []Usable) (*query.SQL, error) {
	first := atoms[0]
	s := newStatement(first.View, p.request.Zone, p.views)
	for _, d := range p.by {
		for _, m := range atoms {
			if err := m.groups(d); err != nil {
				return nil, err
			}
		}
		own, err := d.of(first.Metric)
		if err != nil {
			return nil, err
		}
		s.groupBy(own)
	}
	common, any := true, false
	for _, m := range atoms {
		common = common && printed(m.Where) == printed(first.Where)
		any = any || m.Where == nil
	}
	if common {
		s.restrict(first.Where)
	}
	for _, m := range atoms {
		of := *m.Metric
		if common {
			of.Where = nil
		}
		of.addTo(s)
	}
	if !common && !any {
		var filters query.Or
		for _, m := range atoms {
			filters = append(filters, m.Where)
		}
		s.restrict(filters)
	}
	s.restrict(p.request.Where)
	if (p.span != span{}) {
		if first.Time == "" {
			return nil, timeless(first.Metric, "/from")
		}
		s.within(first.Time, p.span, p.zone)
	}
	return s.query(maxGroups), s.err
}

// printed returns a filter as text, or "" without one.
func printed(f query.Filter) string {
	if f == nil {
		return ""
	}
	return query.Print(f).String()
}

// groups returns nil if m can be grouped by d.
func (m *Metric) groups(d dimension) error {
	if m.Dimensions == nil || slices.Contains(m.Dimensions, d.path.String()) || d.path.String() == ownTime && m.Time != "" {
		return nil
	}
	return &problem.Error{Code: problem.InvalidArgument, Kind: "dimension", Pointer: d.at, Detail: fmt.Sprintf("%s is not grouped by %s", m.Name, problem.Cut(d.path.String())),
		Suggestion: "its dimensions are " + strings.Join(m.Dimensions, ", ")}
}

// A term is one column of an order.
type term struct {
	column int
	desc   bool
}

// columns returns the names of the columns of the answer.
func (p *Plan) columns() []string {
	var out []string
	for _, d := range p.by {
		out = append(out, d.text)
	}
	for _, m := range p.metrics {
		out = append(out, m.Name)
	}
	for _, more := range p.more() {
		out = append(out, more.name)
	}
	return out
}

// parseOrder parses the order, by the names of columns. Periods and their dates are one.
func (p *Plan) parseOrder() error {
	columns := p.columns()
	if strings.TrimSpace(p.request.Order) == "" {
		p.order = p.usualOrder()
		return nil
	}
	for part := range strings.SplitSeq(p.request.Order, ",") {
		name, desc := strings.CutPrefix(strings.TrimSpace(part), "-")
		if words := strings.Fields(name); len(words) == 2 && !desc && slices.Contains([]string{"asc", "desc"}, strings.ToLower(words[1])) {
			name, desc = words[0], strings.EqualFold(words[1], "desc")
		}
		i := slices.IndexFunc(columns, func(c string) bool {
			before, _, _ := strings.Cut(c, ":")
			return c == name || before == name
		})
		if i < 0 {
			near := problem.Nearest(name, columns, 2)
			return &problem.Error{Code: problem.InvalidArgument, Pointer: "/order", Near: near, Detail: fmt.Sprintf("the answer has no column %q%s", problem.Cut(name), problem.DidYouMean(near)),
				Suggestion: "its columns are " + strings.Join(columns, ", ")}
		}
		p.order = append(p.order, term{i, desc})
	}
	for i := range p.by {
		p.order = append(p.order, term{i, false})
	}
	return nil
}

// usualOrder is by the dimensions if there is a period, and else by the first metric, the largest first.
func (p *Plan) usualOrder() []term {
	var out []term
	if !slices.ContainsFunc(p.by, func(d dimension) bool { return d.period != "" }) {
		out = append(out, term{len(p.by), true})
	}
	for i := range p.by {
		out = append(out, term{i, false})
	}
	return out
}

// Explain returns the error of a statement in terms of the question: nobody wrote the statement.
func (p *Plan) Explain(err error) error {
	wrong := problem.Of(err)
	if wrong.Pointer != "/sql" {
		return err
	}
	told := *wrong
	told.Pointer, told.Detail = "", placeless(wrong.Detail)
	if p.request.Where != nil {
		told.Pointer = "/where"
	}
	return &told
}

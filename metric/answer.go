package metric

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An Answer is the groups of a question, in order.
type Answer struct {
	Columns     []string // the dimensions, then the metrics
	By          int      // the number of dimensions
	Rows        []value.Row
	Total       int      // the number of groups, of which Rows may be the first
	Definitions []string // what each metric means, by the owner
}

// TooMany refuses an answer with too many groups.
func TooMany() error {
	return &problem.Error{Code: problem.BudgetExceeded, Kind: "groups", Pointer: "/by", Detail: fmt.Sprintf("the answer would have more than %d groups", maxGroups),
		Suggestion: "group by fewer or coarser dimensions, or narrow where, from and to"}
}

// A group is one row of an answer: the dimensions, and the values of the metrics with a measure by name.
type group struct {
	key  value.Row
	have map[string]value.Value
}

// Assemble puts the results of the statements together, one list of rows for each statement.
func (p *Plan) Assemble(results [][]value.Row) (*Answer, error) {
	own := len(results)
	if p.earlier != nil {
		own -= len(p.earlier.plan.Statements)
	}
	groups, err := p.join(results[:own])
	if err != nil {
		return nil, err
	}
	if p.earlier != nil {
		if groups, err = p.earlier.join(p, groups, results[own:]); err != nil {
			return nil, err
		}
	}
	if groups, err = p.fill(groups); err != nil {
		return nil, err
	}
	a := &Answer{Columns: p.columns(), By: len(p.by)}
	for _, g := range groups {
		row := slices.Clone(g.key)
		for _, m := range p.metrics {
			row = append(row, g.value(m))
		}
		a.Rows = append(a.Rows, row)
	}
	p.addMore(a.Rows)
	slices.SortStableFunc(a.Rows, p.compare)
	if a.Total = len(a.Rows); a.Total > p.request.Limit {
		a.Rows = a.Rows[:p.request.Limit]
	}
	a.Definitions = p.definitions()
	return a, nil
}

// keyOf returns a text that is the same for equal dimensions.
func keyOf(row value.Row) string { return value.OfArray(row).String() }

// join joins the rows of the statements by their dimensions.
func (p *Plan) join(results [][]value.Row) ([]*group, error) {
	var out []*group
	at := map[string]*group{}
	for i, rows := range results {
		for _, row := range rows {
			key := row[:len(p.by)]
			g := at[keyOf(key)]
			if g == nil {
				if len(out) == maxGroups {
					return nil, TooMany()
				}
				g = &group{slices.Clone(key), map[string]value.Value{}}
				at[keyOf(key)] = g
				out = append(out, g)
			}
			for name, where := range p.places {
				if where.statement == i {
					g.have[name] = row[where.column]
				}
			}
		}
	}
	return out, nil
}

// value returns the value of a metric in a group. A sum and a number of no records is 0. Other values of no records are
// null, and so is a ratio to 0.
func (g *group) value(m Usable) value.Value {
	if m.Ratio != nil {
		return divide(g.value(m.parts[0]), g.value(m.parts[1]))
	}
	v := g.have[m.Name]
	if v.IsNull() && m.measure.counts() {
		return value.OfInt(0)
	}
	return v
}

// divide divides two numbers as doubles, like / of the language. It is null where there is no result.
func divide(x, y value.Value) value.Value {
	if x.IsNull() || y.IsNull() {
		return value.Value{}
	}
	a, ok := x.AsFloat()
	b, also := y.AsFloat()
	if c := a / b; ok && also && b != 0 && !math.IsNaN(c) && !math.IsInf(c, 0) {
		return value.OfFloat(c + 0) // no -0
	}
	return value.Value{}
}

// fill adds the periods without records, for each combination of the other dimensions. Without a range, these are the
// periods between the first and the last that have records.
func (p *Plan) fill(groups []*group) ([]*group, error) {
	at := -1
	for i, d := range p.by {
		if d.period == "" {
			continue
		}
		if at >= 0 {
			return groups, nil // the periods of two dates don't follow each other
		}
		at = i
	}
	if at < 0 {
		return groups, nil
	}
	first, last := p.ends(groups, at)
	if first == "" || last == "" {
		return groups, nil
	}
	periods := between(p.by[at].period, first, last, p.zone, maxGroups)
	known, others := map[string]bool{}, map[string]value.Row{}
	for _, g := range groups {
		known[keyOf(g.key)] = true
		other := slices.Clone(g.key)
		other[at] = value.Value{}
		others[keyOf(other)] = other
	}
	if len(others) == 0 && len(p.by) == 1 {
		others[""] = make(value.Row, 1)
	}
	if len(periods)*len(others) > maxGroups {
		return nil, TooMany()
	}
	for _, other := range others {
		for _, period := range periods {
			key := slices.Clone(other)
			if key[at] = value.OfString(period); !known[keyOf(key)] {
				groups = append(groups, &group{key, map[string]value.Value{}})
			}
		}
	}
	return groups, nil
}

// ends returns the first and the last period of the answer: those of the range, or else those with records.
func (p *Plan) ends(groups []*group, at int) (first, last string) {
	for _, g := range groups {
		text := g.key[at].Text()
		if text == "" {
			continue
		}
		if first == "" || text < first {
			first = text
		}
		last = max(last, text)
	}
	if !p.ranged(at) {
		return first, last
	}
	if !p.span.from.IsZero() {
		first = periodOf(p.by[at].period, p.span.from)
	}
	if !p.span.to.IsZero() {
		last = periodOf(p.by[at].period, p.span.to.Add(-1))
	}
	return first, last
}

// ranged reports whether the range of the question is one of the dimension.
func (p *Plan) ranged(at int) bool {
	for _, m := range p.atoms() {
		if path := p.by[at].path.String(); path != ownTime && path != m.Time {
			return false
		}
	}
	return true
}

// compare compares rows in the order of the answer. Null comes first, or last in a descending order.
func (p *Plan) compare(x, y value.Row) int {
	for _, t := range p.order {
		c := value.Order(x[t.column], y[t.column])
		if t.desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return strings.Compare(keyOf(x), keyOf(y))
}

// Definition says what the metric means: "revenue: sum of total where status is paid, in EUR, by placed_at".
func (m *Metric) Definition() string { return m.Name + ": " + m.Meaning() }

// Meaning is the Definition without the name.
func (m *Metric) Meaning() string {
	if m.Ratio != nil {
		text := m.Ratio[0] + " / " + m.Ratio[1]
		if m.Unit != "" {
			text += ", in " + m.Unit
		}
		return text
	}
	text := m.measure.words()
	if m.Where != nil {
		text += " where " + words(m.Where)
	}
	if m.Unit != "" {
		text += ", in " + m.Unit
	}
	if m.Time != "" {
		text += ", by " + m.Time
	}
	return text
}

// definitions returns what the metrics of the answer mean, and those that they are made of, each once.
func (p *Plan) definitions() []string {
	var out []string
	add := func(text string) {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for _, m := range p.metrics {
		add(m.Definition())
	}
	for _, m := range p.atoms() {
		add(m.Definition())
	}
	if p.earlier != nil {
		add(p.earlier.words())
	}
	return out
}

// Fit cuts rows off the end, so that the answer has at most budget bytes of JSON, or one row.
func (a *Answer) Fit(budget int) {
	names := 0
	for _, c := range a.Columns {
		names += len(c) + 4
	}
	for i, row := range a.Rows {
		if budget -= names + len(value.OfArray(row).AppendJSON(nil)); budget < 0 && i > 0 {
			a.Rows = a.Rows[:i]
			return
		}
	}
}

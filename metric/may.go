package metric

import (
	"iter"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Usable is a metric that one caller may use, with the caller's view of its class. The view of a ratio is that of its
// first metric.
type Usable struct {
	*Metric
	View *policy.View

	parts []Usable // of a ratio
}

// For returns the metrics that p may use, sorted by name. All others are absent for p.
func (s *Set) For(rules *policy.Policy, p identity.Principal) []Usable {
	var out []Usable
	if s == nil || !p.Has(identity.Read) {
		return nil
	}
	for _, m := range s.metrics {
		if u, ok := m.usable(rules, p); ok {
			out = append(out, u)
		}
	}
	return out
}

// Inline returns q with the definitions of metrics in the place of MEASURE(name), and with the list of metrics in the place of
// information_schema.metrics. It also returns the definitions of the metrics that q names. The metrics are those that who may
// use under rules. With open, who may use each one, whatever its condition. Inline returns q itself if there is nothing to
// replace.
func (s *Set) Inline(q *query.SQL, rules *policy.Policy, who identity.Principal, open bool) (*query.SQL, []string, error) {
	if low := strings.ToLower(q.Text); !strings.Contains(low, "measure") && !strings.Contains(low, "information_schema") {
		return q, nil, nil
	}
	if open && s != nil {
		all := &Set{}
		for _, m := range s.metrics {
			all.metrics = append(all.metrics, m.unconditional())
		}
		s = all
	}
	return inline(q, s.For(rules, who), func(keep func(*schema.Class) bool) iter.Seq[*policy.View] { return rules.ViewsOf(who, keep) })
}

func (m *Metric) unconditional() *Metric {
	open := *m
	open.when, open.parts = nil, make([]*Metric, len(m.parts))
	for i, part := range m.parts {
		open.parts[i] = part.unconditional()
	}
	return &open
}

// usable returns m for p, and false if p may not use it.
func (m *Metric) usable(rules *policy.Policy, p identity.Principal) (Usable, bool) {
	if m.when != nil {
		if v, err := m.when.Eval(p); err != nil || !v.Bool() {
			return Usable{}, false
		}
	}
	if m.Ratio != nil {
		u := Usable{Metric: m}
		for _, part := range m.parts {
			of, ok := part.usable(rules, p)
			if !ok {
				return Usable{}, false
			}
			u.parts = append(u.parts, of)
		}
		u.View = u.parts[0].View
		return u, true
	}
	v, err := rules.View(p, m.Class.FullName(), "", false)
	if err != nil || !m.shown(v) {
		return Usable{}, false
	}
	return Usable{Metric: m, View: v}, true
}

// shown reports whether the view shows, without a mask, all fields that m needs.
func (m *Metric) shown(v *policy.View) bool { return m.Missing(v) == nil }

// Missing returns the first field that m needs and that v hides or masks, or nil if it can be computed.
func (m *Metric) Missing(v *policy.View) query.Path {
	for _, path := range m.reads {
		if !visible(v, path) {
			return path
		}
	}
	return nil
}

// visible reports whether v shows the field at path, or the fields that lead there, without a mask.
func visible(v *policy.View, path query.Path) bool {
	for i, name := range path {
		f := v.Field(name)
		if f == nil || v.Mask(name) != nil {
			return false
		}
		if i == len(path)-1 {
			return true
		}
		if v = v.Behind(name); v == nil {
			return false
		}
	}
	return false
}

// Reads returns the fields that m needs, from its class on.
func (m *Metric) Reads() []query.Path { return slices.Clone(m.reads) }

package policyops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Declared is a declared query or a metric that a principal has.
type Declared struct {
	Name    string `json:"name"`
	About   string `json:"about"`             // the arguments of a query, or the definition of a metric
	Trusted bool   `json:"trusted,omitempty"` // it reads the database directly, so that no rule of a class applies
}

// declaredQueries returns the declared queries that p has, sorted by name.
func (r *Regime) declaredQueries(p identity.Principal) []Declared {
	var out []Declared
	for _, q := range r.queries.Of(r.policy, p) {
		out = append(out, Declared{q.Name, q.Signature(), q.Trusted()})
	}
	return out
}

// declaredMetrics returns the metrics that p has, sorted by name.
func (r *Regime) declaredMetrics(p identity.Principal) []Declared {
	var out []Declared
	for _, m := range r.metrics.For(r.policy, p) {
		out = append(out, Declared{Name: m.Name, About: m.Meaning()})
	}
	return out
}

// declaredNames returns the names of all declared queries and metrics, as queries.<name> and metrics.<name>.
func (r *Regime) declaredNames() []string {
	var out []string
	for _, q := range r.queries.All() {
		out = append(out, "queries."+q.Name)
	}
	for _, m := range r.metrics.All() {
		out = append(out, "metrics."+m.Name)
	}
	return out
}

// declaredOf returns those of declaredNames that p has.
func (r *Regime) declaredOf(p identity.Principal) []string {
	var out []string
	for _, q := range r.declaredQueries(p) {
		out = append(out, "queries."+q.Name)
	}
	for _, m := range r.declaredMetrics(p) {
		out = append(out, "metrics."+m.Name)
	}
	return out
}

// trustedQueries reports each declared query in the database's own SQL, because no rule of a class applies to it.
func (l *look) trustedQueries(holders []Holder) {
	for _, q := range l.regime.queries.All() {
		if !q.Trusted() {
			continue
		}
		var who []string
		for _, h := range holders {
			if slices.Contains(l.regime.declaredOf(h.Who), "queries."+q.Name) {
				who = append(who, h.Name)
			}
		}
		message := fmt.Sprintf("the query %s reads the database of %s directly. No rule of a class applies to it, and the known principals that have it are: %s", q.Name, q.Source, cmp.Or(strings.Join(who, ", "), "none"))
		suggestion := "keep it if all of them may see all that it returns. Limit them with when"
		if q.Parameters.IsNull() && l.hasTenants(q.Source) {
			suggestion = "the source has tenants, and the query takes no value of its caller. Add parameters, such as {tenant: {$cel: principal.tenant}}"
		}
		l.out = append(l.out, Finding{Code: trusted, Path: []string{"queries", q.Name, "native"}, Message: message, Suggestion: suggestion})
	}
}

// hasTenants reports whether a class of a source has a tenant rule.
func (l *look) hasTenants(source string) bool {
	return slices.ContainsFunc(l.regime.Policy().Catalogue(), func(c schema.Class) bool {
		rule, _, _ := l.regime.RuleOf(&c)
		return c.Source == source && rule.Tenant != nil
	})
}

// absentMetrics reports each metric that some principal doesn't have, because it reads a field that is hidden or masked
// for this principal.
func (l *look) absentMetrics(holders []Holder) {
	for _, m := range l.regime.metrics.All() {
		if m.Ratio != nil {
			continue // it is absent with its parts
		}
		by := map[string][]string{} // the names of holders, by field
		var fields []string
		for _, h := range holders {
			v, err := l.regime.Policy().View(h.Who, m.Class.FullName(), "", false)
			if err != nil {
				continue // it doesn't see the class
			}
			missing := m.Missing(v)
			if missing == nil {
				continue
			}
			if by[missing.String()] == nil {
				fields = append(fields, missing.String())
			}
			by[missing.String()] = append(by[missing.String()], h.Name)
		}
		for _, field := range fields {
			l.out = append(l.out, Finding{Code: absent, Class: m.Class.FullName(), Path: []string{"metrics", m.Name},
				Message:    fmt.Sprintf("the metric %s is absent for %s: it reads %s, which is hidden or masked there", m.Name, strings.Join(by[field], ", "), field),
				Suggestion: "nothing, if that is meant. Otherwise measure another field, or show this one"})
		}
	}
}

// A DeclaredChange is a declared query or metric that a principal gets or loses under another configuration.
type DeclaredChange struct {
	Principal string `json:"principal"`
	Name      string `json:"name"` // queries.<name> or metrics.<name>
	Gets      bool   `json:"gets"` // false if it loses it
}

// CompareDeclared returns the queries and metrics that principals get or lose from one Regime to another, by principal.
func CompareDeclared(before, after *Regime, holders []Holder) []DeclaredChange {
	var out []DeclaredChange
	for _, h := range holders {
		old, now := before.declaredOf(h.Who), after.declaredOf(h.Who)
		for _, name := range old {
			if !slices.Contains(now, name) {
				out = append(out, DeclaredChange{h.Name, name, false})
			}
		}
		for _, name := range now {
			if !slices.Contains(old, name) {
				out = append(out, DeclaredChange{h.Name, name, true})
			}
		}
	}
	return out
}

package policyreport

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/rules/expression"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// The places where something is denied, in the order in which they are asked.
const (
	AtGate      = "gate"      // the configuration serves no such tool, or its gates keep from writing
	AtScope     = "scope"     // the principal lacks the scope that the tool needs
	AtList      = "list"      // a list of the principal leaves the tool or the class out
	AtClass     = "class"     // a rule hides the class, or none shows it
	AtTenant    = "tenant"    // the principal belongs to no tenant that the class could be narrowed to
	AtFilter    = "filter"    // a filter of the principal doesn't fit the class
	AtField     = "field"     // a rule, or the built-in denylist, hides the field
	AtMask      = "mask"      // the field leaves masked, so nothing can be found out by it
	AtScan      = "scan"      // it would read every record
	AtLimit     = "limit"     // a rate, a budget or a queue
	AtCatalogue = "catalogue" // there is no such class or field
)

// A Verdict is whether a principal may, and else why not. It holds names of classes, fields and rules, and no value of
// any.
type Verdict struct {
	Allowed  bool   `json:"allowed"`
	Reason   string `json:"reason,omitempty"`    // the kind that the audit records: hidden_class, field_denied, …
	DeniedAt string `json:"denied_at,omitempty"` // one of the places
	Class    string `json:"class,omitempty"`     // "source.Class"
	Field    string `json:"field,omitempty"`
	// Rule is what decides: the keys that lead to it in a configuration. One of the principal begins with "principal";
	// nil stands for what is built in.
	Rule []string `json:"rule,omitempty"`
	Why  string   `json:"why"` // one sentence
}

func compare(a, b string) int { return cmp.Compare(a, b) }

// WouldPermit tells whether who could call a tool on a class: gates, then scopes, then lists, then the class. class is
// "" for tools that name none; one of several classes of a bare name is judged that who sees, else the first.
func (r *Regime) WouldPermit(p identity.Principal, tool, class string) Verdict {
	if v := r.ToolVerdict(p, tool); !v.Allowed || class == "" {
		return v
	}
	return r.ClassVerdict(p, class)
}

// ToolVerdict tells whether who could call a tool at all.
func (r *Regime) ToolVerdict(principal identity.Principal, name string) Verdict {
	t, ok := r.Tool(name)
	switch {
	case !ok:
		names := make([]string, len(r.tools))
		for i, t := range r.tools {
			names[i] = t.Name
		}
		return Verdict{Reason: "unknown_tool", DeniedAt: AtGate, Why: fmt.Sprintf("there is no tool %q%s", problem.Cut(name), problem.DidYouMean(problem.Nearest(name, names, 1)))}
	case t.Off:
		return Verdict{Reason: "tool_off", DeniedAt: AtGate, Rule: []string{"tools"}, Why: fmt.Sprintf("the configuration doesn't serve the tool %s", name)}
	}
	use := policy.Use{Tool: name, Needs: t.Needs, Writes: t.Writes, Proposes: t.Proposes}
	err := r.policy.May(principal, use)
	if err == nil {
		return Verdict{Allowed: true, Why: fmt.Sprintf("the principal may call %s", name)}
	}
	p := problem.Of(err)
	if p.Kind == "gate" {
		_, key := r.policy.Gate(use.Kind())
		return Verdict{Reason: p.Kind, DeniedAt: AtGate, Rule: strings.FieldsFunc(key, func(c rune) bool { return c == '.' }), Why: p.Detail}
	}
	if p.Kind == "scope" {
		return Verdict{Reason: p.Kind, DeniedAt: AtScope, Rule: []string{"principal", "scopes"},
			Why: fmt.Sprintf("%s needs the scope %s, and the principal has %s", name, t.Needs, listed(principal.Scopes))}
	}
	return Verdict{Reason: p.Kind, DeniedAt: AtList, Rule: listRule("tools", principal.Tools, name), Why: fmt.Sprintf("the principal's list of tools leaves %s out", name)}
}

func listed[T ~string](names []T) string {
	if len(names) == 0 {
		return "none"
	}
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}

// listRule is the part of a principal's list that leaves a name out.
func listRule(key string, l identity.List, names ...string) []string {
	for one := range l.All() { // that of a sub-principal is several
		for i, n := range one.Except {
			if slices.Contains(names, n) {
				return []string{"principal", key, "except", strconv.Itoa(i)}
			}
		}
	}
	return []string{"principal", key, "only"}
}

// ClassVerdict tells whether who sees a class, named in full or not.
func (r *Regime) ClassVerdict(p identity.Principal, name string) Verdict {
	var first *Verdict
	for _, c := range r.Classes(name) {
		v := r.classVerdict(p, c)
		if v.Allowed {
			return v
		}
		if first == nil {
			first = &v
		}
	}
	if first != nil {
		return *first
	}
	return Verdict{Reason: "unknown_class", DeniedAt: AtCatalogue,
		Why: fmt.Sprintf("there is no class %q%s", problem.Cut(name), problem.DidYouMean(problem.Nearest(name, r.Names(), 2)))}
}

func (r *Regime) classVerdict(p identity.Principal, c *schema.Class) Verdict {
	_, err := r.policy.View(p, c.FullName(), "", false)
	if err == nil {
		return Verdict{Allowed: true, Class: c.FullName(), Why: fmt.Sprintf("the principal sees %s", c.FullName())}
	}
	rule, key, _ := r.Ruled(c)
	at := func(keys ...string) []string { return append([]string{"classes", key}, keys...) }
	v := Verdict{Reason: problem.Of(err).Kind, Class: c.FullName()}
	switch v.Reason {
	case "unlisted_class":
		v.DeniedAt, v.Rule, v.Why = AtClass, []string{"policy", "unlisted"}, "no rule names the class, and such classes are hidden"
	case "hidden_class":
		v.DeniedAt, v.Rule, v.Why = AtClass, at("hidden"), "the class is hidden"
		if rule.HiddenBut != "" {
			v.Why += fmt.Sprintf(", but for the scope %s, and the principal has %s", rule.HiddenBut, listed(p.Scopes))
		}
	case "class_filter":
		v.DeniedAt, v.Rule, v.Why = AtList, listRule("classes", p.Classes, c.FullName(), c.Name), "the principal's list of classes leaves it out"
	case "no_visible_field":
		v.DeniedAt, v.Rule, v.Why = AtClass, at("visible"), "no field of the class is visible"
	case "tenant_missing", "tenant_mismatch":
		v.DeniedAt = AtTenant
		v.Rule, v.Why = r.tenantRule(c, v.Reason)
	case "principal_filter":
		v.DeniedAt, v.Rule, v.Why = AtFilter, filterRule(p, c), "a filter of the principal names what the class hasn't got"
	case "rule_value":
		v.DeniedAt, v.Rule, v.Why = AtFilter, filterRule(p, c), "an expression in a filter yields nothing for the principal, or what its field can't hold"
		if expression.Within(rule.Canonical) {
			v.Rule = at("canonical")
		}
	default:
		v.DeniedAt, v.Rule, v.Why = AtClass, at(), "the rules of the class refuse ("+v.Reason+")"
	}
	return v
}

// tenantRule is the tenant rule that decides for c: its own, or that of the class that it is scoped through.
func (r *Regime) tenantRule(c *schema.Class, kind string) (path []string, why string) {
	through := ""
	for range len(r.classes) {
		rule, key, _ := r.Ruled(c)
		if rule.Tenant == nil {
			return []string{"classes", key}, "the rules of the class refuse (" + kind + ")"
		}
		if rule.Tenant.Through == "" {
			why = fmt.Sprintf("%s must be %s, which the principal doesn't have", rule.Tenant.Field, cmp.Or(rule.Tenant.Is, "principal.tenant"))
			if kind == "tenant_mismatch" {
				why = fmt.Sprintf("%s must be %s, which can't be a value of the field", rule.Tenant.Field, cmp.Or(rule.Tenant.Is, "principal.tenant"))
			}
			return []string{"classes", key, "tenant"}, why + through
		}
		i := slices.IndexFunc(c.Relations, func(rel schema.Relation) bool { return len(rel.Fields) == 1 && rel.Fields[0] == rule.Tenant.Through })
		if i < 0 || r.classes[c.Source+"."+c.Relations[i].Target] == nil {
			return []string{"classes", key, "tenant"}, "the rules of the class refuse (" + kind + ")"
		}
		through += fmt.Sprintf(" (%s is scoped through %s)", c.Name, rule.Tenant.Through)
		c = r.classes[c.Source+"."+c.Relations[i].Target]
	}
	return nil, ""
}

func filterRule(p identity.Principal, c *schema.Class) []string {
	for _, key := range []string{c.FullName(), c.Name} {
		if p.Filters[key] != nil {
			return []string{"principal", "filters", key}
		}
	}
	return []string{"principal", "filters", "default"}
}

// FieldVerdict tells whether who sees a field of a class that who sees. One that leaves masked is allowed, with the
// mask as the Reason.
func (r *Regime) FieldVerdict(p identity.Principal, class, field string) Verdict {
	v := r.ClassVerdict(p, class)
	if !v.Allowed {
		v.Field = field
		return v
	}
	c := r.classes[v.Class]
	rule, key, _ := r.Ruled(c)
	at := func(keys ...string) []string { return append([]string{"classes", key}, keys...) }
	view, err := r.policy.View(p, v.Class, "", false)
	v = Verdict{Class: v.Class, Field: field, Reason: "field_denied", DeniedAt: AtField}
	switch {
	case c.Field(field) == nil:
		names := make([]string, len(c.Fields))
		for i := range c.Fields {
			names[i] = c.Fields[i].Name
		}
		v.Reason, v.DeniedAt, v.Why = "unknown_field", AtCatalogue, fmt.Sprintf("the class has no field %q%s", problem.Cut(field), problem.DidYouMean(problem.Nearest(field, names, 2)))
	case err == nil && view.Field(field) != nil:
		v.Allowed, v.DeniedAt, v.Reason, v.Why = true, "", "", "the principal sees the field"
		if view.Mask(field) != nil {
			v.Reason, v.Rule, v.Why = "field_masked", at("mask", field), fmt.Sprintf("the field leaves masked (%s), and can't be filtered, sorted, grouped or joined on", rule.Mask[field])
		}
	case slices.Contains(rule.Denied, field):
		v.Rule, v.Why = at("denied", strconv.Itoa(slices.Index(rule.Denied, field))), "a rule denies the field"
	case !slices.Contains(r.floor[v.Class], field):
		v.Why = "its name says that it holds a credential; only visible and lift together show it"
	default:
		v.Rule, v.Why = at("visible"), "visible names other fields"
	}
	return v
}

package policyops

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// The stages at which something can be denied, in the order of evaluation.
const (
	atGate      = "gate"      // the tool doesn't exist or is disabled, or a gate forbids writes
	atScope     = "scope"     // the principal lacks the scope that the tool requires
	atList      = "list"      // a list of the principal excludes the tool or the class
	atClass     = "class"     // a rule hides the class, or no rule shows the class
	atTenant    = "tenant"    // the principal has no tenant that is valid for the class
	atFilter    = "filter"    // a filter of the principal isn't valid for the class
	AtField     = "field"     // a rule, or the built-in denylist, hides the field
	atMask      = "mask"      // the field is masked, so the call can't use it to find records
	atScan      = "scan"      // the call would read every record
	atLimit     = "limit"     // a rate, budget or queue limit
	atCatalogue = "catalogue" // the class or field doesn't exist
)

// A Verdict says whether a principal may do something, and why not. It contains names of classes, fields and rules,
// but no values.
type Verdict struct {
	Allowed  bool   `json:"allowed"`
	Reason   string `json:"reason,omitempty"`    // the kind recorded by the audit: hidden_class, field_denied, …
	DeniedAt string `json:"denied_at,omitempty"` // one of the stages
	Class    string `json:"class,omitempty"`     // "source.Class"
	Field    string `json:"field,omitempty"`
	// Rule is the path of the deciding rule in the configuration. The path of a principal's own rule begins with
	// "principal". Nil means a built-in rule.
	Rule    []string   `json:"rule,omitempty"`
	Further [][]string `json:"further_rules,omitempty"` // the paths of other rules that also refuse
	Why     string     `json:"why"`                     // one sentence
}

func compare(a, b string) int { return cmp.Compare(a, b) }

// WouldPermit reports whether p could call a tool on a class. It checks gates, scopes, lists and the class, in this
// order. The class is "" for tools without a class. If several classes have this name, it judges the first that p
// sees, or the first of all if p sees none.
func (r *Regime) WouldPermit(p identity.Principal, tool, class string) Verdict {
	if v := r.ToolVerdict(p, tool); !v.Allowed || class == "" {
		return v
	}
	return r.ClassVerdict(p, class)
}

// ToolVerdict reports whether a principal may call a tool, regardless of the class.
func (r *Regime) ToolVerdict(principal identity.Principal, name string) Verdict {
	t, ok := r.Tool(name)
	switch {
	case !ok:
		names := make([]string, len(r.tools))
		for i, t := range r.tools {
			names[i] = t.Tool
		}
		return Verdict{Reason: "unknown_tool", DeniedAt: atGate, Why: fmt.Sprintf("there is no tool %q%s", problem.Cut(name), problem.DidYouMean(problem.Nearest(name, names, 1)))}
	case t.Off:
		return Verdict{Reason: "tool_off", DeniedAt: atGate, Rule: []string{"tools"}, Why: fmt.Sprintf("the configuration doesn't serve the tool %s", name)}
	}
	err := r.policy.May(principal, t.Use)
	if err == nil {
		return Verdict{Allowed: true, Why: fmt.Sprintf("the principal may call %s", name)}
	}
	p := problem.Of(err)
	if p.Kind == "gate" {
		v := Verdict{Reason: p.Kind, DeniedAt: atGate, Why: p.Detail}
		for i, key := range r.policy.Rules().Gates.RefusingKeys(t.Use) {
			if rule := strings.Split(key, "."); i == 0 {
				v.Rule = rule
			} else {
				v.Further = append(v.Further, rule)
			}
		}
		return v
	}
	if p.Kind == "scope" {
		return Verdict{Reason: p.Kind, DeniedAt: atScope, Rule: []string{"principal", "scopes"},
			Why: fmt.Sprintf("%s needs the scope %s, and the principal has %s", name, t.Needs, joinNames(principal.Scopes))}
	}
	return Verdict{Reason: p.Kind, DeniedAt: atList, Rule: listRule("tools", principal.Tools, name), Why: fmt.Sprintf("the principal's list of tools leaves %s out", name)}
}

// joinNames returns names joined by commas, or "none".
func joinNames[T ~string](names []T) string {
	if len(names) == 0 {
		return "none"
	}
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}

// listRule returns the path of the entry in a principal's list that excludes one of names.
func listRule(key string, l identity.List, names ...string) []string {
	for one := range l.All() { // a derived principal has several lists
		for i, n := range one.Except {
			if slices.Contains(names, n) {
				return []string{"principal", key, "except", strconv.Itoa(i)}
			}
		}
	}
	return []string{"principal", key, "only"}
}

// ClassVerdict reports whether p sees a class. The name may be full or without the source.
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
	return Verdict{Reason: "unknown_class", DeniedAt: atCatalogue,
		Why: fmt.Sprintf("there is no class %q%s", problem.Cut(name), problem.DidYouMean(problem.Nearest(name, r.Names(), 2)))}
}

// classVerdict reports whether p sees c, or which rule hides it. It derives the rule from the policy's own refusal
// and decides nothing itself. Its result therefore always agrees with a real call.
func (r *Regime) classVerdict(p identity.Principal, c *schema.Class) Verdict {
	_, err := r.policy.View(p, c.FullName(), "", false)
	if err == nil {
		return Verdict{Allowed: true, Class: c.FullName(), Why: fmt.Sprintf("the principal sees %s", c.FullName())}
	}
	rule, key, _ := r.RuleOf(c)
	at := func(keys ...string) []string { return append([]string{"classes", key}, keys...) }
	v := Verdict{Reason: problem.Of(err).Kind, Class: c.FullName()}
	switch v.Reason {
	case "unlisted_class":
		v.DeniedAt, v.Rule, v.Why = atClass, []string{"policy", "unlisted"}, "no rule names the class, and such classes are hidden"
	case "hidden_class":
		v.DeniedAt, v.Rule, v.Why = atClass, at("hidden"), "the class is hidden"
		if rule.HiddenBut != "" {
			v.Why += fmt.Sprintf(", but for the scope %s, and the principal has %s", rule.HiddenBut, joinNames(p.Scopes))
		}
	case "class_filter":
		v.DeniedAt, v.Rule, v.Why = atList, listRule("classes", p.Classes, c.FullName(), c.Name), "the principal's list of classes leaves it out"
	case "no_visible_field":
		v.DeniedAt, v.Rule, v.Why = atClass, at("visible"), "no field of the class is visible"
	case "tenant_missing", "tenant_mismatch":
		v.DeniedAt = atTenant
		v.Rule, v.Why = r.tenantRule(c, v.Reason)
	case "schema_missing", "schema_unknown":
		v.DeniedAt, v.Rule = atTenant, []string{"sources", c.Source, "schema"}
		v.Why = "the expression yields no schema for the principal: what it asks for is missing, empty or no text"
		if v.Reason == "schema_unknown" {
			v.Why = fmt.Sprintf("the schema %q of the principal is not there, or differs from the template", r.policy.Schema(p, c.Source))
		}
	case "principal_filter":
		v.DeniedAt, v.Rule, v.Why = atFilter, filterRule(p, c), "a filter of the principal names what the class hasn't got"
	case "rule_value":
		v.DeniedAt, v.Rule, v.Why = atFilter, filterRule(p, c), "an expression in a filter yields nothing for the principal, or what its field can't hold"
		if expression.Within(rule.Canonical) {
			v.Rule = at("canonical")
		}
	default:
		v.DeniedAt, v.Rule, v.Why = atClass, at(), "the rules of the class refuse ("+v.Reason+")"
	}
	return v
}

// tenantRule returns the path of the tenant rule that decides for c. It is the rule of c itself, or of the class that
// it leads through.
func (r *Regime) tenantRule(c *schema.Class, kind string) (path []string, why string) {
	through := ""
	for range len(r.classes) {
		rule, key, _ := r.RuleOf(c)
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

// FieldVerdict reports whether p sees a field of a class. A masked field is allowed, with Reason "field_masked".
func (r *Regime) FieldVerdict(p identity.Principal, class, field string) Verdict {
	v := r.ClassVerdict(p, class)
	if !v.Allowed {
		v.Field = field
		return v
	}
	c := r.classes[v.Class]
	rule, key, _ := r.RuleOf(c)
	d := r.derivation(v.Class, field)
	at := func(keys ...string) []string { return append([]string{"classes", key}, keys...) }
	view, err := r.policy.View(p, v.Class, "", false)
	v = Verdict{Class: v.Class, Field: field, Reason: "field_denied", DeniedAt: AtField}
	switch {
	case c.Field(field) == nil:
		names := make([]string, len(c.Fields))
		for i := range c.Fields {
			names[i] = c.Fields[i].Name
		}
		v.Reason, v.DeniedAt, v.Why = "unknown_field", atCatalogue, fmt.Sprintf("the class has no field %q%s", problem.Cut(field), problem.DidYouMean(problem.Nearest(field, names, 2)))
	case err == nil && view.Field(field) != nil:
		v.Allowed, v.DeniedAt, v.Reason, v.Why = true, "", "", "the principal sees the field"
		if view.Mask(field) != nil {
			v.Reason, v.Rule, v.Why = "field_masked", at("mask", field), fmt.Sprintf("the field leaves masked (%s), and can't be filtered, sorted, grouped or joined on", view.Mask(field).Kind)
			if d != nil && rule.Mask[field] == "" {
				v.Rule, v.Why = at("lift"), v.Why+": the database makes it from "+d.From
			}
		}
	case d != nil && d.Denied:
		v.Rule, v.Why = at("lift"), "the database makes it from "+d.From+", which is denied or masked. Only visible and lift together show it"
		if d.Untraced != "" {
			v.Why = "what the database makes it from can't be traced (" + d.Untraced + "), and it may hold values of " + d.From + ". Only visible and lift together show it"
		}
	case slices.Contains(r.rules.Withheld[v.Class], field) && !slices.Contains(rule.Lift, field):
		v.Rule, v.Why = at("lift"), "its values look like credentials. lift shows it"
	case slices.Contains(rule.Denied, field):
		v.Rule, v.Why = at("denied", strconv.Itoa(slices.Index(rule.Denied, field))), "a rule denies the field"
	case !slices.Contains(r.floor[v.Class], field):
		v.Why = "its name says that it holds a credential. Only visible and lift together show it"
	default:
		v.Rule, v.Why = at("visible"), "visible names other fields"
	}
	return v
}

// derivation returns why a field is denied or masked because it is derived from other columns, or nil.
func (r *Regime) derivation(class, field string) *policy.Derivation {
	all := r.policy.Derivations()
	i := slices.IndexFunc(all, func(d policy.Derivation) bool { return d.Class.FullName() == class && d.Field == field && !d.Lifted })
	if i < 0 {
		return nil
	}
	return &all[i]
}

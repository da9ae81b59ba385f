package policyops

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Tool is a tool for verdicts.
type Tool struct {
	policy.Use      // the permissions that a call requires
	Off        bool // the configuration disables the tool
}

// A Regime combines the current rules, a catalogue and the available tools. It is the basis for all answers to
// operators.
type Regime struct {
	policy  *policy.Policy
	rules   policy.Rules
	tools   []Tool
	classes map[string]*schema.Class // by "source.Class"
	floor   map[string][]string      // the fields that are visible without any rule, by "source.Class"
	queries *declared.Set            // nil means none
	metrics *metric.Set              // likewise
}

// NewRegime returns the Regime of a policy. queries and metrics are compiled against it. Nil means that there are none.
func NewRegime(p *policy.Policy, tools []Tool, queries *declared.Set, metrics *metric.Set) (*Regime, error) {
	r := &Regime{policy: p, rules: p.Rules(), tools: tools, classes: map[string]*schema.Class{}, queries: queries, metrics: metrics}
	catalogue := p.Catalogue()
	for i := range catalogue {
		r.classes[catalogue[i].FullName()] = &catalogue[i]
	}
	var err error
	r.floor, err = Floor(catalogue)
	return r, err
}

// Policy returns the policy of the Regime.
func (r *Regime) Policy() *policy.Policy { return r.policy }

// Classes returns the classes that name can refer to. A full name has one class. A name without a source returns all
// classes with this name, sorted by full name.
func (r *Regime) Classes(name string) []*schema.Class {
	if c := r.classes[name]; c != nil {
		return []*schema.Class{c}
	}
	var out []*schema.Class
	for _, c := range r.classes {
		if c.Name == name {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b *schema.Class) int { return compare(a.FullName(), b.FullName()) })
	return out
}

// Class returns the class with this full name, or nil.
func (r *Regime) Class(full string) *schema.Class { return r.classes[full] }

// Names returns the full names of all classes, sorted.
func (r *Regime) Names() []string {
	out := make([]string, 0, len(r.classes))
	for n := range r.classes {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// Tool returns the named tool and whether it exists.
func (r *Regime) Tool(name string) (Tool, bool) {
	i := slices.IndexFunc(r.tools, func(t Tool) bool { return t.Tool == name })
	if i < 0 {
		return Tool{}, false
	}
	return r.tools[i], true
}

// RuleOf returns the rule of a class, the key of the class in the rules, and whether there is a rule.
func (r *Regime) RuleOf(c *schema.Class) (rule policy.ClassRule, key string, ok bool) {
	for _, key := range []string{c.FullName(), c.Name} {
		if rule, ok := r.rules.Classes[key]; ok {
			return rule, key, true
		}
	}
	return policy.ClassRule{}, c.FullName(), false
}

// Tools returns the names of all tools.
func (r *Regime) Tools() []string {
	out := make([]string, len(r.tools))
	for i, t := range r.tools {
		out[i] = t.Tool
	}
	return out
}

// Floor returns the fields of a class that are visible without any rule: all fields whose names don't suggest
// credentials.
func (r *Regime) Floor(c *schema.Class) []string { return r.floor[c.FullName()] }

package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/goccy/go-yaml/ast"
)

func (c *Config) classes() shape {
	return each(table{names: "class", of: func(name string) (shape, func()) {
		var rule policy.ClassRule
		return classRule(&rule), func() {
			if c.Rules.Classes == nil {
				c.Rules.Classes = map[string]policy.ClassRule{}
			}
			c.Rules.Classes[name] = rule
		}
	}})
}

// classRule is what an owner says about one class.
func classRule(rule *policy.ClassRule) shape {
	var tenant policy.TenantRule
	keys := []key{
		{name: "hidden", doc: "Nobody sees the class; {except: operator} leaves it to operators", shape: hidden(rule)},
		{name: "description", doc: "For agents", shape: words(&rule.Description)},
		{name: "visible", doc: "The fields that can be seen; without it all but the denied ones", shape: list(&rule.Visible, "field names", nil)},
		{name: "denied", doc: "Fields that are never seen, besides those whose names say credential", shape: list(&rule.Denied, "field names", nil)},
		{name: "lift", doc: "Fields of visible that are seen although their names say credential", shape: list(&rule.Lift, "field names", nil)},
		{name: "large", doc: "Heavy fields, left out of includes and samples unless named", shape: list(&rule.Large, "field names", nil)},
		{name: "tenant", doc: "Which records belong to whom: by a field, or through a pointer to a class that has a tenant", shape: tenantRule(rule, &tenant)},
		{name: "canonical", doc: "What counts as a live record: a where object", shape: where(&rule.Canonical)},
		{name: "allow_scan", doc: "The class is small: policy.refuse_scans doesn't hold for it", shape: flag(&rule.AllowScan)},
		{name: "fields", doc: "What fields mean, for agents", shape: fieldRules(rule)},
	}
	keys = append(keys, later("join", "mask", "write", "permitted", "actions")...)
	return object(keys, func(r *reader, _ ast.Node, at string) { checkRule(r, at, rule) })
}

// checkRule looks at what the keys of one rule tell together.
func checkRule(r *reader, at string, rule *policy.ClassRule) {
	for _, l := range []struct {
		key    string
		fields []string
		wrong  func(field string) string
	}{
		{"visible", rule.Visible, func(f string) string {
			if slices.Contains(rule.Denied, f) {
				return "is also denied; take it out of one"
			}
			return ""
		}},
		{"lift", rule.Lift, func(f string) string {
			if !slices.Contains(rule.Visible, f) {
				return "must be named in visible as well, so that it is lifted on purpose"
			}
			return ""
		}},
		{"large", rule.Large, func(f string) string {
			if slices.Contains(rule.Denied, f) || rule.Visible != nil && !slices.Contains(rule.Visible, f) {
				return "can't be seen at all; take it out"
			}
			return ""
		}},
	} {
		for i, f := range l.fields {
			if message := l.wrong(f); message != "" {
				r.wrongAt(at+join(l.key, fmt.Sprint(i)), message)
			}
		}
	}
}

// hidden is true, false or {except: operator}.
func hidden(rule *policy.ClassRule) shape {
	by := object([]key{{name: "except", doc: "Who sees it all the same: operator", must: true,
		shape: oneOf(&rule.HiddenBut, identity.Operator)}}, func(*reader, ast.Node, string) { rule.Hidden = true })
	return either(flag(&rule.Hidden), by)
}

func tenantRule(rule *policy.ClassRule, t *policy.TenantRule) shape {
	keys := []key{
		{name: "field", doc: "The field that holds the tenant", shape: words(&t.Field)},
		{name: "is", doc: "What it must equal: principal.tenant (the default), .id, .owner or .claims.<name>", shape: text("something about the principal", func(s string) string {
			t.Is = s
			return aboutPrincipal(s)
		})},
		{name: "through", doc: "The pointer to the class whose tenant counts", shape: words(&t.Through)},
	}
	return object(append(keys, later("bypass")...), func(r *reader, n ast.Node, at string) {
		given := func(key string) bool { _, ok := r.places[at+"/"+key]; return ok }
		switch {
		case given("through") && (given("field") || given("is")):
			r.wrong(start(n), at, "through stands alone, without field and is")
		case !given("through") && !given("field"):
			r.wrong(start(n), at, "needs field, or through")
		}
		rule.Tenant = t
	})
}

// aboutPrincipal says what is wrong with s as something that a rule can ask of a principal.
func aboutPrincipal(s string) string {
	const be = "must be principal.tenant, principal.id, principal.owner or principal.claims.<name>"
	claim, isClaim := strings.CutPrefix(s, "principal.claims.")
	switch {
	case s == "principal.tenant", s == "principal.id", s == "principal.owner":
		return ""
	case isClaim && claim != "" && !strings.ContainsAny(claim, ". ()[]"):
		return ""
	case strings.ContainsAny(s, " ()[]?+'\"="):
		return be + "; expressions are not supported yet by this version"
	}
	return be
}

func fieldRules(rule *policy.ClassRule) shape {
	return each(table{names: "field", of: func(name string) (shape, func()) {
		var f policy.FieldRule
		values := shape{
			schema: map[string]any{"type": "object", "minProperties": 1, "additionalProperties": map[string]any{"type": "string", "minLength": 1}},
			read: func(r *reader, n ast.Node, at string) {
				meanings(r, n, at, func(v, meaning string) {
					f.Values = append(f.Values, policy.FieldValue{Value: v, Meaning: meaning})
				})
			}}
		keys := []key{
			{name: "description", doc: "For agents", shape: words(&f.Description)},
			{name: "values", doc: "What it may hold: each value and its meaning", shape: values},
		}
		return object(append(keys, later("mask")...), only), func() {
			if rule.Fields == nil {
				rule.Fields = map[string]policy.FieldRule{}
			}
			rule.Fields[name] = f
		}
	}})
}

// join makes a JSON pointer of keys.
func join(keys ...string) string {
	at := ""
	for _, k := range keys {
		at = query.Pointer(at, k)
	}
	return at
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

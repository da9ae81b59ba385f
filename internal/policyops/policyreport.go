package policyops

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Class describes what agents would see of a class. Each field is in exactly one list. Visible fields may be
// masked. Hidden fields are not in the rule's list of visible fields. Denied fields are denied by the rule, and Floor
// fields are denied because of their names.
type Class struct {
	Name    string                 `json:"class"` // "source.Class"
	Shown   bool                   `json:"shown"`
	Why     string                 `json:"why,omitempty"` // the reason why it is not shown
	Visible []string               `json:"visible"`
	Masked  map[string]policy.Mask `json:"masked,omitempty"` // masks of fields in Visible, by field
	Hidden  []string               `json:"hidden"`
	Denied  []string               `json:"denied"`
	Floor   []string               `json:"denied_by_name"`
	// Derived contains fields that are denied because they are derived from other columns, with one of these columns.
	Derived   map[string]string `json:"denied_by_origin,omitempty"`
	Withheld  []string          `json:"denied_by_values,omitempty"` // fields denied because their values look like credentials
	Tenant    string            `json:"tenant"`                     // the tenant rule, or "" if all tenants share the class
	Canonical bool              `json:"canonical"`

	Recordless bool   `json:"recordless,omitempty"` // the class is only a description and has no records
	Guarded    string `json:"as,omitempty"`         // the user that the source acts as, or "". The permissions of this user further restrict the class
}

// Floor returns the fields that are visible without any rule, by class ("source.Class"). These are all fields whose
// names don't suggest credentials. It omits a class without visible fields. It ignores the origins of fields.
func Floor(catalogue []schema.Class) (map[string][]string, error) {
	catalogue = slices.Clone(catalogue)
	for i := range catalogue {
		catalogue[i].Fields = slices.Clone(catalogue[i].Fields)
		for j := range catalogue[i].Fields {
			catalogue[i].Fields[j].From, catalogue[i].Fields[j].Origins = nil, nil
		}
	}
	fields, _, _, err := visible(policy.Rules{Unlisted: true}, catalogue, func(*policy.ClassRule) {})
	return fields, err
}

// everyScope contains the scopes that together show every class, apart from tenants.
var everyScope = []identity.Scope{identity.Read, identity.Schema, identity.Audit, identity.Operator, identity.Explain}

// Report describes each class of a catalogue. It compiles the rules and variations of the rules to find out why a
// field is visible or not.
func Report(rules policy.Rules, catalogue []schema.Class) ([]Class, error) {
	seen, masks, derivations, err := visible(rules, catalogue, func(r *policy.ClassRule) { r.Tenant, r.Canonical = nil, nil })
	if err != nil {
		return nil, err
	}
	floor, err := Floor(catalogue)
	if err != nil {
		return nil, err
	}
	out := make([]Class, 0, len(catalogue))
	for i := range catalogue {
		class := &catalogue[i]
		rule, listed := rules.Classes[class.FullName()]
		if !listed {
			rule, listed = rules.Classes[class.Name]
		}
		e := Class{Name: class.FullName(), Visible: []string{}, Hidden: []string{}, Denied: []string{}, Floor: []string{},
			Masked: maps.Clone(masks[class.FullName()]), Tenant: tenantOf(rule.Tenant), Canonical: rule.Canonical != nil, Recordless: class.Recordless}
		if text := rules.Schemas[class.Source]; text != "" {
			e.Tenant = strings.TrimSuffix("schema is "+text+", "+e.Tenant, ", ")
		}
		if class.Guard != nil {
			e.Guarded = class.Guard.As
		}
		fields, shown := seen[class.FullName()]
		e.Shown = shown
		switch {
		case rule.Hidden && rule.HiddenBut != "":
			e.Why = "hidden, but for the scope " + string(rule.HiddenBut)
			e.Shown = false
		case rule.Hidden:
			e.Why = "hidden"
		case !listed && !rules.Unlisted && !class.Recordless:
			e.Why = "no rule names it"
		case !shown:
			e.Why = "no field of it is visible"
		}
		e.noteDerivations(derivations)
		for _, f := range class.Fields {
			switch {
			case e.Derived[f.Name] != "":
			case slices.Contains(fields, f.Name):
				e.Visible = append(e.Visible, f.Name)
			case slices.Contains(rules.Withheld[e.Name], f.Name) && !slices.Contains(rule.Denied, f.Name):
				e.Withheld = append(e.Withheld, f.Name)
			case slices.Contains(rule.Denied, f.Name):
				e.Denied = append(e.Denied, f.Name)
			case !slices.Contains(floor[class.FullName()], f.Name):
				e.Floor = append(e.Floor, f.Name)
			default:
				e.Hidden = append(e.Hidden, f.Name)
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// noteDerivations records fields that are denied or masked because they are derived from other columns.
func (c *Class) noteDerivations(derivations []policy.Derivation) {
	for _, d := range derivations {
		switch {
		case d.Class.FullName() != c.Name || d.Lifted:
		case d.Denied:
			if c.Derived == nil {
				c.Derived = map[string]string{}
			}
			c.Derived[d.Field] = d.From
			delete(c.Masked, d.Field)
		default:
			if c.Masked == nil {
				c.Masked = map[string]policy.Mask{}
			}
			c.Masked[d.Field] = d.Kind
		}
	}
}

// visible applies change to each rule and compiles the result. It returns the visible fields of each class and their
// masks. It also returns the fields that are denied or masked because of their origins.
func visible(rules policy.Rules, catalogue []schema.Class, change func(*policy.ClassRule)) (map[string][]string, map[string]map[string]policy.Mask, []policy.Derivation, error) {
	rules.Classes = maps.Clone(rules.Classes)
	for name, r := range rules.Classes {
		change(&r)
		rules.Classes[name] = r
	}
	p, err := policy.New(rules, catalogue)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("compile the rules: %w", err)
	}
	out, masks := map[string][]string{}, map[string]map[string]policy.Mask{}
	for _, v := range p.AtMost().InAnySchema().Views(identity.Principal{ID: "check", Kind: identity.Human, Scopes: everyScope}) {
		names := []string{}
		for _, f := range v.Fields() {
			names = append(names, f.Name)
		}
		out[v.Class().FullName()], masks[v.Class().FullName()] = names, v.Rule().Mask
	}
	return out, masks, p.Derivations(), nil
}

// tenantOf describes a tenant rule in the form of the configuration, or returns "".
func tenantOf(t *policy.TenantRule) string {
	if t == nil {
		return ""
	}
	text := t.Field + " is " + cmp.Or(t.Is, "principal.tenant")
	if t.Through != "" {
		text = "through " + t.Through
	}
	if t.Bypass != "" {
		text += ", but for " + t.Bypass
	}
	return text
}

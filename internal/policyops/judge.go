package policyops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A CallDirectory contains the currently known principals.
type CallDirectory struct {
	Tokens    map[string]identity.Principal // by token ID
	Stdio     identity.Principal            // from the configuration, or zero if not configured
	Anonymous identity.Principal            // from the configuration, or zero if not configured
}

// Of returns the principal of a recorded call. rebuilt is true if the principal isn't known any more or was derived
// by a program. In that case p contains only the values of the record, without lists, filters and claims.
func (d CallDirectory) Of(r *audit.Record) (p identity.Principal, rebuilt bool) {
	if r.Parent == "" {
		if p, ok := d.Tokens[r.TokenID]; ok && r.TokenID != "" {
			return p, false
		}
		for _, p := range []identity.Principal{d.Stdio, d.Anonymous} {
			if p.ID != "" && p.ID == r.Principal && p.Tenant == r.Tenant {
				return p, false
			}
		}
	}
	p = identity.Principal{ID: r.Principal, Name: r.Principal, Kind: identity.Agent, Owner: r.Owner, Tenant: r.Tenant, TokenID: r.TokenID, Parent: r.Parent, Depth: r.Depth}
	for _, s := range r.Scopes {
		p.Scopes = append(p.Scopes, identity.Scope(s))
	}
	if r.Scopes == nil { // the record is older than the recording of scopes
		p.Scopes = []identity.Scope{identity.Read}
	}
	return p, true
}

// usedNames returns the classes and fields that a record names and that exist in the catalogue. Fields are grouped by
// class.
func usedNames(g *Regime, r *audit.Record) (classes []string, fields map[string][]string) {
	fields = map[string][]string{}
	for _, use := range r.Uses {
		if g.Class(use) != nil {
			classes = append(classes, use)
			continue
		}
		for _, c := range r.Uses {
			if field, ok := strings.CutPrefix(use, c+"."); ok && g.Class(c) != nil && g.Class(c).Field(field) != nil {
				fields[c] = append(fields[c], field)
			}
		}
	}
	if r.Uses == nil && r.Class != "" { // the record is older than the recording of uses
		for _, c := range g.Classes(r.Class) {
			classes = append(classes, c.FullName())
		}
	}
	return classes, fields
}

// verdicts returns all verdicts on a call in the order of evaluation: the tool, the classes, the fields.
func verdicts(g *Regime, p identity.Principal, r *audit.Record) []Verdict {
	var out []Verdict
	if _, known := g.Tool(r.Tool); known || r.Kind == "unknown_tool" {
		out = append(out, g.ToolVerdict(p, r.Tool))
	} // for a prompt, a resource or a tool of the embedding program, only the classes are judged
	if api, operation, ok := g.API(r.Class); ok {
		out = append(out, g.OperationVerdict(p, r.Tool, api, operation))
	}
	classes, fields := usedNames(g, r)
	for _, c := range classes {
		v := g.ClassVerdict(p, c)
		out = append(out, v)
		if !v.Allowed {
			continue
		}
		for _, f := range fields[c] {
			out = append(out, g.FieldVerdict(p, c, f))
		}
	}
	return out
}

// An Explanation describes why a recorded call ended as it did.
type Explanation struct {
	Refused bool `json:"refused"`
	// Verdict is the reason for the refusal under the current rules. Allowed means that the current rules would not
	// refuse the call.
	Verdict Verdict  `json:"verdict"`
	Still   bool     `json:"still_refused"` // the current rules would also refuse the call
	Rebuilt bool     `json:"principal_rebuilt,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// ExplainCall returns why a recorded call was refused, and whether the current rules would refuse it.
func ExplainCall(g *Regime, d CallDirectory, r *audit.Record) Explanation {
	p, rebuilt := d.Of(r)
	e := Explanation{Refused: r.Outcome == audit.Refused, Rebuilt: rebuilt}
	if rebuilt {
		e.Notes = append(e.Notes, "the principal is none that is known now. Its tenant and scopes are those of the record, without lists, filters and claims")
	}
	if r.Policy != g.Policy().Version() {
		e.Notes = append(e.Notes, "other rules were in force then: "+r.Policy)
	}
	if !e.Refused {
		e.Verdict = Verdict{Allowed: true, Why: "the call was not refused (" + r.Outcome + ")"}
	}
	if v, ok := outside(g, r); ok && e.Refused {
		e.Verdict, e.Still = v, !v.Allowed
		return e
	}
	all := verdicts(g, p, r)
	refuses := func(v Verdict) bool { return !v.Allowed }
	i := slices.IndexFunc(all, func(v Verdict) bool {
		return v.Reason == r.Kind && (refuses(v) || r.Kind == "field_masked")
	})
	if i < 0 {
		i = slices.IndexFunc(all, refuses)
	}
	switch {
	case i >= 0 && (e.Refused || refuses(all[i])):
		e.Verdict = all[i]
		if r.Kind == "field_masked" && all[i].Allowed { // the field is visible, but the call used it to find or group records
			e.Verdict.Allowed, e.Verdict.DeniedAt = false, atMask
		}
		e.Still = !e.Verdict.Allowed
	case e.Refused:
		e.Verdict = Verdict{Allowed: true, Reason: r.Kind, Why: "the rules in force now would not refuse it"}
		if r.Uses == nil && (r.Kind == "field_denied" || r.Kind == "field_masked") {
			e.Verdict.Allowed, e.Verdict.Why = false, "the record doesn't have the fields that were named. It is older than they are kept"
		}
	}
	return e
}

// kinds contains refusals that are caused by the call itself or the catalogue, and not by rules about principals.
var kinds = map[string]Verdict{
	"unknown_class": {DeniedAt: atCatalogue, Why: "it named a class that doesn't exist. The name isn't kept, for an agent's text can hold anything"},
	"unknown_field": {DeniedAt: atCatalogue, Why: "it named a field that doesn't exist. The name isn't kept, for an agent's text can hold anything"},
	"unknown_tool":  {DeniedAt: atGate, Why: "there is no such tool"},
	"schema":        {DeniedAt: atGate, Why: "its arguments break the schema of the tool"},
}

// outside explains a refusal that is not caused by a rule about the principal. ok is false for any other refusal.
func outside(g *Regime, r *audit.Record) (v Verdict, ok bool) {
	switch code := problem.Code(r.Code); {
	case r.Kind == "scan":
		return scan(g, r), true
	case r.Kind == "parameter_rule" || r.Kind == "reads" || r.Kind == "writes":
		return g.CallVerdict(r.Class, r.Kind), true
	case code == problem.RateLimited || code == problem.BudgetExceeded:
		return Verdict{Reason: cmp.Or(r.Kind, r.Code), DeniedAt: atLimit, Rule: []string{"limits"}, Why: "a limit of the principal or its owner was reached"}, true
	case r.Kind == "" && (code == problem.InvalidArgument || code == problem.InvalidQuery || code == problem.Unsupported || code == problem.NotFound || code == problem.Conflict):
		return Verdict{Reason: r.Code, DeniedAt: atCatalogue, Why: "the call itself was not right. No rule refused it"}, true
	}
	if _, known := g.Tool(r.Tool); !known && r.Kind == "scope" {
		return Verdict{Reason: r.Kind, DeniedAt: atScope, Rule: []string{"principal", "scopes"}, Why: "the principal lacked the scope that it needs"}, true
	} else if !known && r.Kind == "tool_filtered" {
		return Verdict{Reason: r.Kind, DeniedAt: atList, Rule: []string{"principal", "tools"}, Why: "the principal's list of tools leaves out what it leads to"}, true
	}
	v, ok = kinds[r.Kind]
	v.Reason = r.Kind
	return v, ok
}

// scan reports whether the current rules would still refuse a call that was refused as a scan. The record contains
// classes but no filters, so only the rules decide.
func scan(g *Regime, r *audit.Record) Verdict {
	rules := g.Policy().Rules()
	v := Verdict{Reason: "scan", DeniedAt: atScan, Rule: []string{"policy", "refuse_scans"},
		Why: "it would have read every record of the class, and the rules refuse that"}
	classes, _ := usedNames(g, r)
	if len(classes) > 0 {
		name := classes[0]
		if i := slices.IndexFunc(classes, func(c string) bool { return c == r.Class || strings.HasSuffix(c, "."+r.Class) }); i >= 0 {
			name = classes[i]
		}
		rule, key, _ := g.RuleOf(g.Class(name))
		v.Class = name
		v.Why = fmt.Sprintf("it would have read every record of %s, and the rules refuse that. allow_scan in classes.%s lets small classes be read whole", name, key)
		if rule.AllowScan {
			v.Allowed, v.Rule, v.Why = true, []string{"classes", key, "allow_scan"}, "the class may be read whole now"
		}
	}
	if !rules.RefuseScans {
		v.Allowed, v.Why = true, "the rules no longer refuse to read every record"
	}
	return v
}

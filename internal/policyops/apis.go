package policyops

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// An API contains the number of operations of an HTTP API by class, and the hidden parts.
type API struct {
	API         string   `json:"api"`
	Read        int      `json:"read"`
	Write       int      `json:"write"`
	Destructive int      `json:"destructive"`
	Excluded    int      `json:"excluded"`
	Forbidden   int      `json:"forbidden"`
	Unseen      int      `json:"unseen"` // operations that rules hide. They are not counted in a class
	Hidden      []string `json:"hidden"` // hidden fields and schemas, as named in the rules
}

// Operations returns the number of visible operations.
func (a API) Operations() int { return a.Read + a.Write + a.Destructive }

// Classes returns the numbers of operations for each class, as text.
func (a API) Classes() string {
	return fmt.Sprintf("%d read, %d write, %d destructive, %d excluded, %d forbidden", a.Read, a.Write, a.Destructive, a.Excluded, a.Forbidden)
}

// APIs describes each HTTP API for a principal with all scopes.
func APIs(p *policy.Policy) []API {
	return apis(p, identity.Principal{ID: "check", Kind: identity.Human, Scopes: everyScope})
}

// APIs describes each HTTP API for p, including APIs of which p sees nothing.
func (r *Regime) APIs(p identity.Principal) []API { return apis(r.policy, p) }

// apis counts the operations of each API that principal sees, by class. It separately counts the operations that
// rules hide, and lists the hidden parts of schemas.
func apis(p *policy.Policy, principal identity.Principal) []API {
	all := p.APIs()
	out := []API{}
	for _, name := range all.Names() {
		rules, classes, ok := all.Rules(name)
		if !ok {
			continue
		}
		a := API{API: name, Hidden: []string{}}
		for _, op := range rules.Document.Operations {
			if kind := all.Explain(principal, name, op.ID).Kind; kind != "" && kind != calls.IsExcluded && kind != calls.Forbidden {
				a.Unseen++
				continue
			}
			switch classes.Of(op).Class {
			case spec.ClassRead:
				a.Read++
			case spec.ClassWrite:
				a.Write++
			case spec.ClassExcluded:
				a.Excluded++
			case spec.ClassForbidden:
				a.Forbidden++
			default:
				a.Destructive++
			}
		}
		hides := all.Hides(principal, name)
		for _, i := range slices.Sorted(maps.Keys(hides)) {
			a.Hidden = append(append(a.Hidden, hides[i].Fields...), hides[i].Schemas...)
		}
		out = append(out, a)
	}
	return out
}

// API splits the recorded name of an API call into API and operation. The name is "api.operation" or only an
// operation. ok reports whether the name belongs to an API call.
func (r *Regime) API(use string) (api, operation string, ok bool) {
	all := r.policy.APIs()
	if api, operation, ok = strings.Cut(use, "."); ok && all.Has(api) {
		return api, operation, true
	}
	if api != "" || !ok { // ".id" is recorded for a call without the name of an API
		operation = use
	}
	return "", operation, len(r.Classes(use)) == 0 && all.Explain(identity.Principal{}, "", operation).Operation != nil
}

// The tools that call any operation: readTool for operations that only read, and writeTool for all others.
const (
	readTool  = "call_api_read"
	writeTool = "call_api_write"
)

// OperationVerdict reports whether p may call an operation of an API with a tool. The API "" means the first API that
// has the operation.
func (r *Regime) OperationVerdict(p identity.Principal, tool, api, operation string) Verdict {
	s := r.policy.APIs().Explain(p, api, operation)
	if s.Operation == nil {
		return Verdict{Class: api, Reason: "unknown_operation", DeniedAt: atCatalogue, Why: fmt.Sprintf("there is no operation %q%s", problem.Cut(operation), problem.DidYouMean(s.Near))}
	}
	name := s.API + "." + s.Operation.ID
	at := append([]string{"apis", s.API}, s.Path...)
	v := Verdict{Class: name, Reason: s.Kind, DeniedAt: atClass, Rule: at}
	switch {
	case s.Decision.Held && (s.Kind == calls.IsExcluded || s.Kind == calls.Forbidden):
		v.Why = fmt.Sprintf("the operation is %s until a rule of access names it, because %s", s.Decision.Class, s.Decision.Reason)
	case s.Kind == calls.NotListed:
		v.DeniedAt, v.Rule, v.Why = atList, listRule("classes", p.Classes, s.API, name), "the principal's list of classes leaves the operation out"
	case s.Kind == calls.NotShown:
		v.Why = "shown names other operations"
	case s.Kind == calls.IsHidden:
		v.Why = "the operation is hidden from the principal"
	case s.Kind == calls.IsExcluded:
		v.Why = "the operation is excluded"
	case s.Kind == calls.Forbidden:
		v.Why = "the operation is forbidden to all agents: " + s.Decision.Reason
	case tool == readTool && s.Decision.Class != spec.ClassRead:
		return r.CallVerdict(name, "writes")
	case tool == writeTool && s.Decision.Class == spec.ClassRead:
		return r.CallVerdict(name, "reads")
	case !p.Has(s.Needs):
		v.Reason, v.DeniedAt, v.Rule = "scope", atScope, []string{"principal", "scopes"}
		v.Why = fmt.Sprintf("%s is a %s operation and needs the scope %s, and the principal has %s", name, s.Decision.Class, s.Needs, joinNames(p.Scopes))
	default:
		return Verdict{Allowed: true, Class: name, Why: "the principal may call " + name}
	}
	return v
}

// CallVerdict returns the rule that refuses a call of an operation because of its parameters or its kind. The
// argument kind comes from the audit: parameter_rule, reads or writes.
func (r *Regime) CallVerdict(use, kind string) Verdict {
	api, operation, _ := r.API(use)
	s := r.policy.APIs().Explain(identity.Principal{}, api, operation)
	if s.Operation == nil {
		return Verdict{Class: use, Reason: kind, Allowed: true, Why: "there is no such operation any more"}
	}
	v := Verdict{Class: s.API + "." + s.Operation.ID, Reason: kind, DeniedAt: atClass}
	if kind != "parameter_rule" {
		v.Why = fmt.Sprintf("it is a %s operation, and was called as one that %s", s.Decision.Class, map[string]string{"reads": "writes", "writes": "only reads"}[kind])
		if s.Decision.Rule >= 0 {
			v.Rule = []string{"apis", s.API, "access", strconv.Itoa(s.Decision.Rule)}
		}
		return v
	}
	v.DeniedAt = atFilter
	binds := r.policy.APIs().Binds(s.API, s.Operation)
	if len(binds) == 0 {
		return Verdict{Class: v.Class, Reason: kind, Allowed: true, Why: "no rule binds a parameter of the operation any more"}
	}
	rules, _, _ := r.policy.APIs().Rules(s.API)
	p := rules.Parameters[binds[0]]
	v.Rule = []string{"apis", s.API, "parameters", strconv.Itoa(binds[0])}
	v.Why = fmt.Sprintf("%s must be %s: the call gave another one, or the principal has none", p.Name, p.Is)
	for _, i := range binds[1:] {
		v.Why += fmt.Sprintf("; so must %s be %s", rules.Parameters[i].Name, rules.Parameters[i].Is)
	}
	return v
}

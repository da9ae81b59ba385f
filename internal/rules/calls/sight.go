package calls

import (
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/classify"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// The kinds of what isn't seen, as the audit keeps them.
const (
	NotListed  = "operation_filter"    // the principal's list of classes leaves it out
	NotShown   = "operation_not_shown" // Rules.Shown names others
	IsHidden   = "hidden_operation"    // by one of Rules.Hidden
	IsExcluded = "excluded_operation"  // by its class
	Forbidden  = "forbidden_operation" // by its class; who would see it is told why
)

// A Sight is whether a principal sees an operation of an API, and else which rule keeps it away. It is for operators.
type Sight struct {
	API       string
	Operation *spec.Operation // nil where there is none of that name
	Decision  classify.Decision
	Kind      string   // why it isn't seen; "" when it is, or there is none
	Path      []string // the keys of the rule that decides, below the API in a configuration; nil where none of them does
	Needs     identity.Scope
}

// Names are the APIs, sorted.
func (all *APIs) Names() []string {
	if all == nil {
		return nil
	}
	return slices.Clone(all.names)
}

// Rules returns the rules of an API, and the class of each of its operations; it reports whether there is one.
func (all *APIs) Rules(name string) (rules Rules, classes *classify.Rules, ok bool) {
	if !all.Has(name) {
		return Rules{}, nil, false
	}
	a := all.byName[name]
	return a.rules, a.access, true
}

// Hides returns what is hidden from who of an API, by the place of the rule in Rules.Hidden.
func (all *APIs) Hides(p identity.Principal, name string) map[int]Hidden {
	out := map[int]Hidden{}
	if all.Has(name) {
		for i, h := range all.byName[name].hidden {
			if h.hides(p) {
				out[i] = h.Hidden
			}
		}
	}
	return out
}

// Sight tells whether who sees an operation, named as agents name it, of an API; "" for the first that has one.
func (all *APIs) Sight(p identity.Principal, name, operation string) Sight {
	for _, api := range all.Names() {
		if a := all.byName[api]; name == api || name == "" {
			if op, err := a.there.Operation(operation); err == nil {
				return a.sight(p, op)
			}
		}
	}
	return Sight{API: name}
}

func (a *api) sight(p identity.Principal, op *spec.Operation) Sight {
	s := Sight{API: a.name, Operation: op, Decision: a.access.Of(op)}
	s.Needs = scope(s.Decision.Class)
	s.Kind, s.Path = a.why(p, op)
	return s
}

// why is the kind of reason for which who doesn't see op, and the rule; "" when who sees it.
func (a *api) why(p identity.Principal, op *spec.Operation) (kind string, path []string) {
	if !p.Classes.Allows(a.name, a.name+"."+op.ID) {
		return NotListed, nil
	}
	if !(classify.Rule{Operations: a.rules.Shown}).Matches(op) {
		return NotShown, []string{"shown"}
	}
	for i, h := range a.hidden {
		if len(h.Operations)+len(h.Tags) > 0 && h.rule().Matches(op) && h.hides(p) {
			return IsHidden, []string{"hidden", strconv.Itoa(i)}
		}
	}
	switch d := a.access.Of(op); d.Class {
	case classify.Excluded:
		return IsExcluded, []string{"access", strconv.Itoa(d.Rule)}
	case classify.Forbidden:
		return Forbidden, []string{"access", strconv.Itoa(d.Rule)}
	}
	return "", nil
}

// absent is the refusal of an operation that r doesn't show. The asker can't tell why; the audit can.
func (r *Reach) absent(principal identity.Principal, name string, err error) error {
	p := problem.Of(err)
	p.Pointer = "/operationId"
	if op, err := r.api.there.Operation(name); err == nil {
		p.Kind, _ = r.api.why(principal, op)
	}
	return p
}

// Binds returns the places in Rules.Parameters of the rules that bind something of an operation.
func (all *APIs) Binds(name string, op *spec.Operation) []int {
	var out []int
	if !all.Has(name) {
		return nil
	}
	a := all.byName[name]
	for i, p := range a.parameters {
		if p.about(op) && slices.Contains(bindable(a.there, op), p.Name) {
			out = append(out, i)
		}
	}
	return out
}

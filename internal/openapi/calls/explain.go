package calls

import (
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// The reasons why an operation isn't visible, in the words of audit records.
const (
	NotListed  = "operation_filter"    // not in the principal's list of classes
	NotShown   = "operation_not_shown" // not in Rules.Shown
	IsHidden   = "hidden_operation"    // by one of Rules.Hidden
	IsExcluded = "excluded_operation"  // excluded by its class
	Forbidden  = "forbidden_operation" // forbidden by its class. A principal that would otherwise see it gets the reason
)

// An Explanation says whether a principal sees an operation of an API, and which rule hides it if not. It is for operators.
type Explanation struct {
	API       string
	Operation *spec.Operation // nil if there is no such operation
	Decision  spec.Decision
	Kind      string   // why it isn't visible. "" if it is visible or doesn't exist
	Path      []string // the keys of the deciding rule, below the API in a configuration, or nil if no rule decides
	Needs     identity.Scope
	Near      []string // if there is no such operation: similar ids
}

// Names returns the names of the APIs, sorted.
func (all *APIs) Names() []string {
	if all == nil {
		return nil
	}
	return slices.Clone(all.names)
}

// Rules returns the rules of an API and the classes of its operations. ok reports whether the API exists.
func (all *APIs) Rules(name string) (rules Rules, classes *spec.Classifier, ok bool) {
	if !all.Has(name) {
		return Rules{}, nil, false
	}
	a := all.byName[name]
	return a.rules, a.access, true
}

// Hides returns the rules that hide parts of an API from p, by their index in Rules.Hidden.
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

// Explain returns whether p sees an operation of the API called name. The name "" selects the first API that has the
// operation.
func (all *APIs) Explain(p identity.Principal, name, operation string) Explanation {
	none := Explanation{API: name}
	for _, api := range all.Names() {
		if a := all.byName[api]; name == api || name == "" {
			op, err := a.there.Operation(operation)
			if err == nil {
				return a.explain(p, op)
			}
			none.Near = append(none.Near, problem.Of(err).Near...)
		}
	}
	return none
}

func (a *api) explain(p identity.Principal, op *spec.Operation) Explanation {
	s := Explanation{API: a.name, Operation: op, Decision: a.access.Of(op)}
	s.Needs = scope(s.Decision.Class)
	s.Kind, s.Path = a.why(p, op)
	return s
}

// why returns the kind of reason why p doesn't see op, and the rule, or "" if p sees it.
func (a *api) why(p identity.Principal, op *spec.Operation) (kind string, path []string) {
	if !p.Classes.Allows(a.name, a.name+"."+op.ID) {
		return NotListed, nil
	}
	if !(spec.ClassRule{Operations: a.rules.Shown}).Matches(op) {
		return NotShown, []string{"shown"}
	}
	for i, h := range a.hidden {
		if len(h.Operations)+len(h.Tags) > 0 && h.rule().Matches(op) && h.hides(p) {
			return IsHidden, []string{"hidden", strconv.Itoa(i)}
		}
	}
	d := a.access.Of(op)
	path = []string{"access"}
	if !d.Held {
		path = append(path, strconv.Itoa(d.Rule))
	}
	switch d.Class {
	case spec.ClassExcluded:
		return IsExcluded, path
	case spec.ClassForbidden:
		return Forbidden, path
	}
	return "", nil
}

// absent returns the refusal of an operation that r doesn't show. Only the audit record has the reason.
func (r *Reach) absent(principal identity.Principal, name string, err error) error {
	p := problem.Of(err)
	p.Pointer = "/operationId"
	if op, err := r.api.there.Operation(name); err == nil {
		p.Kind, _ = r.api.why(principal, op)
	}
	return p
}

// Binds returns the indexes in Rules.Parameters of the rules that bind an argument of an operation.
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

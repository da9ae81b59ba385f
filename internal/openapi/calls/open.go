package calls

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// An Opened allows query parameters that the document doesn't declare.
type Opened struct {
	Operations []string // as in spec.ClassRule, or nil for all
	Names      []string
}

// opens returns the undeclared query parameters that the owner allows for op.
func (r Rules) opens(op *spec.Operation) (out []spec.Parameter) {
	for _, o := range r.OpenParameters {
		if !(spec.ClassRule{Operations: o.Operations}).Matches(op) {
			continue
		}
		for _, name := range o.Names {
			if op.Parameter("query", name) == nil && !slices.ContainsFunc(out, func(p spec.Parameter) bool { return p.Name == name }) {
				out = append(out, spec.Parameter{Name: name, In: "query", Style: "form", Explode: true, Description: "not in the document: opened by the owner of this gateway"})
			}
		}
	}
	return out
}

// checkOpenParameters refuses names that have no effect. It also refuses names that another rule binds or hides, because o
// would bypass that rule.
func (r Rules) checkOpenParameters(o Opened) *problem.Error {
	if o.Operations != nil {
		if err := (spec.ClassRule{Operations: o.Operations}).Names(r.Document, ""); err != nil {
			return problem.Of(err)
		}
	}
	if len(o.Names) == 0 {
		return problem.New(problem.InvalidArgument, "it names no parameters")
	}
	for i, name := range o.Names {
		why := ""
		switch {
		case slices.ContainsFunc(r.Parameters, func(p Parameter) bool { return spells(name, p.Name) }):
			why = "a rule of parameters says what it must be"
		case !undeclaredFieldCheck(r.Hidden)(name):
			why = "a rule hides fields of that name"
		case slices.ContainsFunc(r.Sends, func(p Place) bool { return p.In == "query" && strings.EqualFold(p.Name, name) }):
			why = "the credential sets it"
		case !slices.ContainsFunc(r.Document.Operations, func(op *spec.Operation) bool {
			return (spec.ClassRule{Operations: o.Operations}).Matches(op) && op.Parameter("query", name) == nil
		}):
			why = "the document declares it"
		default:
			continue
		}
		return &problem.Error{Code: problem.InvalidArgument, Pointer: fmt.Sprintf("/Names/%d", i), Detail: fmt.Sprintf("%q can't be opened: %s", problem.Cut(name), why)}
	}
	return nil
}

package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Requirement is a condition that a call must meet.
type Requirement struct {
	That    string // a boolean CEL expression. An evaluation error counts as false
	Message string // shown to the agent if the condition is false
	Field   string // the argument that the requirement is about, or ""
}

// A Requirements is a compiled Requirement.
type Requirements struct {
	Requirement
	is *Expression
}

// require compiles requirements on arguments. Requirements that the compiler first can evaluate are returned as
// early. Requirements that need the variables of the compiler over are returned as late.
func (a *Arguments) require(declared []Requirement, first, over *Compiler, wrong Fault) (early, late []Requirements) {
	for i, r := range declared {
		at := []string{"require", fmt.Sprint(i)}
		if strings.TrimSpace(r.Message) == "" {
			wrong(append(at, "message"), "must say what the agent is to do")
		}
		if r.Field != "" && !slices.Contains(a.Names(), r.Field) {
			wrong(append(at, "field"), "the input has no %q%s", problem.Cut(r.Field), problem.DidYouMean(problem.Nearest(r.Field, a.Names(), 2)))
		}
		if is, err := first.Compile(r.That, Bool); err == nil {
			early = append(early, Requirements{r, is})
			continue
		}
		is, err := over.Compile(r.That, Bool)
		if err != nil {
			wrong(append(at, "that"), "%v", err)
		}
		late = append(late, Requirements{r, is})
	}
	return early, late
}

// UnmetRequirements returns a fault for each unmet condition. Its pointer is the argument below the pointer at. A
// condition that can't be evaluated counts as unmet.
func UnmetRequirements(all []Requirements, s *Scene, at string) []argcheck.Fault {
	var faults []argcheck.Fault
	for _, r := range all {
		if v, err := r.is.EvalOver(s.Who, s.Variables); err == nil && v.Bool() {
			continue
		}
		pointer := at
		if r.Field != "" {
			pointer += "/" + r.Field
		}
		faults = append(faults, argcheck.Fault{Fault: problem.Fault{Pointer: pointer, Rule: "require", Message: r.Message}})
	}
	return faults
}

// RefuseArguments returns an error that lists the faults, or nil if faults is nil.
func RefuseArguments(faults []argcheck.Fault) error {
	if faults == nil {
		return nil
	}
	return argcheck.Refuse(faults[0].Rule, faults, "")
}

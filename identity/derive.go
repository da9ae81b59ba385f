package identity

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// MaxDepth is how many generations of sub-principals there can be below a credential where a Derivation says nothing else.
const MaxDepth = 4

// A Derivation says how a sub-principal differs from its parent. All that it leaves out is the parent's.
type Derivation struct {
	Name   string  // 1 to 64 of A-Z a-z 0-9 . _ -; it ends the ID
	Scopes []Scope // nil asks for {read}; what the parent hasn't got, or no agent may have, is left out

	Tools   List                    // narrows further
	Actions List                    // narrows further
	Classes List                    // narrows further
	Filters map[string]query.Filter // as a Principal's; they name only fields that the parent sees

	Depth int // most generations below a credential; 0 takes MaxDepth
}

// Derive returns a sub-principal of parent: an agent with parent's identity, limits, claims and all that narrows
// parent, and what d narrows on top. It never has or sees more than parent. The errors are problem.InvalidArgument,
// and problem.PermissionDenied where there are as many generations already or nobody is the parent.
func Derive(parent Principal, d Derivation) (Principal, error) {
	most := cmp.Or(d.Depth, MaxDepth)
	switch {
	case parent.ID == "":
		return Principal{}, &problem.Error{Code: problem.PermissionDenied, Detail: "Nobody can't have sub-principals", Kind: "no_parent"}
	case parent.Depth < 0 || parent.Depth >= most:
		return Principal{}, &problem.Error{Code: problem.PermissionDenied, Kind: "depth",
			Detail: fmt.Sprintf("There can be at most %d generations of sub-principals, and %s is of the last one", most, quote(parent.ID))}
	case !named(d.Name):
		return Principal{}, &problem.Error{Code: problem.InvalidArgument, Detail: "A sub-principal needs a name of 1 to 64 letters, digits, dots, dashes and underscores"}
	}
	asked := d.Scopes
	if asked == nil {
		asked = []Scope{Read}
	}
	for _, s := range asked {
		if !slices.Contains(scopes, s) {
			return Principal{}, unknownScope(string(s))
		}
	}
	for class, f := range d.Filters {
		if f == nil {
			return Principal{}, &problem.Error{Code: problem.InvalidArgument, Detail: "The filter of " + quote(class) + " is empty"}
		}
	}
	child := parent
	child.ID, child.Name, child.Kind = parent.ID+"/"+d.Name, d.Name, Agent
	child.Scopes = slices.DeleteFunc(Clamp(Agent, parent.Owner, asked), func(s Scope) bool { return !parent.Has(s) })
	child.Tools, child.Actions, child.Classes = parent.Tools.And(d.Tools), parent.Actions.And(d.Actions), parent.Classes.And(d.Classes)
	child.Filters = maps.Clone(d.Filters)
	child.Parent, child.Depth, child.Above = parent.ID, parent.Depth+1, &parent
	return child, nil
}

// named reports whether name can end an ID.
func named(name string) bool {
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= 64
}

// Line yields p, its parent, and so on, to the principal with a credential. Each of them narrows what p sees and
// does: rules hold for p as they hold for every one of its line.
func (p Principal) Line() iter.Seq[Principal] {
	return func(yield func(Principal) bool) {
		for at := &p; at != nil && yield(*at); at = at.Above {
		}
	}
}

// Origin returns the ID of the principal with a credential that p comes from; p's own unless it was derived. Rules
// and limits go by it: nobody gets another share by another name.
func (p Principal) Origin() string {
	at := &p
	for at.Above != nil {
		at = at.Above
	}
	return at.ID
}

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

// MaxDepth is the default for Derivation.Depth: the maximum depth of sub-principals below a credential.
const MaxDepth = 4

// A Derivation describes how a sub-principal differs from its parent. Unset fields are inherited.
type Derivation struct {
	Name   string  // 1 to 64 of A-Z a-z 0-9 . _ -, the last part of the ID
	Scopes []Scope // nil means {read}. Scopes that the parent lacks or that no agent may have are dropped

	Tools   List                    // restricts further
	Actions List                    // restricts further
	Classes List                    // restricts further
	Filters map[string]query.Filter // as in a Principal. They may only name fields that the parent sees

	Depth int // the maximum depth below a credential. 0 means MaxDepth
}

// Derive returns a sub-principal of parent: an agent with parent's identity, limits, claims and restrictions, further
// restricted by d. It never has more rights or sees more than parent. The error is problem.InvalidArgument, or
// problem.PermissionDenied if the depth is exceeded or parent is the zero Principal.
func Derive(parent Principal, d Derivation) (Principal, error) {
	most := cmp.Or(d.Depth, MaxDepth)
	switch {
	case parent.ID == "":
		return Principal{}, &problem.Error{Code: problem.PermissionDenied, Detail: "Nobody can't have sub-principals", Kind: "no_parent"}
	case parent.Depth < 0 || parent.Depth >= most:
		return Principal{}, &problem.Error{Code: problem.PermissionDenied, Kind: "depth",
			Detail: fmt.Sprintf("There can be at most %d generations of sub-principals, and %s is of the last one", most, quote(parent.ID))}
	case !isValidName(d.Name):
		return Principal{}, &problem.Error{Code: problem.InvalidArgument, Detail: "A sub-principal needs a name of 1 to 64 letters, digits, dots, dashes and underscores. It begins and ends with a letter or a digit"}
	case Person(d.Name) == parent.Person():
		return Principal{}, &problem.Error{Code: problem.InvalidArgument, Kind: "name_of_person", Detail: "A sub-principal can't have the name of the person it acts for",
			Suggestion: "name it by what it does, such as triage"}
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

// isValidName reports whether name can be the last part of an ID. Names also occur in paths and commands, so ".." and options
// are not allowed.
func isValidName(name string) bool {
	alone := func(c byte) bool { return c == '.' || c == '_' || c == '-' }
	if name == "" || alone(name[0]) || alone(name[len(name)-1]) {
		return false
	}
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return len(name) <= 64
}

// Line yields p, its parent, and so on, up to the authenticated principal. The rules for each of them also restrict p.
func (p Principal) Line() iter.Seq[Principal] {
	return func(yield func(Principal) bool) {
		for at := &p; at != nil && yield(*at); at = at.Above {
		}
	}
}

// Origin returns the ID of the authenticated principal from which p derives, or p's own ID. Rules and limits use it, so
// sub-principals don't get additional allowances.
func (p Principal) Origin() string {
	at := &p
	for at.Above != nil {
		at = at.Above
	}
	return at.ID
}

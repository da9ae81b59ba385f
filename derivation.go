package bailiwick

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// A derivationParent is the principal that derives, under the rules in force.
type derivationParent struct {
	Policy *policy.Policy
	Who    identity.Principal
	Tools  []string // the tools that it may call, or nil if they are not known here
}

// checkDerivation returns nil if all names in d exist for p and no list of d leaves the sub-principal without anything.
func checkDerivation(p derivationParent, d identity.Derivation) error {
	if err := p.overlaps(d); err != nil {
		return err
	}
	for at, names := range map[string][]string{"/classes/only": d.Classes.Only, "/classes/except": d.Classes.Except} {
		for i, name := range names {
			if _, err := p.view(name, query.Pointer(at, strconv.Itoa(i))); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Filters)) {
		if name == "default" {
			continue // a default filter drops classes that lack its fields from the sub-principal's views
		}
		at := query.Pointer("/filters", name)
		v, err := p.view(name, at)
		if err != nil {
			return err
		}
		if v != nil && !v.CanName(d.Filters[name]) {
			return &problem.Error{Code: problem.InvalidQuery, Kind: "principal_filter", Pointer: at,
				Detail: fmt.Sprintf("the filter names a field that %s doesn't have", v.Name()), Suggestion: "get_schema lists the fields"}
		}
	}
	return nil
}

// overlaps refuses lists with tools that the caller can't call, and lists that leave the sub-principal without
// anything.
func (p derivationParent) overlaps(d identity.Derivation) error {
	if known := p.Tools; known != nil {
		for at, names := range map[string][]string{"/tools/only": d.Tools.Only, "/tools/except": d.Tools.Except} {
			for i, name := range names {
				if slices.Contains(known, name) {
					continue
				}
				near := problem.Nearest(name, known, 3)
				return &problem.Error{Code: problem.InvalidArgument, Kind: "unknown_tool", Pointer: query.Pointer(at, strconv.Itoa(i)), Near: near,
					Detail: fmt.Sprintf("unknown tool %q%s", problem.Cut(name), problem.DidYouMean(near))}
			}
		}
	}
	for _, l := range []struct {
		what         string
		parent, more identity.List
	}{{"tools", p.Who.Tools, d.Tools}, {"actions", p.Who.Actions, d.Actions}} { // classes are checked by name
		both := l.parent.And(l.more)
		if len(l.more.Only) > 0 && !slices.ContainsFunc(l.more.Only, func(name string) bool { return both.Allows(name) }) {
			return &problem.Error{Code: problem.InvalidArgument, Kind: "no_overlap", Pointer: "/" + l.what + "/only",
				Detail: fmt.Sprintf("none of the %s in the list is one that the parent has: the sub-principal would have none", l.what)}
		}
	}
	return nil
}

// view returns the caller's view of a class, or nil if several classes have the name.
func (p derivationParent) view(name, at string) (*policy.View, error) {
	v, err := p.Policy.View(p.Who, name, at, false)
	if problem.CodeOf(err) == problem.InvalidArgument {
		return nil, nil
	}
	return v, err
}

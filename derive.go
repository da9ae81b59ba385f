package bailiwick

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// A Sub is a sub-principal of a call's principal, for calls inside that call. It is valid as long as the call is.
type Sub struct {
	call *Call
	who  identity.Principal
}

// Derive makes a sub-principal of the caller, which sees and does at most what the caller does; see identity.Derive.
// Names in d must exist: a class that the caller doesn't see, or a field of a filter, is refused as if it did not
// exist.
func (c *Call) Derive(d identity.Derivation) (*Sub, error) {
	d.Depth = c.gateway.options.Depth
	p, err := identity.Derive(c.who, d)
	if err != nil {
		return nil, err
	}
	if err := c.overlaps(d); err != nil {
		return nil, err
	}
	for at, names := range map[string][]string{"/classes/only": d.Classes.Only, "/classes/except": d.Classes.Except} {
		for i, name := range names {
			if _, err := c.ofClass(name, query.Pointer(at, strconv.Itoa(i))); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Filters)) {
		if name == "default" {
			continue // a default filter drops classes that lack its fields from the sub-principal's views
		}
		at := query.Pointer("/filters", name)
		v, err := c.ofClass(name, at)
		if err != nil {
			return nil, err
		}
		if v != nil && !v.CanName(d.Filters[name]) {
			return nil, &problem.Error{Code: problem.InvalidQuery, Kind: "principal_filter", Pointer: at,
				Detail: fmt.Sprintf("the filter names a field that %s doesn't have", v.Name()), Suggestion: "get_schema lists the fields"}
		}
	}
	return &Sub{c, p}, nil
}

// overlaps refuses lists that name tools which the caller can't call, or that leave the sub-principal nothing.
func (c *Call) overlaps(d identity.Derivation) error {
	if c.tools != nil {
		known := c.tools()
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
	}{{"tools", c.who.Tools, d.Tools}, {"actions", c.who.Actions, d.Actions}} { // classes are checked by name
		both := l.parent.And(l.more)
		if len(l.more.Only) > 0 && !slices.ContainsFunc(l.more.Only, func(name string) bool { return both.Allows(name) }) {
			return &problem.Error{Code: problem.InvalidArgument, Kind: "no_overlap", Pointer: "/" + l.what + "/only",
				Detail: fmt.Sprintf("none of the %s in the list is one that the parent has: the sub-principal would have none", l.what)}
		}
	}
	return nil
}

// ofClass returns the caller's view of a class, or nil if several classes have the name.
func (c *Call) ofClass(name, at string) (*policy.View, error) {
	v, err := c.policy.View(c.who, name, at, false)
	if problem.CodeOf(err) == problem.InvalidArgument {
		return nil, nil
	}
	return v, err
}

// Who returns the sub-principal, to pass to tool.Set.Call and the like.
func (s *Sub) Who() identity.Principal { return s.who }

// Do is Gateway.Do for the sub-principal, with the call's correlation ID.
func (s *Sub) Do(ctx context.Context, ask CallSpec, run func(context.Context, *Call) (int, error)) error {
	ask.Correlation = s.call.record.Correlation
	return s.call.gateway.Do(ctx, s.who, ask, run)
}

// Correlation returns the ID that ties the record of this call to those of the calls inside it.
func (c *Call) Correlation() string { return c.record.Correlation }

package policy

import (
	"errors"
	"reflect"
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// compileCanonical checks the canonical filter and its expressions. A filter without expressions is bound here, once
// for all principals.
func (c *class) compileCanonical(expressions *expression.Compiler, fail func(string, ...any)) {
	// An empty list binds to every field that a value can be compared with.
	f, err := expression.Replace(c.rule.Canonical, func(d query.Deferred, _ bool) (query.Filter, error) {
		_, err := expressions.Of(d)
		return query.In{Path: d.Path, At: d.At}, err
	})
	if err != nil {
		fail("canonical: %v", err)
		return
	}
	bound, _, err := typecheck.Filter(f, ruleScope{c}, nil)
	if err != nil {
		e := problem.Of(err)
		fail("canonical: %s%s", e.Detail, problem.DidYouMean(e.Near))
	}
	FilterFields(c.rule.Canonical, func(n string) {
		if slices.Contains(c.rule.Denied, n) || secretnames.Credential(n) && c.Seen[n] == nil {
			fail("canonical: %s is denied. Agents are shown what counts as a live record", n)
		}
	})
	if c.personal = expression.Within(c.rule.Canonical); !c.personal {
		c.canonical = query.Whole(bound)
	}
}

// canonicalLayers adds the layers of the canonical filter, or returns the kind of refusal. It evaluates the expressions
// even if the caller has switched the filter off, so that a failing expression refuses the class in both cases.
func (v *View) canonicalLayers() string {
	c := v.class
	if v.told = c.rule.Canonical; !c.personal {
		if c.canonical != nil && !v.open() {
			v.layers = append(v.layers, Layer{Name: "canonical", Filter: c.canonical})
		}
		return ""
	}
	var told query.And
	for g := range v.who.Line() {
		f, kind := v.fill(c.rule.Canonical, g)
		if kind != "" {
			return kind
		}
		bound, _, err := typecheck.Filter(f, ruleScope{c}, nil)
		if err != nil {
			return unbound
		}
		if !v.open() {
			v.narrow(Layer{Name: "canonical", Filter: query.Whole(bound)})
		}
		if !slices.ContainsFunc(told, func(old query.Filter) bool { return reflect.DeepEqual(old, f) }) {
			told = append(told, f)
		}
	}
	if v.told = told; len(told) == 1 {
		v.told = told[0]
	}
	return ""
}

// open reports whether the canonical filter is switched off. If the rule has CanonicalShut, it never is: it applies to
// lookups by id and to writes too.
func (v *View) open() bool { return v.raw && !v.class.rule.CanonicalShut }

// CanonicalOpen reports whether the caller may switch the canonical filter off.
func (v *View) CanonicalOpen() bool { return !v.class.rule.CanonicalShut }

// canOpen returns an error if the caller may not read v in the requested way. raw means that it switches the canonical
// filter off.
func (v *View) canOpen(raw bool) error {
	if !raw || v.CanonicalOpen() {
		return nil
	}
	return &problem.Error{Code: problem.PermissionDenied, Kind: "canonical_shut", Pointer: "/apply_canonical_filter",
		Detail: "the canonical filter of " + v.name + " can't be switched off: the owner of the rules fixed it", Suggestion: "leave apply_canonical_filter out"}
}

// errUnlike means that a field can't have the value of an expression. A comparison with it would always or never be
// true.
var errUnlike = errors.New("the field can't hold what the expression yields")

// fill replaces the expressions in filter f of a rule by their values for p, which is v's principal or one of its
// ancestors. It returns the kind of refusal if that fails.
func (v *View) fill(f query.Filter, p identity.Principal) (filled query.Filter, kind string) {
	filled, err := v.policy.expressions.Fill(f, p, func(made query.Filter) error {
		_, notes, err := typecheck.Filter(made, ruleScope{v.class}, nil)
		if err == nil && notes != nil {
			return errUnlike
		}
		return err
	})
	if _, ok := errors.AsType[*problem.Error](err); ok {
		return nil, unbound
	}
	if err != nil {
		return nil, "rule_value"
	}
	return filled, ""
}

// Canonical returns the filter that defines a live record, in the form the principal could write it, or nil if every
// record is live.
func (v *View) Canonical() query.Filter { return v.told }

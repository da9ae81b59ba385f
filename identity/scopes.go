package identity

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// scopes lists all scopes in canonical order.
var scopes = []Scope{Read, Write, Delete, Schema, Review, Audit, Operator, Explain}

// tiers are shorthands for scopes.
var tiers = map[string][]Scope{
	"readonly": {Read},
	"write":    {Read, Write},
	"admin":    {Read, Write, Delete, Schema},
}

// ParseScopes parses scopes and tiers (readonly, write, admin) separated by commas or spaces. Empty text means {read}.
// The result has each scope once, in canonical order.
func ParseScopes(text string) ([]Scope, error) {
	words := strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' })
	if len(words) == 0 {
		return []Scope{Read}, nil
	}
	var given []Scope
	for _, w := range words {
		switch tier, ok := tiers[w]; {
		case ok:
			given = append(given, tier...)
		case slices.Contains(scopes, Scope(w)):
			given = append(given, Scope(w))
		default:
			return nil, unknownScope(w)
		}
	}
	return canonicalScopes(given), nil
}

// canonicalScopes returns the scopes in given, each once, in canonical order.
func canonicalScopes(given []Scope) []Scope {
	return slices.DeleteFunc(slices.Clone(scopes), func(s Scope) bool { return !slices.Contains(given, s) })
}

// unknownScope returns the error for a name that is not a scope, with the nearest scopes.
func unknownScope(name string) error {
	names := []string{"readonly", "admin"}
	for _, s := range scopes {
		names = append(names, string(s))
	}
	return &problem.Error{
		Code:       problem.InvalidArgument,
		Detail:     "There is no scope " + quote(name),
		Near:       problem.Nearest(name, names, 3),
		Suggestion: "Use " + strings.Join(names[2:], ", ") + ", or the tiers readonly, write, admin",
		Kind:       "unknown_scope",
	}
}

// mayHold returns nil if a principal of kind k that acts for owner may have the scopes. It is checked when a token is
// created and at each use, so that a manipulated record can't grant more.
func mayHold(k Kind, owner string, held []Scope) error {
	fail := func(detail string) error {
		return &problem.Error{Code: problem.InvalidArgument, Detail: detail, Kind: "scope_not_for_kind"}
	}
	person := Person(owner)
	for _, s := range held {
		switch {
		case !slices.Contains(scopes, s):
			return unknownScope(string(s))
		case k == Agent && (s == Review || s == Audit || s == Operator):
			return fail("An agent can't have the scope " + string(s))
		case k != Human && s == Review:
			return fail("Only a human can have the scope review")
		case s == Review && person == "":
			return fail("The scope review needs an owner: the person who decides")
		case k == Agent && person == "" && (s == Write || s == Delete || s == Schema):
			return fail("An agent with the scope " + string(s) + " needs an owner: the person for whom it acts")
		}
	}
	return nil
}

// Clamp returns the scopes in asked that a principal of kind k that acts for owner may have, each once, in canonical
// order. It is for scopes from external sources.
func Clamp(k Kind, owner string, asked []Scope) []Scope {
	return slices.DeleteFunc(canonicalScopes(asked), func(s Scope) bool { return mayHold(k, owner, []Scope{s}) != nil })
}

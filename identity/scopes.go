package identity

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// scopes are all of them, in the order in which they are kept.
var scopes = []Scope{Read, Write, Delete, Schema, Review, Audit, Operator, Explain}

// tiers are the shorthands (design 02).
var tiers = map[string][]Scope{
	"readonly": {Read},
	"write":    {Read, Write},
	"admin":    {Read, Write, Delete, Schema},
}

// ParseScopes reads scopes and tiers (readonly, write, admin) separated by commas or spaces. Nothing means {read}.
// The answer has each scope once, in the order of the constants.
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
	return ordered(given), nil
}

// ordered returns the scopes in given, each once, in the order in which they are kept.
func ordered(given []Scope) []Scope {
	return slices.DeleteFunc(slices.Clone(scopes), func(s Scope) bool { return !slices.Contains(given, s) })
}

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

// mayHold returns what is wrong with a principal of kind k acting for owner that holds the scopes; nil when nothing.
// It stands at the making of a token and at each use, so a record that someone edited gives no more than it may.
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

// Clamp returns those of asked that a principal of kind k acting for owner may hold, each once, in the order in which
// they are kept: what somebody else says of a principal gives it no more.
func Clamp(k Kind, owner string, asked []Scope) []Scope {
	return slices.DeleteFunc(ordered(asked), func(s Scope) bool { return mayHold(k, owner, []Scope{s}) != nil })
}

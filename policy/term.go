package policy

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A term is what a rule compares a field with: something about the principal.
type term struct{ path []string }

// parseTerm reads "principal.tenant", "principal.id", "principal.owner" or "principal.claims.<name>".
func parseTerm(s string) (term, error) {
	if s == "" {
		s = "principal.tenant"
	}
	path := strings.Split(s, ".")
	switch {
	case len(path) == 2 && path[0] == "principal" && (path[1] == "tenant" || path[1] == "id" || path[1] == "owner"):
	case len(path) == 3 && path[0] == "principal" && path[1] == "claims" && path[2] != "":
	default:
		return term{}, fmt.Errorf("%q is not something about the principal; write principal.tenant, principal.id, principal.owner or principal.claims.<name>", s)
	}
	return term{path[1:]}, nil
}

// of returns what t says of who, and false when that is missing, empty, null, a list or an object: a rule that
// yields nothing refuses.
func (t term) of(who identity.Principal) (value.Value, bool) {
	var v value.Value
	switch t.path[0] {
	case "tenant":
		v = value.OfString(who.Tenant)
	case "id":
		v = value.OfString(who.Origin())
	case "owner":
		v = value.OfString(who.Owner)
	default:
		v, _ = who.Claims.Get(t.path[1])
	}
	switch v.Kind() {
	case value.Null, value.Array, value.Object:
		return value.Value{}, false
	}
	return v, v.String() != ""
}

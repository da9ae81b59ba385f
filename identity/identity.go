// Package identity authenticates callers: it turns a credential into a Principal.
//
//	credential ─Authenticator→ Principal ─Derive→ sub-principal
//	stored Principal ─Thaw, PrincipalRefresher→ Principal as it is now
//
// It is the first step of every request. All later steps have the Principal as an argument. Nothing else that an agent
// sends (arguments, _meta, other headers) can change it. A sub-principal never has more rights or sees more than its
// parent.
//
// Tokens is the Authenticator for the gateway's own tokens and their tickets, such as sessions of the console. It keeps
// both in a TokenStore. Package oidc authenticates the tokens of other issuers. Forms selects one of the two by the
// form of the credential, and never tries the other after a refusal.
//
// Freeze encodes a Principal that outlives its request, such as the author of a change. A PrincipalRefresher returns
// its current state, because a token may have been revoked in the meantime. While cancels a long call when its
// credential ends.
//
// Tokens also lists tokens and people with rights at a gateway, in pages. Reconcile compares the tokens with the audit.
package identity

import (
	"iter"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Scope is a permission of a Principal.
type Scope string

// The scopes. Agents never get Review, Audit or Operator.
const (
	Read     Scope = "read"     // read records
	Write    Scope = "write"    // create and update records, call actions
	Delete   Scope = "delete"   // delete records
	Schema   Scope = "schema"   // change classes and fields
	Review   Scope = "review"   // approve or reject changes
	Audit    Scope = "audit"    // read the audit trail
	Operator Scope = "operator" // manage tokens, see the rules, override reviews
	Explain  Scope = "explain"  // see the statements sent to a source
)

// A Kind is the kind of a Principal.
type Kind string

// The kinds of Principal.
const (
	Agent   Kind = "agent"
	Human   Kind = "human"
	Service Kind = "service"
)

// A Principal is an authenticated caller: an agent acting for a human owner, a human or a service, with its
// restrictions. The zero Principal has no scope, and everything refuses it.
type Principal struct {
	ID      string // stable and unique: "token:<id>", "stdio", "host:<id from the embedding program>"
	Name    string // for people
	Kind    Kind
	Owner   string // the human on whose behalf it acts. Limits and reviews use it
	Tenant  string // "" if none, which tenant-scoped classes refuse
	Scopes  []Scope
	Claims  value.Value // an Object of further claims of the credential, or Null
	TokenID string      // the ID of the Token with which it authenticated, or "" for other credentials
	Expires time.Time   // when its credential ends, or zero if not known
	Proven  time.Time   // when the person last proved who they are, or zero if not known

	Tools   List                    // restricts tools
	Actions List                    // restricts actions, as "name" or "Class.name"
	Classes List                    // restricts classes, as "source.Class" or a bare class name
	Filters map[string]query.Filter // the records that it may see, by class as in Classes, or "default" for all. From query.ParseRule

	Parent string     // the ID of the principal from which it was derived, or "" if it authenticated itself
	Depth  int        // the number of ancestors, or 0 if it authenticated itself
	Above  *Principal // the principal from which it was derived, whose Filters also apply, or nil if it authenticated itself
}

// Has reports whether p has scope s.
func (p Principal) Has(s Scope) bool { return slices.Contains(p.Scopes, s) }

// ScopeNames returns the scopes of p, sorted.
func (p Principal) ScopeNames() []string {
	out := make([]string, len(p.Scopes))
	for i, s := range p.Scopes {
		out[i] = string(s)
	}
	slices.Sort(out)
	return out
}

// A List allows the names in Only (nil for all) that are not in Except.
type List struct {
	Only   []string `json:"only,omitzero"` // an empty list allows nothing, so it is encoded
	Except []string `json:"except,omitempty"`

	Within *List `json:"-"` // another list that must also allow a name, or nil
}

// Allows reports whether something with these names is allowed. It may have several names, for example a class with and
// without its source. A nil Only allows all names. An empty one allows none.
func (l List) Allows(names ...string) bool {
	in := func(list []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(list, n) })
	}
	for at := &l; at != nil; at = at.Within {
		if at.Only != nil && !in(at.Only) || in(at.Except) {
			return false
		}
	}
	return true
}

// And returns a list that allows only what both l and more allow. It doesn't merge them, because different names may
// refer to the same thing.
func (l List) And(more List) List {
	if more.Within != nil {
		l = l.And(*more.Within)
	}
	if l.Within == nil && l.Only == nil && l.Except == nil {
		return List{Only: slices.Clone(more.Only), Except: slices.Clone(more.Except)}
	}
	if more.Only == nil && more.Except == nil {
		return l
	}
	return List{Only: slices.Clone(more.Only), Except: slices.Clone(more.Except), Within: &l}
}

// All yields the lists in l. Each of them must allow a name.
func (l List) All() iter.Seq[List] {
	return func(yield func(List) bool) {
		for at := &l; at != nil && yield(List{Only: at.Only, Except: at.Except}); at = at.Within {
		}
	}
}

// Package identity establishes who asks: a credential becomes a Principal.
//
// It is the first step of the way. Everything after it takes the Principal as an argument; nothing that an agent
// writes (arguments, _meta, headers other than its credential) can change one.
package identity

import (
	"iter"
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Scope is a right that a Principal may hold.
type Scope string

// The scopes (design 02). Review, Audit and Operator are never given to an agent.
const (
	Read     Scope = "read"
	Write    Scope = "write"
	Delete   Scope = "delete"
	Schema   Scope = "schema"
	Review   Scope = "review"
	Audit    Scope = "audit"
	Operator Scope = "operator"
	Explain  Scope = "explain"
)

// A Kind is what a Principal is.
type Kind string

// The kinds of Principal.
const (
	Agent   Kind = "agent"
	Human   Kind = "human"
	Service Kind = "service"
)

// A Principal is who asks: an agent acting for a human owner, with what narrows it.
// The zero Principal has no scope, so every step refuses it.
type Principal struct {
	ID      string // stable and unique: "token:<id>", "stdio", "host:<whatever the embedding program says>"
	Name    string // for people
	Kind    Kind
	Owner   string // the human on whose behalf it acts; limits and review go by it
	Tenant  string // "" when it has none, which tenant-scoped classes refuse
	Scopes  []Scope
	Claims  value.Value // an Object of what the credential says beyond this; Null when nothing
	TokenID string      // the token of ours it came with; "" for other credentials

	Tools   List                    // narrows tools
	Actions List                    // narrows actions, as "name" or "Class.name"
	Classes List                    // narrows classes, as "source.Class" or a bare class name
	Filters map[string]query.Filter // by class as in Classes, or "default" for all: rows it may see, as of query.ParseRule

	Parent string     // the ID of the principal that it was derived from; "" for one with a credential of its own
	Depth  int        // how many generations stand above it: 0 for one with a credential of its own
	Above  *Principal // the principal that it was derived from, whose Filters hold too; nil for one with a credential of its own
}

// Has reports whether p holds scope s.
func (p Principal) Has(s Scope) bool { return slices.Contains(p.Scopes, s) }

// ScopeNames returns the scopes that p holds, sorted.
func (p Principal) ScopeNames() []string {
	out := make([]string, len(p.Scopes))
	for i, s := range p.Scopes {
		out[i] = string(s)
	}
	slices.Sort(out)
	return out
}

// A List narrows a set of names: Only keeps those (nil keeps all), then Except takes away.
type List struct {
	Only   []string `json:"only,omitzero"` // an empty one is written, for it keeps none
	Except []string `json:"except,omitempty"`

	Within *List `json:"-"` // a list that keeps what this one keeps; nil is no other
}

// Allows reports whether what has these names stays: one thing may have several, as a class has with and without its
// source. A nil Only keeps all; an empty one keeps none.
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

// And returns the list that keeps what both l and more keep. The two are kept apart: texts that differ may name the
// same thing.
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

// All yields the lists that l is made of; each has to keep a name.
func (l List) All() iter.Seq[List] {
	return func(yield func(List) bool) {
		for at := &l; at != nil && yield(List{Only: at.Only, Except: at.Except}); at = at.Within {
		}
	}
}

package calls

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/classify"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/search"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/visible"
	"github.com/bailiwick-dev/bailiwick/internal/rules/denylist"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Reach is what one principal sees of an API, and how far its calls go. It can be used by many at once.
type Reach struct {
	Name        string // of the API
	Description string
	View        *visible.View
	Reads       bool // it has operations that only read
	Writes      bool // it has others

	api     *api
	hidden  map[string]bool // the names of fields that are hidden in some schema
	checker *validate.Checker
	once    sync.Once
	index   *search.Index
}

// Index returns what finds the operations of r. It is made when it is first asked for.
func (r *Reach) Index() *search.Index {
	r.once.Do(func() { r.index = search.New(r.View, search.Options{Synonyms: r.api.rules.Synonyms}) })
	return r.index
}

// Shows reports whether nothing of a name is hidden from those whose r is, in whatever schema.
func (r *Reach) Shows(name string) bool { return !r.hidden[name] }

// maxReaches is how many are kept of one API: as many as there are kinds of principals, and then some.
const maxReaches = 64

// reaches keeps what was made, by what distinguishes those who see it.
type reaches struct {
	mu   sync.Mutex
	made map[string]*Reach
}

// All returns what who sees of each API, ordered by name. An API of which who sees no operation is absent.
func (all *APIs) All(p identity.Principal) []*Reach {
	var out []*Reach
	if all == nil {
		return nil
	}
	for _, name := range all.names {
		if r := all.byName[name].reach(p); len(r.View.Operations()) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// Reach returns what who sees of the API called name; "" names the only one there is for who. It refuses with
// problem.NotFound, at the pointer at, with near names of what who sees.
func (all *APIs) Reach(p identity.Principal, name, at string) (*Reach, error) {
	if all.Has(name) { // the others needn't be looked at
		if r := all.byName[name].reach(p); len(r.View.Operations()) > 0 {
			return r, nil
		}
	}
	seen := all.All(p)
	if name == "" && len(seen) == 1 {
		return seen[0], nil
	}
	var known []string
	for _, r := range seen {
		known = append(known, r.Name)
	}
	switch {
	case len(seen) == 0:
		return nil, &problem.Error{Code: problem.NotFound, Kind: "unknown_api", Pointer: at, Detail: "there is no API here"}
	case name == "":
		return nil, &problem.Error{Code: problem.InvalidArgument, Kind: "unknown_api", Pointer: at, Near: known[:min(len(known), 5)],
			Detail: "say which API: there are " + strings.Join(known, ", ")}
	}
	near := problem.Nearest(name, known, 3)
	return nil, &problem.Error{Code: problem.NotFound, Kind: "unknown_api", Pointer: at, Near: near,
		Detail: fmt.Sprintf("there is no API %q%s", problem.Cut(name), problem.DidYouMean(near))}
}

// reach returns what who sees, made once for all who see the same.
func (a *api) reach(p identity.Principal) *Reach {
	hides := make([]bool, len(a.hidden))
	key := make([]byte, len(a.hidden))
	for i, h := range a.hidden {
		hides[i] = h.hides(p)
		if hides[i] {
			key[i] = '1'
		}
	}
	for list := range p.Classes.All() {
		text, err := json.Marshal(list)
		if err != nil {
			panic(err) // lists of texts always encode
		}
		key = append(key, text...)
	}
	a.reaches.mu.Lock()
	defer a.reaches.mu.Unlock()
	if r := a.reaches.made[string(key)]; r != nil {
		return r
	}
	if a.reaches.made == nil || len(a.reaches.made) >= maxReaches {
		a.reaches.made = map[string]*Reach{}
	}
	r := a.see(p.Classes, hides)
	a.reaches.made[string(key)] = r
	return r
}

// hides reports whether h hides from who, or from one that who was derived from. What can't be decided hides.
func (h hidden) hides(principal identity.Principal) bool {
	if h.when == nil {
		return true
	}
	for p := &principal; p != nil; p = p.Above {
		if v, err := h.when.Eval(*p); err != nil || v.Bool() {
			return true
		}
	}
	return false
}

// see makes a Reach for those who may see what list allows, without what hides says of each of a.hidden.
func (a *api) see(list identity.List, hides []bool) *Reach {
	var out []Hidden
	for i, h := range a.hidden {
		if hides[i] {
			out = append(out, h.Hidden)
		}
	}
	shown := classify.Rule{Operations: a.rules.Shown} // without any, all
	gone := map[*spec.Operation]bool{}
	for _, op := range a.rules.Document.Operations {
		gone[op] = !list.Allows(a.name, a.name+"."+op.ID) || !shown.Matches(op) ||
			slices.ContainsFunc(out, func(h Hidden) bool { return len(h.Operations)+len(h.Tags) > 0 && h.rule().Matches(op) })
	}
	v := visible.New(a.rules.Document, a.access, visible.Filter{
		Operation: func(op *spec.Operation) bool { return !gone[op] },
		Schema: func(name string) bool {
			return !slices.ContainsFunc(out, func(h Hidden) bool {
				return slices.ContainsFunc(h.Schemas, func(pattern string) bool { return names(pattern, name) })
			})
		},
		Field:    fields(out),
		Optional: func(in, name string) bool { return a.rules.Signed && in != "path" && denylist.Credential(name) },
		Parameter: func(in, name string) bool {
			return !slices.ContainsFunc(a.rules.Sends, func(p Place) bool {
				return p.In == in && (p.Name == name || in == "header" && strings.EqualFold(p.Name, name))
			})
		},
	})
	r := &Reach{Name: a.name, Description: a.rules.Description, View: v, api: a, hidden: map[string]bool{}, checker: validate.New(v, validate.Options{OpenBodies: a.rules.OpenBodies})}
	for _, op := range v.Operations() {
		r.Reads = r.Reads || v.Class(op) == classify.Read
		r.Writes = r.Writes || v.Class(op) != classify.Read
	}
	for _, h := range out {
		for _, f := range h.Fields {
			_, field := cutField(f)
			r.hidden[field] = true
		}
	}
	return r
}

// fields tells which fields are there. Those of the machinery of a source are in no API either.
func fields(out []Hidden) func(schema, field string) bool {
	by := map[string][]string{} // by field: the schemas that it is hidden in; "" for all
	for _, h := range out {
		for _, f := range h.Fields {
			schema, field := cutField(f)
			by[field] = append(by[field], schema)
		}
	}
	return func(schema, field string) bool {
		return !denylist.Internal(field) && !slices.ContainsFunc(by[field], func(in string) bool { return in == "" || names(in, schema) })
	}
}

package calls

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/search"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Reach is one principal's view of an API, and the calls that it may make. It is safe for concurrent use.
type Reach struct {
	Name        string // of the API
	Description string
	View        *spec.View
	Reads       bool // it has operations that only read
	Writes      bool // it has operations that write

	api     *api
	hidden  map[string]bool // the names of fields that are hidden in at least one schema
	checker *validate.Checker
	once    sync.Once
	index   *search.Index
}

// Index returns the search index over the operations of r. It is built on first use.
func (r *Reach) Index() *search.Index {
	r.once.Do(func() { r.index = search.New(r.View, search.Options{Synonyms: r.api.rules.Synonyms}) })
	return r.index
}

// Shows reports whether no field of that name is hidden in any schema of r.
func (r *Reach) Shows(name string) bool { return !r.hidden[name] }

// maxReaches is the maximum number of cached reaches for one API: more than the usual number of kinds of principals.
const maxReaches = 64

// reaches caches each Reach by the view of its principals.
type reaches struct {
	mu   sync.Mutex
	made map[string]*Reach
}

// All returns p's view of each API, sorted by name. It omits APIs without a visible operation.
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

// Reach returns p's view of the API called name. The name "" selects the only API that p can see. If p sees several
// APIs, "" is an InvalidArgument. For an unknown name it fails with problem.NotFound, and suggests similar names that p
// can see. at is the pointer in the errors.
func (all *APIs) Reach(p identity.Principal, name, at string) (*Reach, error) {
	if all.Has(name) { // avoid building the others
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

// reach returns p's view, shared by all principals that see the same.
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

// hides reports whether h hides from the principal or from one of its ancestors. An error in the condition hides.
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

// see builds the Reach of principals with this list, without the entries of a.hidden for which hides is true.
func (a *api) see(list identity.List, hides []bool) *Reach {
	var out []Hidden
	for i, h := range a.hidden {
		if hides[i] {
			out = append(out, h.Hidden)
		}
	}
	shown := spec.ClassRule{Operations: a.rules.Shown} // without any, all
	// An operation is gone if the principal's list, the rules or a hidden entry leave it out.
	gone := map[*spec.Operation]bool{}
	for _, op := range a.rules.Document.Operations {
		gone[op] = !list.Allows(a.name, a.name+"."+op.ID) || !shown.Matches(op) ||
			slices.ContainsFunc(out, func(h Hidden) bool { return len(h.Operations)+len(h.Tags) > 0 && h.rule().Matches(op) })
	}
	v := spec.NewView(a.rules.Document, a.access, spec.Filter{
		Operation: func(op *spec.Operation) bool { return !gone[op] },
		Schema: func(name string) bool {
			return !slices.ContainsFunc(out, func(h Hidden) bool {
				return slices.ContainsFunc(h.Schemas, func(pattern string) bool { return names(pattern, name) })
			})
		},
		Field:      fields(out),
		Whole:      !slices.ContainsFunc(out, func(h Hidden) bool { return len(h.Schemas)+len(h.Fields) > 0 }),
		Undeclared: undeclaredFieldCheck(out),
		Reviewed:   a.reviewText,
		Uncallable: a.rules.uncallable,
		Opened:     a.rules.opens,
		Optional:   func(in, name string) bool { return a.rules.Signed && in != "path" && secretnames.Credential(name) },
		Parameter: func(in, name string) bool {
			if in == "cookie" && session(name) {
				return false
			}
			return !slices.ContainsFunc(a.rules.Sends, func(p Place) bool {
				return p.In == in && (p.Name == name || in == "header" && strings.EqualFold(p.Name, name))
			})
		},
	})
	r := &Reach{Name: a.name, Description: a.rules.Description, View: v, api: a, hidden: map[string]bool{}, checker: validate.New(v, validate.Options{OpenBodies: a.rules.OpenBodies, OpenFormats: a.rules.OpenFormats})}
	for _, op := range v.Operations() {
		r.Reads = r.Reads || v.Class(op) == spec.ClassRead
		r.Writes = r.Writes || v.Class(op) != spec.ClassRead
	}
	for _, h := range out {
		for _, f := range h.Fields {
			_, field := cutField(f)
			r.hidden[field] = true
		}
	}
	return r
}

// session reports whether a cookie called name contains a session or another credential, which agents must not see.
func session(name string) bool {
	text := strings.ToLower(name)
	return secretnames.Credential(name) || strings.Contains(text, "sess") || strings.Contains(text, "auth") || strings.HasSuffix(text, "sid") || strings.Contains(text, "csrf") || strings.Contains(text, "xsrf")
}

// fields returns a function that reports whether a field is visible. A source's internal fields never are.
func fields(out []Hidden) func(schema, field string) bool {
	by := map[string][]string{} // by field: the schemas that it is hidden in, or "" for all
	for _, h := range out {
		for _, f := range h.Fields {
			schema, field := cutField(f)
			by[field] = append(by[field], schema)
		}
	}
	return func(schema, field string) bool {
		return !secretnames.Internal(field) && !slices.ContainsFunc(by[field], func(in string) bool { return in == "" || names(in, schema) })
	}
}

// Package calls decides about HTTP APIs: which operations, schemas and fields of one a principal sees, and which
// calls it may make.
//
// It stands inside of policy. As a class is only ever seen as a View, so is an API: a Reach is what one principal sees of
// it, and all that is told of it and every call of it goes through one. Arguments become a Permit there, checked against
// what is seen and bound by the rules of parameters; an adapter sends nothing else. What is hidden is absent, in the same
// bytes. Rules are compiled once against the document; a Reach is made once for all principals that see the same.
package calls

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/classify"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/request"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/visible"
	"github.com/bailiwick-dev/bailiwick/internal/rules/expression"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Rules are what an owner says about one API. The zero Rules have no document and show nothing.
type Rules struct {
	Document *spec.Document `json:"-"`
	Digest   string         // of the document's bytes: another document is other rules

	Description string // for agents: what the API is for
	Access      classify.Options
	Shown       []string // the operations that can be seen, as in access.Rule; nil for all that Access doesn't exclude
	Hidden      []Hidden
	Parameters  []Parameter
	Write       map[classify.Class]write.Mode // how what isn't access.Read may run; write.Review where it says nothing
	OpenBodies  bool                          // see validate.Options
	Partial     []string                      // the PUTs, as in access.Rule, that leave what they aren't given as it is
	Synonyms    map[string][]string           // see index.Options
	Lists       request.Lists                 // see request.Options
	Signed      bool                          // a credential is put on requests: parameters for one aren't demanded
	Sends       []Place                       // what the credential puts on requests: no agent gives it
}

// A Place is one of the parameters of a request.
type Place struct {
	In   string // header or query
	Name string // of a header in any case
}

// A Hidden takes something out of sight. One of the lists must be given.
type Hidden struct {
	Operations []string // as in access.Rule
	Tags       []string
	Schemas    []string // by full or short name; * stands for any text
	Fields     []string // "Schema.field" of the schema that declares it, or a field's name wherever it stands
	When       string   // CEL over principal, true or false: for whom; "" for everybody, and an error hides
}

// A Parameter binds a parameter, or a field of a body, of all operations that have one of its name: given, it must be
// the value; not given, it is set.
type Parameter struct {
	Name       string   // of a path, query or header parameter, or of a field at the top of a body
	Operations []string // as in access.Rule; nil for all
	Is         string   // CEL over principal for a text, a number or a boolean; an error refuses the call
}

// A Fault is one thing that is wrong with the rules of an API.
type RuleFault struct {
	API     string
	Pointer string // of the place in the Rules: /Hidden/0/Fields/1
	Message string
}

// Error returns the place and the message.
func (f *RuleFault) Error() string { return "apis." + f.API + f.Pointer + ": " + f.Message }

// APIs are the rules of all APIs, compiled. They never change. The zero APIs have none.
type APIs struct {
	byName map[string]*api
	names  []string // sorted
}

// api is one API with its rules, compiled.
type api struct {
	name       string
	rules      Rules
	access     *classify.Rules
	whole      *visible.View // without what is hidden from everybody
	there      *visible.View // all that there is, for operators
	hidden     []hidden
	parameters []parameter
	routes     []route
	reaches    reaches
}

type hidden struct {
	Hidden
	when *expression.Expression // nil for everybody
}

type parameter struct {
	Parameter
	is *expression.Expression
}

// New compiles rules by the name of each API. All that is wrong with them is in the error: Faults, joined.
func New(rules map[string]Rules, c *expression.Compiler) (*APIs, error) {
	all := &APIs{byName: map[string]*api{}, names: slices.Sorted(maps.Keys(rules))}
	var errs []error
	for _, name := range all.names {
		a := &api{name: name, rules: rules[name]}
		fail := func(pointer string, err error) {
			p := problem.Of(err)
			errs = append(errs, &RuleFault{name, pointer + p.Pointer, p.Detail})
		}
		if a.rules.Document == nil {
			fail("/Document", problem.New(problem.InvalidArgument, "there is no document"))
			continue
		}
		a.compile(c, fail)
		all.byName[name] = a
	}
	return all, errors.Join(errs...)
}

func (a *api) compile(c *expression.Compiler, fail func(pointer string, err error)) {
	d := a.rules.Document
	a.there, a.routes = visible.New(d, nil, visible.Filter{}), routesOf(d)
	var err error
	if a.access, err = classify.New(d, a.rules.Access); err != nil {
		fail("/Access", err)
	}
	if len(a.rules.Shown) > 0 {
		if err := (classify.Rule{Operations: a.rules.Shown}).Names(d, "/Shown"); err != nil {
			fail("", err)
		}
	}
	for i, h := range a.rules.Hidden {
		at := fmt.Sprintf("/Hidden/%d", i)
		if err := h.check(d); err != nil {
			fail(at, err)
		}
		made := hidden{Hidden: h}
		if h.When != "" {
			if made.when, err = c.Compile(h.When, expression.Bool); err != nil {
				fail(at+"/When", problem.New(problem.InvalidArgument, err.Error()))
			}
		}
		a.hidden = append(a.hidden, made)
	}
	if len(a.rules.Partial) > 0 {
		if err := (classify.Rule{Operations: a.rules.Partial}).Names(d, "/Partial"); err != nil {
			fail("", err)
		}
	}
	always := make([]bool, len(a.hidden))
	for i := range a.hidden {
		always[i] = a.hidden[i].when == nil
	}
	a.whole = a.see(identity.List{}, always).View
	for i, p := range a.rules.Parameters {
		at := fmt.Sprintf("/Parameters/%d", i)
		made := parameter{Parameter: p}
		if err := p.check(d, a.there); err != nil {
			fail(at, err)
		}
		if made.is, err = c.Compile(p.Is, expression.Scalar); err != nil {
			fail(at+"/Is", problem.New(problem.InvalidArgument, err.Error()))
		}
		a.parameters = append(a.parameters, made)
	}
}

// rule is the operations that h is about.
func (h Hidden) rule() classify.Rule { return classify.Rule{Operations: h.Operations, Tags: h.Tags} }

// check refuses what names nothing: a misspelt name would hide nothing.
func (h Hidden) check(d *spec.Document) error {
	if len(h.Operations)+len(h.Tags) > 0 {
		if err := h.rule().Names(d, ""); err != nil {
			return err
		}
	} else if len(h.Schemas)+len(h.Fields) == 0 {
		return problem.New(problem.InvalidArgument, "it names no operations, tags, schemas or fields")
	}
	for i, pattern := range h.Schemas {
		if !slices.ContainsFunc(d.Names(), func(name string) bool { return names(pattern, name) }) {
			near := problem.Nearest(pattern, d.Names(), 3)
			return &problem.Error{Code: problem.InvalidArgument, Pointer: fmt.Sprintf("/Schemas/%d", i), Near: near,
				Detail: fmt.Sprintf("the document has no schema %q%s", problem.Cut(pattern), problem.DidYouMean(near))}
		}
	}
	for i, field := range h.Fields {
		if err := declared(d, field); err != nil {
			err.Pointer = fmt.Sprintf("/Fields/%d", i)
			return err
		}
	}
	return nil
}

// declared refuses "Schema.field" where there is no such schema. Which fields it has isn't looked at: documents leave out
// what answers hold.
func declared(d *spec.Document, field string) *problem.Error {
	schema, _ := cutField(field)
	if schema == "" || slices.ContainsFunc(d.Names(), func(name string) bool { return names(schema, name) }) {
		return nil
	}
	near := problem.Nearest(schema, d.Names(), 3)
	return &problem.Error{Code: problem.InvalidArgument, Near: near,
		Detail: fmt.Sprintf("the document has no schema %q%s", problem.Cut(schema), problem.DidYouMean(near))}
}

// cutField takes "Schema.field" apart; the schema of a bare field is "".
func cutField(s string) (schema, field string) {
	if i := strings.LastIndexByte(s, '.'); i >= 0 {
		return s[:i], s[i+1:]
	}
	return "", s
}

// names reports whether pattern names the schema, by its full or its short name.
func names(pattern, schema string) bool {
	return classify.Match(pattern, schema) || classify.Match(pattern, spec.ShortName(schema))
}

// about reports whether p is about an operation.
func (p Parameter) about(op *spec.Operation) bool {
	return classify.Rule{Operations: p.Operations}.Matches(op)
}

// check refuses a rule that binds nothing.
func (p Parameter) check(d *spec.Document, there *visible.View) error {
	if p.Name == "" || p.Is == "" {
		return problem.New(problem.InvalidArgument, "it needs a name and what it must be")
	}
	if p.Operations != nil {
		if err := (classify.Rule{Operations: p.Operations}).Names(d, ""); err != nil {
			return err
		}
	}
	var all []string
	for _, op := range d.Operations {
		if !p.about(op) {
			continue
		}
		for _, name := range bindable(there, op) {
			if name == p.Name {
				return nil
			}
			all = append(all, name)
		}
	}
	slices.Sort(all)
	near := problem.Nearest(p.Name, slices.Compact(all), 3)
	return &problem.Error{Code: problem.InvalidArgument, Pointer: "/Name", Near: near,
		Detail: fmt.Sprintf("no operation has a parameter or a field of a body called %q%s", problem.Cut(p.Name), problem.DidYouMean(near))}
}

// bindable are the names of what can be bound of an operation.
func bindable(there *visible.View, op *spec.Operation) []string {
	var out []string
	for _, p := range op.Parameters {
		out = append(out, p.Name)
	}
	if op.Body != nil {
		for _, c := range op.Body.Contents {
			for _, f := range there.Object(there.Schema(c.Schema)).Fields {
				out = append(out, f.Name)
			}
		}
	}
	return out
}

// Has reports whether there is an API of that name at all, whoever asks.
func (all *APIs) Has(name string) bool { return all != nil && all.byName[name] != nil }

// mode is how an operation of a class may run.
func (a *api) mode(class classify.Class) write.Mode {
	if m, ok := a.rules.Write[class]; ok {
		return m
	}
	return write.Review
}

// partial reports whether op leaves what it isn't given as it is, though it is a PUT.
func (a *api) partial(op *spec.Operation) bool {
	return len(a.rules.Partial) > 0 && classify.Rule{Operations: a.rules.Partial}.Matches(op)
}

// scope is what an operation of a class asks for.
func scope(class classify.Class) identity.Scope {
	switch class {
	case classify.Read:
		return identity.Read
	case classify.Write:
		return identity.Write
	}
	return identity.Delete
}

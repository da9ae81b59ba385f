package calls

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Rules are the owner's rules for one API. The zero Rules have no document and show nothing.
type Rules struct {
	Document *spec.Document `json:"-"`
	Digest   string         // of the document's bytes, so that a new document counts as new rules

	Description    string // for agents: the purpose of the API
	Access         spec.ClassOptions
	Shown          []string // the visible operations, as in spec.ClassRule, or nil for all that Access doesn't exclude
	Hidden         []Hidden
	Parameters     []Parameter
	Write          map[spec.Class]write.Mode // how operations other than spec.ClassRead may run, or write.Review if unset
	Reviews        Reviews                   // which calls require a review although Write allows them. policy sets it
	OpenBodies     bool                      // see validate.Options
	OpenFormats    bool                      // see validate.Options
	OpenParameters []Opened                  // query parameters that the document doesn't declare
	Partial        []string                  // the PUT operations, as in spec.ClassRule, that keep fields that the body omits
	ReadBack       []ReadBack                // how to settle calls that create something and whose answer was lost. The first match counts
	Synonyms       map[string][]string       // see search.Options
	Lists          ListStyle                 // see RequestOptions
	Signed         bool                      // requests carry a credential: its parameters are not required
	Base           string                    // the address that calls are sent to, or "" for a handler of this program
	Sends          []Place                   // the parameters that credentials and fixed headers set: agents must not set them
	Signing        Signing                   // which credentials calls to Base carry
	Servers        map[string]Signing        // further addresses of the document that calls are sent to, each with its own credentials
}

// Reviews says which calls require a review although the rules of the API allow them, because of the gates and the
// rules of review.
type Reviews string

// The values of Reviews.
const (
	ReviewsAll  Reviews = ""     // all, because of the gates
	ReviewsSome Reviews = "some" // calls that a rule of review matches
	ReviewsNone Reviews = "none"
)

// A Place identifies a parameter of a request.
type Place struct {
	In   string // header or query
	Name string // header names are case-insensitive
}

// A Hidden hides operations, schemas or fields. At least one of the lists must be given.
type Hidden struct {
	Operations []string // as in spec.ClassRule
	Tags       []string
	Schemas    []string // by full or short name. * matches any text
	Fields     []string // "Schema.field" with the schema that declares it, or a field's name for all schemas
	When       string   // a CEL condition over principal. "" means always, and an error hides
}

// A Parameter binds a parameter or a field of a body, in all operations that have one of this name. A given value must
// equal Is. A missing value is set.
type Parameter struct {
	Name       string   // of a path, query or header parameter, or of a top-level field of a body
	Operations []string // as in spec.ClassRule, or nil for all
	Is         string   // a CEL expression over principal, of type text, number or boolean. An error refuses the call
}

// A RuleFault is one error in the rules of an API.
type RuleFault struct {
	API     string
	Pointer string // JSON pointer into the Rules: /Hidden/0/Fields/1
	Message string
}

// Error returns the path of the rule and the message.
func (f *RuleFault) Error() string { return "apis." + f.API + f.Pointer + ": " + f.Message }

// APIs are the compiled rules of all APIs. They are immutable. The zero APIs have no API.
type APIs struct {
	byName map[string]*api
	names  []string // sorted
}

// api is one API with its compiled rules.
type api struct {
	name       string
	rules      Rules
	access     *spec.Classifier
	whole      *spec.View // without the parts that are hidden from every principal
	there      *spec.View // everything, for operators
	hidden     []hidden
	parameters []parameter
	routes     []route // to find the operations of redirects
	reaches    reaches // the cached ones
}

// A hidden is a compiled Hidden.
type hidden struct {
	Hidden
	when *expression.Expression // nil means always
}

// A parameter is a compiled Parameter.
type parameter struct {
	Parameter
	is *expression.Expression
}

// New compiles rules, which are keyed by the name of the API. The error joins every RuleFault found.
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

// compile compiles the rules of the API against its document. It calls fail for each fault with its JSON pointer. It
// sets a.whole to the view without the parts that unconditional rules hide.
func (a *api) compile(c *expression.Compiler, fail func(pointer string, err error)) {
	d := a.rules.Document
	a.there, a.routes = spec.NewView(d, nil, spec.Filter{}), routesOf(d)
	var err error
	if a.access, err = a.rules.Classes(); err != nil {
		fail("/Access", err)
	}
	if len(a.rules.Shown) > 0 {
		if err := (spec.ClassRule{Operations: a.rules.Shown}).Names(d, "/Shown"); err != nil {
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
	for i, pattern := range a.rules.Partial {
		if err := replaces(d, pattern); err != nil {
			fail(fmt.Sprintf("/Partial/%d", i), err)
		}
	}
	for i, o := range a.rules.OpenParameters {
		if err := a.rules.checkOpenParameters(o); err != nil {
			fail(fmt.Sprintf("/OpenParameters/%d", i), err)
		}
	}
	for i, r := range a.rules.ReadBack {
		if err := r.Check(d, a.access, fmt.Sprintf("/ReadBack/%d", i)); err != nil {
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

// replaces refuses a pattern for partial PUTs that names no PUT.
func replaces(d *spec.Document, pattern string) error {
	rule := spec.ClassRule{Operations: []string{pattern}}
	if err := rule.Names(d, ""); err != nil {
		return problem.New(problem.InvalidArgument, problem.Of(err).Detail)
	}
	if !slices.ContainsFunc(d.Operations, func(op *spec.Operation) bool { return op.Method == "PUT" && rule.Matches(op) }) {
		return problem.New(problem.InvalidArgument, fmt.Sprintf("%q is not a PUT. Only a PUT replaces a whole resource. Remove it", problem.Cut(pattern)))
	}
	return nil
}

// rule returns the operations that h names.
func (h Hidden) rule() spec.ClassRule { return spec.ClassRule{Operations: h.Operations, Tags: h.Tags} }

// check refuses names that match nothing, because a misspelt name would hide nothing.
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
		if err := checkFieldSchema(d, field); err != nil {
			err.Pointer = fmt.Sprintf("/Fields/%d", i)
			return err
		}
	}
	return nil
}

// checkFieldSchema refuses "Schema.field" if there is no such schema. It doesn't check the field, because answers can have
// fields that the document omits.
func checkFieldSchema(d *spec.Document, field string) *problem.Error {
	schema, _ := cutField(field)
	if schema == "" || slices.ContainsFunc(d.Names(), func(name string) bool { return names(schema, name) }) {
		return nil
	}
	near := problem.Nearest(schema, d.Names(), 3)
	return &problem.Error{Code: problem.InvalidArgument, Near: near,
		Detail: fmt.Sprintf("the document has no schema %q%s", problem.Cut(schema), problem.DidYouMean(near))}
}

// cutField splits "Schema.field". The schema of a bare field is "".
func cutField(s string) (schema, field string) {
	if i := strings.LastIndexByte(s, '.'); i >= 0 {
		return s[:i], s[i+1:]
	}
	return "", s
}

// names reports whether pattern matches the schema, by its full or its short name.
func names(pattern, schema string) bool {
	return spec.MatchPattern(pattern, schema) || spec.MatchPattern(pattern, spec.ShortName(schema))
}

// about reports whether p applies to an operation.
func (p Parameter) about(op *spec.Operation) bool {
	return spec.ClassRule{Operations: p.Operations}.Matches(op)
}

// check refuses a rule that binds nothing.
func (p Parameter) check(d *spec.Document, there *spec.View) error {
	if p.Name == "" || p.Is == "" {
		return problem.New(problem.InvalidArgument, "it needs a name and what it must be")
	}
	if p.Operations != nil {
		if err := (spec.ClassRule{Operations: p.Operations}).Names(d, ""); err != nil {
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

// bindable returns names of an operation: of its parameters, of the members of objects that are sent as parameters, and
// of its top-level body fields.
func bindable(there *spec.View, op *spec.Operation) []string {
	var out []string
	for _, p := range op.Parameters {
		if out = append(out, p.Name); explodes(p) {
			for _, f := range there.Object(there.Schema(p.Schema)).Fields {
				out = append(out, f.Name)
			}
		}
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

// Has reports whether there is an API with this name, even if no principal sees it.
func (all *APIs) Has(name string) bool { return all != nil && all.byName[name] != nil }

// mode returns how an operation of a class may run.
func (a *api) mode(class spec.Class) write.Mode {
	if m, ok := a.rules.Write[class]; ok {
		return m
	}
	return write.Review
}

// reviewText describes how the calls of op run. This depends on the mode of its class and on other reasons for a review.
// A call that changes something that no operation reads always requires a review.
func (a *api) reviewText(op *spec.Operation) string {
	unread := func() bool {
		return (op.Method != "POST" || strings.HasSuffix(strings.TrimSuffix(op.Path, "/"), "}")) &&
			!slices.ContainsFunc(a.rules.Document.Operations, func(reads *spec.Operation) bool { return reads.Method == "GET" && reads.Path == op.Path })
	}
	switch mode := a.mode(a.access.Of(op).Class); {
	case mode == write.Deny:
		return "not allowed"
	case mode != write.Allow || a.rules.Reviews == ReviewsAll || unread():
		return "needs review"
	case a.rules.Reviews == ReviewsSome:
		return "may need review"
	}
	return ""
}

// partial reports whether op is a PUT that keeps fields that the body omits.
func (a *api) partial(op *spec.Operation) bool {
	return len(a.rules.Partial) > 0 && spec.ClassRule{Operations: a.rules.Partial}.Matches(op)
}

// scope returns the scope that an operation of a class requires.
func scope(class spec.Class) identity.Scope {
	switch class {
	case spec.ClassRead:
		return identity.Read
	case spec.ClassWrite:
		return identity.Write
	}
	return identity.Delete
}

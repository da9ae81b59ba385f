// Package visible is an OpenAPI document as one principal may see it.
//
// It stands between the document and everything that tells of it: the index, what is rendered, and what arguments are
// checked against take a View and never a Document, so what is hidden can't be told. An operation that is hidden,
// excluded or forbidden is absent; a schema is there when an operation that is there leads to it; a hidden field is in
// no list of fields. Hidden and absent are the same bytes: near names come from what is there. Headers that belong to
// the gateway (Authorization, Cookie, Host, X-Forwarded-*, …) are no parameters.
package visible

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/classify"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Filter says what somebody may see. A nil function lets everything be seen. They are asked the same question often
// and must always answer it alike.
type Filter struct {
	Operation func(op *spec.Operation) bool
	Schema    func(name string) bool          // by the name that agents know; a hidden one reads as any value
	Field     func(schema, field string) bool // schema is the named one that declares the field; "" for one in place
	Parameter func(in, name string) bool      // a hidden one is neither told nor taken
	Optional  func(in, name string) bool      // nobody needs to give it, though the document says so; nil makes none so
}

// A View is a document as one principal may see it. It can be used by many at once. The zero View has nothing.
type View struct {
	d          *spec.Document
	rules      *classify.Rules
	f          Filter
	operations []*spec.Operation
	has        map[*spec.Operation]bool

	once    sync.Once
	schemas []string // names, in the order of the document
}

// New returns what f leaves of d, without the operations that rules exclude or forbid.
func New(d *spec.Document, rules *classify.Rules, f Filter) *View {
	v := &View{d: d, rules: rules, f: f, has: map[*spec.Operation]bool{}}
	for _, op := range d.Operations {
		if class := rules.Of(op).Class; class == classify.Excluded || class == classify.Forbidden || !v.sees(op) {
			continue
		}
		v.operations = append(v.operations, op)
		v.has[op] = true
	}
	return v
}

func (v *View) sees(op *spec.Operation) bool { return v.f.Operation == nil || v.f.Operation(op) }

// Document returns the title and the tags of the document, which is all of it that is nobody's secret.
func (v *View) Document() (title string, tags []spec.Tag) {
	if v.d == nil {
		return "", nil
	}
	return v.d.Title, v.d.Tags
}

// Dialect returns the family of the document.
func (v *View) Dialect() spec.Dialect { return v.d.Dialect }

// Operations returns the operations that are there, in the order of the document. It must not be changed.
func (v *View) Operations() []*spec.Operation { return v.operations }

// Has reports whether op is there.
func (v *View) Has(op *spec.Operation) bool { return v.has[op] }

// Class returns the access class of an operation.
func (v *View) Class(op *spec.Operation) classify.Class { return v.rules.Of(op).Class }

// Operation returns the operation that name names: by its id, by method and path, or by the end of its id behind a dot
// or a slash where one alone has it (SQLService/Query for bytebase.v1.SQLService.Query). It refuses with
// problem.NotFound and near names; with problem.SecurityBlocked and where a person does it, if the operation is
// forbidden to all agents.
func (v *View) Operation(name string) (*spec.Operation, error) {
	if op := v.d.Called(name); op != nil {
		if v.has[op] {
			return op, nil
		}
		if d := v.rules.Of(op); d.Class == classify.Forbidden && v.sees(op) {
			return nil, &problem.Error{Code: problem.SecurityBlocked, Kind: "forbidden_operation", Suggestion: d.Instead,
				Detail: fmt.Sprintf("%s is not for agents: %s", op.ID, d.Reason)}
		}
	}
	var found []*spec.Operation
	for _, op := range v.operations {
		if ending(op.ID, name) {
			found = append(found, op)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	near := ids(found)
	if len(found) == 0 {
		near = problem.Nearest(name, v.shortIDs(), 3)
	}
	return nil, &problem.Error{Code: problem.NotFound, Near: near[:min(len(near), 5)],
		Detail:     fmt.Sprintf("unknown operation %q%s", problem.Cut(name), problem.DidYouMean(near[:min(len(near), 5)])),
		Suggestion: "search_api finds operations: a verb and an object in the words of the API"}
}

// ending reports whether id ends with name at the beginning of a part, whichever separator is between the parts.
func ending(id, name string) bool {
	if name == "" || len(id) <= len(name) {
		return false
	}
	at := len(id) - len(name)
	plain := strings.NewReplacer("/", ".")
	return (id[at-1] == '.' || id[at-1] == '/') && plain.Replace(id[at:]) == plain.Replace(name)
}

func ids(ops []*spec.Operation) []string {
	var out []string
	for _, op := range ops {
		out = append(out, op.ID)
	}
	return out
}

// shortIDs returns the ids, and their last parts, which is what somebody misspells of a long one.
func (v *View) shortIDs() []string {
	out := ids(v.operations)
	for _, id := range out[:len(v.operations):len(v.operations)] {
		if short := spec.ShortName(id); short != id {
			out = append(out, short)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Parameters returns the parameters of an operation that an agent can give: all but cookies, the gateway's headers and what
// the filter hides.
func (v *View) Parameters(op *spec.Operation) []spec.Parameter {
	all := slices.DeleteFunc(slices.Clone(op.Parameters), func(p spec.Parameter) bool {
		return p.In == "cookie" || p.In == "header" && Refused(p.Name) || v.f.Parameter != nil && !v.f.Parameter(p.In, p.Name)
	})
	for i, p := range all {
		all[i].Required = p.Required && (v.f.Optional == nil || !v.f.Optional(p.In, p.Name))
	}
	return all
}

// Fixed returns what a parameter must be, where it is needed and can be one thing alone; nil for all others. Nobody has to
// be told of it, or to give it.
func (v *View) Fixed(p spec.Parameter) spec.Raw {
	if s := v.Schema(p.Schema); p.Required && len(s.Enum) == 1 {
		return s.Enum[0]
	}
	return nil
}

// Refused reports whether a header is the gateway's own and never an agent's to set: who asks, whom, from where, and
// how the message is framed.
func Refused(header string) bool {
	name := strings.ToLower(header)
	for _, prefix := range []string{"x-forwarded-", "proxy-", "sec-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{"authorization", "cookie", "set-cookie", "host", "forwarded", "x-real-ip", "x-original-url", "x-rewrite-url",
		"x-http-method-override", "x-http-method", "x-method-override", "content-length", "content-type", "content-encoding", "transfer-encoding",
		"te", "trailer", "connection", "keep-alive", "upgrade", "expect", "accept", "accept-encoding", "origin", "referer", "via"}, name)
}

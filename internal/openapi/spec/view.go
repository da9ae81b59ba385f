package spec

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Filter selects the parts that a principal may see. A nil function selects everything. The functions are called
// often. They must always return the same result for the same arguments.
type Filter struct {
	Operation  func(op *Operation) bool
	Schema     func(name string) bool          // by the name shown to agents. A hidden schema reads as one that accepts any value
	Field      func(schema, field string) bool // schema is the named schema that declares the field, or "" for an inline one
	Parameter  func(in, name string) bool      // a hidden parameter is neither shown nor accepted
	Whole      bool                            // Schema and Field hide nothing that the document or the rules name
	Undeclared func(name string) bool          // whether a body may have a field that no schema declares
	// Reviewed returns how the calls of op run, as a text for list and detail. If it is nil, every operation that
	// changes something "needs review".
	Reviewed   func(op *Operation) string
	Uncallable func(op *Operation) string      // why the gateway sends no call of op, or "". May be nil
	Opened     func(op *Operation) []Parameter // parameters in addition to the document's. May be nil
	Optional   func(in, name string) bool      // makes a parameter optional that the document requires, or nil
}

// A View is the part of a document that one principal may see. It is safe for concurrent use. The zero View is empty.
type View struct {
	d          *Document
	rules      *Classifier
	f          Filter
	operations []*Operation
	has        map[*Operation]bool

	once    sync.Once
	schemas []string // names, in the document's order
}

// NewView returns the View of d through f, without the operations that the rules exclude or forbid.
func NewView(d *Document, rules *Classifier, f Filter) *View {
	v := &View{d: d, rules: rules, f: f, has: map[*Operation]bool{}}
	for _, op := range d.Operations {
		if class := rules.Of(op).Class; class == ClassExcluded || class == ClassForbidden || !v.sees(op) {
			continue
		}
		v.operations = append(v.operations, op)
		v.has[op] = true
	}
	return v
}

func (v *View) sees(op *Operation) bool { return v.f.Operation == nil || v.f.Operation(op) }

// Document returns the title and the tags of the document, which are never hidden.
func (v *View) Document() (title string, tags []Tag) {
	if v.d == nil {
		return "", nil
	}
	return v.d.Title, v.d.Tags
}

// Dialect returns the version family of the document.
func (v *View) Dialect() Dialect { return v.d.Dialect }

// Operations returns the visible operations, in the document's order. Callers must not modify the slice.
func (v *View) Operations() []*Operation { return v.operations }

// Whole reports whether no schema and no field of any body is hidden.
func (v *View) Whole() bool { return v.f.Whole || v.f.Schema == nil && v.f.Field == nil }

// Has reports whether op is visible.
func (v *View) Has(op *Operation) bool { return v.has[op] }

// Class returns the access class of an operation.
func (v *View) Class(op *Operation) Class { return v.rules.Of(op).Class }

// ReviewNote returns how calls of op run: "needs review", "may need review", "not allowed", or "" for calls that run
// at once.
func (v *View) ReviewNote(op *Operation) string {
	switch {
	case v.Class(op) == ClassRead:
		return ""
	case v.f.Reviewed == nil:
		return "needs review"
	}
	return v.f.Reviewed(op)
}

// Uncallable returns the reason why the gateway sends no call of op, or "" if it does. Such an operation requires a
// credential that the gateway doesn't have.
func (v *View) Uncallable(op *Operation) string {
	if v.f.Uncallable == nil {
		return ""
	}
	return v.f.Uncallable(op)
}

// Operation returns the operation with the given id, or with the given method and path. It also matches a unique id
// that ends with name after a dot or slash, in any case: SQLService/Query for bytebase.v1.SQLService.Query. Otherwise
// it returns problem.NotFound with near names. For an operation that is forbidden to all agents, it returns
// problem.SecurityBlocked and where a person can do it.
func (v *View) Operation(name string) (*Operation, error) {
	if op := v.d.FindOperation(name); op != nil {
		if v.has[op] {
			return op, nil
		}
		if d := v.rules.Of(op); d.Class == ClassForbidden && v.sees(op) {
			return nil, &problem.Error{Code: problem.SecurityBlocked, Kind: "forbidden_operation", Suggestion: d.Instead,
				Detail: fmt.Sprintf("%s is not for agents: %s", op.ID, d.Reason)}
		}
	}
	found := v.findOperations(name)
	if len(found) == 1 {
		return found[0], nil
	}
	like := ids(found)
	switch {
	case len(found) > 0:
	case strings.HasPrefix(name, "/"):
		like = v.onPath(name)
	default:
		like = near(name, v.shortIDs(strings.Contains(name, " ")))
	}
	return nil, &problem.Error{Code: problem.NotFound, Near: like[:min(len(like), 5)],
		Detail:     fmt.Sprintf("unknown operation %q%s", problem.Cut(name), problem.DidYouMean(like[:min(len(like), 5)])),
		Suggestion: "search_api finds operations: a verb and an object in the words of the API"}
}

// findOperations returns the visible operations whose id equals name or ends with it, or whose method and path equal
// name. It ignores case only if this finds nothing.
func (v *View) findOperations(name string) (found []*Operation) {
	for _, fold := range []func(string) string{func(s string) string { return s }, strings.ToLower} {
		for _, op := range v.operations {
			if id, n := fold(op.ID), fold(name); ending(id, n) || id == n || fold(op.Name()) == n {
				found = append(found, op)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// ending reports whether id ends with name and name begins at the start of a part. Dots and slashes are equivalent.
func ending(id, name string) bool {
	if name == "" || len(id) <= len(name) {
		return false
	}
	at := len(id) - len(name)
	plain := strings.NewReplacer("/", ".")
	return (id[at-1] == '.' || id[at-1] == '/') && plain.Replace(id[at:]) == plain.Replace(name)
}

func ids(ops []*Operation) []string {
	var out []string
	for _, op := range ops {
		out = append(out, op.ID)
	}
	return out
}

// shortIDs returns candidates for near names. These are the ids and their last one and two parts. With paths, they
// are methods and paths instead.
func (v *View) shortIDs(paths bool) (out []string) {
	for _, op := range v.operations {
		if paths {
			out = append(out, op.Name())
			continue
		}
		out = append(out, op.ID)
		if short := ShortName(op.ID); short != op.ID {
			out = append(out, short)
			if rest := ShortName(op.ID[:len(op.ID)-len(short)-1]); len(rest)+len(short)+1 < len(op.ID) {
				out = append(out, op.ID[len(op.ID)-len(short)-len(rest)-1:])
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// onPath returns the methods and paths of the operations on the given path, or on the nearest path if there are none.
func (v *View) onPath(path string) (out []string) {
	var paths []string
	for _, op := range v.operations {
		paths = append(paths, op.Path)
	}
	if !slices.Contains(paths, path) {
		near := problem.Nearest(path, paths, 1)
		if len(near) == 0 {
			return nil
		}
		path = near[0]
	}
	for _, op := range v.operations {
		if op.Path == path {
			out = append(out, op.Name())
		}
	}
	return out
}

// Parameters returns the parameters of an operation that an agent may set. It omits the gateway's headers and the
// parameters that the filter hides.
func (v *View) Parameters(op *Operation) []Parameter {
	all := slices.Clone(op.Parameters)
	if v.f.Opened != nil {
		all = append(all, v.f.Opened(op)...)
	}
	all = slices.DeleteFunc(all, func(p Parameter) bool {
		return p.In == "header" && RefusedHeader(p.Name) || v.f.Parameter != nil && !v.f.Parameter(p.In, p.Name)
	})
	for i, p := range all {
		all[i].Required = p.Required && (v.f.Optional == nil || !v.f.Optional(p.In, p.Name))
	}
	return all
}

// HidesName reports whether any schema of the document has a hidden field with the given name.
func (v *View) HidesName(name string) bool {
	if v.f.Field == nil {
		return false
	}
	return !v.f.Field("", name) || slices.ContainsFunc(v.d.Names(), func(schema string) bool { return !v.f.Field(schema, name) })
}

// FixedValue returns the value of a required parameter that allows only one value, or nil for other parameters.
// Agents don't see such a parameter and need not set it.
func (v *View) FixedValue(p Parameter) Raw {
	if s := v.Schema(p.Schema); p.Required && len(s.Enum) == 1 {
		return s.Enum[0]
	}
	return nil
}

// RefusedHeader reports whether a header is reserved for the gateway. These are the headers for credentials, origin,
// routing and framing.
func RefusedHeader(header string) bool {
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

package expression

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// The names that every expression can use.
const (
	principalName = "principal"
	claimsField   = "claims"
)

// A root is a variable that expressions can use, with the allowed names below it.
type root struct {
	name string
	what string // the noun with its article, for errors
	such string // an example, for errors
	typ  *cel.Type

	// For a root that can't be used as a whole: its fields and their types. typ is then nil.
	fields []field
	// For other roots: the allowed names. Nil allows any name.
	known []string
}

// A field is a member of a root with its type.
type field struct {
	name string
	typ  *cel.Type
}

func principalRoot() root {
	text := cel.StringType
	return root{name: principalName, what: "a principal", such: "principal.tenant or principal.claims.region", fields: []field{
		{"id", text}, {"name", text}, {"kind", text}, {"owner", text}, {"tenant", text}, {"scopes", cel.ListType(text)},
		{claimsField, cel.MapType(text, cel.DynType)}, {"token_id", text}, {"parent", text}, {"depth", cel.IntType}, {"author", text},
	}}
}

// declare returns the CEL declarations of r.
func (r *root) declare() []cel.EnvOption {
	if r.typ != nil {
		return []cel.EnvOption{cel.Variable(r.name, r.typ)}
	}
	var options []cel.EnvOption
	for _, f := range r.fields {
		options = append(options, cel.Variable(r.name+"."+f.name, f.typ))
	}
	return options
}

// below records in e which path below r is read at the node n. It returns a description of the error, or "".
func (r *root) below(n ast.NavigableExpr, e *Expression) string {
	if r.typ != nil {
		name, asked := claimOf(n)
		if !asked || r.known == nil || slices.Contains(r.known, name) {
			return ""
		}
		return r.unknownNameText(name, r.known)
	}
	known := make([]string, len(r.fields))
	for i, f := range r.fields {
		known[i] = f.name
	}
	at, ok := n.Parent()
	if !ok || at.Kind() != ast.SelectKind {
		return fmt.Sprintf("%s is followed by a field, such as %s", r.name, r.such)
	}
	switch name := at.AsSelect().FieldName(); {
	case !slices.Contains(known, name):
		return r.unknownNameText(name, known)
	case at.AsSelect().IsTestOnly() && r.name != principalName:
		return fmt.Sprintf("has() asks for what can be missing: %s always has %s", r.what, name)
	case at.AsSelect().IsTestOnly():
		return "has() asks for a claim: has(principal.claims.region)"
	case name != claimsField: // only principal has claims
		return ""
	}
	if claim, ok := claimOf(at); !ok {
		e.all = true
	} else if i, ok := slices.BinarySearch(e.claims, claim); !ok {
		e.claims = slices.Insert(e.claims, i, claim)
	}
	return ""
}

func (r *root) unknownNameText(name string, known []string) string {
	near := cmp.Or(problem.DidYouMean(problem.Nearest(name, known, 2)), ".")
	return fmt.Sprintf("%s has no %q%s It has %s", r.what, problem.Cut(name), near, strings.Join(known, ", "))
}

// A Variable is a name that expressions of a Compiler can use, in addition to principal.
type Variable struct {
	Name    string
	What    string   // for errors: "the input", "a record of issues"
	Instant bool     // the variable is a value.Date. Otherwise it is an object or null
	Members []string // the allowed members of an object. Nil allows any member
}

// Over returns a Compiler for expressions over principal and these variables. The name of a variable starts with a
// letter and contains letters, digits and "_". It must not be reserved in CEL.
func (c *Compiler) Over(variables ...Variable) *Compiler {
	var more []root
	for _, v := range variables {
		r := root{name: v.Name, what: v.What, typ: types.DynType, known: v.Members}
		if v.Instant {
			r.typ = types.TimestampType
		}
		more = append(more, r)
	}
	return c.with(more...)
}

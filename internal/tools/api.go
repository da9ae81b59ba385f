package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/search"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An APITools creates the tools for the APIs of one gateway.
type APITools struct{ changes *ChangeTools }

// NewAPITools returns the tools for the APIs of c's gateway. c formats proposals for agents.
func NewAPITools(c *ChangeTools) *APITools { return &APITools{c} }

// Tools returns the tools. A tool is offered only if an API that the caller sees has an operation for it.
func (r *APITools) Tools() []tool.Tool {
	return []tool.Tool{r.searchAPI(), r.callAPIRead(), r.callAPIWrite()}
}

// offers returns a function that reports whether a principal sees an API that satisfies is.
func (r *APITools) offers(is func(*calls.Reach) bool) func(identity.Principal) bool {
	return func(p identity.Principal) bool { return slices.ContainsFunc(r.changes.Gateway().APIs(p), is) }
}

// callArguments are the arguments of a call, shared by the schemas of both tools.
const callArguments = `"operationId":{"type":"string"},"path":{"type":"object"},"query":{"type":"object"},"headers":{"type":"object"},"cookies":{"type":"object"},"body":{"description":"any JSON"},"content_type":{"type":"string"},"source":{"type":"string"}`

// arguments converts tool arguments to the arguments of an API call.
func arguments(in value.Value) validate.Arguments {
	var a validate.Arguments
	a.Path, _ = in.Get("path")
	a.Query, _ = in.Get("query")
	a.Headers, _ = in.Get("headers")
	a.Cookies, _ = in.Get("cookies")
	a.Body, a.HasBody = in.Get("body")
	a.Media = word(in, "content_type")
	return a
}

// findAPI returns the API of an operation. If source is "", it returns the only API with that operation that the
// caller sees.
func findAPI(c *bailiwick.Call, source, operation string) (*calls.Reach, error) {
	all := c.APIs()
	if source != "" || len(all) < 2 {
		reach, err := c.API(source)
		if err == nil {
			err = similarOperationsError(reach, operation)
		}
		return reach, err
	}
	var found []*calls.Reach
	for _, reach := range all {
		if _, err := reach.View.Operation(operation); problem.CodeOf(err) != problem.NotFound {
			found = append(found, reach)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		near, err := nearest(all, operation, func(reach *calls.Reach) error { _, err := reach.View.Operation(operation); return err })
		return nil, &problem.Error{Code: problem.NotFound, Pointer: "/operationId", Near: near, Suggestion: problem.Of(err).Suggestion,
			Detail: fmt.Sprintf("no API has an operation %q%s", problem.Cut(operation), problem.DidYouMean(near))}
	}
	return nil, several("/operationId", operation, found)
}

// similarOperationsError suggests operations for an unknown operation id without a similar name. It searches for the
// words of the id. For example, listInvoices finds get_invoices. It returns nil if it has no suggestion.
func similarOperationsError(reach *calls.Reach, operation string) error {
	_, err := reach.View.Operation(operation)
	p := problem.Of(err)
	if err == nil || p.Code != problem.NotFound || len(p.Near) > 0 {
		return nil
	}
	found, err := reach.Index().Search(search.Query{Text: operation, Limit: 3})
	if err != nil || found.Weak {
		return nil
	}
	var near []string
	for _, op := range found.Operations {
		near = append(near, op.ID)
	}
	return &problem.Error{Code: problem.NotFound, Pointer: "/operationId", Near: near, Detail: p.Detail + problem.DidYouMean(near), Suggestion: p.Suggestion}
}

// nearest returns names that are similar to name, if no API has that name. It also returns the last error. Each name
// occurs once, and the most similar name is first.
func nearest(all []*calls.Reach, name string, look func(*calls.Reach) error) (near []string, err error) {
	for _, reach := range all {
		err = look(reach)
		near = append(near, problem.Of(err).Near...)
	}
	near = append(problem.Nearest(name, near, len(near)), near...)
	seen := map[string]bool{}
	near = slices.DeleteFunc(near, func(n string) bool { was := seen[n]; seen[n] = true; return was })
	return near[:min(len(near), 5)], err
}

// several returns the error for a name that occurs in more than one API.
func several(at, name string, found []*calls.Reach) error {
	var sources []string
	for _, reach := range found {
		sources = append(sources, reach.Name)
	}
	return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Near: sources[:min(len(sources), 5)],
		Detail: fmt.Sprintf("%s is in %s: say which with source", problem.Cut(name), strings.Join(sources, " and in "))}
}

// word returns a text argument, or "" if it isn't given.
func word(in value.Value, name string) string {
	v, _ := in.Get(name)
	return v.Text()
}

// number returns the integer argument with this name, or the default otherwise.
func number(in value.Value, name string, otherwise int) int {
	v, _ := in.Get(name)
	if n, exact := v.AsInt(); exact && !v.IsNull() {
		return int(n)
	}
	return otherwise
}

func text(name, s string) value.Member { return value.Member{Name: name, Value: value.OfString(s)} }

// again returns the member next_call. It contains the same arguments, changed by the members of more.
func again(name string, in, more value.Value) value.Member {
	return value.Member{Name: "next_call", Value: value.OfObject([]value.Member{text("tool", name), {Name: "arguments", Value: over(in, more)}})}
}

// over returns the object in with the members of more added or replaced. It merges nested objects.
func over(in, more value.Value) value.Value {
	if in.Kind() != value.Object || more.Kind() != value.Object {
		return more
	}
	var out []value.Member
	for _, m := range in.Members() {
		if v, ok := more.Get(m.Name); ok {
			m.Value = over(m.Value, v)
		}
		out = append(out, m)
	}
	for _, m := range more.Members() {
		if _, ok := in.Get(m.Name); !ok {
			out = append(out, m)
		}
	}
	return value.OfObject(out)
}

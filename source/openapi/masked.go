package openapi

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/rules/calls"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// masks puts what is there in the places of what an asker has sent back masked: whoever replaces a list of which one value
// is masked means that it stays. Only where just that place is masked for the asker is there anything to put; any other
// mask is refused, for it would be written as the text that it is. What is put in is neither kept nor shown: people
// approve that the value stays.
type masks struct {
	was, is value.Value // what is there, as the asker sees it and as it is
	found   int
	err     error
}

// restore returns the body of a call with the values that stay.
func (m *masks) restore(body value.Value) value.Value {
	was, is := m.was, m.is
	if body.Kind() != value.Object { // see object
		was, _ = was.Get("body")
		is, _ = is.Get("body")
	}
	return m.walk(body, was, is, "/body")
}

func (m *masks) walk(v, was, is value.Value, at string) value.Value {
	switch v.Kind() {
	case value.String:
		if !strings.Contains(v.Text(), response.Masked) {
			return v
		}
		if was.Kind() != value.String || was.Text() != v.Text() || is.IsNull() || strings.Contains(is.Text(), response.Masked) {
			m.refuse(at)
			return v
		}
		m.found++
		return is
	case value.Object:
		members := make([]value.Member, len(v.Members()))
		for i, e := range v.Members() {
			old, _ := was.Get(e.Name)
			raw, _ := is.Get(e.Name)
			members[i] = value.Member{Name: e.Name, Value: m.walk(e.Value, old, raw, query.Pointer(at, e.Name))}
		}
		return value.OfObject(members)
	case value.Array:
		list := make([]value.Value, len(v.List()))
		for i, e := range v.List() {
			list[i] = m.walk(e, entry(was, e), entry(is, e), fmt.Sprintf("%s/%d", at, i))
		}
		return value.OfArray(list)
	}
	return v
}

// entry is the one entry of a list that has all the names that e has; Null where none is, or more than one. Under another
// name a value might not be masked any more.
func entry(list, e value.Value) value.Value {
	var found value.Value
	for _, has := range list.List() {
		named := false
		for _, by := range []string{"id", "name", "key"} {
			a, in := has.Get(by)
			b, given := e.Get(by)
			if named = named || in; in != given || in && !value.Equal(a, b) {
				named = false
				break
			}
		}
		if named && !found.IsNull() {
			return value.Value{}
		}
		if named {
			found = has
		}
	}
	return found
}

func (m *masks) refuse(at string) {
	if m.err == nil {
		m.err = &problem.Error{Code: problem.InvalidArgument, Kind: "masked", Pointer: at, Suggestion: "leave it out, or give a value",
			Detail: fmt.Sprintf("%s stands for a value that you don't see, and there is none in this place to be kept", response.Masked)}
	}
}

// put puts what stays into the body that a call sends.
func (m *masks) put(call *calls.Plan) error {
	body := m.restore(call.Body)
	if m.err != nil || m.found == 0 {
		return m.err
	}
	if !spec.IsJSON(call.Request.Header.Get("Content-Type")) {
		return problem.New(problem.Unsupported, "what is masked can be kept in a JSON body alone")
	}
	sent := *call.Request
	sent.Body = body.AppendJSON(nil)
	call.Request = &sent
	return nil
}

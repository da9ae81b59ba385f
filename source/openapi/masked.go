package openapi

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/response"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// masks restores masked values in a body that a caller sends. If a caller sends a mask back, the value must not
// change. A mask is restored only if the caller sees the same mask in the same place. Any other mask is rejected,
// because it would be written literally. Restored values are neither stored nor shown. Reviewers approve that the
// value stays.
type masks struct {
	was, is value.Value // the current state, as the caller sees it and in full
	found   int
	err     error
}

// restore returns the body of a call with the masked values restored.
func (m *masks) restore(body value.Value) value.Value {
	was, is := m.was, m.is
	if body.Kind() != value.Object { // see the function object
		was, _ = was.Get("body")
		is, _ = is.Get("body")
	}
	return m.walk(body, was, is, "/body")
}

// walk returns v with its masks restored from is, and counts them. The argument was is the visible value in the place
// of v. Both was and is are null if there is no such value. Entries of lists are matched by their names and ids, not
// by position.
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

// entry returns the only entry of a list with the same id, name and key as e. It returns Null if there is none or
// more than one. Under another name, a value might no longer be masked.
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
			Detail: fmt.Sprintf("%s replaces a value that you don't see, and there is none in this place to be kept", response.Masked)}
	}
}

// put restores the masked values in the body of a call.
func (m *masks) put(call *calls.Plan) error {
	body := m.restore(call.Body)
	if m.err != nil || m.found == 0 {
		return m.err
	}
	if !spec.IsJSON(call.Request.Header.Get("Content-Type")) {
		return problem.New(problem.Unsupported, "masked values can be kept only in a JSON body")
	}
	sent := *call.Request
	sent.Body = body.AppendJSON(nil)
	call.Request = &sent
	return nil
}

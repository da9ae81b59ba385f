package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// IsPatch reports whether a media type is JSON Patch: a list of operations (RFC 6902), regardless of the schema that
// a document declares.
func IsPatch(mediaType string) bool {
	return strings.HasPrefix(strings.ToLower(mediaType), "application/json-patch+json")
}

// ownForm reports whether a body with the media type of a JSON Patch is actually a list of operations in the API's
// own form. The document declares this form without a path (Box: {"op": "editEnumOption", "fieldKey", "data"}). A
// list in which an operation has a path or from is always a JSON Patch.
func (c *Checker) ownForm(content *spec.Content, body value.Value) bool {
	s := c.v.Schema(content.Schema)
	if s.Items == nil || body.Kind() != value.Array {
		return false
	}
	points := func(name string) bool { return strings.EqualFold(name, "path") || strings.EqualFold(name, "from") }
	declared := c.v.Object(c.v.Schema(s.Items)).Fields
	if len(declared) == 0 || slices.ContainsFunc(declared, func(f spec.FieldFilter) bool { return points(f.Name) }) {
		return false
	}
	return !slices.ContainsFunc(body.List(), func(one value.Value) bool {
		return slices.ContainsFunc(one.Members(), func(m value.Member) bool { return points(m.Name) })
	})
}

// patchMembers are the members of an operation of a JSON Patch. Other members are refused, because an API that
// ignores case reads Path as path.
var patchMembers = []string{"op", "path", "from", "value"}

// patch checks the form of a JSON Patch. It also checks the names in it against the schema of the changed thing.
func (c *Checker) patch(f *faults, op *spec.Operation, body value.Value) {
	if body.Kind() != value.Array {
		f.must("/body", "a JSON Patch", `be a list of operations: [{"op", "path", "value"}]`, argcheck.Found(body))
		return
	}
	var whole []spec.Raw // nil if it isn't known
	if schema := c.patchedSchema(op); schema != nil {
		whole = []spec.Raw{schema}
	}
	for i, one := range body.List() {
		at := fmt.Sprintf("/body/%d", i)
		if one.Kind() != value.Object {
			f.must(at, "an operation of a JSON Patch", `be an object: {"op", "path", "value"}`, argcheck.Found(one))
		}
		for _, m := range one.Members() {
			if !slices.Contains(patchMembers, m.Name) {
				f.add(argcheck.UnknownName(at, "member of an operation", m.Name, patchMembers))
			}
		}
		for _, key := range []string{"path", "from"} {
			if pointer, ok := one.Get(key); ok {
				c.checkPointer(f, whole, one, pointer, at+"/"+key)
			}
		}
	}
}

// checkPointer checks one pointer of an operation of a JSON Patch. It checks the names in the pointer and, for the
// member path, the names in the value. A value with hidden parts can't be copied or moved to a visible place, and
// can't be compared.
func (c *Checker) checkPointer(f *faults, whole []spec.Raw, one, pointer value.Value, at string) {
	if text := pointer.Text(); pointer.Kind() != value.String || text != "" && !strings.HasPrefix(text, "/") {
		f.must(at, "a JSON pointer", `be a text that is empty or begins with "/"`, argcheck.Found(pointer))
		return
	}
	names := PointerNames(pointer.Text())
	from := strings.HasSuffix(at, "/from")
	var to value.Value
	if !from {
		to, _ = one.Get("value")
	}
	// This wraps the value to its place in the whole, because names are checked from the top.
	for _, name := range slices.Backward(names) {
		if IsElementName(name) {
			to = value.OfArray([]value.Value{to})
		} else {
			to = value.OfObject([]value.Member{{Name: name, Value: to}})
		}
	}
	c.names(f, whole, to, at, 0)
	op, _ := one.Get("op")
	if (from || op.Text() == "test") && slices.ContainsFunc(c.below(whole, names), c.v.Hides) {
		f.wrong(at, "type", "this can only be copied, moved or tested in parts: name each field")
	}
}

// PointerNames returns the names in a JSON pointer, without empty names, because some APIs drop empty names.
func PointerNames(pointer string) []string {
	var names []string
	for name := range strings.SplitSeq(pointer, "/") {
		if name != "" {
			names = append(names, strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
		}
	}
	return names
}

// IsElementName reports whether a name in a JSON pointer can refer to an element of a list.
func IsElementName(name string) bool { return name == "-" || strings.Trim(name, "0123456789") == "" }

// below returns the schemas of the values at the path names, starting from values that the given schemas describe.
func (c *Checker) below(schemas []spec.Raw, names []string) []spec.Raw {
	for _, name := range names {
		var next []spec.Raw
		for _, r := range distinct(schemas) {
			if s := c.v.Schema(r); s.Items != nil && IsElementName(name) {
				next = append(next, s.Items)
			}
			k := known{fields: map[string][]spec.Raw{}, past: map[string]bool{}}
			c.collectNames(&k, r, 0)
			if fields, ok := k.fields[name]; ok {
				next = append(next, fields...)
			} else {
				next = append(next, k.further...)
			}
		}
		schemas = next
	}
	return schemas
}

// patchedSchema returns the schema of the thing that op changes, or nil. It is the response of a GET of the same
// path. Otherwise it is another body of op, or the body of a PUT of the same path.
func (c *Checker) patchedSchema(op *spec.Operation) spec.Raw {
	for _, reads := range c.v.Operations() {
		if reads.Method != "GET" || reads.Path != op.Path {
			continue
		}
		if ok := reads.Success(); ok != nil {
			if content := ok.PreferredContent(); content != nil && spec.IsJSON(content.MediaType) {
				return content.Schema
			}
		}
	}
	for _, takes := range c.v.Operations() {
		if takes != op && (takes.Method != "PUT" || takes.Path != op.Path) || takes.Body == nil {
			continue
		}
		for _, content := range takes.Body.Contents {
			if spec.IsJSON(content.MediaType) && !IsPatch(content.MediaType) && content.Schema != nil {
				return content.Schema
			}
		}
	}
	return nil
}

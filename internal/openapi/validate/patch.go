package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// IsPatch reports whether a media type is that of a JSON Patch: a list of operations (RFC 6902), whatever schema a document declares for
// it.
func IsPatch(mediaType string) bool {
	return strings.HasPrefix(strings.ToLower(mediaType), "application/json-patch+json")
}

// patch checks the names in a JSON Patch against what it changes: what a GET of the same path answers with, where there is one.
func (c *Checker) patch(f *faults, op *spec.Operation, body value.Value) {
	schema := c.patched(op)
	if schema == nil {
		return
	}
	for i, one := range body.List() {
		for _, key := range []string{"path", "from"} {
			pointer, _ := one.Get(key)
			if !strings.HasPrefix(pointer.Text(), "/") {
				continue
			}
			var to value.Value
			if key == "path" {
				to, _ = one.Get("value")
			}
			// The value as it lies in the whole: names are looked at from there.
			names := strings.Split(pointer.Text()[1:], "/")
			for _, name := range slices.Backward(names) {
				name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
				if name == "-" || strings.Trim(name, "0123456789") == "" {
					to = value.OfArray([]value.Value{to})
				} else {
					to = value.OfObject([]value.Member{{Name: name, Value: to}})
				}
			}
			c.names(f, []spec.Raw{schema}, to, fmt.Sprintf("/body/%d/%s", i, key), 0)
		}
	}
}

// patched returns the schema of what op changes, or nil.
func (c *Checker) patched(op *spec.Operation) spec.Raw {
	for _, reads := range c.v.Operations() {
		if reads.Method != "GET" || reads.Path != op.Path {
			continue
		}
		if ok := reads.Success(); ok != nil {
			if content := ok.Preferred(); content != nil && spec.IsJSON(content.MediaType) {
				return content.Schema
			}
		}
	}
	return nil
}

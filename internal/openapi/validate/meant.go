package validate

import (
	"encoding/json"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// restrict writes the format of r into out, a translated schema. It omits the format if values in the document itself
// don't have it, because the author then uses the format with another meaning. An enum needs no format.
func (w *written) restrict(out map[string]any, r spec.Raw) {
	own := values(r)
	if _, ok := formats[w.format]; ok && out["enum"] == nil && out["const"] == nil && allMatchFormat(w.format, own) {
		out["format"] = w.format
	}
	if bounds, ok := ranges[w.format]; ok && whole(out["type"]) && allMatchFormat(w.format, own) {
		if out["minimum"] == nil && out["exclusiveMinimum"] == nil {
			out["minimum"] = bounds[0]
		}
		if out["maximum"] == nil && out["exclusiveMaximum"] == nil {
			out["maximum"] = bounds[1]
		}
	}
	// The examples of an object and of a list contain values of their parts.
	properties, _ := out["properties"].(map[string]any)
	items, _ := out["items"].(map[string]any)
	for _, v := range own {
		for name, m := range v.Members() {
			if part, ok := properties[name].(map[string]any); ok {
				unless(part, m)
			}
		}
		for e := range v.Elements() {
			if items != nil {
				unless(items, e)
			}
		}
	}
}

// unless removes the format from a translated schema if v doesn't have that format.
func unless(part map[string]any, v spec.Raw) {
	if f, ok := part["format"].(string); ok && !allMatchFormat(f, []spec.Raw{v}) {
		delete(part, "format")
	}
}

// values returns the values that a schema itself contains: examples, the default, a const and an enum.
func values(r spec.Raw) (out []spec.Raw) {
	for _, name := range []string{"example", "default", "const"} {
		if v := r.Get(name); v != nil {
			out = append(out, v)
		}
	}
	for e := range r.Get("examples").Elements() {
		out = append(out, e)
	}
	return out
}

// whole reports whether types allows whole numbers but neither other numbers nor strings.
func whole(types any) bool {
	is := false
	all, _ := types.([]any)
	for _, t := range all {
		is = is || t == "integer"
		if t == "number" || t == "string" {
			return false
		}
	}
	return is
}

// allMatchFormat reports whether all values have the format called name. It ignores values of a type to which the
// format doesn't apply.
func allMatchFormat(name string, all []spec.Raw) bool {
	for _, r := range all {
		v, err := value.Read(r, 0)
		bounds, numeric := ranges[name]
		switch {
		case err != nil:
		case numeric && v.IsNumber():
			if !between(v, bounds) {
				return false
			}
		case v.Kind() == value.String && v.Text() != "" && formats[name] != nil && !formats[name](strings.TrimSpace(v.Text())):
			return false
		}
	}
	return true
}

// exampleBreaksFormat reports whether the value at a place in an example doesn't have the format.
func exampleBreaksFormat(example spec.Raw, at []string, name string) bool {
	if len(at) == 0 {
		return example != nil && !allMatchFormat(name, []spec.Raw{example})
	}
	if example.Kind() != '[' {
		return exampleBreaksFormat(example.Get(at[0]), at[1:], name)
	}
	for e := range example.Elements() {
		if exampleBreaksFormat(e, at[1:], name) {
			return true
		}
	}
	return false
}

// between reports whether a number is within bounds, inclusive.
func between(v value.Value, bounds [2]json.Number) bool {
	low, _ := value.Read([]byte(bounds[0]), 0)
	high, _ := value.Read([]byte(bounds[1]), 0)
	least, _ := value.Compare(v, low)
	most, _ := value.Compare(v, high)
	return least >= 0 && most <= 0
}

package validate

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// readOnlyNames returns the readOnly names of p and of the composition around it. The server sets them, so a request
// may omit them even if they are required.
func (t *translator) readOnlyNames(p place) []string {
	if p.raw.Get("required") == nil && p.raw.Get("allOf") == nil {
		return p.unsent
	}
	out := slices.Clone(p.unsent)
	for _, f := range t.v.Object(t.v.Schema(p.raw)).Fields {
		if !slices.Contains(out, f.Name) && (f.Schema.Get("readOnly").True() || t.v.Schema(f.Schema).ReadOnly) {
			out = append(out, f.Name)
		}
	}
	slices.Sort(out)
	return out
}

// patterns writes the keyword patternProperties. The Regexp engine accepts every name for patterns in another
// dialect, which the server checks.
func (t *translator) patterns(out map[string]any, m spec.Raw) {
	all := map[string]any{}
	for pattern, schema := range m.Members() {
		all[pattern] = t.schema(place{raw: schema})
	}
	if len(all) > 0 {
		out["patternProperties"] = all
	}
}

// onlyRequire reports whether all alternatives do nothing but require fields.
func onlyRequire(alternatives any) bool {
	list, _ := alternatives.([]any)
	for _, one := range list {
		in, ok := one.(map[string]any)
		if !ok || in["required"] == nil || len(in) > 2 || len(in) == 2 && in["type"] == nil {
			return false
		}
	}
	return len(list) > 1
}

// relaxEnum widens the type of an enum to the types of its values. Authors write numbers and booleans without quotes
// for a string type, and strings for a number type. Both forms of these values are accepted.
func relaxEnum(out map[string]any) {
	list, _ := out["enum"].([]any)
	if is, ok := out["const"]; ok && list == nil {
		list = []any{is}
	}
	types, _ := out["type"].([]any)
	if len(list) == 0 || len(types) == 0 {
		return
	}
	allowed := func(kind string) bool { return slices.Contains(types, any(kind)) }
	numbers := allowed("number") || allowed("integer")
	more := []any{}
	for _, v := range list {
		switch v := v.(type) {
		case json.Number:
			if !numbers && allowed("string") {
				more = append(more, string(v))
				types = with(types, "number")
			}
		case bool:
			if !allowed("boolean") && allowed("string") {
				more = append(more, strconv.FormatBool(v))
				types = with(types, "boolean")
			}
		case string:
			if n := json.Number(v); !allowed("string") && numbers && json.Valid([]byte(v)) && argcheck.Comparable(v) {
				if _, err := n.Float64(); err == nil {
					more = append(more, n)
				}
			} else if !allowed("string") && allowed("boolean") && (v == "true" || v == "false") {
				more = append(more, v == "true")
			}
		}
	}
	if len(more) > 0 {
		delete(out, "const")
		out["enum"], out["type"] = append(slices.Clone(list), more...), types
	}
}

// with returns list with kind added, if list doesn't already contain it.
func with(list []any, kind string) []any {
	if slices.Contains(list, any(kind)) {
		return list
	}
	return append(slices.Clone(list), kind)
}

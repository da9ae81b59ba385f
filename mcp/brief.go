package mcp

import (
	"encoding/json"
	"slices"

	"github.com/bailiwick-dev/bailiwick/value"
)

// brief returns a tool's input schema in the form for tools/list. It omits additionalProperties: false, because calls
// are checked anyway and a refusal explains the reason. It keeps the limits of numbers, texts and lists. A short
// schema matters because a model pays for each byte of the list.
func brief(schema json.RawMessage) json.RawMessage {
	v, err := value.Read(schema, 0)
	if err != nil {
		return schema
	}
	return briefly(v).AppendJSON(nil)
}

// briefly does the work of brief for one schema.
func briefly(schema value.Value) value.Value {
	if schema.Kind() != value.Object {
		return schema
	}
	var out []value.Member
	for _, m := range schema.Members() {
		switch m.Name {
		case "minProperties", "maxProperties":
			continue
		case "additionalProperties":
			if m.Value.Kind() == value.Bool && !m.Value.Bool() {
				continue
			}
			m.Value = briefly(m.Value)
		case "properties":
			of := slices.Clone(m.Value.Members())
			for i := range of {
				of[i].Value = briefly(of[i].Value)
			}
			m.Value = value.OfObject(of)
		case "items":
			m.Value = briefly(m.Value)
		case "anyOf", "oneOf", "allOf":
			of := slices.Clone(m.Value.List())
			for i := range of {
				of[i] = briefly(of[i])
			}
			m.Value = value.OfArray(of)
		}
		out = append(out, m)
	}
	return value.OfObject(out)
}

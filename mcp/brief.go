package mcp

import (
	"encoding/json"
	"slices"

	"github.com/bailiwick-dev/bailiwick/value"
)

// brief returns a tool's input schema as tools/list shows it, without closedness. Calls are checked against closedness,
// and the refusal explains it. Bounds of numbers, texts and lists stay. A model that reads the list pays for each byte
// of it.
func brief(schema json.RawMessage) json.RawMessage {
	v, err := value.Read(schema, 0)
	if err != nil {
		return schema
	}
	return briefly(v).AppendJSON(nil)
}

// briefly is brief for one schema.
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

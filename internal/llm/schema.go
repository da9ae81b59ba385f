package llm

import (
	"encoding/json"
	"slices"
)

// fitSchema returns schema in the form that providers accept for a tool. This is an object with properties, without
// keywords that providers refuse at the top. keywords are the keywords that the provider supports. Nil means all. If
// a part of the schema is omitted, the gateway's refusal informs the model.
func fitSchema(schema json.RawMessage, keywords []string) json.RawMessage {
	var top map[string]any
	if json.Unmarshal(schema, &top) != nil || top == nil {
		top = map[string]any{}
	}
	for _, name := range []string{"$schema", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const", "dependentRequired", "dependentSchemas"} {
		delete(top, name)
	}
	top["type"] = "object"
	if _, ok := top["properties"].(map[string]any); !ok {
		top["properties"] = map[string]any{}
	}
	if keywords != nil {
		keep(top, keywords)
	}
	fitted, err := json.Marshal(top)
	if err != nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return fitted
}

// keep removes those members of a schema, and of the schemas in it, that are not in keywords.
func keep(schema map[string]any, keywords []string) {
	if v, ok := schema["const"]; ok && schema["enum"] == nil {
		schema["enum"] = []any{v}
	}
	for name, v := range schema {
		if !slices.Contains(keywords, name) {
			delete(schema, name)
			continue
		}
		switch name {
		case "properties", "$defs":
			named, _ := v.(map[string]any)
			for _, sub := range named {
				keepIn(sub, keywords)
			}
		case "items", "additionalProperties", "anyOf", "oneOf", "prefixItems":
			keepIn(v, keywords)
		}
	}
}

// keepIn applies keep to a schema, or to each schema in a list.
func keepIn(v any, keywords []string) {
	switch v := v.(type) {
	case map[string]any:
		keep(v, keywords)
	case []any:
		for _, sub := range v {
			keepIn(sub, keywords)
		}
	}
}

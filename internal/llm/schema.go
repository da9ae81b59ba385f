package llm

import (
	"encoding/json"
	"slices"
)

// fitSchema returns schema as providers take one for a tool: an object with properties, without what they refuse at the
// top. keywords are those that the provider knows. Nil means all. If a schema is left out, the model learns from the
// refusal.
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

// keep removes the members of a schema, and of the schemas in it, that are not in keywords.
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

// keepIn applies keep to a schema, or to each schema of a list.
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

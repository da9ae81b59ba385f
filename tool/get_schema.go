package tool

import (
	"context"
	"slices"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/tools/schemadoc"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Writing reports what can be proposed, for get_schema.
type Writing interface {
	// Writable reports whether the principal may propose another value for a field of v.
	Writable(who identity.Principal, v *policy.View, f *schema.Field) bool
	// Actions lists the actions that the principal may propose on v, as objects {name, description, …}; nil for none.
	Actions(who identity.Principal, v *policy.View) []value.Value
}

// getSchema returns the tool that describes a class as the caller sees it. A nil w means that nothing is writable.
func getSchema(w Writing) Tool {
	return Tool{
		Name:        "get_schema",
		Title:       "Describe a class",
		Description: "Fields, types, allowed values, pointers and indexes of one class. Call it before you query the class.",
		Input: compact(`{"type": "object", "additionalProperties": false, "required": ["class_name"], "properties": {
			"class_name": {"type": "string"}}}`),
		Output: compact(`{"type": "object", "required": ["class_name", "fields"], "properties": {
			"class_name": {"type": "string"}, "description": {"type": "string"},
			"fields": {"type": "array", "items": {"type": "object", "required": ["name", "type"], "properties": {
				"name": {"type": "string"}, "type": {"type": "string"}}}},
			"key": {"type": "array", "items": {"type": "string"}},
			"label": {"type": "string"},
			"relations": {"type": "array", "items": {"type": "object"}},
			"indexes": {"type": "array", "items": {"type": "object"}},
			"canonical_filter": {"type": "object"},
			"agent_fields": {"type": "array", "items": {"type": "string"}}}}`),
		Annotations: reads(),
		Category:    Schema,
		Timeout:     getTimeout,
		Handle: func(_ context.Context, c *bailiwick.Call, in value.Value) (Result, error) {
			v, err := c.View(arguments{in}.text("class_name"))
			if err != nil {
				return Result{}, err
			}
			writable := func(*schema.Field) bool { return false }
			var actions []value.Value
			if w != nil {
				writable, actions = func(f *schema.Field) bool { return w.Writable(c.Who(), v, f) }, w.Actions(c.Who(), v)
			}
			doc := schemadoc.Of(v, c.Views(), writable)
			if actions != nil {
				doc = value.OfObject(append(slices.Clone(doc.Members()), member("actions", value.OfArray(actions))))
			}
			return Result{Structured: doc.AppendJSON(nil), Text: schemadoc.Text(doc), Class: v.Class().FullName()}, nil
		},
	}
}

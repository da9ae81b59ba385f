package pack

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// compileArguments compiles the schema of the arguments. Tools that write have the additional argument reason. It
// returns false if the schema is unusable.
func (b *builder) compileArguments() bool {
	for _, m := range b.declaration.input.Members() {
		if m.Name == "type" || m.Name == "additionalProperties" {
			b.wrong([]string{"input", m.Name}, "is always the same: an object without further arguments. Take it out")
			return false
		}
	}
	var reserved []string
	var reason []value.Member
	if !b.annotations.ReadOnly {
		reserved = []string{ReasonArgument}
		reason = []value.Member{{Name: ReasonArgument, Value: value.OfObject([]value.Member{{Name: "type", Value: value.OfString("string")}})}}
	}
	schema, ok := b.over.Input(b.declaration.input, nil, reserved...)
	b.Tool.arguments, b.Tool.Input = b.over.Arguments, schema.With(reason...).AppendJSON(nil)
	return ok
}

// output returns the JSON Schema of the tool's result. It covers only the known parts. The result of a tool that
// writes is the status of its change.
func (b *builder) output() json.RawMessage {
	if b.Tool.Writes {
		return json.RawMessage(`{"type":"object","properties":{"status":{"type":"string"}}}`)
	}
	var names []string
	kinds := map[string]map[string]bool{}
	note := func(of value.Value, shown func(value.Value) string) {
		for _, m := range of.Members() {
			if strings.HasPrefix(m.Name, "$") {
				continue
			}
			if kinds[m.Name] == nil {
				names, kinds[m.Name] = append(names, m.Name), map[string]bool{}
			}
			kinds[m.Name][shown(m.Value)] = true
		}
	}
	for i, one := range b.branches() {
		note(one.result, func(v value.Value) string { return b.kind(b.Tool.cases[i].op, v) })
		for _, s := range one.statuses {
			note(s.result, func(v value.Value) string { return b.kind(nil, v) })
		}
	}
	properties := make([]value.Member, len(names))
	for i, name := range names {
		var of []value.Member
		if len(kinds[name]) == 1 && !kinds[name][""] {
			of = []value.Member{{Name: "type", Value: value.OfString(slices.Collect(maps.Keys(kinds[name]))[0])}}
		}
		properties[i] = value.Member{Name: name, Value: value.OfObject(of)}
	}
	return value.OfObject([]value.Member{{Name: "type", Value: value.OfString("object")}, {Name: "properties", Value: value.OfObject(properties)}}).AppendJSON(nil)
}

// kind returns the JSON type of a part of a result. It returns "" if the type is known only at run time or the part
// may be null.
func (b *builder) kind(op *spec.Operation, v value.Value) string {
	switch v.Kind() {
	case value.Bool:
		return "boolean"
	case value.String:
		path, ok := pathOf(v.Text())
		if !ok {
			return "string"
		}
		if raw := b.answerAt(op, path); raw != nil {
			if s := b.whole.Schema(raw); len(s.Types) == 1 && !s.Nullable {
				return s.Types[0]
			}
		}
	}
	return ""
}

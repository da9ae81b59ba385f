package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A TypedHandler answers one call with Go values: in has the arguments, and its result becomes the structured result.
type TypedHandler[In, Out any] func(ctx context.Context, call *bailiwick.Call, in In) (Out, error)

// Typed returns t with a handler that calls h with Go values, and with the schemas of In and Out unless t has its own.
//
// In and Out are structs. Their schemas follow encoding/json. Members are named by their json tags, and members with
// omitempty or omitzero are optional. A jsonschema tag is the description. Unknown members are refused. Constraints
// that Go types can't express, such as a minimum, require a handwritten Input. Integers keep all digits. A member of
// type value.Value accepts any JSON.
//
// The text of a result comes from its String method, or otherwise is its JSON. NewSet and Add report types without a
// schema: a function, a channel, a map whose keys are not strings, a type that contains itself.
func Typed[In, Out any](t Tool, h TypedHandler[In, Out]) Tool {
	if t.Input == nil {
		t.Input, t.fault = schemaFor[In]()
	}
	if t.Output == nil && t.fault == nil {
		t.Output, t.fault = schemaFor[Out]()
	}
	if h == nil {
		return t
	}
	t.Handle = func(ctx context.Context, call *bailiwick.Call, args value.Value) (Result, error) {
		var in In
		if err := json.Unmarshal(args.AppendJSON(nil), &in); err != nil {
			return Result{}, &problem.Error{Code: problem.InvalidArgument, Err: err,
				Detail: fmt.Sprintf("the arguments don't fit the tool %s. tools/list has its input schema", t.Name)}
		}
		out, err := h(ctx, call, in)
		if err != nil {
			return Result{}, err
		}
		structured, err := json.Marshal(out)
		if err != nil {
			return Result{}, fmt.Errorf("tool %s: encode the result: %w", t.Name, err)
		}
		text := string(structured)
		if s, ok := any(out).(fmt.Stringer); ok {
			text = s.String()
		}
		return Result{Structured: structured, Text: text}, nil
	}
	return t
}

// schemaFor returns the JSON Schema of a struct in a form that every client can load: a closed object, with one type
// per member.
func schemaFor[T any]() (json.RawMessage, error) {
	typ := reflect.TypeFor[T]()
	if typ.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct, so it can't be the arguments or the result of a tool", typ)
	}
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[value.Value](): {Description: "any JSON value"}}})
	if err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", typ, err)
	}
	single(s)
	return json.Marshal(s)
}

// single replaces a list of types by the type of the value, because some clients can't load such lists. The schema has
// them for values that can be null in Go (slices, maps, pointers).
func single(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	single(s.Items)
	single(s.AdditionalProperties)
	for _, p := range s.Properties {
		single(p)
	}
}

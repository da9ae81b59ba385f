// Package argcheck checks JSON against a JSON Schema and describes the faults in words.
//
//	JSON Schema ─Compile→ Schema
//	arguments ─Take→ arguments in the schema's types, notes ─Check→ nil, or problem.InvalidArgument
//
// All checks of values describe their faults through this package. A Fault contains a pointer, a rule, the expected
// value, the value found and similar names. Refuse combines faults into one error. An Explainer converts the errors
// of a compiled schema to faults.
//
//	tools, actions, packs:   Schema.Check
//	HTTP APIs:               package openapi/validate compiles their schemas through a view, an Explainer says the faults
//	fields of classes:       package writes converts values to the types of sources, and makes faults
//
// Take converts equivalent forms, such as "5" for 5. It doesn't change other wrong values, which Check then rejects.
//
// Compile rejects schemas that some clients can't load.
package argcheck

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Schema is a compiled input schema of a tool or an action. Only Compile and Later create valid Schemas.
type Schema struct {
	schema func() (*jsonschema.Schema, error)
	known  map[string][]string // the property names of each object, by its pointer. * stands for the elements of a list

	shape *shape // the shape of the arguments
}

// Compile compiles an input schema and enables checks of formats. It rejects a schema that some clients can't load.
// If open is set, the schema may allow additional arguments, as embedding programs write them.
func Compile(schema []byte, open bool) (*Schema, error) {
	in, err := Later(schema, open)
	if err == nil {
		_, err = in.schema()
	}
	if err != nil {
		return nil, err
	}
	return in, nil
}

// Later is like Compile for a schema that is known to be valid. It postpones most of the work to the first check.
func Later(schema []byte, open bool) (*Schema, error) {
	doc, err := value.Read(schema, 0)
	if err != nil {
		return nil, fmt.Errorf("its input schema: %w", err)
	}
	if typ, _ := doc.Get("type"); typ.Text() != "object" {
		return nil, errors.New("its input schema is not of type object")
	}
	if closed, ok := doc.Get("additionalProperties"); !open && (!ok || closed.Kind() != value.Bool || closed.Bool()) {
		return nil, errors.New("its input schema is not closed (additionalProperties: false)")
	}
	in := &Schema{known: map[string][]string{}, shape: shapeOf(doc)}
	if err := in.loadable(doc, ""); err != nil {
		return nil, err
	}
	in.schema = sync.OnceValues(func() (*jsonschema.Schema, error) {
		resource, ok := Decode(doc)
		if !ok {
			return nil, errors.New("its input schema: " + TooLarge)
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("input.json", resource); err != nil {
			return nil, fmt.Errorf("its input schema: %w", err)
		}
		return c.Compile("input.json")
	})
	return in, nil
}

// Names returns the names of the arguments in the order of the schema. It never returns nil.
func (in *Schema) Names() []string {
	if names := in.known[""]; names != nil {
		return names
	}
	return []string{}
}

// loadable rejects schemas that some clients can't load. It rejects references, composition at the top level, lists
// of types, and lists without an element type.
func (in *Schema) loadable(v value.Value, at string) error {
	if typ, _ := v.Get("type"); typ.Text() == "array" {
		if _, ok := v.Get("items"); !ok {
			return fmt.Errorf("its input schema has a list without items%s: say what it holds, such as items: {type: string}", inside(at))
		}
	}
	for _, m := range v.Members() {
		switch m.Name {
		case "$ref", "$defs", "definitions":
			return fmt.Errorf("its input schema uses %s", m.Name)
		case "anyOf", "oneOf", "allOf", "not":
			if at == "" {
				return fmt.Errorf("its input schema has %s at the top", m.Name)
			}
		case "type":
			if m.Value.Kind() == value.Array {
				return errors.New("its input schema has a list of types")
			}
		case "properties":
			for _, p := range m.Value.Members() {
				in.known[at] = append(in.known[at], p.Name)
				if err := in.loadable(p.Value, query.Pointer(at, p.Name)); err != nil {
					return err
				}
			}
			continue
		}
		if err := in.loadable(m.Value, at+"/*"); err != nil {
			return err
		}
	}
	return nil
}

// inside describes a position in the arguments.
func inside(at string) string {
	if at = strings.TrimSuffix(strings.TrimPrefix(at, "/"), "/*"); at == "" {
		return ""
	}
	return " at " + at
}

// Check returns one problem.InvalidArgument with every rule that args violates, or nil.
func (in *Schema) Check(args value.Value) error {
	schema, err := in.schema()
	if err != nil {
		return fmt.Errorf("check arguments: %w", err)
	}
	instance, ok := Decode(args)
	if !ok {
		return problem.New(problem.InvalidArgument, TooLarge)
	}
	x := Explainer{Value: args, Noun: "argument", Known: in.takes}
	return Refuse("schema", x.Faults(schema.Validate(instance)), "")
}

// takes returns the allowed member names of the object at a position.
func (in *Schema) takes(at []string) []string {
	known := ""
	for _, token := range at {
		if _, err := strconv.Atoi(token); err == nil {
			token = "*" // an element of a list
		}
		known = query.Pointer(known, token)
	}
	return in.known[known]
}

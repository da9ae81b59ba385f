// Package argcheck checks JSON against a JSON Schema, and says in words what is wrong.
//
//	JSON Schema ─Compile→ Schema
//	arguments ─Take→ arguments in the schema's types, notes ─Check→ nil, or problem.InvalidArgument
//
// All checks of values say their faults in the words of this package. A Fault has a place, a rule, what must be, what was
// found and near names. Refuse makes one error of them. An Explainer makes faults of what a compiled schema refuses.
//
//	tools, actions, packs:   Schema.Check
//	HTTP APIs:               package openapi/validate compiles their schemas through a view, an Explainer says the faults
//	fields of classes:       package writes converts values to the types of sources, and makes faults
//
// Take converts equivalent forms, such as "5" for 5. It leaves all else for Check to reject.
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

// A Schema is a compiled input schema of a tool or an action. Only Compile and Later make a usable one.
type Schema struct {
	schema func() (*jsonschema.Schema, error)
	known  map[string][]string // by the pointer of an object, with * for the elements of a list: its properties

	shape *shape // of the arguments
}

// Compile compiles an input schema, with checks of formats, and rejects one that some clients can't load. open accepts
// a schema that allows additional arguments, as embedding programs write them.
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

// Later is Compile for a schema that is known to be valid. The longest part of the work is done for the first call that
// it checks.
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

// Names returns the names of the arguments, in the order of the schema. Never nil.
func (in *Schema) Names() []string {
	if names := in.known[""]; names != nil {
		return names
	}
	return []string{}
}

// loadable rejects schemas that some clients can't load. These have references, composition at the top level, lists of
// types, or lists without a type of their elements.
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

// inside names a place in the arguments.
func inside(at string) string {
	if at = strings.TrimSuffix(strings.TrimPrefix(at, "/"), "/*"); at == "" {
		return ""
	}
	return " at " + at
}

// Check returns every rule that args break as one problem.InvalidArgument.
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

// takes returns the names that the object at a place takes.
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

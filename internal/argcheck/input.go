// Package argcheck checks arguments against the JSON Schema of a tool or of an action.
//
//	JSON Schema ─Compile→ Schema
//	arguments ─Take→ arguments in the schema's types, notes ─Check→ nil, or problem.InvalidArgument
//
// Tools and actions share it, so that both report faults in the same form: the JSON pointer, the rule and a sentence.
// FaultSentence returns the sentence for the keyword of a schema that a value breaks. Package openapi/validate uses it
// for the arguments of HTTP APIs.
//
// Take converts equivalent forms, such as "5" for 5. It leaves all else for Check to reject.
//
// Compile rejects schemas that some clients can't load.
package argcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
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
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("input.json", plain(doc)); err != nil {
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
	if err == nil {
		err = schema.Validate(plain(args))
	}
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return fmt.Errorf("check arguments: %w", err)
	}
	p := &problem.Error{Code: problem.InvalidArgument, Kind: "schema"}
	meant := map[string]bool{}
	in.faults(invalid, p, meant)
	p.Faults = slices.DeleteFunc(p.Faults, func(f problem.Fault) bool { return f.Rule == "required" && meant[f.Pointer] }) // one mistake is one fault
	sort.SliceStable(p.Faults, func(i, j int) bool { return p.Faults[i].Pointer < p.Faults[j].Pointer })
	messages := make([]string, 0, 3)
	for _, f := range p.Faults[:min(3, len(p.Faults))] {
		messages = append(messages, f.Message)
	}
	p.Detail = strings.Join(messages, "; ")
	p.Pointer = p.Faults[0].Pointer
	return p
}

// faults adds the leaf errors of a validation error to p, and to meant the pointers of arguments that are named for an unknown one.
func (in *Schema) faults(e *jsonschema.ValidationError, p *problem.Error, meant map[string]bool) {
	if len(e.Causes) > 0 {
		for _, c := range e.Causes {
			in.faults(c, p, meant)
		}
		return
	}
	at, known := "", ""
	for _, token := range e.InstanceLocation {
		at = query.Pointer(at, token)
		if _, err := strconv.Atoi(token); err == nil {
			token = "*" // an element of a list
		}
		known = query.Pointer(known, token)
	}
	rule := e.ErrorKind.KeywordPath()
	add := func(at, format string, args ...any) {
		p.Faults = append(p.Faults, problem.Fault{Pointer: at, Rule: rule[len(rule)-1], Message: fmt.Sprintf(format, args...)})
	}
	name := strings.TrimPrefix(at, "/")
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, unknown := range k.Properties {
			like := near(unknown, in.known[known])
			p.Near = append(p.Near, like...)
			for _, name := range like {
				meant[query.Pointer(at, name)] = true
			}
			add(query.Pointer(at, unknown), "unknown argument %q%s", problem.Cut(unknown), nearest(like, in.known[known]))
		}
	case *kind.Required:
		for _, missing := range k.Missing {
			add(query.Pointer(at, missing), "the argument %q is missing", missing)
		}
	case *kind.Enum:
		allowed := make([]string, len(k.Want))
		for i, w := range k.Want {
			allowed[i] = fmt.Sprint(w)
		}
		add(at, "%s is one of %s", name, strings.Join(allowed, ", "))
	default:
		add(at, "%s", FaultSentence(name, k))
	}
}

// near returns the name that an unknown one is like: in its letters, as another word for it, or as its end (id for issueId).
func near(unknown string, known []string) []string {
	if out := problem.Nearest(unknown, known, 1); len(out) > 0 {
		return out
	}
	out := slices.DeleteFunc(words(unknown), func(name string) bool { return !slices.Contains(known, name) })
	if len(out) == 0 && len(unknown) > 1 {
		for _, name := range known {
			if strings.HasSuffix(strings.ToLower(name), strings.ToLower(unknown)) {
				out = append(out, name)
			}
		}
	}
	if len(out) > 1 {
		return nil
	}
	return out
}

// nearest returns the end of a sentence about an unknown name: the near names, else the known ones.
func nearest(near, known []string) string {
	return problem.Instead(near, slices.Sorted(slices.Values(known)), "takes", len(known))
}

// plain converts v to the types of encoding/json, with exact numbers.
func plain(v value.Value) any {
	switch v.Kind() {
	case value.Bool:
		return v.Bool()
	case value.Int, value.Decimal:
		return json.Number(v.String())
	case value.String:
		return v.Text()
	case value.Array:
		list := make([]any, len(v.List()))
		for i, e := range v.List() {
			list[i] = plain(e)
		}
		return list
	case value.Object:
		object := make(map[string]any, len(v.Members()))
		for _, m := range v.Members() {
			object[m.Name] = plain(m.Value)
		}
		return object
	}
	return nil
}

package validate

import (
	"context"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// MaxSteps is the maximum number of times that the values of a call and their parts are compared with schemas. A few
// hundred bytes of nested allOf can ask for more comparisons than there is time for. This many take half a second. A comparison with a long value counts as one more for each stepBytes of it.
const MaxSteps = 200_000

const (
	stepBytes    = 256
	endedSteps   = 1000 // how many schemas are counted between two looks at whether the call has ended
	elementBytes = 16   // the count of an element or member beside its name
)

// steps counts the comparisons that checking a value would take, before the value is checked. The library compares a
// value again for each path through the schemas that leads to it. steps visits each pair of value and schema once.
type steps struct {
	made  map[pair]int
	ended func() error
	err   error // of ended
}

// A pair is a schema and a part of the value, identified by an arbitrary number.
type pair struct {
	schema *jsonschema.Schema
	at     int
}

// A node is a part of a value.
type node struct {
	id    int
	size  int             // bytes that a comparison reads: of a text, or of the names and elements of an object or a list
	whole int             // size, with all parts
	parts []node          // of a list
	named map[string]node // of an object
}

// nodes numbers the parts of v, from *next on.
func nodes(v any, next *int) node {
	n := node{id: *next}
	*next++
	add := func(name string, v any) node {
		part := nodes(v, next)
		n.size += len(name) + elementBytes
		n.whole += part.whole
		return part
	}
	switch v := v.(type) {
	case string:
		n.size = len(v)
	case []any:
		for _, e := range v {
			n.parts = append(n.parts, add("", e))
		}
	case map[string]any:
		n.named = map[string]node{}
		for name, e := range v {
			n.named[name] = add(name, e)
		}
	}
	n.whole += n.size
	return n
}

// count returns the number of comparisons of n with s, at least. It stops at MaxSteps+1.
func (c *steps) count(s *jsonschema.Schema, n node) int {
	if s == nil || s.Bool != nil {
		return 1
	}
	at := pair{s, n.id}
	if made, ok := c.made[at]; ok {
		return made
	}
	if n := len(c.made); n%endedSteps == 0 && c.err == nil {
		c.err = c.ended()
	}
	if len(c.made) > MaxSteps || c.err != nil {
		return MaxSteps + 1
	}
	c.made[at] = 1 // a reference to itself in place is refused by the library
	sum := 1 + n.size/stepBytes
	if s.UniqueItems || s.Enum != nil || s.Const != nil { // equality reads all parts
		sum = 1 + n.whole/stepBytes
	}
	add := func(s *jsonschema.Schema, n node) {
		if s != nil && sum <= MaxSteps {
			sum = min(sum+c.count(s, n), MaxSteps+1)
		}
	}
	// Schemas in place are compared with the same value, those of members and elements with its parts.
	for _, in := range [][]*jsonschema.Schema{{s.Ref, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf} {
		for _, s := range in {
			add(s, n)
		}
	}
	for name, part := range n.named {
		add(s.PropertyNames, node{id: part.id, size: len(name), whole: len(name)})
		matched := false
		for pattern, of := range s.PatternProperties {
			if pattern.MatchString(name) {
				add(of, part)
				matched = true
			}
		}
		if of, ok := s.Properties[name]; ok {
			add(of, part)
		} else if matched {
			continue
		} else if of, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
			add(of, part)
		}
	}
	for i, part := range n.parts {
		if i < len(s.PrefixItems) {
			add(s.PrefixItems[i], part)
		} else {
			add(s.Items2020, part)
		}
	}
	c.made[at] = sum
	return sum
}

// checkSteps returns a refusal if checking instance against s too takes more than MaxSteps.
func (f *faults) checkSteps(s *jsonschema.Schema, instance any, at string) error {
	next, c := 0, &steps{made: map[pair]int{}, ended: f.ended}
	f.steps += c.count(s, nodes(instance, &next))
	if c.err != nil || f.steps <= MaxSteps {
		return c.err
	}
	return &problem.Error{Code: problem.Unsupported, Kind: "schema_too_deep", Pointer: at,
		Detail:     fmt.Sprintf("its schemas nest so that checking the values up to this one takes more than %d comparisons", MaxSteps),
		Suggestion: "give a smaller value; whoever runs this gateway finds the schema with bailiwick check"}
}

// TooDeep returns the places of op whose schema can't be checked within MaxSteps, whatever the value: "body", or a
// parameter's name.
func (c *Checker) TooDeep(op *spec.Operation) (out []string) {
	deep := func(name, key string, r spec.Raw) {
		if r == nil {
			return
		}
		if s, err := c.compile(key, r); err == nil && (&faults{ended: context.Background().Err}).checkSteps(s, map[string]any{}, "") != nil {
			out = append(out, name)
		}
	}
	for _, p := range c.v.Parameters(op) {
		deep(p.Name, fmt.Sprintf("%s %s %s", op.ID, p.In, p.Name), p.Schema)
	}
	if op.Body != nil {
		for _, content := range op.Body.Contents {
			deep("body", fmt.Sprintf("%s body %s", op.ID, content.MediaType), content.Schema)
		}
	}
	return out
}

package validate

import (
	"context"
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// MaxSteps is the maximum number of comparisons of the values of a call, and their parts, with schemas. A few hundred
// bytes of nested allOf can require more comparisons than can be made in reasonable time. This many take half a
// second. A comparison with a long value counts one more for each stepBytes of the value.
const MaxSteps = 200_000

const (
	stepBytes    = 256
	endedSteps   = 1000 // number of schemas counted between two checks whether the call has ended
	elementBytes = 16   // the size of an element or member in addition to its name
)

// steps counts the comparisons that checking a value would require, before the value is checked. The library compares
// a value again for each path through the schemas. steps visits each pair of value and schema only once.
type steps struct {
	made  map[pair]int
	ended func() error
	err   error // the error of ended
}

// A pair is a schema and a part of the value. The part is identified by an arbitrary number.
type pair struct {
	schema *jsonschema.Schema
	at     int
}

// A node is a part of a value.
type node struct {
	id    int
	size  int             // bytes that a comparison reads: the string, or the names and elements of an object or a list
	whole int             // size, including all parts
	parts []node          // elements of a list
	named map[string]node // members of an object
}

// nodes numbers v and its parts, starting with *next.
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

// count returns a lower bound for the number of comparisons of n with s. It stops at MaxSteps+1.
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
	c.made[at] = 1 // the library refuses a schema that refers to itself in place
	sum := 1 + n.size/stepBytes
	if s.UniqueItems || s.Enum != nil || s.Const != nil { // a comparison for equality reads all parts
		sum = 1 + n.whole/stepBytes
	}
	add := func(s *jsonschema.Schema, n node) {
		if s != nil && sum <= MaxSteps {
			sum = min(sum+c.count(s, n), MaxSteps+1)
		}
	}
	// Schemas that apply in place are compared with the same value. Schemas of members and elements are compared with
	// its parts.
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

// checkSteps counts the comparisons of instance with s. It returns a refusal if the total for the call exceeds
// MaxSteps.
func (f *faults) checkSteps(s *jsonschema.Schema, instance any, at string) error {
	next, c := 0, &steps{made: map[pair]int{}, ended: f.ended}
	f.steps += c.count(s, nodes(instance, &next))
	if c.err != nil || f.steps <= MaxSteps {
		return c.err
	}
	return &problem.Error{Code: problem.Unsupported, Kind: "schema_too_deep", Pointer: at,
		Detail:     fmt.Sprintf("its schemas nest so that checking the values up to this one takes more than %d comparisons", MaxSteps),
		Suggestion: "give a smaller value. The operator finds the schema with bailiwick check"}
}

// TooDeep returns the parts of op whose schema can't be checked within MaxSteps for any value: "body", or a
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

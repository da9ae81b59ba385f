package response

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A node is the declaration of a value at one place of a body, in the principal's View. It combines all possible
// schemas of the value.
type node struct {
	gone     bool // the value is hidden
	fields   map[string]*field
	names    []string // of fields, in order
	of       []string // the named schemas of the value. Each is consulted for names that are not in fields
	closed   bool     // part of the schema is hidden, so undeclared names may belong to it
	choices  []choice // the choices with hidden alternatives
	elements []place  // the schemas of array elements
	further  []place  // the schemas of undeclared names

	element, other *node // created on first use
}

// A field is the combined declaration of a member. It is hidden if it is hidden in any alternative.
type field struct {
	hidden bool
	unsent bool // writeOnly, so never part of a response
	cover  cover
	public bool // the document describes it as a public key
	places []place
	node   *node // created on first use
}

// A choice is a set of alternatives, some of them hidden. A value is visible only if its discriminator names a
// visible alternative.
type choice struct {
	by  string // the discriminator, or ""
	may map[string]bool
}

// A place is a schema and the named schema that contains it.
type place struct {
	raw spec.Raw
	of  string
}

// at identifies a place, for use as a map key.
type at struct {
	raw *byte
	of  string
}

// maxParts is the maximum number of schemas combined for one value. maxNodes is the maximum number of nodes searched
// for hidden parts.
const (
	maxParts = 512
	maxNodes = 20_000
)

// admits reports whether any part of val may be shown.
func (n *node) admits(val value.Value) bool {
	if n.gone {
		return false
	}
	if val.IsNull() {
		return true
	}
	if n.closed && (val.Kind() != value.Object || len(n.fields) == 0) {
		return false
	}
	for _, c := range n.choices {
		says, ok := val.Get(c.by)
		if !ok || says.Kind() != value.String || !c.may[says.Text()] {
			return false
		}
	}
	return true
}

// responseSchemas returns the schemas of op's response with the given status. A response with an undocumented status
// may have any of the documented schemas.
func (w *walker) responseSchemas(op *spec.Operation, status int) []place {
	var best, good []place
	text := strconv.Itoa(status)
	rank := 0
	for _, r := range op.Responses {
		var in []place
		for _, c := range r.Contents {
			if c.Schema != nil && (spec.IsJSON(c.MediaType) || validate.IsLines(c.MediaType)) {
				in = append(in, place{raw: c.Schema})
			}
		}
		as := 0
		switch {
		case r.Status == text:
			as = 3
		case len(r.Status) == 3 && strings.EqualFold(r.Status[1:], "xx") && r.Status[0] == text[0]:
			as = 2
		case r.Status == "default":
			as = 1
		}
		if as > rank && len(in) > 0 {
			best, rank = in, as
		}
		good = append(good, in...)
	}
	if status == 0 || rank == 0 {
		return good
	}
	return best
}

// nodeOf returns the node of a value with any of the schemas in places. It returns nil if places contains no schema.
func (w *walker) nodeOf(places []place) *node {
	var key strings.Builder
	kept := places[:0:0]
	for _, p := range places {
		if len(p.raw) == 0 {
			continue
		}
		id, ok := w.ids[at{&p.raw[0], p.of}]
		if !ok {
			id = len(w.ids)
			w.ids[at{&p.raw[0], p.of}] = id
		}
		kept = append(kept, p)
		key.WriteString(strconv.Itoa(id) + " ")
	}
	if len(kept) == 0 {
		return nil
	}
	if n, ok := w.nodes[key.String()]; ok {
		return n
	}
	c := collector{w: w, n: &node{fields: map[string]*field{}}, past: map[at]bool{}}
	var raws []spec.Raw
	for _, p := range kept {
		raws = append(raws, p.raw)
	}
	if len(kept) == 1 {
		c.n.gone = c.add(kept[0].raw, kept[0].of)
	} else {
		c.choose(raws, nil)
	}
	w.nodes[key.String()] = c.n
	return c.n
}

// A collector combines schemas.
type collector struct {
	w    *walker
	n    *node
	past map[at]bool
}

// add adds r, a part of the named schema of. It reports whether r is hidden.
func (c *collector) add(r spec.Raw, of string) bool {
	if len(r) == 0 {
		return false
	}
	key := at{&r[0], of}
	if hidden, ok := c.past[key]; ok {
		return hidden
	}
	c.past[key] = false
	if len(c.past) > maxParts {
		c.n.closed = true
		return false
	}
	c.past[key] = c.parts(r, of)
	return c.past[key]
}

// parts adds the contents of r. It reports whether r is hidden.
func (c *collector) parts(r spec.Raw, of string) bool {
	if to, name, ok := c.w.v.Follow(r); ok {
		if name != "" {
			if to == nil {
				return true
			}
			of = name
			c.n.of = append(c.n.of, name)
		}
		if c.add(to, of) {
			return true
		}
	}
	var either []spec.Raw
	for name, m := range r.Members() {
		switch name {
		case "properties":
			for field, schema := range m.Members() {
				c.field(field, schema, of)
			}
		case "allOf":
			for e := range m.Elements() {
				c.n.closed = c.add(e, of) || c.n.closed
			}
		case "oneOf", "anyOf":
			for e := range m.Elements() {
				either = append(either, e)
			}
		default:
			c.keyword(name, m, of)
		}
	}
	c.choose(either, r.Get("discriminator"))
	return false
}

// keyword adds a keyword that describes parts of a value and isn't handled by parts.
func (c *collector) keyword(name string, m spec.Raw, of string) {
	switch name {
	case "items", "unevaluatedItems", "contains":
		c.n.elements = appendObject(c.n.elements, m)
	case "prefixItems":
		for e := range m.Elements() {
			c.n.elements = appendObject(c.n.elements, e)
		}
	case "additionalProperties", "unevaluatedProperties":
		c.n.further = appendObject(c.n.further, m)
	case "patternProperties":
		for _, e := range m.Members() {
			c.n.further = appendObject(c.n.further, e)
		}
	case "if", "then", "else":
		c.n.closed = c.add(m, of) || c.n.closed
	case "dependentSchemas":
		for _, e := range m.Members() {
			c.n.closed = c.add(e, of) || c.n.closed
		}
	}
}

func appendObject(to []place, r spec.Raw) []place {
	if r.Kind() != '{' {
		return to
	}
	return append(to, place{raw: r})
}

// field adds a declaration of a field in the schema of. A field with several declarations is hidden, or unsent, if
// one declaration is.
func (c *collector) field(name string, r spec.Raw, of string) {
	f := c.n.fields[name]
	if f == nil {
		f = &field{}
		c.n.fields[name] = f
		c.n.names = append(c.n.names, name)
	}
	f.hidden = f.hidden || !c.w.v.Field(of, name)
	f.unsent = f.unsent || r.Get("writeOnly").True()
	said := r.Get("description").Text()
	if r.Get("format").Text() == "password" || secretnames.SecretKey(name, said) {
		f.cover = texts
	}
	f.public = f.public || secretnames.PublicKey(said)
	f.places = append(f.places, place{raw: r})
}

// choose adds the alternatives of a choice.
func (c *collector) choose(either []spec.Raw, discriminator spec.Raw) {
	may, hidden := map[string]bool{}, false
	for _, r := range either {
		if c.add(r, "") {
			hidden = true
			continue
		}
		if ref := spec.Reference(r); ref != "" {
			may[ref[strings.LastIndexByte(ref, '/')+1:]] = true
		}
	}
	if !hidden {
		return
	}
	for says, m := range discriminator.Get("mapping").Members() {
		ref := m.Text()
		if !strings.Contains(ref, "#") {
			ref = "#/components/schemas/" + ref
		}
		to, _, _ := c.w.v.Follow(spec.Raw(append(value.AppendQuote([]byte(`{"$ref":`), ref), '}')))
		may[says] = to != nil
	}
	c.n.choices = append(c.n.choices, choice{discriminator.Get("propertyName").Text(), may})
}

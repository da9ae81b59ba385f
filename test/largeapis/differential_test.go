package largeapis

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestDifferential compares the validator over random bodies with two others. One is kin-openapi's, for OpenAPI 3.0.
// The other is a reference that takes the document's schemas as JSON Schema, with and without further properties. It
// tries 3,000 bodies, or as many as BAILIWICK_SOAK says, at most 100,000.
//
// Some schemas mean something else to kin-openapi, and are left out there. They have discriminators, not, integer
// beside number, or additionalProperties: false beside parts. kin-openapi checks formats of texts, which are open here.
// It refuses null where a schema has no type, and a value that fits several of oneOf. The reference doesn't choose by
// tags. A body that only the reference accepts must be one whose alternative is chosen by a tag. The reference knows no
// names, so the validator may refuse a body with an unknown name that the reference accepts. In one of 10,000 bodies it
// is a name of an alternative that the value doesn't fit.
func TestDifferential(t *testing.T) {
	files := append(fixtures(t), "testdata/numbers.yaml")
	if dir := os.Getenv("BAILIWICK_APIS"); dir != "" && dir != "none" {
		files = append(files, documents(t)...)
	}
	bodies := 3000
	if n, err := strconv.Atoi(os.Getenv("BAILIWICK_SOAK")); err == nil {
		bodies = max(bodies, min(n, 100_000))
	}
	seed, _ := strconv.ParseUint(os.Getenv("BAILIWICK_SEED"), 10, 64)
	d := differential{random: rand.New(rand.NewPCG(1, seed+2))}
	for i, file := range files {
		pairs := pairsOf(t, file)
		for range (bodies - d.bodies) / (len(files) - i) { // also what documents without bodies leave
			if len(pairs) == 0 {
				break
			}
			p := pairs[d.random.IntN(len(pairs))]
			d.compare(t, p, p.random(d.random, p.content.Schema, 0))
		}
	}
	t.Logf("%d bodies, %d of them with kin-openapi as well: %d are accepted and %d refused; %d refused by kin-openapi alone, for a format or null, %d for fitting two alternatives, %d by a tag, %d by an unknown name alone, %d by one of another alternative",
		d.bodies, d.kin, d.accepted, d.refused, d.alone, d.several, d.tagged, d.names, d.other)
	if d.other > d.bodies/10_000+1 || d.accepted < d.bodies/20 || d.refused < d.bodies/20 || d.kin < 100 {
		t.Error("too few of one kind: the comparison says little")
	}
}

// A differential counts what was compared.
type differential struct {
	random                                                               *rand.Rand
	bodies, kin, alone, accepted, refused, tagged, names, other, several int
}

// unheard is a name that no schema has.
const unheard = "unheardOf"

func (d *differential) compare(t *testing.T, p *pair, body value.Value) {
	t.Helper()
	d.bodies++
	text := string(body.AppendJSON(nil))
	_, open := p.ours(p.openly, body)
	unknown, strict := p.ours(p.strictly, body)
	if open == nil {
		d.accepted++
	} else {
		d.refused++
	}
	if p.kin != nil && !(p.closed && strings.Contains(text, unheard)) {
		d.kin++
		if theirs := p.theirs(t, body); (open == nil) != (theirs == nil) {
			if open == nil && theirs != nil && strings.Contains(theirs.Error(), "matches more than one") {
				d.several++
			} else if open == nil && theirs != nil && (strings.Contains(text, `"odd"`) || strings.Contains(text, "null")) && check(p.opened, body) == nil {
				d.alone++
			} else {
				t.Errorf("%s %s\n  ours: %v\n  kin-openapi: %.300v", p.op.ID, text, open, theirs)
			}
		}
	}
	if theirs := check(p.opened, body); (open == nil) != (theirs == nil) {
		if open != nil && p.tagged {
			d.tagged++
		} else {
			t.Errorf("%s %s\n  ours: %v\n  the document, open: %.300v", p.op.ID, text, open, theirs)
		}
	}
	if theirs := check(p.written, body); (strict == nil) != (theirs == nil) {
		switch {
		case strict != nil && p.tagged:
			d.tagged++
		case strict != nil && unknown == unheard:
			d.names++
		case strict != nil && open == nil && unknown != "":
			d.other++
		default:
			t.Errorf("%s %s\n  ours: %v\n  the document: %.300v", p.op.ID, text, strict, theirs)
		}
	}
}

// A pair is the body of one operation, as each validator reads it.
type pair struct {
	v                *spec.View
	openly, strictly *validate.Checker
	op               *spec.Operation
	content          *spec.Content
	opened, written  *jsonschema.Schema
	tagged           bool // a discriminator is in it
	kin              *openapi3.Schema
	closed           bool // kin has additionalProperties: false
}

func pairsOf(t *testing.T, file string) (out []*pair) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := spec.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	var theirs *openapi3.T
	if d.Dialect == spec.OpenAPI30 {
		theirs, _ = openapi3.NewLoader().LoadFromData(b) // kin-openapi doesn't read all
	}
	v := spec.NewView(d, nil, spec.Filter{})
	openly, strictly := validate.New(v, validate.Options{OpenBodies: true, OpenFormats: true}), validate.New(v, validate.Options{OpenFormats: true})
	opened, written := newReference(d, true), newReference(d, false)
	for _, op := range v.Operations() {
		if op.Body == nil || !spec.IsJSON(op.Body.PreferredContent().MediaType) || op.Body.PreferredContent().Schema == nil || validate.IsPatch(op.Body.PreferredContent().MediaType) {
			continue
		}
		p := &pair{v: v, openly: openly, strictly: strictly, op: op, content: op.Body.PreferredContent()}
		if p.opened, err = opened.compile(p.content.Schema); err == nil {
			p.written, err = written.compile(p.content.Schema)
		}
		if err != nil {
			t.Fatalf("%s: %v", op.ID, err)
		}
		p.tagged = tagged(d, p.content.Schema, map[string]bool{})
		if s := schemaOf(theirs, op, p.content.MediaType); s != nil && !differs(s, 0) {
			p.kin, p.closed = s, closes(s, 0)
		}
		out = append(out, p)
	}
	return out
}

// schemaOf returns the schema of an operation's body, as kin-openapi has it, or nil.
func schemaOf(d *openapi3.T, op *spec.Operation, mediaType string) *openapi3.Schema {
	if d == nil || d.Paths == nil {
		return nil
	}
	item := d.Paths.Value(op.Path)
	if item == nil || item.GetOperation(op.Method) == nil || item.GetOperation(op.Method).RequestBody == nil {
		return nil
	}
	media := item.GetOperation(op.Method).RequestBody.Value.Content[mediaType]
	if media == nil || media.Schema == nil {
		return nil
	}
	return media.Schema.Value
}

// tagged reports whether r, or a schema that it refers to or contains, has a discriminator.
func tagged(d *spec.Document, r spec.Raw, past map[string]bool) bool {
	if ref := spec.Reference(r); ref != "" {
		if past[ref] {
			return false
		}
		past[ref] = true
		return tagged(d, d.Lookup(ref), past)
	}
	if r.Get("discriminator") != nil {
		return true
	}
	for _, m := range r.Members() {
		if m.Kind() == '{' && tagged(d, m, past) {
			return true
		}
		for e := range m.Elements() {
			if e.Kind() == '{' && tagged(d, e, past) {
				return true
			}
		}
	}
	return false
}

// differs reports whether kin-openapi means something else by a schema, or by one below it.
func differs(s *openapi3.Schema, depth int) bool {
	parts := slices.Concat(s.AllOf, s.OneOf, s.AnyOf)
	kind := func(name string) bool {
		return slices.ContainsFunc(s.OneOf, func(r *openapi3.SchemaRef) bool { return r.Value != nil && r.Value.Type.Is(name) })
	}
	if s.Discriminator != nil || len(parts) > 0 && isClosed(s) || s.Not != nil || kind("integer") && kind("number") ||
		slices.ContainsFunc(parts, func(r *openapi3.SchemaRef) bool { return isClosed(r.Value) }) {
		return true
	}
	return depth < 12 && slices.ContainsFunc(below(s), func(s *openapi3.Schema) bool { return differs(s, depth+1) })
}

// closes reports whether s, or a schema below it, has additionalProperties: false.
func closes(s *openapi3.Schema, depth int) bool {
	return isClosed(s) || depth < 12 && slices.ContainsFunc(below(s), func(s *openapi3.Schema) bool { return closes(s, depth+1) })
}

func isClosed(s *openapi3.Schema) bool {
	return s != nil && s.AdditionalProperties.Has != nil && !*s.AdditionalProperties.Has
}

func below(s *openapi3.Schema) (out []*openapi3.Schema) {
	all := slices.Concat(s.AllOf, s.OneOf, s.AnyOf, []*openapi3.SchemaRef{s.Items, s.AdditionalProperties.Schema}, slices.Collect(maps.Values(s.Properties)))
	for _, r := range all {
		if r != nil && r.Value != nil {
			out = append(out, r.Value)
		}
	}
	return out
}

// ours returns the first fault of a body. unknown is "unknown" if all faults are unknown names, or unheard if that is
// one.
func (p *pair) ours(c *validate.Checker, body value.Value) (unknown string, found error) {
	_, err := c.Check(context.Background(), p.op, validate.Arguments{Body: body, HasBody: true, Media: p.content.MediaType})
	if err == nil {
		return "", nil
	}
	if problem.CodeOf(err) != problem.InvalidArgument {
		return "", err
	}
	for _, f := range problem.Of(err).Faults {
		if !strings.HasPrefix(f.Pointer, "/body") {
			continue // a parameter is missing
		}
		if found == nil {
			found, unknown = fmt.Errorf("%s %s", f.Pointer, f.Message), f.Rule
		}
		switch {
		case f.Rule != "unknown":
			return "", found
		case strings.Contains(f.Pointer, unheard):
			unknown = unheard
		}
	}
	return unknown, found
}

func (p *pair) theirs(t *testing.T, body value.Value) error {
	t.Helper()
	var v any
	if err := json.Unmarshal(body.AppendJSON(nil), &v); err != nil {
		t.Fatal(err)
	}
	return p.kin.VisitJSON(v)
}

// random returns a value that mostly matches the schema r.
func (p *pair) random(random *rand.Rand, r spec.Raw, depth int) value.Value {
	s := p.v.Schema(r)
	odds := func(percent int) bool { return random.IntN(100) < percent }
	switch {
	case odds(5):
		return []value.Value{{}, value.OfBool(true), value.OfInt(-3), value.OfString("odd"), value.OfObject(nil), value.OfArray(nil)}[random.IntN(6)]
	case s.Nullable && odds(10):
		return value.Value{}
	case len(s.Enum) > 0:
		v, err := value.Read(s.Enum[random.IntN(len(s.Enum))], 0)
		if err == nil {
			return v
		}
	}
	if choices := slices.Concat(s.OneOf, s.AnyOf); len(choices) > 0 && len(s.Properties) == 0 {
		return p.random(random, choices[random.IntN(len(choices))], depth+1)
	}
	switch {
	case len(s.Types) > 0 && s.Is("array"):
		var list []value.Value
		for range random.IntN(3) {
			if depth < 5 && s.Items != nil {
				list = append(list, p.random(random, s.Items, depth+1))
			}
		}
		return value.OfArray(list)
	case len(s.Types) > 0 && s.Is("boolean"):
		return value.OfBool(odds(50))
	case len(s.Types) > 0 && (s.Is("integer") || s.Is("number")):
		return value.OfInt(int64(random.IntN(200) - 20))
	case len(s.Types) > 0 && s.Is("string"):
		texts := map[string]string{"date": "2026-01-02", "date-time": "2026-01-02T03:04:05Z", "byte": "aGk=", "uuid": "123e4567-e89b-12d3-a456-426614174000", "email": "a@b.example", "uri": "https://a.example"}
		if text, ok := texts[s.Format]; ok {
			return value.OfString(text)
		}
		return value.OfString(strings.Repeat("ab", random.IntN(6)))
	}
	var members []value.Member
	o := p.v.Object(s)
	for _, f := range o.Fields {
		if f.Required && odds(97) || odds(40) && depth < 5 {
			members = append(members, value.Member{Name: f.Name, Value: p.random(random, f.Schema, depth+1)})
		}
	}
	if len(o.Choices) > 0 {
		more := p.random(random, o.Choices[random.IntN(len(o.Choices))], depth+1)
		for _, m := range more.Members() {
			if !slices.ContainsFunc(members, func(has value.Member) bool { return has.Name == m.Name }) {
				members = append(members, m)
			}
		}
	}
	if odds(5) {
		members = append(members, value.Member{Name: unheard, Value: value.OfInt(1)})
	}
	return value.OfObject(members)
}

package largeapis

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/visible"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/getkin/kin-openapi/openapi3"
)

// TestDifferential compares the validator with kin-openapi's over random bodies of the operations of OpenAPI 3.0
// documents: 3,000, or as many as BAILIWICK_SOAK says, at most 100,000. Left out are schemas by which the two mean
// different things: those with discriminators, and with additionalProperties: false beside parts.
func TestDifferential(t *testing.T) {
	files := fixtures(t)
	if dir := os.Getenv("BAILIWICK_APIS"); dir != "" && dir != "none" {
		files = append(files, documents(t)...)
	}
	bodies := 3000
	if n, err := strconv.Atoi(os.Getenv("BAILIWICK_SOAK")); err == nil {
		bodies = max(bodies, min(n, 100_000))
	}
	random := rand.New(rand.NewPCG(1, 2))
	compared, accepted, refused := 0, 0, 0
	var all [][]pair
	for _, file := range files {
		if pairs := pairsOf(t, file); len(pairs) > 0 {
			all = append(all, pairs)
		}
	}
	for _, pairs := range all {
		for range bodies / len(all) {
			p := pairs[random.IntN(len(pairs))]
			body := p.random(random, p.content.Schema, 0)
			ours, theirs := p.ours(body), p.theirs(t, body)
			compared++
			if ours == nil {
				accepted++
			} else {
				refused++
			}
			if (ours == nil) != (theirs == nil) {
				t.Errorf("%s %s\n  ours: %v\n  kin-openapi: %.300v", p.op.ID, body, ours, theirs)
			}
		}
	}
	t.Logf("%d bodies, %d accepted and %d refused by both", compared, accepted, refused)
	if accepted < compared/20 || refused < compared/20 {
		t.Error("too few of one kind: the comparison says little")
	}
}

// A pair is the body of one operation, as each validator reads it.
type pair struct {
	v       *visible.View
	check   *validate.Checker
	op      *spec.Operation
	content *spec.Content
	schema  *openapi3.Schema
}

func pairsOf(t *testing.T, file string) (out []pair) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := spec.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil || d.Dialect != spec.OpenAPI30 || theirs.Paths == nil {
		return nil // kin-openapi doesn't read it
	}
	v := visible.New(d, nil, visible.Filter{})
	check := validate.New(v, validate.Options{OpenBodies: true})
	for _, op := range v.Operations() {
		item := theirs.Paths.Value(op.Path)
		if op.Body == nil || item == nil || item.GetOperation(op.Method) == nil || item.GetOperation(op.Method).RequestBody == nil {
			continue
		}
		c := op.Body.Preferred()
		media := item.GetOperation(op.Method).RequestBody.Value.Content[c.MediaType]
		if !spec.IsJSON(c.MediaType) || media == nil || media.Schema == nil || differs(media.Schema.Value, 0) {
			continue
		}
		out = append(out, pair{v, check, op, c, media.Schema.Value})
	}
	return out
}

// differs reports whether the validators mean different things by a schema, or by one below it.
func differs(s *openapi3.Schema, depth int) bool {
	if s == nil || depth > 12 {
		return false
	}
	parts := len(s.AllOf)+len(s.OneOf)+len(s.AnyOf) > 0
	closed := func(s *openapi3.Schema) bool {
		return s != nil && s.AdditionalProperties.Has != nil && !*s.AdditionalProperties.Has
	}
	if s.Discriminator != nil || parts && closed(s) || s.Not != nil {
		return true
	}
	below := slices.Concat(s.AllOf, s.OneOf, s.AnyOf)
	for _, r := range below {
		if closed(r.Value) {
			return true
		}
	}
	for _, r := range s.Properties {
		below = append(below, r)
	}
	if s.Items != nil {
		below = append(below, s.Items)
	}
	if s.AdditionalProperties.Schema != nil {
		below = append(below, s.AdditionalProperties.Schema)
	}
	return slices.ContainsFunc(below, func(r *openapi3.SchemaRef) bool { return differs(r.Value, depth+1) })
}

// ours returns the faults of a body.
func (p pair) ours(body value.Value) error {
	_, err := p.check.Check(p.op, validate.Arguments{Body: body, HasBody: true, Media: p.content.MediaType})
	if err == nil {
		return nil
	}
	for _, f := range problem.Of(err).Faults {
		if strings.HasPrefix(f.Pointer, "/body") {
			return fmt.Errorf("%s %s", f.Pointer, f.Message)
		}
	}
	if problem.CodeOf(err) != problem.InvalidArgument {
		return err
	}
	return nil // parameters are missing
}

func (p pair) theirs(t *testing.T, body value.Value) error {
	t.Helper()
	var v any
	if err := json.Unmarshal(body.AppendJSON(nil), &v); err != nil {
		t.Fatal(err)
	}
	return p.schema.VisitJSON(v)
}

// random returns a value that mostly matches the schema r.
func (p pair) random(random *rand.Rand, r spec.Raw, depth int) value.Value {
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
	if odds(5) && o.Additional.Kind() != 'f' { // open_bodies lets it through
		members = append(members, value.Member{Name: "unheardOf", Value: value.OfInt(1)})
	}
	return value.OfObject(members)
}

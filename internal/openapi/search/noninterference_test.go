package search

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A world is a random document with hidden parts.
type world struct {
	operations map[string]operation
	schemas    map[string]map[string]string // fields → "" or the schema they refer to
	hidden     map[string]bool              // operations, schemas, and fields as Schema.field
}

type operation struct{ tag, summary, body, answer string }

var words = []string{"create", "list", "team", "member", "secret", "token", "project", "delete", "get", "vault"}

func someWords(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 4).Draw(t, label), " ")
}

func drawWorld(t *rapid.T) world {
	w := world{operations: map[string]operation{}, schemas: map[string]map[string]string{}, hidden: map[string]bool{}}
	var names []string
	for i := range rapid.IntRange(1, 5).Draw(t, "schemas") {
		names = append(names, fmt.Sprintf("x.%s%d", rapid.SampledFrom([]string{"Team", "Secret", "Vault"}).Draw(t, "schema"), i))
	}
	for _, name := range names {
		fields := map[string]string{}
		for range rapid.IntRange(0, 4).Draw(t, "fields") {
			field := rapid.SampledFrom(words).Draw(t, "field")
			fields[field] = rapid.SampledFrom(append([]string{""}, names...)).Draw(t, "refers")
		}
		w.schemas[name] = fields
	}
	for i := range rapid.IntRange(1, 24).Draw(t, "operations") {
		pick := append([]string{""}, names...)
		w.operations[fmt.Sprintf("%s%d", rapid.SampledFrom(words).Draw(t, "id"), i)] = operation{rapid.SampledFrom(words).Draw(t, "tag"), someWords(t, "summary"),
			rapid.SampledFrom(pick).Draw(t, "body"), rapid.SampledFrom(pick).Draw(t, "answer")}
	}
	for _, id := range slices.Sorted(maps.Keys(w.operations)) {
		w.hidden[id] = rapid.Bool().Draw(t, "hidden")
	}
	for _, name := range names {
		w.hidden[name] = rapid.IntRange(0, 3).Draw(t, "hidden") == 0
		for _, field := range slices.Sorted(maps.Keys(w.schemas[name])) {
			w.hidden[name+"."+field] = rapid.IntRange(0, 3).Draw(t, "hidden") == 0
		}
	}
	return w
}

// text returns the document. If without is true, it omits the hidden parts.
func (w world) text(without bool, other string) string {
	var b strings.Builder
	b.WriteString(`{"openapi":"3.0.0","paths":{"/none":{}`)
	schema := func(name string) string {
		switch {
		case name == "":
			return `{"type":"string"}`
		case without && w.hidden[name]:
			return `{}`
		}
		return fmt.Sprintf(`{"$ref":"#/components/schemas/%s"}`, name)
	}
	for _, id := range slices.Sorted(maps.Keys(w.operations)) {
		op := w.operations[id]
		if w.hidden[id] {
			if without {
				continue
			}
			op.summary += other
		}
		fmt.Fprintf(&b, `,"/%s":{"post":{"operationId":%q,"tags":[%q],"summary":%q,"requestBody":{"content":{"application/json":{"schema":%s,"example":%s}}},"responses":{"200":{"content":{"application/json":{"schema":%s}}}}}}`,
			id, id, op.tag, op.summary, schema(op.body), w.example(op.body, without, other, 4), schema(op.answer))
	}
	b.WriteString(`},"components":{"schemas":{"x.Nobody":{}`)
	for _, name := range slices.Sorted(maps.Keys(w.schemas)) {
		if without && w.hidden[name] {
			continue
		}
		var fields, required []string
		for _, field := range slices.Sorted(maps.Keys(w.schemas[name])) {
			if without && w.hidden[name+"."+field] {
				continue
			}
			fields = append(fields, fmt.Sprintf("%q:%s", field, schema(w.schemas[name][field])))
			required = append(required, fmt.Sprintf("%q", field))
		}
		fields = append(fields, `"bag":{"type":"object"}`)
		fmt.Fprintf(&b, `,%q:{"type":"object","required":[%s],"properties":{%s}}`, name, strings.Join(required, ","), strings.Join(fields, ","))
	}
	b.WriteString("}}}")
	return b.String()
}

// example returns a value of a schema. It omits hidden parts or gives them other text.
func (w world) example(name string, without bool, other string, depth int) string {
	switch {
	case name == "" || depth == 0:
		return `"a text"`
	case w.hidden[name] && without:
		return `7`
	}
	members := []string{`"bag":{"labels":["a","b"],"level":3}`}
	for _, field := range slices.Sorted(maps.Keys(w.schemas[name])) {
		switch hidden := w.hidden[name+"."+field] || w.hidden[name]; {
		case hidden && without:
		case hidden:
			members = append(members, fmt.Sprintf("%q:%q", field, "hidden"+other))
		default:
			members = append(members, fmt.Sprintf("%q:%s", field, w.example(w.schemas[name][field], without, other, depth-1)))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// answers returns all texts that can be rendered from a view.
func (w world) answers(t *rapid.T, text string, f spec.Filter) string {
	d, err := spec.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := spec.NewClassifier(d, spec.ClassOptions{RPCNames: true})
	if err != nil {
		t.Fatal(err)
	}
	v := spec.NewView(d, rules, f)
	ix := New(v, Options{Synonyms: map[string][]string{"safe": {"vault"}}})
	var b strings.Builder
	b.WriteString(DescribeServices(v, ix.Services()))
	say := func(text string, err error) { fmt.Fprintf(&b, "%s %+v\n", text, err) }
	asked := append([]string{"create team", "secret token vault", "safe", "lis", "delete0", "Secret0"}, words...)
	for _, text := range asked {
		for _, service := range []string{"", "team", "secret", "vualt"} {
			r, err := ix.Search(Query{Text: text, Service: service})
			say(DescribeResult(v, r), err)
		}
	}
	for _, id := range append(slices.Sorted(maps.Keys(w.operations)), "creat0", "gett1", "nothing") {
		op, err := v.Operation(id)
		if err == nil {
			b.WriteString(DescribeOperation(v, op))
			for _, at := range append([]string{"body", "response", "query", "body.nme"}, slices.Sorted(maps.Keys(w.hidden))...) {
				field := at[strings.LastIndexByte(at, '.')+1:]
				for _, part := range []string{at, "body." + field, "response." + field, "body." + field + "." + field} {
					say(DescribePart(v, op, part))
				}
			}
		}
		say("", err)
	}
	for _, name := range append(slices.Sorted(maps.Keys(w.schemas)), "Team0", "Secret1", "Vualt1", "x.Nobody") {
		say(DescribeSchema(v, name))
		say(DescribeSchemaPart(v, name, "name"))
	}
	say(strings.Join(v.Schemas(), " "), nil)
	return b.String()
}

// TestNonInterference checks that neither removing nor changing hidden parts affects any text.
func TestNonInterference(t *testing.T) {
	rounds := 1 // a round has 100 documents
	if n, err := strconv.Atoi(os.Getenv("BAILIWICK_SOAK")); err == nil {
		rounds = max(1, n/10_000)
	}
	differed := 0
	check := func(t *rapid.T) {
		w := drawWorld(t)
		f := spec.Filter{
			Operation: func(op *spec.Operation) bool { return !w.hidden[op.ID] },
			Schema:    func(name string) bool { return !w.hidden[name] },
			Field:     func(schema, field string) bool { return !w.hidden[schema+"."+field] },
		}
		with, other := w.answers(t, w.text(false, ""), f), w.answers(t, w.text(false, " list vault member"), f)
		without := w.answers(t, w.text(true, ""), spec.Filter{})
		if with != without {
			t.Fatalf("without what is hidden -, with +\n%s\n%s", cmp.Diff(without, with), w.text(false, ""))
		}
		if with != other {
			t.Fatalf("what is hidden says otherwise\n%s", cmp.Diff(with, other))
		}
		if all := w.answers(t, w.text(false, ""), spec.Filter{}); all != with {
			differed++
		}
	}
	for range rounds {
		rapid.Check(t, check)
	}
	if differed == 0 {
		t.Error("hiding never changed anything: the test says nothing")
	}
}

package search

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// TestExample checks which examples of a document are shown, and which parts of them.
func TestExample(t *testing.T) {
	f := spec.Filter{Schema: func(name string) bool { return name != "Hidden" }, Field: func(schema, field string) bool { return field != "secret" && !(schema == "User" && field == "email") },
		Undeclared: func(name string) bool { return name != "secret" }}
	long := strings.Repeat("many words ", 40)
	for _, row := range []struct{ name, content, want string }{
		{"all names are declared", `{"schema":{"type":"object","properties":{"a":{"type":"string"}}},"example":{"a":"x"}}`, ""},
		{"free", `{"schema":{"type":"object"},"example":{"event":"push","config":{"url":"https://a.example"}}}`, `{"event":"push","config":{"url":"https://a.example"}}`},
		{"a free field", `{"schema":{"type":"object","properties":{"name":{"type":"string"},"labels":{"type":"object","additionalProperties":true}}},"example":{"name":"x","labels":{"env":"prod"},"undeclared":1}}`, `{"name":"x","labels":{"env":"prod"}}`},
		{"deeper", `{"schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"values":{"type":"object"}}}}},"example":{"spec":{"values":{"a":[1,2,3,4]}}}}`, `{"spec":{"values":{"a":[1,2]}}}`},
		{"a list", `{"schema":{"type":"array","items":{"type":"object"}},"example":[{"a":1},{"a":2},{"a":3}]}`, `[{"a":1},{"a":2}]`},
		{"several examples", `{"schema":{"type":"object"},"examples":{"one":{"value":{"a":1}},"two":{"value":{"b":2}}}}`, `{"a":1}`},
		{"of the schema", `{"schema":{"type":"object","example":{"a":1}}}`, `{"a":1}`},
		{"of a field", `{"schema":{"type":"object","properties":{"n":{"type":"string","example":"x"},"data":{"type":"object","example":{"k":"v"}}}}}`, `{"data":{"k":"v"}}`},
		{"none", `{"schema":{"type":"object"}}`, ""},
		{"a map of texts", `{"schema":{"type":"object","additionalProperties":{"type":"string"}},"example":{"a":"x"}}`, ""},
		{"no object", `{"schema":{"type":"object"},"example":"see the manual"}`, ""},
		{"a hidden field", `{"schema":{"type":"object","properties":{"user":{"$ref":"#/components/schemas/User"},"bag":{"type":"object"}}},"example":{"user":{"name":"ann","email":"ann@a.example"},"bag":{"n":1}}}`, `{"user":{"name":"ann"},"bag":{"n":1}}`},
		{"a hidden name in what is free", `{"schema":{"type":"object"},"example":{"a":1,"secret":"s","email":"e","deep":[{"secret":"s","b":2}]}}`, `{"a":1,"deep":[{"b":2}]}`},
		{"a hidden schema", `{"schema":{"type":"object","properties":{"h":{"$ref":"#/components/schemas/Hidden"},"all":{"allOf":[{"$ref":"#/components/schemas/Hidden"}]},"bag":{"type":"object"}}},"example":{"h":{"x":"seen"},"all":{"x":"seen"},"bag":{"n":1}}}`, `{"bag":{"n":1}}`},
		{"only what the API sets", `{"schema":{"type":"object","properties":{"id":{"type":"string","readOnly":true},"bag":{"type":"object"}}},"example":{"id":"7","bag":{"n":1}}}`, `{"bag":{"n":1}}`},
		{"long texts", `{"schema":{"type":"object"},"example":{"a":"` + long + `"}}`, `{"a":"many words many words many words many words many words many words many words…"}`},
		{"many of them", `{"schema":{"type":"object"},"example":{` + strings.TrimSuffix(strings.Repeat(`"a":"`+long+`",`, 1), ",") + `,"b":"` + long + `","c":"` + long + `","d":"` + long + `","e":"` + long + `","f":"` + long + `","g":"` + long + `","h":"` + long + `","i":"` + long + `"}}`,
			`{"a":"many words many words many words many…","b":"many words many words many words many…","c":"many words many words many words many…","d":"many words many words many words many…","e":"many words many words many words many…","f":"many words many words many words many…","g":"many words many words many words many…","h":"many words many words many words many…","i":"many words many words many words many…"}`},
		{"lines in names and texts", `{"schema":{"type":"object"},"example":{"a\nb":"c\nd"}}`, `{"a b":"c d"}`},
	} {
		d, err := spec.Load([]byte(`{"openapi":"3.0.3","components":{"schemas":{"User":{"type":"object","properties":{"name":{"type":"string"},"email":{"type":"string"}}},"Hidden":{"type":"object"}}},
			"paths":{"/a":{"post":{"operationId":"a","requestBody":{"content":{"application/json":` + row.content + `}},"responses":{"200":{"description":"ok"}}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		rules, err := spec.NewClassifier(d, spec.ClassOptions{})
		if err != nil {
			t.Fatal(err)
		}
		v := spec.NewView(d, rules, f)
		_, got, _ := strings.Cut(DescribeOperation(v, v.Operations()[0]), "Example of the body: ")
		if got, _, _ = strings.Cut(got, "\n"); got != row.want {
			t.Errorf("%s: %s\nwant %s", row.name, got, row.want)
		}
	}
}

// TestDescription checks that a description that is cut in the detail can be read in full, in parts.
func TestDescription(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("<b>many</b> words\n", 1200))
	for _, row := range []struct{ description, at, want string }{
		{"", "description", "a has no description"},
		{"Short.", "description", "description: Short."},
		{"Short.", "description.2", "the description has 1 parts: description to description.1"},
		{words, "description", "description: many words"},
		{words, "description.2", "description: "},
		{words, "description.3", "description: "},
		{words, "description.4", "the description has 3 parts: description to description.3"},
		{words, "description.x", "the description has 3 parts: description to description.3"},
	} {
		d, err := spec.Load([]byte(`{"openapi":"3.0.3","paths":{"/a":{"get":{"operationId":"a","description":` + string(quoted(row.description)) + `,"responses":{}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		v := spec.NewView(d, nil, spec.Filter{})
		got, err := DescribePart(v, d.Operations[0], row.at)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, row.want) || strings.Contains(got, "<b>") || row.at == "description" && row.description == words && !strings.HasSuffix(got, "Part 1 of 3. The next one: at=\"description.2\"\n") {
			t.Errorf("%s: %s, want %s", row.at, got, row.want)
		}
		if detail := DescribeOperation(v, d.Operations[0]); strings.Contains(detail, `at="description"`) != (row.description == words) {
			t.Error(detail)
		}
	}
}

func quoted(s string) []byte {
	return []byte(`"` + strings.ReplaceAll(s, "\n", `\n`) + `"`)
}

package validate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestMappedFiles checks bodies against an alternative in another file, which the mapping of a discriminator selects.
// Nothing else in the document refers to that file.
func TestMappedFiles(t *testing.T) {
	files := map[string]string{
		"schemas/cat.yaml":  "allOf: [{$ref: '../api.json#/components/schemas/Animal'}, {type: object, required: [lives], properties: {lives: {type: integer}}}]",
		"schemas/pets.json": `{"Dog":{"allOf":[{"$ref":"../api.json#/components/schemas/Animal"},{"type":"object","required":["tricks"],"properties":{"tricks":{"type":"integer"}}}]}}`,
	}
	api := `{"openapi":"3.0.3","info":{"title":"Pets"},"paths":{"/pets":{"post":{"operationId":"add","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Animal"}}}},
		"responses":{"200":{"description":"ok"}}}}},"components":{"schemas":{"Animal":{"type":"object","properties":{"kind":{"type":"string"}},
		"discriminator":{"propertyName":"kind","mapping":{"cat":"schemas/cat.yaml","dog":"./schemas/pets.json#/Dog","other":"Animal"}}}}}}`
	files["api.json"] = api
	d, err := spec.Read(strings.NewReader(api), 0, func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("there is no such file")
	})
	if err != nil || len(d.Warnings) > 0 {
		t.Fatal(err, d.Warnings)
	}
	check := validate.New(spec.NewView(d, nil, spec.Filter{}), validate.Options{})
	for body, want := range map[string]string{
		`{"kind":"cat","lives":9}`:   "",
		`{"kind":"cat","tricks":1}`:  `unknown field "tricks"`,
		`{"kind":"dog","tricks":1}`:  "",
		`{"kind":"dog","lives":9}`:   `unknown field "lives"`,
		`{"kind":"other"}`:           "",
		`{"kind":"other","lives":9}`: `unknown field "lives"`,
	} {
		v, err := value.Read([]byte(body), 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = check.Check(t.Context(), d.Operation("add"), validate.Arguments{Body: v, HasBody: true})
		got := ""
		if err != nil {
			got = problem.Of(err).Detail
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

package spec

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzLoad checks that Load and Schema neither panic nor hang, and that every operation is found by its unique id. A
// JSON document must have the same values as with encoding/json.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		head30 + `"paths":{"/a/{b}":{"get":{"operationId":"x","parameters":[{"$ref":"#/components/parameters/p"}]},"post":{}}},"components":{"parameters":{"p":{"name":"b","in":"path"}},"schemas":{"A":{"properties":{"a":{"$ref":"#/components/schemas/A"}}}}}}`,
		`{"swagger":"2.0","paths":{"/a":{"post":{"parameters":[{"in":"formData","name":"f","type":"file"},{"in":"body","schema":{"$ref":"#/definitions/A"}}]}}},"definitions":{"A":{"type":["x","null"]}}}`,
		"openapi: 3.1.0\npaths:\n  /a: &a\n    get: {responses: {200: {}}}\n  /b: *a\n  /c:\n    <<: [*a]\n",
		`{"openapi":"3.0.0","openapi":"3.1.0","a":"\ud800","b":[1e999,-0,"\\\""]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Load(b)
		if err != nil {
			return
		}
		for _, op := range d.Operations {
			if op.ID == "" || d.Operation(op.ID) != op {
				t.Fatalf("%s has the id %q", op.Name(), op.ID)
			}
		}
		for _, name := range d.Names() {
			d.Schema(d.SchemaRef(name))
		}
		var want any
		if d.files == nil && json.Unmarshal(b, &want) == nil { // references into files are absolute in the document
			if diff := cmp.Diff(want, plainValue(t, d.root)); diff != "" {
				t.Errorf("encoding/json reads -, Raw reads +\n%s", diff)
			}
		}
	})
}

// plainValue converts r to the types of encoding/json, with Members and Elements.
func plainValue(t *testing.T, r Raw) any {
	switch r.Kind() {
	case '{':
		out := map[string]any{}
		for name, v := range r.Members() {
			out[name] = plainValue(t, v)
		}
		return out
	case '[':
		out := []any{}
		for v := range r.Elements() {
			out = append(out, plainValue(t, v))
		}
		return out
	case '"':
		return r.Text()
	}
	var out any
	if err := json.Unmarshal(r, &out); err != nil {
		t.Fatalf("%q: %v", r, err)
	}
	return out
}

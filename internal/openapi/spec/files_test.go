package spec

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// several is one document in several files, by name.
var several = map[string]string{
	"api.yaml": `openapi: 3.0.0
info: {title: Pets}
paths:
  /pets: {$ref: "paths/pets.yaml"}
  /gone: {$ref: "paths/none.yaml"}
  /pets/{id}: {get: {$ref: "operations/get.yaml"}, delete: {$ref: "operations/none.yaml"}}
  /out: {get: {operationId: out, responses: {"200": {description: ok, content: {application/json: {schema: {$ref: "../secret.yaml#/Key"}}}}}}}
  /far: {get: {operationId: far, responses: {"200": {description: ok, content: {application/json: {schema: {$ref: "https://elsewhere.example/x.json"}}}}}}}
components: {schemas: {Own: {type: object, properties: {id: {type: integer}}}}}
`,
	"paths/pets.yaml": `get:
  operationId: listPets
  parameters: [{$ref: "../common.json#/limit"}]
  responses: {"200": {description: ok, content: {application/json: {schema: {type: array, items: {$ref: "../schemas/Pet.yaml"}}}}}}
post:
  operationId: makePet
  requestBody: {content: {application/json: {schema: {$ref: "../schemas/Pet.yaml"}}}}
  responses: {"200": {description: ok, content: {application/json: {schema: {$ref: "../api.yaml#/components/schemas/Own"}}}}}
`,
	"operations/get.yaml": `operationId: getPet
parameters: [{$ref: "../common.json#/id"}]
responses: {"200": {description: ok}}
`,
	"common.json":       `{"id":{"name":"id","in":"path","required":true,"schema":{"type":"string"}},"limit":{"name":"limit","in":"query","schema":{"$ref":"#/defs/Limit"}},"defs":{"Limit":{"type":"integer","maximum":50}}}`,
	"schemas/Pet.yaml":  "type: object\nproperties:\n  name: {$ref: 'line.yaml'}\n  parent: {$ref: '#'}\n  owner: {$ref: 'people.yaml#/Person'}\n",
	"schemas/line.yaml": "{type: string, maxLength: 20} # YAML, although it begins like JSON\n",
	"schemas/people.yaml": `Person: {type: object, properties: {pets: {type: array, items: {$ref: Pet.yaml}}, boss: {$ref: "#/Person"}}}
`,
}

// TestFiles checks a document in several files. References are relative to the file that contains them. Each file is
// read once, schemas have names, and each unreadable file gives one warning.
func TestFiles(t *testing.T) {
	asked := map[string]int{}
	d, err := Read(strings.NewReader(several["api.yaml"]), 0, func(name string) ([]byte, error) {
		asked[name]++
		if _, err := Folder(name); err != nil {
			return nil, err
		}
		if text, ok := several[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("there is no such file")
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range asked {
		if n != 1 {
			t.Errorf("%s is read %d times", name, n)
		}
	}
	if got, want := strings.Join(d.Names(), " "), "Own Pet Limit line Person"; got != want {
		t.Errorf("schemas %s, want %s", got, want)
	}
	for path, want := range map[string]string{
		"listPets query limit": "[integer]", "makePet body name": "line", "makePet body parent": "Pet", "makePet body owner": "Person", "makePet answer id": "[integer]",
	} {
		f := strings.Fields(path)
		op := d.Operation(f[0])
		if op == nil {
			t.Fatal(path, d.Warnings)
		}
		var r Raw
		switch f[1] {
		case "query":
			r = op.Parameters[0].Schema
		case "body":
			r = d.Schema(op.Body.Contents[0].Schema).property(f[2])
		default:
			r = d.Schema(op.Success().Contents[0].Schema).property(f[2])
		}
		s := d.Schema(r)
		got := fmt.Sprint(s.Types)
		if s.Name != "" && s.Name != "Limit" {
			got = s.Name
		}
		if got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	warnings := map[string]int{}
	for _, w := range d.Warnings {
		warnings[w.Where]++
	}
	for _, where := range []string{"paths/none.yaml", "../secret.yaml", "https://elsewhere.example/x.json"} {
		if warnings[where] != 1 {
			t.Errorf("%s has %d warnings: %v", where, warnings[where], d.Warnings)
		}
	}
	if op := d.Operation("getPet"); op == nil || len(op.Parameters) != 1 || op.Parameters[0].Name != "id" || warnings["GET /pets/{id}"] != 0 {
		t.Errorf("an operation in a file of its own is %+v", op)
	}
	if warnings["operations/none.yaml"] != 1 || warnings["DELETE /pets/{id}"] != 1 {
		t.Error("an operation in a file that isn't there:", d.Warnings)
	}
	if d.Operation("out") != nil || d.Operation("far") != nil {
		t.Error("an operation with a schema from outside is there")
	}
}

func (s Schema) property(name string) Raw {
	for _, p := range s.Properties {
		if p.Name == name {
			return p.Schema
		}
	}
	return nil
}

// TestConfined checks which files may be opened: files in the document's folder, and URLs with the document's origin.
func TestConfined(t *testing.T) {
	for name, want := range map[string]bool{"a.yaml": true, "x/a.yaml": true, "../a.yaml": false, "..": false, "/etc/passwd": false, "file:///etc/passwd": false, "https://a.example/x": false, "//host/x": false} {
		if _, err := Folder(name); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{"b.yaml": "https://a.example/v1/b.yaml", "../b.yaml": "https://a.example/b.yaml", "https://a.example/z": "https://a.example/z",
		"https://b.example/z": "", "http://a.example/z": "", "//b.example/z": "", "https://u@a.example/z": "", "file:///etc/passwd": ""} {
		if got, err := Origin("https://a.example/v1/api.yaml", name); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s %v", name, got, err)
		}
	}
}

// TestFilesTogether checks the limit on the total size of a document's files. No file is read after the limit is
// exceeded.
func TestFilesTogether(t *testing.T) {
	asked := 0
	d, err := Read(strings.NewReader(`{"openapi":"3.0.0","paths":{"/a":{"$ref":"a.yaml"},"/b":{"$ref":"b.yaml"},"/c":{"$ref":"c.yaml"}}}`), 0, func(string) ([]byte, error) {
		asked++
		return []byte(`{"get":{"operationId":"a"}}` + strings.Repeat(" ", maxBytes/2)), nil
	})
	if err != nil || asked != 2 || len(d.Warnings) < 2 {
		t.Error(asked, "files were read:", d.Warnings, err)
	}
}

package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSupplement has a row for each kind of addition from another document.
func TestSupplement(t *testing.T) {
	own := `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"tags":[{"name":"A"}],"paths":{
		"/teams/{teamId}":{"get":{"parameters":[{"name":"teamId","in":"path","required":true},{"name":"q","in":"query","schema":{"type":"string"}}]}}},
		"components":{"schemas":{"def-1":{"title":"Team","type":"object","properties":{"id":{"type":"string"}}}}}}`
	for _, tt := range []struct{ name, other, want string }{
		{"a parameter", `"/teams/{id}/":{"get":{"parameters":[{"name":"id","in":"path","required":true},{"name":"q","in":"query","schema":{"type":"number"}},{"name":"deep","in":"query","schema":{"type":"boolean"}}]}}`,
			`get_teams_teamId GET /teams/{teamId} path:teamId query:q{"type":"string"} query:deep{"type":"boolean"}`},
		{"an operation", `"/stacks/":{"get":{"tags":["S"],"parameters":[{"name":"q","in":"query","schema":{"$ref":"#/components/schemas/def-2"}}],"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/def-1"}}}}}}}}`,
			`get_teams_teamId GET /teams/{teamId} path:teamId query:q{"type":"string"}
get_stacks GET /stacks/ query:q{"title":"Kind","enum":["a","b"]} answer:{"type":"array","items":{"title":"Stack","properties":{"team":{"$ref":"#/components/schemas/def-1"}}}}
tags A S`},
		{"a body", `"/teams/{teamId}":{"put":{"operationId":"change","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/def-4"}}}}}}`,
			`get_teams_teamId GET /teams/{teamId} path:teamId query:q{"type":"string"}
change PUT /teams/{teamId} path:teamId{"type":"string"} body:{"title":"Whole","allOf":[{"$ref":"#/components/schemas/def-1"}]}`},
		{"a circle", `"/x":{"get":{"parameters":[{"name":"q","in":"query","schema":{"$ref":"#/components/schemas/def-3"}}]}}`,
			`GET /x can't be added to the document: "#/components/schemas/def-3" leads nowhere, or to itself`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Load([]byte(own))
			if err != nil {
				t.Fatal(err)
			}
			other, err := Load([]byte(`{"openapi":"3.0.3","info":{"title":"t","version":"1"},"tags":[{"name":"S"},{"name":"T"}],"paths":{` + tt.other + `},"components":{"schemas":{
				"def-1":{"title":"Stack","properties":{"team":{"$ref":"#/components/schemas/def-5"}}},"def-2":{"title":"Kind","enum":["a","b"]},
				"def-3":{"title":"Loop","items":{"$ref":"#/components/schemas/def-3"}},"def-4":{"title":"Whole","allOf":[{"$ref":"#/components/schemas/def-5"}]},
				"def-5":{"title":"Team","properties":{"other":{}}}}}}`))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := d.Supplement(other); err != nil {
				_, got, _ = strings.Cut(err.Error(), ": ")
			} else {
				got = told(d)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func told(d *Document) string {
	var lines []string
	for _, op := range d.Operations {
		if d.Operation(op.ID) != op {
			return "the document doesn't find " + op.ID
		}
		line := op.ID + " " + op.Name()
		for _, p := range op.Parameters {
			line += " " + p.In + ":" + p.Name + string(p.Schema)
		}
		if op.Body != nil {
			line += " body:" + string(op.Body.PreferredContent().Schema)
		}
		if r := op.Success(); r != nil && r.PreferredContent() != nil {
			line += " answer:" + string(r.PreferredContent().Schema)
		}
		lines = append(lines, line)
	}
	if len(d.Tags) > 1 {
		line := "tags"
		for _, t := range d.Tags {
			line += " " + t.Name
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

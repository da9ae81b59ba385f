package validate

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestSeveral checks the meaning of schemas in real documents. A value may fit several alternatives of a oneOf (tags
// of Intercom, artwork of Lob). The fields of a form are strings (Twilio). A list of operations is not a JSON Patch
// if the document declares another form (Box). 64-bit numbers are strings and numbers, and a call without arguments
// has an empty body (etcd).
func TestSeveral(t *testing.T) {
	c, v := checker(t, `{"openapi":"3.0.0","paths":{
		"/tags":{"post":{"operationId":"tag","requestBody":{"content":{"application/json":{"schema":{"oneOf":[{"$ref":"#/components/schemas/Tag"},{"$ref":"#/components/schemas/Untag"},{"type":"object","properties":{"name":{"type":"string"}}}]}}}}}},
		"/cards":{"post":{"operationId":"card","requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"front":{"oneOf":[{"$ref":"#/components/schemas/HTML"},{"$ref":"#/components/schemas/URL"}]},
			"both":{"oneOf":[{"type":"string"},{"type":"integer"}],"anyOf":[{"maxLength":3},{"minimum":5}]}}}}}}}},
		"/calls":{"post":{"operationId":"call","requestBody":{"content":{"application/x-www-form-urlencoded":{"schema":{"type":"object","properties":{"Record":{"type":"boolean"},"Timeout":{"type":"integer"},"Events":{"type":"array","items":{"type":"string"}},"To":{"type":"string"}}}}}}}},
		"/status":{"post":{"operationId":"status","requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/StatusRequest"}}}}}},
		"/any":{"post":{"operationId":"any","requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object"}}}}}},
		"/range":{"post":{"operationId":"range","requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","properties":{"limit":{"type":"string","format":"int64"},"size":{"type":"string","format":"int32"}}}}}}}},
		"/put":{"post":{"operationId":"put","requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","required":["key"],"properties":{"key":{"type":"string"}}}}}}}},
		"/templates":{"put":{"operationId":"edit","requestBody":{"content":{"application/json-patch+json":{"schema":{"type":"array","items":{"type":"object","required":["op"],"properties":{"op":{"type":"string","enum":["editEnumOption"]},"fieldKey":{"type":"string"},"data":{"type":"object"}}}}}}}}}},
		"components":{"schemas":{"StatusRequest":{"type":"object"},"Tag":{"type":"object","required":["name","companies"],"properties":{"name":{"type":"string"},"companies":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"}}}}}},
			"Untag":{"type":"object","required":["name","companies"],"properties":{"name":{"type":"string"},"companies":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"untag":{"type":"boolean"}}}}}},
			"HTML":{"type":"string"},"URL":{"type":"string","format":"uri"}}}}`, Options{})
	for _, row := range []struct{ op, body, want string }{
		{"tag", `{"name":"a","companies":[{"id":"1"}]}`, ""},
		{"tag", `{"name":"a","companies":[{"id":"1","untag":true}]}`, ""},
		{"tag", `{"name":"a"}`, ""},
		{"tag", `{"name":5,"companies":5}`, "/body/name"},
		{"tag", `{"nam":"a"}`, "/body/nam"},
		{"card", `{"front":"https://a.example/x.pdf"}`, ""},
		{"card", `{"front":5}`, "/body/front"},
		{"card", `{"both":"abc"}`, ""},
		{"card", `{"both":true}`, "/body/both"},
		{"call", `{"Record":"true","Timeout":"30","Events":"ringing","To":15}`, ""},
		{"call", `{"Record":"yes"}`, "/body/Record"},
		{"call", `{"Timeout":"soon"}`, "/body/Timeout"},
		{"range", `{"limit":10}`, ""},
		{"range", `{"limit":"10"}`, ""},
		{"range", `{"limit":1.5}`, "/body/limit"},
		{"range", `{"limit":"ten"}`, "/body/limit"},
		{"range", `{"size":"indefinite"}`, ""}, // Box's retention_length
		{"range", `{"size":10}`, "/body/size"},
		{"status", "", ""},
		{"range", "", "/body"},
		{"any", "", "/body"},
		{"put", "", "/body"},
		{"edit", `[{"op":"editEnumOption","fieldKey":"a","data":{}}]`, ""},
		{"edit", `[{"op":"addField","fieldKey":"a"}]`, "/body/0/op"},
		{"edit", `[{"op":"editEnumOption","feildKey":"a"}]`, "/body/0/feildKey"},
		{"edit", `[{"op":"replace","path":"/a","fieldKey":"x"}]`, "/body/0/fieldKey"}, // a JSON Patch
		{"edit", `[{"op":"replace","Path":"/a","value":"x"}]`, "/body/0/Path"},
	} {
		op, err := v.Operation(row.op)
		if err != nil {
			t.Fatal(err)
		}
		args := `{"body":` + row.body + `}`
		if row.body == "" {
			args = `{}`
		}
		_, err = c.Check(t.Context(), op, arguments(t, args))
		got := ""
		if err != nil {
			got = problem.Of(err).Pointer
		}
		if got != row.want {
			t.Errorf("%s %s: %v, want %s", row.op, row.body, err, row.want)
		}
	}
	for name, want := range map[string]string{"range": "the body is missing. {} is enough, none of its fields has to be given", "put": "the body is missing"} {
		op, err := v.Operation(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Check(t.Context(), op, Arguments{}); problem.Of(err).Detail != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	status, err := v.Operation("status")
	if err != nil {
		t.Fatal(err)
	}
	if checked, err := c.Check(t.Context(), status, Arguments{}); err != nil || checked.content == nil || checked.body.String() != "{}" {
		t.Error("a call without arguments sends no object:", err)
	}
	op, err := v.Operation("call")
	if err != nil {
		t.Fatal(err)
	}
	checked, err := c.Check(t.Context(), op, arguments(t, `{"body":{"Record":"true","Events":"ringing"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := checked.Body(); body.String() != `{"Record":true,"Events":["ringing"]}` {
		t.Error(body)
	}
}

package validate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestAccepted has a row for each body that services accept although a strict reading of the document refuses it. It
// also has rows for bodies that stay refused. want is the body as sent, or the fault.
func TestAccepted(t *testing.T) {
	const base = `"components":{"schemas":{
		"Base":{"type":"object","required":["id","kind"],"properties":{"id":{"type":"string","readOnly":true},"kind":{"type":"string"}}},
		"Stamp":{"type":"string","readOnly":true},
		"Made":{"allOf":[{"$ref":"#/components/schemas/Base"},{"type":"object","required":["id","at"],"properties":{"at":{"$ref":"#/components/schemas/Stamp"}}}]}}}`
	for _, row := range []struct{ schema, body, want string }{
		{`{"type":"object","required":["id","name"],"properties":{"id":{"type":"string","readOnly":true},"name":{"type":"string"}}}`, `{"name":"n"}`, `{"name":"n"}`},
		{`{"type":"object","required":["id","name"],"properties":{"id":{"type":"string","readOnly":true},"name":{"type":"string"}}}`, `{"id":"1"}`, `the field "name" is missing`},
		{`{"$ref":"#/components/schemas/Base"}`, `{"kind":"k"}`, `{"kind":"k"}`},
		{`{"$ref":"#/components/schemas/Base"}`, `{}`, `the field "kind" is missing`},
		{`{"$ref":"#/components/schemas/Made"}`, `{"kind":"k"}`, `{"kind":"k"}`},
		{`{"$ref":"#/components/schemas/Made"}`, `{}`, `the field "kind" is missing`},
		{`{"type":"object","properties":{"in":{"$ref":"#/components/schemas/Made"}}}`, `{"in":{"kind":"k"}}`, `{"in":{"kind":"k"}}`},
		{`{"type":"array","items":{"$ref":"#/components/schemas/Made"}}`, `[{"kind":"k"}]`, `[{"kind":"k"}]`},
		{`{"allOf":[{"required":["id","name"]},{"type":"object","properties":{"id":{"type":"string","readOnly":true},"name":{"type":"string"}}}]}`, `{"name":"n"}`, `{"name":"n"}`},
		{`{"allOf":[{"required":["id","name"]},{"type":"object","properties":{"id":{"type":"string","readOnly":true},"name":{"type":"string"}}}]}`, `{}`, `the field "name" is missing`},
		{`{"required":["id"],"allOf":[{"type":"object","properties":{"id":{"type":"string","readOnly":true}}}]}`, `{}`, `{}`},
		{`{"type":"object","properties":{"v":{"type":"string","enum":[1,2.0,true]}}}`, `{"v":"1"}`, `{"v":"1"}`},
		{`{"type":"object","properties":{"v":{"type":"string","enum":[1,2.0,true]}}}`, `{"v":"2.0"}`, `{"v":"2.0"}`},
		{`{"type":"object","properties":{"v":{"type":"string","enum":[1,2.0,true]}}}`, `{"v":2.0}`, `{"v":2.0}`},
		{`{"type":"object","properties":{"v":{"type":"string","enum":[1,2.0,true]}}}`, `{"v":"true"}`, `{"v":"true"}`},
		{`{"type":"object","properties":{"v":{"type":"string","enum":[1,2.0,true]}}}`, `{"v":"3"}`, `body/v must be one of 1, 2.0, true, not "3"`},
		{`{"type":"object","properties":{"v":{"type":"integer","enum":["1","2"]}}}`, `{"v":2}`, `{"v":2}`},
		{`{"type":"object","properties":{"v":{"type":"integer","enum":["1","2"]}}}`, `{"v":3}`, `body/v must be one of 1, 2, not 3`},
		{`{"type":"object","properties":{"labels":{"type":"object","patternProperties":{"^[a-z]+$":{"type":"string"}},"additionalProperties":false}}}`, `{"labels":{"env":"x"}}`, `{"labels":{"env":"x"}}`},
		{`{"type":"object","properties":{"labels":{"type":"object","patternProperties":{"^[a-z]+$":{"type":"string"}},"additionalProperties":false}}}`, `{"labels":{"env":1}}`, `body/labels/env must be a text, not 1`},
		{`{"type":"object","properties":{"labels":{"type":"object","patternProperties":{"^[a-z]+$":{"type":"string"}},"additionalProperties":false}}}`, `{"labels":{"ENV":"x"}}`, `unknown field "ENV"`},
		{`{"type":"object","properties":{"labels":{"type":"object","patternProperties":{"^(?=x)":{"type":"string"}},"additionalProperties":false}}}`, `{"labels":{"x":"x"}}`, `{"labels":{"x":"x"}}`},
		{`{"type":"object","properties":{"a":{"type":"string"}},"patternProperties":{"^x-":{"type":"object","properties":{"n":{"type":"integer"}}}}}`, `{"a":"b","x-1":{"n":1}}`, `{"a":"b","x-1":{"n":1}}`},
		{`{"type":"object","properties":{"a":{"type":"string"}},"patternProperties":{"^x-":{"type":"object","properties":{"n":{"type":"integer"}}}}}`, `{"x-1":{"m":1}}`, `unknown field "m"`},
		{`{"type":"object","properties":{"id":{"type":"integer","format":"int64"}}}`, `{"id":"9007199254740993"}`, `{"id":9007199254740993}`},
		{`{"type":"object","properties":{"id":{"type":"integer","format":"uint64"}}}`, `{"id":"18446744073709551615"}`, `{"id":18446744073709551615}`},
		{`{"type":"object","properties":{"ids":{"type":"array","items":{"type":"integer","format":"int64"}}}}`, `{"ids":["9007199254740993",1]}`, `{"ids":[9007199254740993,1]}`},
		{`{"type":"object","properties":{"id":{"type":"integer"}}}`, `{"id":"9007199254740993"}`, `{"id":9007199254740993}`},
		{`{"type":"object","properties":{"id":{"type":"integer","format":"int64"}}}`, `{"id":"x"}`, `body/id must be a whole number, not the text "x"`},
		{`{"type":"object","properties":{"id":{"type":"string","format":"int64"}}}`, `{"id":"9007199254740993"}`, `{"id":"9007199254740993"}`},
		{`{"type":"object","additionalProperties":{"type":"integer","format":"int64"}}`, `{"x":"9007199254740993"}`, `{"x":9007199254740993}`},
		{`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"c":"x"}`, `{"c":"x"}`},
		{`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, `missing`},
	} {
		d, err := spec.Load(fmt.Appendf(nil, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},%s,"paths":{"/x":{"post":{"operationId":"x","requestBody":{"content":{"application/json":{"schema":%s}}},"responses":{}}}}}`, base, row.schema))
		if err != nil {
			t.Fatal(err)
		}
		body, err := value.Read([]byte(row.body), 0)
		if err != nil {
			t.Fatal(err)
		}
		checked, err := New(spec.NewView(d, nil, spec.Filter{}), Options{}).Check(t.Context(), d.FindOperation("x"), Arguments{Body: body, HasBody: true})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			sent, _ := checked.Body()
			got = sent.String()
		}
		if err == nil && got != row.want || err != nil && !strings.Contains(fmt.Sprintf("%+v", err), row.want) {
			t.Errorf("%s\n%s\n got %s\nwant %s", row.schema, row.body, got, row.want)
		}
	}
}

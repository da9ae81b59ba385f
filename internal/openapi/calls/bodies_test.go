package calls_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestBodiesChecked has a row for each form of a body of text or with files: the bytes on the wire, or the fault. Parts
// of a form are separated by bars, without the boundary.
func TestBodiesChecked(t *testing.T) {
	const text, bare, bytes = `{"type":"string"}`, `{}`, `{"type":"string","format":"binary"}`
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	file := func(name, content, kind string) string {
		return fmt.Sprintf(`{"name":%q,"content":%q,"type":%q}`, name, b64(content), kind)
	}
	type row struct{ media, schema, encoding, body, want string }
	var rows []row
	for _, media := range []string{"text/plain", "text/csv", "text/markdown", "text/html", "text/xml", "text/yaml", "TEXT/PLAIN", "text/plain; charset=utf-8", "application/xml", "application/soap+xml", "image/svg+xml", "application/yaml", "application/x-yaml", "application/vnd.oai.openapi+yaml", "application/graphql",
		"application/javascript", "application/csv", "application/sql", "application/toml", "application/x-ndjson", "application/jsonl", "application/jwt", "application/x-pem-file", "application/sparql-query", "application/n-triples", "application/x-sh", "message/rfc822", "application/hcl"} {
		rows = append(rows, row{media, text, "", `"test"`, "test"})
	}
	rows = append(rows, []row{
		{"application/vnd.acme.config", text, "", `"test"`, "test"},
		{"application/vnd.acme.config", bytes, "", `"dGVzdA=="`, "test"},
		{"application/vnd.acme.config", bytes, "", `"no base64!"`, "bytes in base64"},
		{"application/octet-stream", bytes, "", `"dGVzdA=="`, "test"},
		{"application/octet-stream", text, "", `"dGVzdA=="`, "test"},
		{"application/octet-stream", bare, "", `"dGVzdA=="`, "test"},
		{"application/octet-stream", bytes, "", `"a text"`, "bytes in base64"},
		{"image/png", `{"type":"string","contentMediaType":"image/png"}`, "", `"dGVzdA=="`, "test"},
		{"image/png", `{"type":"string","contentEncoding":"base64","contentMediaType":"image/png"}`, "", `"dGVzdA=="`, "dGVzdA=="},
		{"image/png", `{"type":"string","contentEncoding":"base64"}`, "", `"no base64!"`, "bytes in base64"},
		{"multipart/form-data", `{"type":"object","properties":{"f":{"type":"string","contentEncoding":"base64","contentMediaType":"image/png"}}}`, "", `{"f":` + file("a.png", "hi", "image/png") + `}`, `name="f"; filename="a.png" image/png aGk=`},
		{"multipart/form-data", `{"type":"object","properties":{"fs":{"type":"array","items":{"type":"string","contentEncoding":"base64","contentMediaType":"image/png"}}}}`, "", `{"fs":[` + file("a.png", "hi", "image/png") + `]}`, `name="fs"; filename="a.png" image/png aGk=`},
		{"application/pdf", bytes, "", `"dGVzdA=="`, "test"},
		{"application/zip", bare, "", `"dGVzdA=="`, "test"},
		{"application/x-ndjson", `{"type":"object","properties":{"a":{"type":"integer"}}}`, "", `[{"a":1},{"a":2}]`, "{\"a\":1}\n{\"a\":2}\n"},
		{"application/x-ndjson", `{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}}}}`, "", `[{"a":1}]`, "{\"a\":1}\n"},
		{"application/x-ndjson", `{"type":"object","properties":{"a":{"type":"integer"}}}`, "", `[{"b":1}]`, `unknown field "b"`},
		{"application/x-ndjson", `{"type":"object","properties":{"a":{"type":"integer"}}}`, "", `[{"a":"x"}]`, "must be a whole number"},
		{"application/x-ndjson", text, "", `[{"index":{}},{"a":1}]`, "{\"index\":{}}\n{\"a\":1}\n"},
		{"text/plain", text, "", `{"a":1}`, "the body must be a text"},
		{"text/csv", text, "", `"a,b\n1,2\n"`, "a,b\n1,2\n"},
		{"text/plain", `{"type":"object","properties":{"a":{"type":"integer"}}}`, "", `{"a":1}`, `{"a":1}`},
		{"multipart/form-data", `{"type":"object","properties":{"f":` + bytes + `,"note":` + text + `}}`, "", `{"f":` + file("a.txt", "hi", "text/plain") + `,"note":"n"}`, `name="f"; filename="a.txt" text/plain hi|name="note" n`},
		{"multipart/form-data", `{"type":"object","properties":{"f":{"type":"string","contentMediaType":"image/png"}}}`, "", `{"f":` + file("a.png", "hi", "image/png") + `}`, `name="f"; filename="a.png" image/png hi`},
		{"multipart/form-data", `{"type":"object","properties":{"f":` + text + `}}`, `{"f":{"contentType":"image/png"}}`, `{"f":` + file("a.png", "hi", "image/png") + `}`, `name="f"; filename="a.png" image/png hi`},
		{"multipart/form-data", `{"type":"object","properties":{"f":` + text + `}}`, `{"f":{"contentType":"image/png, image/jpeg"}}`, `{"f":` + file("a.jpg", "hi", "image/jpeg") + `}`, `name="f"; filename="a.jpg" image/jpeg hi`},
		{"multipart/form-data", `{"type":"object","properties":{"f":` + text + `}}`, `{"f":{"contentType":"text/plain"}}`, `{"f":"x"}`, `name="f" text/plain x`},
		{"multipart/form-data", `{"type":"object","properties":{"m":{"type":"object","properties":{"a":{"type":"integer"}}},"f":` + bytes + `}}`, `{"m":{"contentType":"application/json"}}`, `{"m":{"a":1},"f":` + file("a", "hi", "") + `}`, `name="m" application/json {"a":1}|name="f"; filename="a" application/octet-stream hi`},
		{"multipart/form-data", `{"type":"object","properties":{"fs":{"type":"array","items":` + bytes + `}}}`, "", `{"fs":[` + file("a", "1", "") + `,` + file("b", "2", "") + `]}`, `name="fs"; filename="a" application/octet-stream 1|name="fs"; filename="b" application/octet-stream 2`},
		{"multipart/form-data", `{"type":"object","properties":{"fs":{"type":"array","items":` + text + `}}}`, `{"fs":{"contentType":"application/pdf"}}`, `{"fs":[` + file("a", "1", "application/pdf") + `]}`, `name="fs"; filename="a" application/pdf 1`},
		{"multipart/form-data", bytes, "", file("a", "hi", "text/plain"), `name="file"; filename="a" text/plain hi`},
		{"multipart/form-data", bare, "", `{"doc":` + file("a", "hi", "text/plain") + `}`, `name="doc"; filename="a" text/plain hi`},
		{"multipart/form-data", `{"type":"object"}`, "", `{"doc":` + file("a", "hi", "text/plain") + `,"n":1}`, `name="doc"; filename="a" text/plain hi|name="n" 1`},
		{"multipart/form-data", `{"type":"object","required":["f"],"properties":{"f":` + bytes + `}}`, "", `{}`, `the field "f" is missing`},
		{"multipart/form-data", `{"type":"object","properties":{"f":` + bytes + `}}`, "", `{"f":"hi"}`, `a file must be an object`},
		{"multipart/form-data", `{"type":"object","properties":{"f":` + bytes + `}}`, "", `{"f":{"name":"a","content":"!"}}`, `content must be bytes in base64`},
		{"multipart/form-data", `{"type":"object","properties":{"f":` + bytes + `}}`, "", `{"f":{"name":"a","content":"aGk=","size":2}}`, `unknown member of a file "size"`},
		{"multipart/form-data", `{"type":"object","properties":{"f":` + bytes + `}}`, "", `{"g":` + file("a", "hi", "") + `}`, `unknown field "g"`},
		{"multipart/form-data", `{"type":"object","properties":{"kind":{"type":"string","enum":["a"]}}}`, `{"kind":{"contentType":"image/png"}}`, `{"kind":"a"}`, `name="kind" image/png a`},
	}...)
	if len(rows) < 60 {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		encoding := ""
		if r.encoding != "" {
			encoding = `,"encoding":` + r.encoding
		}
		d, err := spec.Load(fmt.Appendf(nil, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/x":{"post":{"operationId":"x","requestBody":{"content":{%q:{"schema":%s%s}}},"responses":{}}}}}`, r.media, r.schema, encoding))
		if err != nil {
			t.Fatal(err)
		}
		body, err := value.Read([]byte(r.body), 0)
		if err != nil {
			t.Fatal(r.body, err)
		}
		checked, err := validate.New(spec.NewView(d, nil, spec.Filter{}), validate.Options{}).Check(t.Context(), d.FindOperation("x"), validate.Arguments{Body: body, HasBody: true})
		if err != nil {
			if !strings.Contains(fmt.Sprintf("%+v", err), r.want) {
				t.Errorf("%s %s %s: %v, want %s", r.media, r.schema, r.body, err, r.want)
			}
			continue
		}
		built, err := calls.BuildRequest(checked, calls.RequestOptions{})
		if err != nil {
			t.Errorf("%s %s: %v", r.media, r.body, err)
			continue
		}
		if got := onWire(built); got != r.want {
			t.Errorf("%s %s %s\n got %q\nwant %q", r.media, r.schema, r.body, got, r.want)
		}
	}
}

// onWire returns a body as it is sent. For a form, it returns each part with its name, media type and content.
func onWire(r *calls.HTTPRequest) string {
	_, boundary, form := strings.Cut(r.Header.Get("Content-Type"), "boundary=")
	if !form {
		return string(r.Body)
	}
	var out []string
	for part := range strings.SplitSeq(string(r.Body), "--"+strings.Trim(boundary, `"`)) {
		head, content, ok := strings.Cut(strings.Trim(part, "\r\n"), "\r\n\r\n")
		if !ok {
			continue
		}
		kind := ""
		_, name, _ := strings.Cut(head, "form-data; ")
		name, _, _ = strings.Cut(name, "\r\n")
		if _, k, ok := strings.Cut(head, "Content-Type: "); ok {
			k, _, _ = strings.Cut(k, "\r\n")
			kind = k + " "
		}
		if strings.Contains(head, "Content-Transfer-Encoding: base64") != (content == "aGk=") {
			content += " (its encoding is not told)"
		}
		out = append(out, name+" "+kind+content)
	}
	return strings.Join(out, "|")
}

package validate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

const doc = `{"openapi":"3.0.0","paths":{"/teams/{id}":{"post":{"operationId":"op",
	"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer","minimum":1}},{"name":"name","in":"query","schema":{"type":"string","pattern":"^[a-z]+$"}},
		{"name":"limit","in":"query","schema":{"type":"integer","format":"int32"}},{"name":"tags","in":"query","schema":{"type":"array","items":{"type":"string"},"maxItems":2}},
		{"name":"open","in":"query","schema":{"type":"boolean"}},{"name":"filter","in":"query","style":"deepObject","schema":{"type":"object","properties":{"from":{"type":"string"}}}},
		{"name":"X-Trace","in":"header","required":true,"schema":{"type":"string"}},{"name":"look","in":"query","schema":{"type":"string","pattern":"(?=a)"}}],
	"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Team"}},"text/plain":{},"image/png":{},
		"multipart/form-data":{"schema":{"type":"object","required":["file"],"properties":{"file":{"type":"string","format":"binary"},"more":{"type":"array","items":{"type":"string","format":"binary"}},"title":{"type":"string","maxLength":3}}}}}}},
	"get":{"operationId":"none","parameters":[{"name":"id","in":"path","required":true}]}}},
	"components":{"schemas":{
		"Team":{"type":"object","required":["name","kind"],"properties":{"name":{"type":"string"},"password":{"type":"string"},"kind":{"$ref":"#/components/schemas/Kind"},"size":{"type":"integer","maximum":9223372036854775807},
			"parent":{"$ref":"#/components/schemas/Team"},"nick":{"type":"string","nullable":true,"enum":["a","b"]},"share":{"type":"number","minimum":0,"exclusiveMinimum":true},
			"action":{"oneOf":[{"$ref":"#/components/schemas/Mail"},{"$ref":"#/components/schemas/Call"}]},"map":{"type":"object","additionalProperties":{"type":"integer"}},"free":{"type":"object"},
			"wrapped":{"allOf":[{"$ref":"#/components/schemas/Mail"}],"nullable":true},"self":{"$ref":"#/components/schemas/Self"},"bad":{"type":"wrong","minLength":-1,"enum":"x","required":true}},
			"allOf":[{"properties":{"extra":{"type":"boolean"}}}]},
		"Kind":{"type":"string","enum":["red","green"]},"Self":{"allOf":[{"$ref":"#/components/schemas/Self"}]},
		"Mail":{"type":"object","required":["kind","to"],"properties":{"kind":{"enum":["mail"]},"to":{"type":"string"}}},"Call":{"type":"object","required":["kind","number"],"properties":{"kind":{"enum":["call"]},"number":{"type":"integer"}}}}}}`

func checker(t testing.TB, text string, o Options) (*Checker, *spec.View) {
	t.Helper()
	d, err := spec.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v := spec.NewView(d, nil, spec.Filter{Field: func(_, field string) bool { return field != "password" }})
	return New(v, o), v
}

// arguments parses {path, query, headers, body, media}.
func arguments(t testing.TB, text string) Arguments {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	var a Arguments
	a.Path, _ = v.Get("path")
	a.Query, _ = v.Get("query")
	a.Headers, _ = v.Get("headers")
	a.Body, a.HasBody = v.Get("body")
	media, _ := v.Get("media")
	a.Media = media.Text()
	return a
}

// TestNumbers checks that a whole number fits a oneOf that has alternatives for whole numbers and for any number.
func TestNumbers(t *testing.T) {
	c, v := checker(t, `{"openapi":"3.0.0","paths":{"/a":{"post":{"operationId":"op","requestBody":{"content":{"application/json":{"schema":{"type":"object",
		"additionalProperties":{"oneOf":[{"type":"string"},{"type":"integer","description":"whole"},{"type":"number"}]}}}}},"responses":{}}}}}`, Options{})
	op, err := v.Operation("op")
	if err != nil {
		t.Fatal(err)
	}
	for body, fits := range map[string]bool{`{"a":10}`: true, `{"a":1.5}`: true, `{"a":"x"}`: true, `{"a":true}`: false, `{"a":null}`: false} {
		if _, err := c.Check(t.Context(), op, arguments(t, `{"body":`+body+`}`)); (err == nil) != fits {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestCheck checks the faults of arguments, one per line: pointer, rule, message. "" means no fault.
func TestCheck(t *testing.T) {
	c, v := checker(t, doc, Options{})
	const ok = `"path":{"id":1},"headers":{"x-trace":"t"}`
	body := func(rest string) string {
		return `{` + ok + `,"body":{"name":"n","kind":"red"` + rest + `}}`
	}
	for _, tt := range []struct{ op, in, want string }{
		{"op", body(""), ""},
		{"op", body(`,"size":9223372036854775807,"extra":true,"nick":null,"wrapped":null,"map":{"x":1},"free":{"any":[1]},"self":5,"bad":{"q":1}`), ""},
		{"op", `{"path":{"id":"7"},"headers":{"X-TRACE":5},"query":{"limit":"3","open":"true","name":"abc","tags":["a"],"filter":{"from":"x"},"look":"zzz"},"body":{"name":"n","kind":"red"}}`, ""},
		{"op", `{}`, `/body required the body is missing
/headers/X-Trace required the header parameter "X-Trace" is missing
/path/id required the path parameter "id" is missing`},
		{"op", `{"path":{"id":0,"idd":1,"name":"x","kind":1},"headers":{"X-Trace":"t","Authorization":"Bearer x","X-Forwarded-For":"::1","X-Trac":"u"},"query":[],"body":{"name":"n","kind":"red"}}`,
			`/headers/Authorization forbidden the header "Authorization" is the gateway's to set
/headers/X-Forwarded-For forbidden the header "X-Forwarded-For" is the gateway's to set
/headers/X-Trac unknown unknown header parameter "X-Trac". Did you mean X-Trace?
/path/id minimum path/id must be at least 1, not 0
/path/idd unknown unknown path parameter "idd". Did you mean id?
/path/kind unknown unknown path parameter "kind". It takes id; it is a field of the body
/path/name unknown unknown path parameter "name". It takes id; it is a query parameter
/query type query must be an object, by parameter name, not a list`},
		{"op", `{` + ok + `,"query":{"limit":2147483648,"name":"A1","tags":["a","b","c"],"open":"yes","filter":{"form":1}},"body":{"name":"n","kind":"red"}}`,
			`/query/filter/form unknown unknown field "form". Did you mean from?
/query/limit maximum query/limit must be at most 2147483647, not 2147483648
/query/name pattern query/name must match ^[a-z]+$
/query/open type query/open must be true or false, not the text "yes"
/query/tags maxItems query/tags must have at most 2 items, not 3`},
		{"op", `{` + ok + `,"body":{"nam":"n","password":"p","kind":"rde","size":9223372036854775808,"nick":"c","share":0,"parent":{"name":1,"kind":"red","x~/y":1},"map":{"x":"1"}}}`,
			`/body/kind enum body/kind must be one of red, green, not "rde". Did you mean red?
/body/map/x type body/map/x must be a whole number, not the text "1"
/body/nam unknown unknown field "nam". Did you mean name?
/body/nick enum body/nick must be one of a, b, null, not "c"
/body/parent/name type body/parent/name must be a text, not 1
/body/parent/x~0~1y unknown unknown field "x~/y". It takes action, bad, extra, free, kind, map, name, nick, parent, self, share, size, wrapped
/body/password unknown unknown field "password". It takes action, bad, extra, free, kind, map, name, nick, parent, self, share, size, wrapped
/body/share exclusiveMinimum body/share must be more than 0, not 0
/body/size maximum body/size must be at most 9223372036854775807, not 9223372036854775808`},
		{"op", body(`,"action":{"kind":"mail","to":5}`), `/body/action/to type body/action/to must be a text, not 5 (by the nearest of 2 alternatives: Mail, Call)`},
		{"op", body(`,"action":{"kind":"call","number":5,"tw":1}`), `/body/action/tw unknown unknown field "tw". It takes kind, number`},
		{"op", body(`,"size":1e999999999`), `/body number a number is larger than can be compared`},
		{"op", `{` + ok + `,"body":null}`, `/body type body must be an object, not null`},
		{"op", `{` + ok + `,"body":"x","media":"text/plain"}`, ""},
		{"op", `{` + ok + `,"body":"{\"name\":\"n\"}","media":"application/json"}`, `/body type body must be an object, not the text "{\"name\":\"n\"}"; this is JSON in a text: give the value itself`},
		{"op", `{` + ok + `,"body":1,"media":"text/plain"}`, `/body type the body must be a text, not 1`},
		{"op", `{` + ok + `,"body":"aGk=","media":"IMAGE/png"}`, ""},
		{"op", `{` + ok + `,"body":"%","media":"image/png"}`, `/body type the body must be bytes in base64`},
		{"op", `{` + ok + `,"body":"x","media":"text/plan"}`, `/content_type unknown unknown media type "text/plan". Did you mean text/plain?`},
		{"op", `{` + ok + `,"media":"multipart/form-data","body":{"file":{"name":"a.txt","content":"aGk="},"more":[{"name":"b","content":"","type":"text/plain"}],"title":"abc"}}`, ""},
		{"op", `{` + ok + `,"media":"multipart/form-data","body":{"file":{"nam":"a","content":"%","type":"a\nb"},"more":["x"],"title":"abcd","fil":1}}`,
			`/body/fil unknown unknown field "fil". Did you mean file?
/body/file/content type content must be bytes in base64
/body/file/nam unknown unknown member of a file "nam". Did you mean name?
/body/file/type type type must be a text of one line
/body/more/0 type a file must be an object: {"name", "content" in base64, "type"}, not the text "x"
/body/title maxLength body/title must have at most 3 characters, not 4`},
		{"op", `{` + ok + `,"media":"multipart/form-data","body":{}}`, `/body/file required the field "file" is missing`},
		{"none", `{"path":{"id":{"a":1}}}`, ""},
		{"none", `{"path":{"id":1},"body":1}`, `/body unknown none takes no body`},
	} {
		op, err := v.Operation(tt.op)
		if err != nil {
			t.Fatal(err)
		}
		checked, err := c.Check(t.Context(), op, arguments(t, tt.in))
		var lines []string
		if err != nil {
			for _, f := range problem.Of(err).Faults {
				lines = append(lines, fmt.Sprintf("%s %s %s", f.Pointer, f.Rule, f.Message))
			}
			if problem.CodeOf(err) != problem.InvalidArgument || checked.Operation() != nil {
				t.Errorf("%s: %v", tt.in, err)
			}
		}
		if got := strings.Join(lines, "\n"); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

// TestOpen checks that an operator can allow undeclared fields in bodies, but not undeclared parameters. An object
// with a hidden field refuses all undeclared fields in the same way.
func TestOpen(t *testing.T) {
	c, v := checker(t, doc, Options{OpenBodies: true})
	op := v.Operations()[0]
	if _, err := c.Check(t.Context(), op, arguments(t, `{"path":{"id":1},"headers":{"X-Trace":"t"},"body":{"name":"n","kind":"red","action":{"kind":"mail","to":"a","more":1}}}`)); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"password", "more"} {
		_, err := c.Check(t.Context(), op, arguments(t, `{"path":{"id":1},"headers":{"X-Trace":"t"},"body":{"name":"n","kind":"red","`+name+`":1}}`))
		if want := `unknown field "` + name + `". It takes`; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", name, err, want)
		}
	}
	if _, err := c.Check(t.Context(), op, arguments(t, `{"path":{"id":1},"query":{"more":1},"headers":{"X-Trace":"t"},"body":{"name":"n","kind":"red"}}`)); err == nil {
		t.Error("an unknown parameter is taken")
	}
}

// TestNotThere checks that an operation outside the View can't be called.
func TestNotThere(t *testing.T) {
	c, _ := checker(t, doc, Options{})
	_, other := checker(t, doc, Options{})
	for _, op := range []*spec.Operation{nil, other.Operations()[0]} {
		if _, err := c.Check(t.Context(), op, Arguments{}); problem.CodeOf(err) != problem.NotFound {
			t.Error(err)
		}
	}
}

// TestCompiles checks that every schema compiles, and only once.
func TestCompiles(t *testing.T) {
	for _, text := range []string{doc} {
		c, v := checker(t, text, Options{})
		for range 3 {
			compileAll(t, c, v)
		}
		before := len(c.t.at)
		compileAll(t, c, v)
		if len(c.t.at) != before {
			t.Error("schemas are compiled again")
		}
	}
}

// compileAll compiles the schemas of all operations.
func compileAll(t testing.TB, c *Checker, v *spec.View) (n int) {
	t.Helper()
	for _, op := range v.Operations() {
		for _, p := range v.Parameters(op) {
			if p.Schema == nil {
				continue
			}
			if _, err := c.compile(fmt.Sprintf("%s %s %s", op.ID, p.In, p.Name), p.Schema); err != nil {
				t.Errorf("%s: %v", op.ID, err)
			}
			n++
		}
		if op.Body == nil {
			continue
		}
		for _, content := range op.Body.Contents {
			if content.Schema == nil {
				continue
			}
			if _, err := c.compile(fmt.Sprintf("%s body %s", op.ID, content.MediaType), content.Schema); err != nil {
				t.Errorf("%s: %v", op.ID, err)
			}
			n++
		}
	}
	return n
}

// TestFixed checks that a required parameter with a single allowed value is set if absent, and checked if given.
func TestFixed(t *testing.T) {
	c, v := checker(t, `{"openapi":"3.1.0","paths":{"/x":{"get":{"operationId":"x","parameters":[
		{"name":"V","in":"header","required":true,"schema":{"const":1}},{"name":"mode","in":"query","schema":{"enum":["a"]}},{"name":"kind","in":"query","required":true,"schema":{"enum":["a","b"]}}]}}}}`, Options{})
	op, err := v.Operation("x")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ args, want string }{
		{`{"query":{"kind":"a"}}`, "kind=a V=1"}, // optional parameters are not set
		{`{"query":{"kind":"a"},"headers":{"v":1}}`, "kind=a V=1"},
		{`{"query":{"kind":"a"},"headers":{"V":2}}`, "/headers/V"},
		{`{}`, "/query/kind"},
	} {
		checked, err := c.Check(t.Context(), op, arguments(t, row.args))
		got := ""
		for _, value := range checked.Values() {
			got += value.Parameter.Name + "=" + value.Value.String() + " "
		}
		if err != nil {
			got = problem.Of(err).Pointer
		}
		if strings.TrimSpace(got) != row.want {
			t.Errorf("%s: %q, want %q", row.args, got, row.want)
		}
	}
}

// TestComposed checks additionalProperties next to parts and alternatives, with the meaning that authors intend. It
// also checks the faults of alternatives.
func TestComposed(t *testing.T) {
	const composed = `{"openapi":"3.0.0","paths":{"/x":{"post":{"operationId":"op","requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{
		"beside":{"type":"object","properties":{"a":{"type":"string"}},"allOf":[{"$ref":"#/components/schemas/B"}],"additionalProperties":false},
		"parts":{"allOf":[{"$ref":"#/components/schemas/B"},{"type":"object","properties":{"c":{"type":"string"}},"additionalProperties":false}]},
		"one":{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"$ref":"#/components/schemas/B"},{"required":["c"],"properties":{"c":{"type":"integer"}}}],"additionalProperties":false},
		"alone":{"$ref":"#/components/schemas/B"},
		"step":{"type":"object","oneOf":[{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}},{"type":"object","required":["c"],"properties":{"c":{"type":"string"}}}],
			"properties":{"b":{"type":"string"}},"additionalProperties":false},
		"pet":{"oneOf":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}],"discriminator":{"propertyName":"kind","mapping":{"cat":"#/components/schemas/Cat"}},"nullable":true},
		"animal":{"$ref":"#/components/schemas/Animal"},
		"role":{"anyOf":[{"enum":["developer"]},{"enum":["owner","admin"]}]},
		"level":{"oneOf":[{"enum":["low","high"]},{"type":"object","properties":{"n":{"type":"integer"}}},{"$ref":"#/components/schemas/Whole"}]},
		"rules":{"type":"array","items":{"anyOf":[{"type":"object","required":["type"],"properties":{"type":{"enum":["creation"]}},"additionalProperties":false},
			{"type":"object","required":["type"],"properties":{"type":{"enum":["update"]},"parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}}]}}
		}}}}},"responses":{"200":{"description":"ok"}}}}},
		"components":{"schemas":{"B":{"type":"object","required":["b"],"properties":{"b":{"type":"string"}},"additionalProperties":false},
		"Animal":{"type":"object","properties":{"kind":{"type":"string"}},"discriminator":{"propertyName":"kind","mapping":{"cat":"#/components/schemas/Lion"}}},
		"Lion":{"allOf":[{"$ref":"#/components/schemas/Animal"},{"type":"object","properties":{"claws":{"type":"integer"}}}]},
		"Whole":{"type":"integer"},
		"Cat":{"type":"object","properties":{"kind":{"type":"string"},"claws":{"type":"integer"}}},"Dog":{"type":"object","properties":{"kind":{"type":"string"},"bark":{"type":"boolean"}}}}}}`
	for _, row := range []struct{ in, want, open string }{
		{`{"beside":{"a":"1","b":"2"}}`, "", ""},
		{`{"step":{"b":"1","a":"2","z":3}}`, `unknown field "z". It takes a, b, c`, ""},
		{`{"beside":{"a":"1","b":"2","d":3}}`, `unknown field "d". It takes a, b`, ""},
		{`{"parts":{"b":"1","c":"2"}}`, "", ""},
		{`{"parts":{"b":"1","d":"2"}}`, `unknown field "d". It takes b, c`, ""},
		{`{"one":{"a":"1","b":"2"}}`, "", ""},
		{`{"one":{"a":"1","c":2}}`, "", ""},
		{`{"alone":{"b":"1","x":2}}`, `unknown field "x". It takes b`, ""},
		{`{"role":"guest"}`, "body/role must be one of developer, owner, admin, not \"guest\"", "body/role must be one of developer, owner, admin, not \"guest\""},
		{`{"rules":[{"type":"update","parameters":{"n":1}}]}`, "", ""},
		{`{"rules":[{"type":"update","parameters":{"n":"x"}}]}`, "body/rules/0/parameters/n must be a whole number, not the text \"x\" (by the nearest of 2 alternatives)",
			"body/rules/0/parameters/n must be a whole number, not the text \"x\" (by the nearest of 2 alternatives)"},
		{`{"rules":[{"type":"update","parameters":{"n":1,"m":1}}]}`, `unknown field "m". It takes n`, ""},
		{`{"pet":{"kind":"cat","claws":1}}`, "", ""},
		{`{"pet":{"kind":"cat","claws":"x"}}`, "body/pet/claws must be a whole number, not the text \"x\"", "body/pet/claws must be a whole number, not the text \"x\""},
		{`{"pet":{"kind":"cat","bark":true}}`, `unknown field "bark". It takes claws, kind`, ""},
		{`{"pet":{"kind":"Dog","bark":true}}`, "", ""},
		{`{"pet":{"kind":"bird"}}`, "body/pet/kind must be one of cat, Dog, not \"bird\"", "body/pet/kind must be one of cat, Dog, not \"bird\""},
		{`{"pet":{"bark":true}}`, "", ""},
		{`{"pet":null}`, "", ""},
		{`{"animal":{"kind":"cat","claws":1}}`, "", ""},
		{`{"animal":{"kind":"dog","claws":1}}`, `unknown field "claws". It takes kind`, ""},
		{`{"level":"lwo"}`, "body/level must be one of low, high, not \"lwo\". Did you mean low? (another alternative takes an object, or Whole)",
			"body/level must be one of low, high, not \"lwo\". Did you mean low? (another alternative takes an object, or Whole)"},
		{`{"level":{"n":"x"}}`, "body/level/n must be a whole number, not the text \"x\" (by the nearest of 3 alternatives)", "body/level/n must be a whole number, not the text \"x\" (by the nearest of 3 alternatives)"},
		{`{"rules":[{"type":"deletion"}]}`, "body/rules/0/type must be one of creation, update, not \"deletion\"", "body/rules/0/type must be one of creation, update, not \"deletion\""},
	} {
		for open, want := range map[bool]string{false: row.want, true: row.open} {
			c, v := checker(t, composed, Options{OpenBodies: open})
			got := ""
			if _, err := c.Check(t.Context(), v.Operations()[0], arguments(t, `{"body":`+row.in+`}`)); err != nil {
				for _, f := range problem.Of(err).Faults {
					got += "; " + f.Message
				}
			}
			if got = strings.TrimPrefix(got, "; "); got != want {
				t.Errorf("%s, open %t\n got %s\nwant %s", row.in, open, got, want)
			}
		}
	}
}

// TestNullable checks that null is accepted where a document of OpenAPI 3.1 says nullable, although 3.1 has no such
// keyword.
func TestNullable(t *testing.T) {
	const doc = `{"openapi":"3.1.0","paths":{"/a":{"post":{"operationId":"op","requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{
		"plain":{"type":"string"},"text":{"type":"string","nullable":true},"kind":{"$ref":"#/components/schemas/Kind","nullable":true}}}}}}}}},
		"components":{"schemas":{"Kind":{"type":"string","enum":["a"]}}}}`
	c, v := checker(t, doc, Options{})
	for body, ok := range map[string]bool{`{"text":null}`: true, `{"kind":null}`: true, `{"kind":"a"}`: true, `{"plain":null}`: false, `{"kind":"b"}`: false, `{"text":1}`: false} {
		if _, err := c.Check(t.Context(), v.Operations()[0], arguments(t, `{"body":`+body+`}`)); (err == nil) != ok {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestSubtypes checks bodies for a schema that other schemas extend. The body gives only the name of the other
// schema.
func TestSubtypes(t *testing.T) {
	const schemas = `"Pet":{"type":"object","discriminator":%s,"required":["kind"],"properties":{"kind":{"type":"string"},"name":{"type":"string"}}},
		"Cat":{"allOf":[{"$ref":"%[2]sPet"},{"type":"object","properties":{"lives":{"type":"integer"}}}]},
		"Kitten":{"allOf":[{"$ref":"%[2]sCat"},{"type":"object","properties":{"weeks":{"type":"integer"}}}]},
		"Stone":{"type":"object","properties":{"weight":{"type":"integer"}}}`
	for name, doc := range map[string]string{
		"2.0": `{"swagger":"2.0","paths":{"/a":{"post":{"operationId":"op","parameters":[{"in":"body","name":"b","schema":{"$ref":"#/definitions/Pet"}}]}}},
			"definitions":{` + fmt.Sprintf(schemas, `"kind"`, "#/definitions/") + `}}`,
		"3.0": `{"openapi":"3.0.0","paths":{"/a":{"post":{"operationId":"op","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Pet"}}}}}}},
			"components":{"schemas":{` + fmt.Sprintf(schemas, `{"propertyName":"kind"}`, "#/components/schemas/") + `}}}`,
	} {
		c, v := checker(t, doc, Options{})
		for body, want := range map[string]string{
			`{"kind":"Cat","lives":9}`:              "",
			`{"kind":"Kitten","lives":9,"weeks":3}`: "",
			`{"kind":"Cat","weeks":3}`:              "unknown field \"weeks\". It takes kind, lives, name",
			`{"kind":"Pet","lives":9}`:              "unknown field \"lives\". It takes kind, name",
			`{"kind":"Stone","weight":9}`:           "unknown field \"weight\". It takes kind, name",
			`{"kind":"Dog","lives":9}`:              "unknown field \"lives\". It takes kind, name",
			`{"name":"x"}`:                          `the field "kind" is missing`,
		} {
			got := ""
			if _, err := c.Check(t.Context(), v.Operations()[0], arguments(t, `{"body":`+body+`}`)); err != nil {
				got = problem.Of(err).Detail
			}
			if want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("%s: %s\n got %s\nwant %s", name, body, got, want)
			}
		}
	}
}

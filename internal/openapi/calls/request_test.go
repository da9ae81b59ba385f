package calls

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// build checks arguments {path, query, headers, body, media} against an operation of a document and builds the request.
func build(t testing.TB, doc, id, args string) (*HTTPRequest, error) {
	t.Helper()
	return buildAs(t, doc, id, args, RequestOptions{})
}

func buildAs(t testing.TB, doc, id, args string, o RequestOptions) (*HTTPRequest, error) {
	t.Helper()
	d, err := spec.Load([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Warnings) > 0 && id != "filled" {
		t.Fatal(d.Warnings)
	}
	v := spec.NewView(d, nil, spec.Filter{})
	op, err := v.Operation(id)
	if err != nil {
		t.Fatal(err)
	}
	in, err := value.Read([]byte(args), 0)
	if err != nil {
		t.Fatal(err)
	}
	var a validate.Arguments
	a.Path, _ = in.Get("path")
	a.Query, _ = in.Get("query")
	a.Headers, _ = in.Get("headers")
	a.Body, a.HasBody = in.Get("body")
	media, _ := in.Get("media")
	a.Media = media.Text()
	checked, err := validate.New(v, validate.Options{}).Check(t.Context(), op, a)
	if err != nil {
		return nil, err
	}
	return BuildRequest(checked, o)
}

func tell(r *HTTPRequest, err error) string {
	if err != nil {
		return problem.Of(err).Pointer + " " + err.Error()
	}
	out := r.Method + " " + r.Target()
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range r.Header {
			if !yield(n) {
				return
			}
		}
	}) {
		if name != "Accept" {
			out += fmt.Sprintf(" %s=%s", name, r.Header.Get(name))
		}
	}
	if r.Body != nil {
		out += " " + string(r.Body)
	}
	return out
}

// one returns a document with one operation.
func one(path, method, rest string) string {
	return fmt.Sprintf(`{"openapi":"3.0.0","paths":{%q:{%q:{"operationId":"op",%s}}}}`, path, method, rest)
}

// TestPath checks the path for each style and value of a path parameter.
func TestPath(t *testing.T) {
	for _, tt := range []struct{ style, in, want string }{
		{``, `"a"`, "GET /t/a/x"},
		{``, `"a b/c?d#e%f&g=ü{x}"`, "GET /t/a%20b%2Fc%3Fd%23e%25f%26g%3D%C3%BC%7Bx%7D/x"},
		{``, `9223372036854775807`, "GET /t/9223372036854775807/x"},
		{``, `1.10`, "GET /t/1.10/x"},
		{``, `["a","b,c"]`, "GET /t/a,b%2Cc/x"},
		{``, `{"r":1,"g":"2"}`, "GET /t/r,1,g,2/x"},
		{`"explode":true,`, `{"r":1,"g":"2"}`, "GET /t/r=1,g=2/x"},
		{`"style":"label",`, `"a"`, "GET /t/.a/x"},
		{`"style":"label",`, `["a","b"]`, "GET /t/.a,b/x"},
		{`"style":"label","explode":true,`, `["a","b"]`, "GET /t/.a.b/x"},
		{`"style":"matrix",`, `"a"`, "GET /t/;p=a/x"},
		{`"style":"matrix",`, `["a","b"]`, "GET /t/;p=a,b/x"},
		{`"style":"matrix","explode":true,`, `["a","b"]`, "GET /t/;p=a;p=b/x"},
		{`"style":"matrix","explode":true,`, `{"r":1,"g":2}`, "GET /t/;r=1;g=2/x"},
		{`"content":{"application/json":{}},`, `{"a":"b"}`, "GET /t/%7B%22a%22%3A%22b%22%7D/x"},
		{``, `"main.go"`, "GET /t/main.go/x"}, {``, `"..."`, "GET /t/.../x"}, {``, `"src/main.go"`, "GET /t/src%2Fmain.go/x"},
		{``, `""`, "/path/p invalid_argument: the path parameter p must not be empty"},
		{``, `null`, "/path/p invalid_argument: the path parameter p must not be empty"},
		{``, `[]`, "/path/p invalid_argument: the path parameter p must not be empty"},
		{`"style":"label",`, `""`, "/path/p invalid_argument: the path parameter p must not be empty"},
		{``, `"."`, `/path/p invalid_argument: the path parameter p can't be "." or ".."`},
		{``, `".."`, `/path/p invalid_argument: the path parameter p can't be "." or ".."`},
		{`"style":"label",`, `"."`, `/path/p invalid_argument: the path parameter p must not be empty`},
		{``, `"../user"`, `/path invalid_argument: a segment of a path can't be "." or ".."`},
		{``, `"a/../b"`, `/path invalid_argument: a segment of a path can't be "." or ".."`},
		{``, `"..\\user"`, `/path invalid_argument: a segment of a path can't be "." or ".."`},
		{``, `"..;x"`, `/path invalid_argument: a segment of a path can't be "." or ".."`},
		{``, `"%2e%2e"`, `/path invalid_argument: a segment of a path can't be "." or ".."`},
		{``, `"%2e%2e%2fuser"`, `/path invalid_argument: a segment of a path can't be "." or ".."`},
		{``, `[["a"]]`, "/path/p invalid_argument: a list or an object can't stand here"},
	} {
		doc := one("/t/{p}/x", "get", `"parameters":[{`+tt.style+`"name":"p","in":"path","required":true}]`)
		if got := tell(build(t, doc, "op", `{"path":{"p":`+tt.in+`}}`)); got != tt.want {
			t.Errorf("%s %s\n got %s\nwant %s", tt.style, tt.in, got, tt.want)
		}
	}
	typed := one("/t/{p}/x", "get", `"parameters":[{"name":"p","in":"path","schema":{"type":"string"}},{"name":"n","in":"query","schema":{"type":"number"}},{"name":"s","in":"query","schema":{"type":"string"}}]`)
	for _, tt := range []struct{ in, want string }{
		{`{"path":{"p":9223372036854775808},"query":{"n":"1.50","s":true}}`, "GET /t/9223372036854775808/x?n=1.50&s=true"},
		{`{"path":{"p":0},"query":{"s":1.10}}`, "GET /t/0/x?s=1.10"},
	} {
		if got := tell(build(t, typed, "op", tt.in)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.in, got, tt.want)
		}
	}
	parts := one("/f/{a}.{b}/ä b", "get", `"parameters":[{"name":"a","in":"path"},{"name":"b","in":"path"}]`)
	for _, tt := range []struct{ in, want string }{
		{`{"a":"x","b":"y"}`, "GET /f/x.y/%C3%A4%20b"},
		{`{"a":"{b}","b":"y"}`, "GET /f/%7Bb%7D.y/%C3%A4%20b"},
	} {
		if got := tell(build(t, parts, "op", `{"path":`+tt.in+`}`)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.in, got, tt.want)
		}
	}
	dots := one("/f/{a}./x", "get", `"parameters":[{"name":"a","in":"path"}]`)
	if _, err := build(t, dots, "op", `{"path":{"a":"."}}`); err == nil {
		t.Error("a template makes .. of .")
	}
}

// TestQuery checks the query for each style and value of a query parameter.
func TestQuery(t *testing.T) {
	const list, object = `["a b","c&d"]`, `{"r":100,"g":"a,b"}`
	for _, tt := range []struct{ style, in, want string }{
		{``, `"a b&c=d+e#"`, "?q=a%20b%26c%3Dd%2Be%23"},
		{``, list, "?q=a%20b&q=c%26d"},
		{`"explode":false,`, list, "?q=a%20b,c%26d"},
		{`"explode":false,"style":"spaceDelimited",`, list, "?q=a%20b%20c%26d"},
		{`"explode":false,"style":"pipeDelimited",`, list, "?q=a%20b%7Cc%26d"},
		{``, object, "?r=100&g=a%2Cb"},
		{`"explode":false,`, object, "?q=r,100,g,a%2Cb"},
		{`"style":"deepObject",`, `{"a":{"b":[1,2]},"c":true}`, "?q[a][b][]=1&q[a][b][]=2&q[c]=true"},
		{`"allowReserved":true,`, `"a/b?c&d;e"`, "?q=a/b?c%26d%3Be"},
		{`"content":{"application/json":{}},`, `{"a":9223372036854775807}`, "?q=%7B%22a%22%3A9223372036854775807%7D"},
		{``, `[]`, ""}, {``, `""`, "?q="}, {``, `null`, "?q="}, {``, `false`, "?q=false"},
		{``, `[{"a":1},{"a":2,"b":[3]}]`, "?q[0][a]=1&q[1][a]=2&q[1][b][]=3"},
		{`"style":"deepObject",`, `[{"a":{"b":1}},{"c d":"&"}]`, "?q[0][a][b]=1&q[1][c%20d]=%26"},
		{`"style":"deepObject",`, `["a","b"]`, "?q[]=a&q[]=b"},
		{`"explode":false,`, `{"a":[1]}`, "?q[a][]=1"},
		{`"style":"deepObject",`, `{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}}}`, "/query/q/a/a/a/a/a/a/a/a/a invalid_argument: objects lie too deep in each other"},
	} {
		doc := one("/t", "get", `"parameters":[{`+tt.style+`"name":"q","in":"query"}]`)
		want := "GET /t" + tt.want
		if strings.HasPrefix(tt.want, "/") {
			want = tt.want
		}
		if got := tell(build(t, doc, "op", `{"query":{"q":`+tt.in+`}}`)); got != want {
			t.Errorf("%s %s\n got %s\nwant %s", tt.style, tt.in, got, want)
		}
	}
	swagger := `{"swagger":"2.0","paths":{"/t":{"get":{"operationId":"op","parameters":[{"name":"m","in":"query","type":"array","collectionFormat":"multi"},{"name":"c","in":"query","type":"array"},{"name":"t","in":"query","type":"array","collectionFormat":"tsv"}]}}}}`
	if got := tell(build(t, swagger, "op", `{"query":{"m":["1","2"],"c":["1","2"],"t":["1","2"]}}`)); got != "GET /t?m=1&m=2&c=1,2&t=1%092" {
		t.Error(got)
	}
}

// TestHeaders checks that only one-line headers that agents may set are accepted.
func TestHeaders(t *testing.T) {
	doc := one("/t", "get", `"parameters":[{"name":"X-A","in":"header"},{"name":"x b","in":"header"}],"responses":{"200":{"content":{"text/csv":{},"application/json":{}}}}`)
	for _, tt := range []struct{ in, want string }{
		{`{"x-a":"v, w"}`, "GET /t X-A=v, w"},
		{`{"X-A":["a","b"]}`, "GET /t X-A=a,b"},
		{`{"X-A":"a\r\nCookie: x"}`, "/headers/X-A invalid_argument: the header X-A is a text of one line"},
		{`{"x b":"1"}`, `/headers/x b invalid_argument: the header "x b" can't be set`},
	} {
		if got := tell(build(t, doc, "op", `{"headers":`+tt.in+`}`)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.in, got, tt.want)
		}
	}
	r, err := build(t, doc, "op", "{}")
	if err != nil || r.Body != nil || r.Header.Get("Content-Type") != "" || r.Header.Get("Accept") != "application/json, */*;q=0.5" || len(r.Header) != 1 {
		t.Errorf("%+v %v", r, err)
	}
}

// TestBody checks Content-Type and bytes for each media type and value. Without a body there is neither.
func TestBody(t *testing.T) {
	body := func(media, more string) string {
		return one("/t", "post", `"requestBody":{"content":{"`+media+`":{`+more+`}}}`)
	}
	for _, tt := range []struct{ doc, in, want string }{
		{body("application/json", ""), `{}`, "POST /t"},
		{body("application/json", ""), `{"body":null}`, "POST /t Content-Type=application/json null"},
		{body("application/merge-patch+json", ""), `{"body":{"b":9223372036854775807,"a":1.10}}`, `POST /t Content-Type=application/merge-patch+json {"b":9223372036854775807,"a":1.10}`},
		{body("*/*", ""), `{"body":1}`, "POST /t Content-Type=application/json 1"},
		{body("text/plain; charset=utf-8", ""), `{"body":"a\nb"}`, "POST /t Content-Type=text/plain; charset=utf-8 a\nb"},
		{body("application/octet-stream", ""), `{"body":"aGk="}`, "POST /t Content-Type=application/octet-stream hi"},
		{body("application/octet-stream", ""), `{"body":""}`, "POST /t Content-Type=application/octet-stream "},
		{body("application/x-www-form-urlencoded", `"encoding":{"j":{"contentType":"application/json"},"c":{"style":"form","explode":false}}`),
			`{"body":{"a":"x y&z","l":["1","2"],"o":{"k":{"m":1}},"j":{"q":1},"c":["1","2"],"lo":[{"a":1}]}}`,
			"POST /t Content-Type=application/x-www-form-urlencoded a=x+y%26z&l=1&l=2&o[k][m]=1&j=%7B%22q%22%3A1%7D&c=1,2&lo[0][a]=1"},
	} {
		if got := tell(build(t, tt.doc, "op", tt.in)); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
	if _, err := BuildRequest(validate.Checked{}, RequestOptions{}); problem.CodeOf(err) != problem.Internal {
		t.Errorf("the zero Checked is built: %v", err)
	}
}

// TestParts checks that a server reads the right parts from a multipart body, and that the same arguments give the same
// bytes.
func TestParts(t *testing.T) {
	doc := one("/t", "post", `"requestBody":{"content":{"multipart/form-data":{"schema":{"type":"object","properties":{"file":{"type":"string","format":"binary"},
		"files":{"type":"array","items":{"type":"string","format":"binary"}},"title":{"type":"string"},"meta":{"type":"object"},"tags":{"type":"array","items":{"type":"string"}}}},
		"encoding":{"title":{"contentType":"text/plain"}}}}}`)
	in := `{"body":{"file":{"name":"ä \"q\".txt","content":"aGk=","type":"text/plain"},"files":[{"name":"1","content":""},{"name":"2","content":"eA=="}],"title":"a\r\nb","meta":{"n":9223372036854775807},"tags":["x","y"]}}`
	r, err := build(t, doc, "op", in)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := build(t, doc, "op", in); err != nil || string(again.Body) != string(r.Body) {
		t.Errorf("another request: %v", err)
	}
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for read := multipart.NewReader(strings.NewReader(string(r.Body)), params["boundary"]); ; {
		p, err := read.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s|%s|%s|%q", p.FormName(), p.FileName(), p.Header.Get("Content-Type"), b))
	}
	want := []string{`file|ä %22q%22.txt|text/plain|"hi"`, `files|1|application/octet-stream|""`, `files|2|application/octet-stream|"x"`, `title||text/plain|"a\r\nb"`,
		`meta||application/json|"{\"n\":9223372036854775807}"`, `tags|||"x"`, `tags|||"y"`}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// FuzzPath checks that no value makes a path that leaves its template, for any way to decode it.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"a", "..", "../x", "%2e%2e", "%252e%252e%252f", "a/../../b", ".;x", "\\..\\", "?x#y", "//host", "{q}", "\u2025", "a%", "..%00"} {
		f.Add(seed, "b")
	}
	doc := one("/api/{p}/mid/{q}.json", "get", `"parameters":[{"name":"p","in":"path"},{"name":"q","in":"path"},{"name":"s","in":"query"},{"name":"X-H","in":"header"}]`)
	d, err := spec.Load([]byte(doc))
	if err != nil {
		f.Fatal(err)
	}
	v := spec.NewView(d, nil, spec.Filter{})
	check := validate.New(v, validate.Options{})
	f.Fuzz(func(t *testing.T, p, q string) {
		text := func(s string) value.Value { return value.OfString(s) }
		checked, err := check.Check(t.Context(), v.Operations()[0], validate.Arguments{Path: value.OfObject([]value.Member{{Name: "p", Value: text(p)}, {Name: "q", Value: text(q)}}),
			Query: value.OfObject([]value.Member{{Name: "s", Value: text(p)}}), Headers: value.OfObject([]value.Member{{Name: "X-H", Value: text(q)}})})
		if err != nil {
			t.Fatal(err)
		}
		r, err := BuildRequest(checked, RequestOptions{})
		if err != nil {
			return
		}
		sent, err := http.NewRequest(r.Method, "https://host.test/base"+r.Target(), nil)
		if err != nil {
			t.Fatalf("%q: %v", r.Target(), err)
		}
		u := sent.URL
		segments := strings.Split(u.EscapedPath(), "/")
		if u.Host != "host.test" || u.Fragment != "" || len(segments) != 6 || segments[1] != "base" || segments[2] != "api" || segments[4] != "mid" || !strings.HasSuffix(segments[5], ".json") {
			t.Fatalf("%q leaves its template: %q", r.Target(), segments)
		}
		if got, err := url.PathUnescape(segments[3]); err != nil || got != p || u.Query().Get("s") != p || len(u.Query()) != 1 {
			t.Fatalf("%q is read as %q and %q", p, got, u.Query())
		}
		for range 3 {
			for _, s := range strings.FieldsFunc(u.Path, func(r rune) bool { return r == '/' || r == '\\' }) {
				if s == "." || s == ".." {
					t.Fatalf("%q has the segment %s", u.Path, s)
				}
			}
			u.Path, err = url.PathUnescape(u.Path)
			if err != nil {
				break
			}
		}
	})
}

// TestExamples builds a request for every operation of the test documents whose path takes only strings.
func TestExamples(t *testing.T) {
	built := 0
	for _, name := range []string{"trackline.json", "fleet.yaml"} {
		b, err := os.ReadFile("../testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := spec.Load(b)
		if err != nil {
			t.Fatal(err)
		}
		v := spec.NewView(d, nil, spec.Filter{})
		check := validate.New(v, validate.Options{})
		for _, op := range v.Operations() {
			var path []value.Member
			for _, p := range op.Parameters {
				if p.In == "path" {
					path = append(path, value.Member{Name: p.Name, Value: value.OfString("a/b")})
				}
			}
			checked, err := check.Check(t.Context(), op, validate.Arguments{Path: value.OfObject(path)})
			if err != nil {
				if problem.CodeOf(err) != problem.InvalidArgument {
					t.Errorf("%s: %v", op.ID, err)
				}
				continue
			}
			r, err := BuildRequest(checked, RequestOptions{})
			if err != nil || strings.Count(r.Path, "/") != strings.Count(op.Path, "/") {
				t.Errorf("%s: %+v %v", op.ID, r, err)
			}
			built++
		}
	}
	if built < 60 {
		t.Errorf("only %d requests were built", built)
	}
}

// TestLists checks how each option encodes lists in objects. Lists of objects have indices.
func TestLists(t *testing.T) {
	doc := one("/t", "get", `"parameters":[{"name":"q","in":"query","style":"deepObject"}]`)
	for lists, want := range map[ListStyle]string{
		Brackets: "q[a][]=1&q[a][]=2&q[b][0][c]=3&q[e][0][]=4",
		Indices:  "q[a][0]=1&q[a][1]=2&q[b][0][c]=3&q[e][0][0]=4",
		repeat:   "q[a]=1&q[a]=2&q[b][0][c]=3&q[e][0]=4",
		comma:    "q[a]=1,2&q[b][0][c]=3&q[e][0]=4",
	} {
		r, err := buildAs(t, doc, "op", `{"query":{"q":{"a":[1,2],"b":[{"c":3}],"e":[[4]]}}}`, RequestOptions{Lists: lists})
		if err != nil || r.Query != want {
			t.Errorf("%s: %v\n got %+v\nwant %s", lists, err, r, want)
		}
	}
}

// TestFixedParts checks fixed queries and fragments in a document's paths. A fragment is not sent, a query always is.
func TestFixedParts(t *testing.T) {
	doc := `{"openapi":"3.0.0","paths":{
		"/m?beta=true&x=a b":{"get":{"operationId":"beta","parameters":[{"name":"q","in":"query"}]}},
		"/#Describe":{"post":{"operationId":"describe","requestBody":{"content":{"application/json":{}}}}},
		"/m/{id}?full#now":{"get":{"operationId":"full","parameters":[{"name":"id","in":"path"}]}}}}`
	for _, row := range []struct{ id, args, want string }{
		{"beta", `{"query":{"q":"1"}}`, "GET /m?beta=true&x=a%20b&q=1"},
		{"describe", `{"body":{}}`, "POST / Content-Type=application/json {}"},
		{"full", `{"path":{"id":"a?b"}}`, "GET /m/a%3Fb?full"},
	} {
		if got := tell(build(t, doc, row.id, row.args)); got != row.want {
			t.Errorf("%s: %s, want %s", row.id, got, row.want)
		}
	}
}

// TestChosen checks that the content that fits the body is chosen. A list is a JSON Patch if one is declared.
func TestChosen(t *testing.T) {
	object := `{"schema":{"type":"object"}}`
	patches := one("/t", "patch", `"requestBody":{"content":{"application/json-patch+json":`+object+`,"application/merge-patch+json":`+object+`,"application/strategic-merge-patch+json":`+object+`}}`)
	several := one("/t", "post", `"requestBody":{"content":{"text/plain":{},"application/json":{"schema":{"type":"object","required":["a"],"properties":{"a":{"type":"integer","format":"int32"}}}},
		"application/x-www-form-urlencoded":{"schema":{"type":"object","properties":{"b":{"type":"string","format":"int-or-string"}}}}}}`)
	for _, row := range []struct{ doc, args, want string }{
		{patches, `{"body":{"a":1}}`, `PATCH /t Content-Type=application/merge-patch+json {"a":1}`},
		{patches, `{"body":[{"op":"remove","path":"/a"}]}`, `PATCH /t Content-Type=application/json-patch+json [{"op":"remove","path":"/a"}]`},
		{patches, `{"body":{"a":1},"media":"application/strategic-merge-patch+json"}`, `PATCH /t Content-Type=application/strategic-merge-patch+json {"a":1}`},
		{several, `{"body":{"a":1}}`, `POST /t Content-Type=application/json {"a":1}`},
		{several, `{"body":{"b":"1"}}`, "POST /t Content-Type=application/x-www-form-urlencoded b=1"},
		{several, `{"body":{"b":1}}`, "POST /t Content-Type=application/x-www-form-urlencoded b=1"},
		{several, `{"body":"text"}`, "POST /t Content-Type=text/plain text"},
		{several, `{"body":{"a":"x"}}`, "/body/a invalid_argument: body/a must be a whole number, not the text \"x\""},
		{several, `{"body":{"a":1},"media":"text/csv"}`, `/content_type invalid_argument: unknown media type "text/csv". It takes application/json, application/x-www-form-urlencoded, text/plain`},
	} {
		if got := tell(build(t, row.doc, "op", row.args)); got != row.want {
			t.Errorf("%s\n got %s\nwant %s", row.args, got, row.want)
		}
	}
}

// TestEmptyForm checks that a call without a body is an empty form where its operation takes a form, and nothing else.
func TestEmptyForm(t *testing.T) {
	one := func(method, media string) string {
		return `{"openapi":"3.0.0","paths":{"/pay":{"` + method + `":{"operationId":"pay","requestBody":{"content":{"` + media + `":{"schema":{"type":"object","properties":{"at":{"type":"string"}}}}}},"responses":{"200":{"description":""}}}}}}`
	}
	for _, row := range []struct{ method, media, want string }{
		{"post", "application/x-www-form-urlencoded", "POST /pay Content-Type=application/x-www-form-urlencoded "},
		{"patch", "application/x-www-form-urlencoded", "PATCH /pay Content-Type=application/x-www-form-urlencoded "},
		{"delete", "application/x-www-form-urlencoded", "DELETE /pay"},
		{"get", "application/x-www-form-urlencoded", "GET /pay"},
		{"post", "application/json", "POST /pay"},
	} {
		if got := tell(build(t, one(row.method, row.media), "pay", `{}`)); got != row.want {
			t.Errorf("%s %s: %q, want %q", row.method, row.media, got, row.want)
		}
	}
}

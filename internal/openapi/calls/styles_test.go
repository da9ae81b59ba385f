package calls

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
)

// A style is a way to write a parameter. Readers split at the characters of between, even at escaped ones.
type style struct {
	in, text string
	lists    bool // of lists, or else of objects
	between  string
}

var styles = []style{
	{"query", `"style":"form","explode":true`, true, ""}, {"query", `"style":"form","explode":false`, true, ","},
	{"query", `"style":"spaceDelimited","explode":false`, true, " "}, {"query", `"style":"pipeDelimited","explode":false`, true, "|"},
	{"query", `"style":"form","explode":true`, false, ""}, {"query", `"style":"form","explode":false`, false, ","}, {"query", `"style":"deepObject","explode":true`, false, "[]"},
	{"path", `"style":"simple","explode":false`, true, ","}, {"path", `"style":"simple","explode":false`, false, ","}, {"path", `"style":"simple","explode":true`, false, ",="},
	{"path", `"style":"label","explode":false`, true, ",."}, {"path", `"style":"label","explode":true`, true, "."}, {"path", `"style":"label","explode":true`, false, ".="},
	{"path", `"style":"matrix","explode":false`, true, ",;="}, {"path", `"style":"matrix","explode":true`, true, ";="}, {"path", `"style":"matrix","explode":true`, false, ";="},
	{"header", `"style":"simple","explode":false`, true, ", "}, {"header", `"style":"simple","explode":false`, false, ", "}, {"header", `"style":"simple","explode":true`, false, ", ="},
}

// any returns a random text without the characters at which the style splits. In headers, the text is one line of
// ASCII.
func (s style) any(r *rand.Rand) string {
	letters := "ab1Z-_~&=+#%?/;:@!$'()*[]|,. \"<>\\^`{}"
	between := s.between
	switch s.in {
	case "path":
		between += `/\` // with dots beside them they could lead to another path, and are refused
		letters += "ü€"
	case "query":
		letters += "ü€"
	}
	all := []rune(letters)
	out := ""
	for range 1 + r.IntN(6) {
		if c := all[r.IntN(len(all))]; !strings.ContainsRune(between, c) {
			out += string(c)
		}
	}
	return "x" + out + "x"
}

// TestStylesParsed builds requests with random lists and objects in each style, and has another implementation of OpenAPI read them: it
// finds the same values.
func TestStylesParsed(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // the same values each time
	for n := range 4000 {
		s := styles[n%len(styles)]
		var in any
		schema := `{"type":"array","items":{"type":"string"}}`
		if s.lists {
			var list []string
			for range 1 + r.IntN(4) {
				list = append(list, s.any(r))
			}
			in = list
		} else {
			schema = `{"type":"object","properties":{"one":{"type":"string"},"two":{"type":"string"},"three":{"type":"string"}}}`
			in = map[string]string{"one": s.any(r), "two": s.any(r), "three": s.any(r)}
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		parsed(t, s, schema, string(text))
	}
}

// parsed builds one request, and fails unless the other implementation reads in from it.
func parsed(t *testing.T, s style, schema, in string) {
	t.Helper()
	parameter := `"name":"p","in":"` + s.in + `","required":true,` + s.text
	path, place := "/t", map[string]string{"header": "headers"}[s.in]
	if s.in == "path" {
		path = "/t/{p}"
	}
	if place == "" {
		place = s.in
	}
	built, err := build(t, one(path, "get", `"parameters":[{`+parameter+`,"schema":`+schema+`}]`), "op", `{"`+place+`":{"p":`+in+`}}`)
	if err != nil {
		t.Errorf("%s of %s: %v", in, s.text, err)
		return
	}
	var p openapi3.Parameter
	if err := json.Unmarshal([]byte(`{`+parameter+`,"schema":`+schema[:len(schema)-1]+`,"enum":[`+in+`]}}`), &p); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse("http://x.example" + built.Target())
	if err != nil {
		t.Fatalf("%s of %s: %v", in, s.text, err)
	}
	request := &http.Request{Method: http.MethodGet, URL: u, Header: built.Header}
	input := &openapi3filter.RequestValidationInput{Request: request, QueryParams: u.Query(), PathParams: map[string]string{"p": strings.TrimPrefix(u.Path, "/t/")}}
	if err := openapi3filter.ValidateParameter(t.Context(), input, &p); err != nil {
		t.Errorf("%s of %s is %s, which is read as something else: %s", in, s.text, fmt.Sprint(built.Target(), " ", built.Header.Get("p")), strings.SplitN(err.Error(), "\n", 2)[0])
	}
}

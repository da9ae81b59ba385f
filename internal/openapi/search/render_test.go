package search

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files again")

func see(t testing.TB, b []byte, f spec.Filter) *spec.View {
	t.Helper()
	d, err := spec.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := spec.NewClassifier(d, spec.ClassOptions{RPCNames: true})
	if err != nil {
		t.Fatal(err)
	}
	return spec.NewView(d, rules, f)
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestGolden checks the text of each request.
func TestGolden(t *testing.T) {
	odd := `{"openapi":"3.1.0","info":{"title":"Odd"},"paths":{
		"/a/{id}":{"parameters":[{"name":"id","in":"path","schema":{"type":"integer","format":"int64"},"example":42}],"post":{"operationId":"odd","summary":"Do\nthis\u0000 [read]","deprecated":true,
			"description":"` + strings.Repeat("many words that say little ", 20) + `",
			"parameters":[{"name":"z","in":"query","schema":{"type":"string","default":"asc"}},{"name":"filter","in":"query","required":true,"style":"deepObject","schema":{"properties":{"from":{"type":"string","format":"date"}}}},
				{"name":"X-A\nB","in":"header","schema":{"type":["string","null"]}},{"name":"Authorization","in":"header"}],
			"requestBody":{"content":{"text/xml":{},"application/merge-patch+json":{"schema":{"allOf":[{"$ref":"#/components/schemas/Node"},{"properties":{"seen":{"readOnly":true},"secret":{"writeOnly":true,"example":{"a":1}}},"required":["secret"]}]}}}},
			"responses":{"204":{"description":"Gone\nfor good"},"404":{},"5XX":{}}},
		"get":{"operationId":"one","responses":{"200":{"content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Node"}}}}}}},
		"delete":{"operationId":"none"},"put":{"operationId":"file","responses":{"default":{"content":{"image/png":{"schema":{"type":"string","format":"binary"}}}}}}}},
		"components":{"schemas":{"Node":{"description":"A node.","type":"object","properties":{"next":{"$ref":"#/components/schemas/Node"},"kids":{"type":"array","items":{"$ref":"#/components/schemas/Node"}},
			"size":{"$ref":"#/components/schemas/Size"},"tags":{"type":"object","additionalProperties":{"type":"array","items":{"type":"integer"}}},"gone":{"$ref":"#/x"},
			"pick":{"oneOf":[{"$ref":"#/components/schemas/Size"},{"type":"object","properties":{"w":{},"h":{}},"required":["h"]},{"type":"null"},{"title":"Third"}]},
			"maybe":{"anyOf":[{"type":"string"},{"type":"null"}],"default":"x"},"letter":{"enum":["a","b","c","d","e","f","g","h","i","j","k","l","m","n",1,null,{"o":2}]}}},
			"Size":{"type":"string","enum":["s","m","l"]}}}}`
	oddView := see(t, []byte(odd), spec.Filter{})
	track, fleet := see(t, file(t, "../testdata/trackline.json"), spec.Filter{}), see(t, file(t, "../testdata/fleet.yaml"), spec.Filter{})
	operation := func(v *spec.View, id string) string {
		op, err := v.Operation(id)
		if err != nil {
			t.Fatal(err)
		}
		return DescribeOperation(v, op)
	}
	schema := func(v *spec.View, name string) string {
		text, err := DescribeSchema(v, name)
		if err != nil {
			return err.Error()
		}
		return text
	}
	found := func(v *spec.View, q Query) string {
		r, err := New(v, Options{}).Search(q)
		if err != nil {
			t.Fatal(err)
		}
		return DescribeResult(v, r)
	}
	for name, got := range map[string]string{
		"odd":       operation(oddView, "odd"),
		"list":      operation(oddView, "one"),
		"nothing":   operation(oddView, "none") + operation(oddView, "file"),
		"node":      schema(oddView, "Node"),
		"unknown":   schema(oddView, "Nod") + "\n" + schema(oddView, "Sise"),
		"issue":     operation(track, "post_projects_projectId_issues"),
		"upload":    operation(track, "post_issues_issueId_attachments"),
		"rule":      operation(track, "post_projects_projectId_automations"),
		"rollout":   operation(fleet, "RolloutService/CreateRollout"),
		"enum":      schema(fleet, "DeviceKind"),
		"timestamp": schema(fleet, "Timestamp"),
		"services":  DescribeServices(track, New(track, Options{}).Services()),
		"service":   found(fleet, Query{Service: "JobService", Limit: 3, Offset: 2}),
		"search":    found(track, Query{Text: "archive project", Limit: 3}),
		"weak":      found(track, Query{Text: "brew coffee"}),
		"halfweak":  found(track, Query{Text: "invoice quantum flux capacitor", Limit: 1}),
	} {
		golden := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(file(t, golden)), got); diff != "" {
			t.Errorf("%s\n%s", name, diff)
		}
	}
}

// tokens returns the 50th percentile, the 95th percentile and the maximum of the lengths of texts, in tokens of 4
// bytes.
func tokens(texts []string) (p50, p95, most int) {
	var n []int
	for _, text := range texts {
		n = append(n, (len(text)+3)/4)
	}
	slices.Sort(n)
	return n[len(n)/2], n[len(n)*95/100], n[len(n)-1]
}

// describeEverything renders all of a view, and checks that each text stays on one line.
func describeEverything(t testing.TB, v *spec.View) (details, schemas []string) {
	t.Helper()
	check := func(text string) {
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if strings.IndexFunc(line, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' }) >= 0 {
				t.Fatalf("a line has a control character: %q", line)
			}
			if _, note, ok := strings.Cut(line, " // "); ok && len([]rune(note)) > maxText+maxValue+20 {
				t.Fatalf("a note is too long: %s", line)
			}
		}
	}
	for _, op := range v.Operations() {
		text := DescribeOperation(v, op)
		check(text)
		details = append(details, text)
	}
	for _, name := range v.Schemas() {
		text, err := DescribeSchema(v, name)
		if err != nil {
			t.Fatal(err)
		}
		check(text)
		schemas = append(schemas, text)
	}
	return details, schemas
}

// TestBudget checks that details are short for any document.
func TestBudget(t *testing.T) {
	for _, name := range []string{"trackline.json", "fleet.yaml"} {
		details, _ := describeEverything(t, see(t, file(t, "../testdata/"+name), spec.Filter{}))
		p50, p95, most := tokens(details)
		t.Logf("%s: details of p50 %d, p95 %d, at most %d tokens", name, p50, p95, most)
		if p95 > 1600 {
			t.Errorf("%s: p95 is %d tokens", name, p95)
		}
	}
	// This document is wide and deep: 120 fields that have 120 fields each.
	var b strings.Builder
	b.WriteString(`{"openapi":"3.0.0","paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}},"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}}}}}},"components":{"schemas":{"x":{}`)
	for i := range 3 {
		b.WriteString(`,"S` + string(rune('0'+i)) + `":{"type":"object","properties":{"x":{}`)
		for f := range 120 {
			b.WriteString(`,"field_` + string(rune('a'+f%26)) + string(rune('a'+f/26)) + `":{"description":"` + strings.Repeat("long ", 40) + `","allOf":[{"$ref":"#/components/schemas/S` + string(rune('0'+(i+1)%3)) + `"}]}`)
		}
		b.WriteString("}}")
	}
	b.WriteString("}}}")
	details, schemas := describeEverything(t, see(t, []byte(b.String()), spec.Filter{}))
	if _, _, most := tokens(append(details, schemas...)); most > 1600 {
		t.Errorf("at most %d tokens", most)
	}
}

// TestSame checks that fields that are in both the body and the response are described once.
func TestSame(t *testing.T) {
	v := see(t, []byte(`{"openapi":"3.0.0","paths":{"/zones":{"post":{"operationId":"add","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Zone"}}}},
		"responses":{"201":{"content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Zone"}}}}}}},
		"put":{"operationId":"sign","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Key"}}}},"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Key"}}}}}}}},
		"components":{"schemas":{"Zone":{"type":"object","required":["name"],"properties":{"id":{"type":"string","readOnly":true,"description":"Given by the API"},"name":{"type":"string"}}},
		"Key":{"type":"object","properties":{"name":{"type":"string"},"pin":{"type":"string","writeOnly":true}}}}}}`), spec.Filter{})
	for id, want := range map[string]string{
		"add": `add: POST /zones [write, needs review]
Body (application/json): Zone
  name: string (required)
Response 201: array<Zone>, with the fields of the body
  id: string // Given by the API
`,
		"sign": `sign: PUT /zones [write, needs review]
Body (application/json): Key
  name: string
  pin: string
Response 200: Key
  name: string
`} {
		op, err := v.Operation(id)
		if err != nil {
			t.Fatal(err)
		}
		if got := DescribeOperation(v, op); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestOneLine checks the line of each text.
func TestOneLine(t *testing.T) {
	for _, tt := range []struct {
		in   string
		most int
		want string
	}{
		{"a\n\t b\u2028c\u0000d", 100, "a b c d"},
		{"one two three", 13, "one two three"},
		{"one two three", 12, "one two…"},
		{"one two, three", 10, "one two…"},
		{"abcdefghijkl", 6, "abcde…"},
		{"äöüß äöüß", 8, "äöüß äö…"}, {"äöüß äöüß", 6, "äöüß…"},
		{"a\xffb", 10, "a�b"},
		{"", 10, ""},
	} {
		if got := oneLine(tt.in, tt.most); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// FuzzRender checks that no document causes a panic, a hang or a broken line.
func FuzzRender(f *testing.F) {
	f.Add([]byte(`{"openapi":"3.1.0","paths":{"/a":{"get":{"summary":"x\ny","parameters":[{"name":"q\n","in":"query","schema":{"enum":["a\u0085b"]}}],"responses":{"200":{"content":{"a/b":{"schema":{"$ref":"#/components/schemas/A"}}}}}}}},"components":{"schemas":{"A":{"allOf":[{"$ref":"#/components/schemas/A"}],"oneOf":[{"$ref":"#/components/schemas/A"}],"properties":{"a":{"items":{"$ref":"#/components/schemas/A"}}}}}}}`))
	f.Add(file(f, "../testdata/trackline.json")[:3000])
	f.Add([]byte("swagger: '2.0'\npaths:\n  /a:\n    post:\n      parameters:\n        - {in: body, name: b, schema: {$ref: '#/definitions/A'}}\ndefinitions:\n  A: {type: object, properties: {a: {$ref: '#/definitions/A'}}}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := spec.Load(b)
		if err != nil {
			return
		}
		v := spec.NewView(d, nil, spec.Filter{})
		describeEverything(t, v)
		ix := New(v, Options{})
		DescribeServices(v, ix.Services())
		if r, err := ix.Search(Query{Text: "get a b"}); err == nil {
			DescribeResult(v, r)
		}
	})
}

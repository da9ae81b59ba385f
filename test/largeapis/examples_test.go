package largeapis

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// fixtures returns the documents of this repository, and those that the module kin-openapi contains for its tests.
func fixtures(t *testing.T) []string {
	t.Helper()
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/getkin/kin-openapi").Output()
	if err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(strings.TrimSpace(string(module)), "openapi3")
	all := []string{"../../internal/openapi/testdata/trackline.json", "../../internal/openapi/testdata/fleet.yaml", "../../internal/demo/openapi.yaml"}
	for _, name := range []string{"testdata/oai_v3_stoplight.json", "testdata/lxkns.yaml", "testdata/issue796.yml", "../openapi3filter/testdata/fixtures/petstore.json", "testdata/issue570.json", "testdata/issue423.k8s.swagger.json"} {
		all = append(all, filepath.Join(in, name))
	}
	return all
}

// quotedText matches the text of an example in a message, which the file doesn't keep.
var quotedText = regexp.MustCompile(`not the text ".*?[^\\]"`)

var update = flag.Bool("update", false, "rewrite testdata/refused.txt, with BAILIWICK_APIS")

// TestExamples checks that the validator accepts the examples of requests that documents contain. An example is wrong in
// its document if the schema itself refuses it, by a translation that isn't the validator's. Of the others at least 97
// in a hundred are taken over all documents. With open_bodies, which takes undeclared fields of examples, at least 99
// are taken. testdata/refused.txt lists all that are refused, with the reason.
func TestExamples(t *testing.T) {
	files := fixtures(t)
	if dir := os.Getenv("BAILIWICK_APIS"); dir != "" && dir != "none" {
		files = append(files, documents(t)...)
	}
	b, err := os.ReadFile("testdata/refused.txt")
	if err != nil {
		t.Fatal(err)
	}
	tried, taken, opened, wrong := 0, 0, 0, 0
	found := map[string]bool{}
	for _, file := range files {
		e := examplesOf(t, file)
		tried, taken, opened, wrong = tried+e.tried, taken+e.taken, opened+e.opened, wrong+e.wrong
		t.Logf("%s: %d of %d examples are accepted, %d are wrong in the document", filepath.Base(file), e.taken, e.tried, e.wrong)
		for _, line := range e.refused {
			if found[line] = true; !*update && !strings.Contains(string(b), line+"\n") {
				t.Errorf("%s: %s", filepath.Base(file), line)
			}
		}
	}
	t.Logf("%d of %d examples are accepted, %d with open_bodies; %d are right", taken, tried, taken+opened, tried-wrong)
	if tried < 40 || (taken+opened)*100 < (tried-wrong)*99 || len(files) > 9 && taken*100 < (tried-wrong)*97 {
		t.Errorf("%d of %d right examples are accepted", taken, tried-wrong)
	}
	if *update {
		text := "# Examples that are refused: reason | operation | part | fault. Written by -update with BAILIWICK_APIS.\n" +
			"# wrong: the document's own schema refuses it. undeclared: it has a field that the document doesn't declare. file: a text in the place of a file.\n" +
			strings.Join(slices.Sorted(maps.Keys(found)), "\n") + "\n"
		if err := os.WriteFile("testdata/refused.txt", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// examples counts the examples of one document.
type examples struct {
	d                           *spec.Document
	v                           *spec.View
	check, openly               *validate.Checker
	reference                   *reference
	tried, taken, opened, wrong int
	refused                     []string
}

func examplesOf(t *testing.T, file string) *examples {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := spec.Load(b)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	v := spec.NewView(d, nil, spec.Filter{})
	e := &examples{d: d, v: v, check: validate.New(v, validate.Options{}), openly: validate.New(v, validate.Options{OpenBodies: true}), reference: newReference(d, false)}
	for _, op := range v.Operations() {
		e.operation(op)
	}
	return e
}

// operation checks each example of op's body, and the examples of its parameters together.
func (e *examples) operation(op *spec.Operation) {
	parameters := validate.Arguments{}
	in := map[string][]value.Member{}
	given := false
	for _, p := range e.v.Parameters(op) {
		example := p.Example
		if example == nil {
			example = e.v.Schema(p.Schema).Example
		}
		v, err := value.Read(example, 0)
		switch {
		case example != nil && err == nil:
			given = true
		default:
			continue
		}
		in[p.In] = append(in[p.In], value.Member{Name: p.Name, Value: v})
	}
	parameters.Path, parameters.Query, parameters.Headers = value.OfObject(in["path"]), value.OfObject(in["query"]), value.OfObject(in["header"])
	if given {
		e.try(op, "parameters", parameters)
	}
	if op.Body == nil {
		return
	}
	for i := range op.Body.Contents {
		c := &op.Body.Contents[i]
		for name, raw := range e.bodies(op, c) {
			body, err := value.Read(raw, 0)
			if err != nil {
				continue
			}
			a := parameters
			a.Body, a.HasBody, a.Media = body, true, c.MediaType
			e.try(op, fmt.Sprintf("body %s %s", c.MediaType, name), a)
		}
	}
}

// bodies returns the examples of a content by name: its own, else that of its schema.
func (e *examples) bodies(op *spec.Operation, c *spec.Content) map[string]spec.Raw {
	out := map[string]spec.Raw{}
	raw := e.resolve(e.d.Lookup("#/paths/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(op.Path) + "/" + strings.ToLower(op.Method) + "/requestBody")).Get("content")
	for name, m := range raw.Get(c.MediaType).Get("examples").Members() {
		if v := e.resolve(m).Get("value"); v != nil {
			out[name] = v
		}
	}
	if c.Example != nil && len(out) == 0 {
		out["example"] = c.Example
	}
	if s := e.v.Schema(c.Schema); s.Example != nil && len(out) == 0 {
		out["schema"] = s.Example
	}
	return out
}

func (e *examples) resolve(r spec.Raw) spec.Raw {
	if ref := spec.Reference(r); ref != "" {
		return e.d.Lookup(ref)
	}
	return r
}

// try checks a.
func (e *examples) try(op *spec.Operation, part string, a validate.Arguments) {
	e.tried++
	found := faults(e.check, op, a)
	if len(found) == 0 {
		e.taken++
		return
	}
	reason := e.reason(op, a)
	switch {
	case reason == "wrong":
		e.wrong++
	case len(faults(e.openly, op, a)) == 0:
		e.opened++
	}
	e.refused = append(e.refused, fmt.Sprintf("%s | %s | %s | %s", reason, op.ID, part, strings.Join(found[:min(2, len(found))], "; ")))
}

// faults returns the faults of a, without those of the other part of the call, and of parameters without examples.
func faults(c *validate.Checker, op *spec.Operation, a validate.Arguments) (out []string) {
	_, err := c.Check(context.Background(), op, a)
	if err == nil {
		return nil
	}
	for _, f := range problem.Of(err).Faults {
		of, _, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/")
		if f.Rule != "required" && (of == "body" || of == "content_type") == a.HasBody || f.Rule == "required" && a.HasBody && of == "body" {
			out = append(out, f.Pointer+" "+quotedText.ReplaceAllString(f.Message, "not a text"))
		}
	}
	return out
}

// reason returns why an example is refused: "wrong" if the schema itself refuses it as well.
func (e *examples) reason(op *spec.Operation, a validate.Arguments) string {
	refuses := func(r spec.Raw, v value.Value) bool {
		s, err := e.reference.compile(r)
		return err == nil && check(s, v) != nil
	}
	if a.HasBody {
		for _, c := range op.Body.Contents {
			if c.MediaType == a.Media && refuses(c.Schema, a.Body) {
				return "wrong"
			}
			if c.MediaType == a.Media && !spec.IsJSON(a.Media) {
				return "file"
			}
		}
		return "undeclared"
	}
	in := map[string]value.Value{"path": a.Path, "query": a.Query, "header": a.Headers}
	for _, p := range e.v.Parameters(op) {
		if given, ok := in[p.In].Get(p.Name); ok && refuses(p.Schema, given) {
			return "wrong"
		}
	}
	return "undeclared"
}

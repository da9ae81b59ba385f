package largeapis

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/visible"
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
	all := []string{"../../internal/openapi/testdata/trackline.json", "../../internal/openapi/testdata/fleet.yaml", "../../internal/demo/api/openapi.yaml"}
	for _, name := range []string{"testdata/oai_v3_stoplight.json", "testdata/lxkns.yaml", "testdata/issue796.yml", "../openapi3filter/testdata/fixtures/petstore.json", "testdata/issue570.json", "testdata/issue423.k8s.swagger.json"} {
		all = append(all, filepath.Join(in, name))
	}
	return all
}

// contradictions returns the examples that contradict their document, with the reason, by operation.
func contradictions(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("testdata/contradictions.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if id, why, ok := strings.Cut(strings.TrimSpace(line), " | "); ok {
			out[id] = why
		}
	}
	return out
}

// TestExamples checks that the validator accepts the examples of requests that documents contain: all but those that
// contradict their document, which testdata/contradictions.txt lists: at most one in ten of the documents of the
// repository and of its modules, and with BAILIWICK_APIS set, of the large ones as well, at most one in twenty.
func TestExamples(t *testing.T) {
	files := fixtures(t)
	if dir := os.Getenv("BAILIWICK_APIS"); dir != "" && dir != "none" {
		files = append(files, documents(t)...)
	}
	least := 90
	if len(files) > len(fixtures(t)) {
		least = 95
	}
	wrong := contradictions(t)
	tried, taken := 0, 0
	for _, file := range files {
		e := examplesOf(t, file)
		tried, taken = tried+e.tried, taken+e.taken
		t.Logf("%s: %d of %d examples are accepted", filepath.Base(file), e.taken, e.tried)
		slices.Sort(e.refused)
		for _, why := range e.refused {
			id, _, _ := strings.Cut(why, ",")
			if wrong[id] == "" {
				t.Errorf("%s: %s", filepath.Base(file), why)
			}
		}
	}
	t.Logf("%d of %d examples are accepted", taken, tried)
	if tried < 40 || taken*100 < tried*least {
		t.Errorf("%d of %d examples are accepted", taken, tried)
	}
}

// examples counts the examples of one document.
type examples struct {
	d            *spec.Document
	v            *visible.View
	check        *validate.Checker
	tried, taken int
	refused      []string
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
	v := visible.New(d, nil, visible.Filter{})
	e := &examples{d: d, v: v, check: validate.New(v, validate.Options{})}
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

// try checks a; faults of the other part of the call, and of parameters without examples, don't count.
func (e *examples) try(op *spec.Operation, part string, a validate.Arguments) {
	e.tried++
	_, err := e.check.Check(op, a)
	var faults []string
	if err != nil {
		for _, f := range problem.Of(err).Faults {
			of, _, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/")
			if f.Rule != "required" && (of == "body" || of == "content_type") == a.HasBody {
				faults = append(faults, f.Pointer+" "+f.Message)
			}
			if f.Rule == "required" && a.HasBody && of == "body" {
				faults = append(faults, f.Pointer+" "+f.Message)
			}
		}
	}
	if len(faults) == 0 {
		e.taken++
		return
	}
	e.refused = append(e.refused, fmt.Sprintf("%s, %s: %s", op.ID, part, strings.Join(faults[:min(2, len(faults))], "; ")))
}

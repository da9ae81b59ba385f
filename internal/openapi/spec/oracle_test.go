package spec

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// TestOracle compares Load with kin-openapi on the documents in its module. It compares every operation, its
// parameters, the media types of its body and its statuses. Documents that kin-openapi refuses, or that span several
// files, are skipped.
func TestOracle(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/getkin/kin-openapi").Output()
	if err != nil {
		t.Fatal(err)
	}
	compared, operations := 0, 0
	root := strings.TrimSpace(string(dir))
	for _, pattern := range []string{"openapi3/testdata/*.*", "openapi3/testdata/*/*.*", "openapi2/testdata/*.*", "openapi2conv/testdata/*.*", "openapi3filter/testdata/*.*", "routers/legacy/*.*"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil || !slices.Contains([]string{".json", ".yml", ".yaml"}, filepath.Ext(file)) {
				continue
			}
			want, ok := oracle(b)
			if !ok {
				continue
			}
			d, err := Load(b)
			if err != nil {
				t.Errorf("%s: %v", filepath.Base(file), err)
				continue
			}
			if diff := cmp.Diff(want, plainOperations(d)); diff != "" {
				t.Errorf("%s: kin-openapi reads - , Load reads +\n%s", filepath.Base(file), diff)
			}
			compared++
			operations += len(want)
		}
	}
	t.Logf("%d documents, %d operations", compared, operations)
	if compared < 50 || operations < 200 {
		t.Errorf("only %d documents with %d operations were compared", compared, operations)
	}
}

// oracle reads a document with kin-openapi. It returns false if that fails or the document spans several files.
func oracle(b []byte) (out map[string]string, ok bool) {
	defer func() {
		if recover() != nil { // it panics on some of its own invalid documents
			ok = false
		}
	}()
	if strings.Contains(string(b), ".yml") || strings.Contains(string(b), ".yaml") || strings.Contains(string(b), ".json#") || strings.Contains(string(b), `.json"`) {
		return nil, false
	}
	var head struct {
		Swagger string
		OpenAPI string
	}
	if yaml.Unmarshal(b, &head) != nil {
		return nil, false
	}
	var doc *openapi3.T
	var err error
	switch {
	case head.Swagger == "2.0":
		var old openapi2.T
		if err = old.UnmarshalJSON(b); err != nil {
			return nil, false
		}
		doc, err = openapi2conv.ToV3(&old)
	case strings.HasPrefix(head.OpenAPI, "3."):
		doc, err = openapi3.NewLoader().LoadFromData(b)
	default:
		return nil, false
	}
	if err != nil {
		return nil, false
	}
	out = map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if method == "CONNECT" || method == "QUERY" {
				continue
			}
			out[method+" "+path] = kinOperation(path, item, op)
		}
	}
	return out, true
}

func kinOperation(path string, item *openapi3.PathItem, op *openapi3.Operation) string {
	lines := map[string]bool{}
	for _, p := range append(slices.Clone(item.Parameters), op.Parameters...) {
		if p.Value.In == "path" && !slices.Contains(Variables(path), p.Value.Name) {
			continue
		}
		lines[fmt.Sprintf("%s %s", p.Value.In, p.Value.Name)] = true
	}
	for _, v := range Variables(path) {
		lines["path "+v] = true
	}
	if op.RequestBody != nil {
		for m := range op.RequestBody.Value.Content {
			lines[fmt.Sprintf("body %s", strings.ToLower(m))] = true
		}
	}
	for status := range op.Responses.Map() {
		lines["answers "+strings.ToUpper(status)] = true
	}
	return join(lines)
}

func plainOperations(d *Document) map[string]string {
	out := map[string]string{}
	for _, op := range d.Operations {
		lines := map[string]bool{}
		for _, p := range op.Parameters {
			lines[p.In+" "+p.Name] = true
		}
		if op.Body != nil {
			for _, c := range op.Body.Contents {
				lines["body "+c.MediaType] = true
			}
		}
		for _, r := range op.Responses {
			lines["answers "+strings.ToUpper(r.Status)] = true
		}
		out[op.Name()] = join(lines)
	}
	return out
}

func join(lines map[string]bool) string {
	var all []string
	for l := range lines {
		all = append(all, l)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

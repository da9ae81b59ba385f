package bench_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/metadata"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// largeOrg writes an organisation of objects with 100 fields each, of which five are required. It returns the tools
// for it.
func largeOrg(t testing.TB, objects int) (set *tool.Set, project string) {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "workspace-P", ".metadata", ".plugins", "com.provar.eclipse.ui", "MyOrg", "default", "SfObject")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range objects {
		var b bytes.Buffer
		b.WriteString(`<sfObject detailsLoaded="true"><fields>`)
		for f := range 100 {
			fmt.Fprintf(&b, `<sfField n="Field_%03d__c" type="string" required="%t"/>`, f, f%20 == 0)
		}
		b.WriteString(`</fields></sfObject>`)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("Object_%04d__c.xml", i)), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := metadata.New(metadata.Options{Name: "org", Roots: []string{dir}, Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"org": s}, Rules: policy.Rules{}, Audit: &sealed{}, Limits: unlimited()})
	if err != nil {
		t.Fatal(err)
	}
	if set, err = tool.NewSet(g, append(tool.Data(tool.Options{}), tools.DescribeTools(nil)...)...); err != nil {
		t.Fatal(err)
	}
	return set, filepath.Join(dir, "P")
}

func describeCall(t testing.TB, set *tool.Set, name string, args value.Value) value.Value {
	t.Helper()
	r, err := set.Call(t.Context(), identity.Principal{ID: "token:1", Owner: "ann", Scopes: []identity.Scope{identity.Read}}, tool.Request{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	out, err := value.Read(r.Structured, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Structured) > 100_000+1_000 || len(r.Text) > 100_000 { // the budget applies to objects. The answer has a few other members
		t.Errorf("%s: an answer of %d bytes, and %d of text", args, len(r.Structured), len(r.Text))
	}
	return out
}

// TestLargeOrg lists 3,000 objects page by page within the budget by following next_call. Each object must occur
// once. It then describes the first and the last object with all fields.
func TestLargeOrg(t *testing.T) {
	set, project := largeOrg(t, 3000)
	for _, filter := range []string{"required", "all"} {
		args, err := value.Read(fmt.Appendf(nil, `{"project_path": %q, "connection_name": "MyOrg", "field_filter": %q}`, project, filter), 0)
		if err != nil {
			t.Fatal(err)
		}
		seen, pages := map[string]bool{}, 0
		for more := true; more; pages++ {
			out := describeCall(t, set, "org_describe", args)
			objects, _ := out.Get("objects")
			for _, o := range objects.List() {
				name, _ := o.Get("name")
				required, _ := o.Get("required_fields")
				fields, _ := o.Get("fields")
				if seen[name.Text()] || len(required.List()) != 5 || filter == "all" && len(fields.List()) != 100 {
					t.Fatalf("%s: seen %t, %d required of %d", name.Text(), seen[name.Text()], len(required.List()), len(fields.List()))
				}
				seen[name.Text()] = true
			}
			if n := len(objects.List()); n == 0 || n > tools.DescribePageSize {
				t.Fatalf("a page of %d objects", n)
			}
			next, ok := out.Get("next_call")
			args, _ = next.Get("arguments")
			more = ok
			if filter == "all" && pages == 3 {
				if args, err = value.Read(fmt.Appendf(nil, `{"project_path": %q, "connection_name": "MyOrg", "field_filter": "all", "offset": 2980}`, project), 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		if filter == "required" && len(seen) != 3000 || !seen["Object_0000__c"] || !seen["Object_2999__c"] {
			t.Errorf("%s: %d objects in %d pages", filter, len(seen), pages)
		}
		t.Logf("%s: %d pages", filter, pages)
	}
	none := value.OfObject(nil)
	describeCall(t, set, "get_all_schemas", none)
	describeCall(t, set, "get_schema", value.OfObject([]value.Member{{Name: "class_name", Value: value.OfString("Object_2999__c")}}))
}

// BenchmarkOrgDescribe measures descriptions of one object, a page of objects, and all classes, in an organisation of
// 3,000 objects.
func BenchmarkOrgDescribe(b *testing.B) {
	set, project := largeOrg(b, 3000)
	for _, row := range []struct{ name, tool, args string }{
		{"one", "org_describe", `{"project_path": %q, "connection_name": "MyOrg", "objects": ["Object_1500__c"], "field_filter": "all"}`},
		{"page", "org_describe", `{"project_path": %q, "connection_name": "MyOrg"}`},
		{"miss", "org_describe", `{"project_path": %q, "connection_name": "Other"}`},
	} {
		args, err := value.Read(fmt.Appendf(nil, row.args, project), 0)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				describeCall(b, set, row.tool, args)
			}
		})
	}
}

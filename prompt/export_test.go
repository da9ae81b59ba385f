package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/prompt"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestLargeExport checks that an export that is too large for an answer is a resource. Only its caller can read it,
// under the rules in force at the time of the read.
func TestLargeExport(t *testing.T) {
	const records = 2000
	notes := schema.Class{Source: "app", Name: "notes", Table: "notes", Key: []string{"id"},
		Fields: []schema.Field{{Name: "id", Type: schema.Integer, NotNull: true}, {Name: "org", Type: schema.String}, {Name: "body", Type: schema.String}}}
	var rows []value.Row
	for i := range records {
		rows = append(rows, value.Row{value.OfInt(int64(i)), value.OfString([]string{"acme", "globex"}[i%2]), value.OfString(strings.Repeat("x", 200))})
	}
	rules := policy.Rules{Classes: map[string]policy.ClassRule{"notes": {Tenant: &policy.TenantRule{Field: "org"}, Denied: []string{"org"}}}}
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": memory.New([]schema.Class{notes}, map[string][]value.Row{"notes": rows})},
		Rules: rules, Audit: &audit.Memory{}, Secret: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := prompt.NewSet(g, tools, prompt.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	who := identity.Principal{ID: "a", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}
	for _, format := range []string{"csv", "jsonl", "markdown", "table"} {
		for _, from := range []string{"", `, "pipeline": [{"$sort": {"id": -1}}, {"$limit": 900}]`} {
			args, err := value.Read(fmt.Appendf(nil, `{"class_name": "notes", "format": %q, "row_cap": 5000%s}`, format, from), 0)
			if err != nil {
				t.Fatal(err)
			}
			res, err := tools.Call(t.Context(), who, tool.Request{Name: "export_data", Arguments: args})
			if err != nil {
				t.Fatal(err)
			}
			var doc struct {
				Count     int `json:"row_count"`
				Output    string
				Truncated bool
				URI       string
			}
			if err := json.Unmarshal(res.Structured, &doc); err != nil || doc.Count != 20 || !doc.Truncated || len(res.Links) != 1 || res.Links[0].URI != doc.URI || len(doc.Output) > 10_000 {
				t.Fatal(err, doc, res.Links)
			}
			got, err := s.Read(t.Context(), who, prompt.Request{Name: doc.URI})
			if err != nil {
				t.Fatal(err)
			}
			want := map[bool]int{true: records / 2, false: 900}[from == ""]
			if n := strings.Count(got.Text, strings.Repeat("x", 200)); n != want || got.MediaType != res.Links[0].MediaType || strings.Contains(got.Text, "acme") {
				t.Errorf("%s%s: %d records, %s; want %d", format, from, n, got.MediaType, want)
			}
			if !strings.HasPrefix(got.Text, strings.TrimSuffix(doc.Output, "\n")[:100]) && format != "table" {
				t.Errorf("%s: the answer begins %s, the resource %s", format, doc.Output[:100], got.Text[:100])
			}
			for _, other := range []identity.Principal{{ID: "b", Tenant: "acme", Scopes: who.Scopes}, {ID: "a", Tenant: "globex", Scopes: who.Scopes}} {
				_, err := s.Read(t.Context(), other, prompt.Request{Name: doc.URI})
				_, absent := s.Read(t.Context(), other, prompt.Request{Name: "bailiwick://exports/none"})
				if problem.CodeOf(err) != problem.NotFound || err.Error() != absent.Error() {
					t.Errorf("%v; want %v", err, absent)
				}
			}
			without := who
			without.Tools = identity.List{Except: []string{"export_data"}}
			if _, err := s.Read(t.Context(), without, prompt.Request{Name: doc.URI}); problem.CodeOf(err) != problem.NotFound {
				t.Error(err)
			}
		}
	}
}

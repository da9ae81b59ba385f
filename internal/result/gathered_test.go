package result_test

import (
	"io"
	"slices"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestGathered checks that a page and an export explain once why a joined text may be null, and only if one is null.
func TestGathered(t *testing.T) {
	p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{{Source: "s", Name: "notes", Table: "notes", Key: []string{"id"},
		Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "text", Type: schema.String}}}})
	if err != nil {
		t.Fatal(err)
	}
	const why = "all is null for a group without values, and for one with more than about 4 MB of them: narrow the group with WHERE, gather left(x, 100), or count(x)"
	for _, tt := range []struct {
		texts []value.Value
		want  []string
	}{
		{[]value.Value{value.OfString("a, b"), value.OfString("c")}, nil},
		{[]value.Value{value.OfString("a, b"), {}, {}}, []string{why}},
	} {
		of := func() redact.Rows {
			q, err := query.ParseSQL("SELECT u AS all, n FROM (SELECT upper(string_agg(text, ', ')) AS u, count(*) AS n FROM notes GROUP BY id) AS t")
			if err != nil {
				t.Fatal(err)
			}
			q.Limit = 10
			permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, q)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := redact.Apply(permit, plan.MaskKey{}, func(yield func(value.Row, error) bool) {
				for _, v := range tt.texts {
					row := make(value.Row, 2)
					if row[0], row[1] = v, value.OfInt(1); !yield(row, nil) {
						return
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			return rows
		}
		page, err := result.NewPage(of(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(page.Missing, tt.want) {
			t.Errorf("the page of %v has %q, want %q", tt.texts, page.Missing, tt.want)
		}
		for _, format := range []result.Format{result.CSV, result.JSONLines} {
			done, err := result.Export(io.Discard, of(), result.ExportOptions{Format: format})
			if err != nil || !slices.Equal(done.Notes, tt.want) {
				t.Errorf("the export of %v has %q %v, want %q", tt.texts, done.Notes, err, tt.want)
			}
		}
	}
}

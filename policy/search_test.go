package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestSearch checks which fields of which indexes are searched if some fields are hidden.
func TestSearch(t *testing.T) {
	index := func(name, key string, fields ...string) schema.TextIndex {
		return schema.TextIndex{Name: name, Key: key, Fields: fields}
	}
	kept := []schema.TextIndex{{Name: "k", Fields: []string{"title", "body"}, Column: "words"}}
	both := []schema.TextIndex{index("w1", "id", "secret", "title"), index("w2", "", "body", "title")}
	for _, tt := range []struct {
		name    string
		indexes []schema.TextIndex
		denied  string
		fields  []string
		want    string
	}{
		{"all that have one", both[:1], "", nil, "w1[title secret]"},
		{"visible ones alone", both[:1], "secret", nil, "w1[title]"},
		{"rather an index without hidden fields", both, "secret", nil, "w2[title body]"},
		{"the first where both have none", both, "", nil, "w1[title secret] w2[body]"},
		{"those that are named", both, "", []string{"secret", "body"}, "w2[body] w1[secret]"},
		{"an empty list", both, "", []string{}, "w1[title secret] w2[body]"},
		{"named twice", both, "", []string{"body", "body"}, "w2[body]"},
		{"an index by a hidden key finds nobody", both, "id", nil, "w2[title body]"},
		{"and may be the only one", both[:1], "id", nil, "unsupported_by_source: /class_name: notes has no full-text index on a field"},
		{"hidden ones alone", []schema.TextIndex{index("w", "", "secret")}, "secret", nil, "unsupported_by_source: /class_name: notes has no full-text index on a field"},
		{"none", nil, "", nil, "unsupported_by_source: /class_name: notes has no full-text index on a field"},
		{"none, and an absent field", nil, "", []string{"absent"}, "unsupported_by_source: /class_name: notes has no full-text index on a field"},
		{"a hidden field", both, "secret", []string{"title", "secret"}, `invalid_query: /fields/1: unknown field "secret" of notes`},
		{"an absent field", both, "secret", []string{"title", "absent"}, `invalid_query: /fields/1: unknown field "absent" of notes`},
		{"words kept in a column", kept, "", nil, "k[title body]"},
		{"all the fields of a column", kept, "", []string{"body", "title"}, "k[title body]"},
		{"some fields of a column", kept, "", []string{"body"}, "unsupported_by_source: /fields/0: body can be searched only together with title, body"},
		{"a column of hidden words", kept, "body", nil, "unsupported_by_source: /class_name: notes has no full-text index on a field"},
		{"a hidden column", kept, "words", nil, "unsupported_by_source: /class_name: notes has no full-text index on a field"},
		{"rather a field by itself", append([]schema.TextIndex{index("z", "", "title", "secret")}, kept...), "secret", nil, "z[title] k[body]"},
		{"a field without one", both, "", []string{"id"}, "unsupported_by_source: /fields/0: id has no full-text index"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			class := schema.Class{Source: "s", Name: "notes", Table: "notes", Key: []string{"id"}, Text: tt.indexes, Fields: []schema.Field{{Name: "id", Type: schema.Integer},
				{Name: "title", Type: schema.String}, {Name: "body", Type: schema.String}, {Name: "secret", Type: schema.String}, {Name: "words", Type: schema.Opaque}}}
			rule := ClassRule{Lift: []string{"secret"}, Visible: []string{"id", "title", "body", "secret", "words"}}
			if tt.denied != "" {
				rule = ClassRule{Denied: []string{tt.denied}}
				if tt.denied != "secret" {
					rule.Denied = append(rule.Denied, "secret")
				}
			}
			p, err := New(Rules{RefuseScans: true, Classes: map[string]ClassRule{"notes": rule}}, []schema.Class{class})
			if err != nil {
				t.Fatal(err)
			}
			permit, err := p.Read(agent(), &query.Find{Class: "notes", Search: &literals.Search{Terms: []string{"a"}, Fields: tt.fields}, Limit: 1})
			var got string
			if err != nil {
				e := problem.Of(err)
				got = fmt.Sprintf("%s: %s: %s", e.Code, e.Pointer, e.Detail)
			} else {
				var in []string
				for _, x := range permit.plan.Search.In {
					in = append(in, x.Index.Name+fmt.Sprint(x.Fields))
				}
				got = strings.Join(in, " ")
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

package redact_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mask"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/redact"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestMasks shows what leaves of raw rows, of finds and of pipelines.
func TestMasks(t *testing.T) {
	class := schema.Class{Source: "app", Name: "people", Table: "people", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer},
		{Name: "email", Type: schema.String}, {Name: "phone", Type: schema.String}, {Name: "notes", Type: schema.JSON}}}
	p, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"people": {Mask: map[string]policy.Mask{
		"email": policy.Partial, "phone": policy.Hash, "notes": policy.Null}}}}, []schema.Class{class})
	if err != nil {
		t.Fatal(err)
	}
	text := value.OfString
	raw := []value.Row{
		{value.OfInt(1), text("ann@example.com"), text("555"), value.OfObject([]value.Member{{Name: "a", Value: text("secret")}})},
		{value.OfInt(2), value.Value{}, value.Value{}, value.Value{}},
	}
	rename, err := query.ParsePipeline(value.OfArray([]value.Value{value.OfObject([]value.Member{{Name: "$project", Value: value.OfObject([]value.Member{
		{Name: "_id", Value: text("$id")}, {Name: "mail", Value: text("$email")}, {Name: "tel", Value: text("$phone")}, {Name: "more", Value: text("$notes")}})}})}), "")
	if err != nil {
		t.Fatal(err)
	}
	who := identity.Principal{Scopes: []identity.Scope{identity.Read}}
	for _, tt := range []struct {
		name string
		ask  query.Query
		rows []value.Row
	}{
		{"find", &query.Find{Class: "people"}, raw},
		{"pipeline", &query.Pipeline{Class: "people", Stages: rename, Limit: 9}, raw},
	} {
		permit, err := p.Read(who, tt.ask)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := permit.Plan()
		if err != nil {
			t.Fatal(err)
		}
		rows := func(yield func(value.Row, error) bool) {
			for _, r := range tt.rows {
				row := append(value.Row{}, r...)
				if plan.Unique {
					row = append(row, r[0])
				}
				if !yield(row, nil) {
					return
				}
			}
		}
		if _, err := redact.Apply(permit, mask.Key{}, rows); problem.CodeOf(err) != problem.Internal {
			t.Errorf("%s: without a key: %v", tt.name, err)
		}
		out, err := redact.Apply(permit, mask.NewKey([]byte("secret")), rows)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for row, err := range out.All() {
			if err != nil {
				t.Fatal(err)
			}
			got += value.OfArray(row.Values).String()
		}
		if want := `["1","a•••@e•••.com","1ccdab33dcf8b21c",null]["2",null,null,null]`; got != want {
			t.Errorf("%s: %s, want %s", tt.name, got, want)
		}
	}
}

package redact_test

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestMasks checks the returned rows for raw rows of finds and of pipelines.
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
	principal := identity.Principal{Scopes: []identity.Scope{identity.Read}}
	for _, tt := range []struct {
		name string
		ask  query.Query
		rows []value.Row
	}{
		{"find", &query.Find{Class: "people"}, raw},
		{"pipeline", &query.Pipeline{Class: "people", Stages: rename, Limit: 9}, raw},
	} {
		permit, err := p.Read(principal, tt.ask)
		if err != nil {
			t.Fatal(err)
		}
		planned, err := permit.Plan()
		if err != nil {
			t.Fatal(err)
		}
		rows := func(yield func(value.Row, error) bool) {
			for _, r := range tt.rows {
				row := append(value.Row{}, r...)
				if planned.Unique {
					row = append(row, r[0])
				}
				if !yield(row, nil) {
					return
				}
			}
		}
		if _, err := redact.Apply(permit, plan.MaskKey{}, rows); problem.CodeOf(err) != problem.Internal {
			t.Errorf("%s: without a key: %v", tt.name, err)
		}
		out, err := redact.Apply(permit, plan.NewMaskKey([]byte("secret")), rows)
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

// TestRows has a row for each form of rows that a plan can promise, and for other forms.
func TestRows(t *testing.T) {
	key := []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "name", Type: schema.String}}
	p, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"people": {}, "log": {}}}, []schema.Class{{Source: "app", Name: "people", Table: "people", Key: []string{"id"}, Fields: key},
		{Source: "app", Name: "log", Table: "log", Fields: key}})
	if err != nil {
		t.Fatal(err)
	}
	principal := identity.Principal{Scopes: []identity.Scope{identity.Read}}
	one, null, ann := value.OfInt(1), value.Value{}, value.OfString("ann")
	people, log := &query.Find{Class: "people"}, &query.Find{Class: "log", Order: []query.Sort{{Path: query.Path{"name"}}}}
	gone := problem.New(problem.Upstream, "gone")
	for _, tt := range []struct {
		name string
		ask  query.Query
		rows []value.Row
		end  error // the error after the rows
		want string
	}{
		{"with places", people, []value.Row{{one, ann, one}, {null, null, null}}, nil, `["1","ann"][1] [null,null][null] `},
		{"without an order that is unique", log, []value.Row{{one, ann}}, nil, `[1,"ann"][] `},
		{"a count", &query.Count{Class: "people"}, []value.Row{{value.OfInt(7)}}, nil, `[7][] `},
		{"none", people, nil, nil, ""},
		{"a value too few", people, []value.Row{{one, ann, one}, {one, ann}, {one, ann, one}}, nil, `["1","ann"][1] internal_error: a row of 2 values, want 3`},
		{"a value too many", log, []value.Row{{one, ann, one}}, nil, "internal_error: a row of 3 values, want 2"},
		{"a count and more", &query.Count{Class: "people"}, []value.Row{{one, one}}, nil, "internal_error: a row of 2 values, want 1"},
		{"a source that fails", people, []value.Row{{one, ann, one}}, gone, `["1","ann"][1] upstream_error: gone`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			permit, err := p.Read(principal, tt.ask)
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			rows := func(yield func(value.Row, error) bool) {
				for _, r := range tt.rows {
					if asked++; !yield(append(value.Row{}, r...), nil) {
						return
					}
				}
				if tt.end != nil {
					yield(nil, tt.end)
				}
			}
			out, err := redact.Apply(permit, plan.MaskKey{}, rows)
			if err != nil || out.Plan() == nil {
				t.Fatal(err)
			}
			got := ""
			for row, err := range out.All() {
				if err != nil {
					got += fmt.Sprintf("%s: %s", problem.CodeOf(err), problem.Of(err).Detail)
					if row.Values != nil {
						t.Error("an error comes with a row")
					}
					continue
				}
				got += value.OfArray(row.Values).String() + value.OfArray(row.Place).String() + " "
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			asked = 0
			for range out.All() {
				break
			}
			if asked > 1 {
				t.Errorf("the source was asked for %d rows, want 1", asked)
			}
		})
	}
	if _, err := redact.Apply(policy.Permit{}, plan.MaskKey{}, nil); err == nil {
		t.Error("rows leave that nobody allowed")
	}
	for range (redact.Rows{}).All() {
		t.Error("no rows hold one")
	}
}

// TestPieces checks that a text is masked before a piece of it is cut. So no piece can show a part of the replaced
// text.
func TestPieces(t *testing.T) {
	class := schema.Class{Source: "app", Name: "people", Table: "people", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "notes", Type: schema.String}}}
	p, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"people": {MaskTexts: []policy.Pattern{"email"}}}}, []schema.Class{class})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		raw            value.Value
		offset, length int64
		want           string
	}{
		{value.OfString("ask ann@example.com now"), 0, 6, `[1 "ask [e" 15]`},
		{value.OfString("ask ann@example.com now"), 6, 100, `[1 "mail] now" 15]`},
		{value.Value{}, 0, 6, `[1  ]`},
		{value.OfCut(5 << 20), 0, 6, `[1 cut of 0 cut of 0]`},
	} {
		permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "people", IDs: []string{"1"}, Part: &query.Part{Field: "notes", Offset: tt.offset, Length: tt.length}})
		if err != nil {
			t.Fatal(err)
		}
		id := value.OfInt(1)
		out, err := redact.Apply(permit, plan.MaskKey{}, func(yield func(value.Row, error) bool) { yield(value.Row{id, tt.raw, tt.raw, id}, nil) })
		if err != nil {
			t.Fatal(err)
		}
		for row, err := range out.All() {
			var got []string
			for _, v := range row.Values {
				switch v.Kind() {
				case value.Cut:
					got = append(got, fmt.Sprintf("cut of %d", v.Size()))
				case value.String:
					if v.Text() == "1" {
						got = append(got, "1")
						continue
					}
					got = append(got, fmt.Sprintf("%q", v.Text()))
				default:
					got = append(got, v.String())
				}
			}
			if fmt.Sprint(got) != tt.want || err != nil {
				t.Errorf("%v from %d: %v, %v; want %s", tt.raw, tt.offset, got, err, tt.want)
			}
		}
	}
}

// TestCut checks that a value that was too large to read stays a Cut. The size must not replace an id, and must not be
// visible for a masked field.
func TestCut(t *testing.T) {
	class := schema.Class{Source: "app", Name: "people", Table: "people", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "email", Type: schema.String}, {Name: "notes", Type: schema.String}}}
	p, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"people": {Mask: map[string]policy.Mask{"email": policy.Partial}}}}, []schema.Class{class})
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "people"})
	if err != nil {
		t.Fatal(err)
	}
	cut := value.OfCut(1000)
	out, err := redact.Apply(permit, plan.MaskKey{}, func(yield func(value.Row, error) bool) { yield(value.Row{cut, cut, cut, cut}, nil) })
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range out.All() {
		want := []value.Value{cut, value.OfCut(0), cut}
		for i, v := range row.Values {
			if err != nil || v.Kind() != value.Cut || v.Size() != want[i].Size() {
				t.Errorf("value %d: %v of %d bytes, %v", i, v.Kind(), v.Size(), err)
			}
		}
	}
}

package writes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// stock is a catalogue with unique keys and comparisons of two fields.
var stock = []schema.Class{
	{Source: "app", Name: "users", Key: []string{"id"}, Fields: []schema.Field{
		{Name: "id", Type: schema.UUID}, {Name: "org", Type: schema.String}, {Name: "mail", Type: schema.String}, {Name: "code", Type: schema.Integer}, {Name: "open", Type: schema.Boolean},
		{Name: "phone", Type: schema.String}, {Name: "secret", Type: schema.String}, {Name: "since", Type: schema.Date}, {Name: "name", Type: schema.String}, {Name: "boss", Type: schema.UUID}, {Name: "flag", Type: schema.Integer}},
		Converts:  true,
		Relations: []schema.Relation{{Fields: []string{"boss"}, Target: "users", TargetFields: []string{"id"}}},
		Indexes: []schema.Index{
			{Fields: []string{"id"}, Unique: true}, {Fields: []string{"mail"}, Unique: true}, {Fields: []string{"mail"}, Unique: true}, {Fields: []string{"org"}, Unique: true},
			{Fields: []string{"org", "code", "open"}, Unique: true}, {Fields: []string{"phone", "code"}, Unique: true}, {Fields: []string{"secret", "code"}, Unique: true},
			{Fields: []string{"since"}, Unique: true}, {Fields: []string{"name"}}, {Fields: []string{"name", "flag"}, Unique: true}, {Fields: []string{"code"}, Unique: true, More: true}}},
	{Source: "app", Name: "places", Key: []string{"row", "seat"}, Fields: []schema.Field{{Name: "row", Type: schema.String}, {Name: "seat", Type: schema.Integer}, {Name: "guest", Type: schema.String}},
		Indexes: []schema.Index{{Fields: []string{"guest"}, Unique: true}}},
	{Source: "app", Name: "guests", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.UUID}, {Name: "name", Type: schema.String}}},
}

func stocked(t *testing.T) *policy.Policy {
	t.Helper()
	p, err := policy.New(policy.Rules{Version: "v", Gates: policy.Gates{RawWrites: policy.Review, SchemaWrites: policy.Review}, Classes: map[string]policy.ClassRule{
		"users":  {Tenant: &policy.TenantRule{Field: "org"}, Denied: []string{"secret"}, Mask: map[string]policy.Mask{"phone": policy.Partial}, Types: map[string]schema.Form{"flag": schema.Truth}},
		"places": {}, "guests": {},
	}}, stock)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const (
	ada   = "0b0e7a4c-8f5b-4e39-9d7f-3c0c5d1c2a11"
	grace = "1b0e7a4c-8f5b-4e39-9d7f-3c0c5d1c2a12"
)

// searched formats the queries of lookups. Each shows the error for a foreign record or for a missing record.
func searched(lookups []writes.Lookup) string {
	var out []string
	for _, l := range lookups {
		parts, ok := l.Find.Where.(query.And)
		if !ok {
			parts = query.And{l.Find.Where}
		}
		text := l.Find.Class
		for _, part := range parts {
			c := part.(query.Compare)
			text += fmt.Sprintf(" %s%s%s", c.Path, map[query.Op]string{query.Eq: "="}[c.Op], c.Value)
		}
		text += fmt.Sprintf(" for %s, %d", l.Find.Keys, l.Find.Limit)
		for _, found := range [][]value.Row{nil, {{value.OfString("stranger")}}} {
			if err := l.Refusal([]policy.Column{{Path: query.Path{"id"}}}, found); err != nil {
				p := problem.Of(err)
				text += fmt.Sprintf(": %s %s %s: %s", p.Code, p.Kind, p.Pointer, p.Detail)
				if record, _, named := strings.Cut(strings.TrimPrefix(p.Suggestion, "change "), ", or write another value"); named {
					text += ": " + record
				}
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

// TestPointers checks which records must exist for a write.
func TestPointers(t *testing.T) {
	for _, tt := range []struct{ asked, want string }{
		{`{"op": "create", "class": "users", "data": {"name": "x"}}`, ""},
		{`{"op": "create", "class": "users", "data": {"boss": null}}`, ""},
		{`{"op": "create", "class": "users", "data": {"boss": "` + ada + `", "name": "x"}}`, "users id=" + ada + " for [], 1: invalid_argument dangling /data/boss: boss leads to no record of users"},
		{`[{"op": "delete", "class": "users", "id": "` + ada + `"}, {"op": "update", "class": "users", "id": "` + grace + `", "data": {"boss": "` + ada + `"}}]`,
			"users id=" + ada + " for [], 1: invalid_argument dangling /writes/1/data/boss: boss leads to no record of users"},
	} {
		plan := drafted(t, stocked(t), principal, write.Request{Writes: parsed(t, tt.asked)})
		if got := searched(plan.Pointers()); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.asked, got, tt.want)
		}
	}
}

// TestUnique checks which other records a write is compared with. The other records have the same values in a unique
// index. The principal must see all fields of the index and compare them like the source.
func TestUnique(t *testing.T) {
	before := `{"id": "` + ada + `", "org": "acme", "mail": "a", "code": 7, "open": true, "phone": "5", "since": "2026-01-31T00:00:00Z", "name": "Ada", "boss": null, "flag": true}`
	another := func(fields, at string) string {
		return fmt.Sprintf(`: conflict unique %s: another record of users has the same %s: the record "stranger"`, at, fields)
	}
	update := func(data string) string {
		return `{"op": "update", "class": "users", "id": "` + ada + `", "data": ` + data + `}`
	}
	for _, tt := range []struct {
		asked  string
		before []string
		want   string
	}{
		{update(`{"mail": "b", "name": "x"}`), []string{before}, "app.users mail=b for [id], 2" + another("mail", "/data/mail")},
		{update(`{"name": "b"}`), []string{before}, ""}, // flag is true for 1 and for 2
		{update(`{"mail": null}`), []string{before}, ""},
		{update(`{"since": "2026-01-31"}`), []string{before}, ""}, // the source may store fractions of a second
		{update(`{"mail": "b"}`), nil, ""},
		{update(`{"open": false, "code": 8}`), []string{before}, "app.users org=acme code=8 open=false for [id], 2" + another("org, code, open", "/data/code")},
		{update(`{"code": 8}`), []string{strings.Replace(before, `true`, `null`, 1)}, ""},
		{update(`{"code": 8}`), []string{`{"id": "` + ada + `"}`}, ""}, // the old value is outside the view
		{`{"op": "create", "class": "users", "data": {"code": 8}}`, []string{"null"}, ""},
		{`{"op": "create", "class": "users", "data": {"code": 8, "open": true}}`, []string{"null"}, "app.users org=acme code=8 open=true for [id], 2" + another("org, code, open", "/data/code")},
		{`{"op": "create", "class": "users", "data": {"id": "` + grace + `"}}`, []string{"null"}, "app.users id=" + grace + " for [id], 2" + another("id", "/data/id")},
		{`{"op": "delete", "class": "users", "id": "` + ada + `"}`, []string{before}, ""},
		{`[{"op": "create_class", "source": "app", "class": "x", "fields": []}, ` + update(`{"mail": "b"}`) + `]`, []string{"null", before},
			"app.users mail=b for [id], 3" + another("mail", "/writes/1/data/mail")},
		{`{"op": "update", "class": "places", "id": "[\"a\",\"1\"]", "data": {"guest": "x"}}`, []string{`{"row": "a", "seat": 1}`},
			`app.places guest=x for [row seat], 2: conflict unique /data/guest: another record of places has the same guest: the record "[]"`},
	} {
		admin := principal
		admin.Scopes = append(admin.Scopes[:3:3], "schema")
		plan := drafted(t, stocked(t), admin, write.Request{Writes: parsed(t, tt.asked)})
		if got := searched(plan.Unique(effects(t, tt.before...))); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.asked, got, tt.want)
		}
	}
}

// TestLookupRefusal checks that a write may conflict with records of its own plan, and not with any other record.
func TestLookupRefusal(t *testing.T) {
	text, columns := value.OfString, func(paths ...string) (out []policy.Column) {
		for _, p := range paths {
			out = append(out, policy.Column{Path: strings.Split(p, ".")})
		}
		return out
	}
	user := func(id string) string {
		return `{"op": "update", "class": "users", "id": "` + id + `", "data": {"mail": "b"}}`
	}
	place := func(id string) string {
		return `{"op": "update", "class": "places", "id": "` + id + `", "data": {"guest": "b"}}`
	}
	guest := func(id string) string {
		return `{"op": "update", "class": "guests", "id": "` + id + `", "data": {"name": "b"}}`
	}
	found := func(row ...value.Value) []value.Row { return []value.Row{row} }
	const class = `{"op": "create_class", "source": "app", "class": "users", "fields": []}`
	for _, tt := range []struct {
		name, asked string
		columns     []policy.Column
		found       []value.Row
		want        string // the conflicting record, or ""
	}{
		{"nobody", user(ada), columns("id"), nil, ""},
		{"itself", user(ada), columns("id"), found(text(ada)), ""},
		{"itself in capitals", user(strings.ToUpper(ada)), columns("id"), found(text(ada)), ""},
		{"another", user(ada), columns("id"), found(text(grace)), grace},
		{"itself, then another", user(ada), columns("id"), append(found(text(ada)), found(text(grace))...), grace},
		{"one that the plan writes too", "[" + user(ada) + "," + user(grace) + "]", columns("id"), found(text(grace)), ""},
		{"one with the id of another class's record", "[" + user(ada) + "," + guest(grace) + "]", columns("id"), found(text(grace)), grace},
		{"beside a new class", "[" + user(ada) + "," + class + "]", columns("id"), found(text(grace)), grace},
		{"a new record is none of them", `{"op": "create", "class": "users", "data": {"mail": "b"}}`, columns("id"), found(text(grace)), grace},
		{"two parts", place(`[\"a\", \"1\"]`), columns("row", "seat"), found(text("a"), value.OfInt(1)), ""},
		{"two parts in another order", place(`[\"a\",\"1\"]`), columns("seat", "row"), found(value.OfInt(1), text("a")), ""},
		{"of something else", place(`[\"a\",\"1\"]`), columns("guest.row", "row", "seat"), found(text("b"), text("a"), value.OfInt(1)), ""},
		{"another of two parts", place(`[\"a\",\"1\"]`), columns("row", "seat"), found(text("a"), value.OfInt(2)), `["a","2"]`},
		{"a part is missing", place(`[\"a\",\"1\"]`), columns("row"), found(text("a")), "a"},
	} {
		admin := principal
		admin.Scopes = append(admin.Scopes[:3:3], "schema")
		plan := drafted(t, stocked(t), admin, write.Request{Writes: parsed(t, tt.asked)})
		nulls := make([]string, len(plan.Items))
		for i := range nulls {
			nulls[i] = "null"
		}
		lookups := plan.Unique(effects(t, nulls...))
		if len(lookups) == 0 {
			t.Fatal(tt.name, "is compared with nothing")
		}
		err := lookups[0].Refusal(tt.columns, tt.found)
		if got := err != nil; got != (tt.want != "") || got && !strings.Contains(problem.Of(err).Suggestion, fmt.Sprintf("the record %q,", tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

package writes_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestPairs checks which writes violate a comparison of two fields. A write is refused only if the principal sees
// both fields as the source compares them.
func TestPairs(t *testing.T) {
	under := func(field string) []schema.Bound { return []schema.Bound{{Op: "<", Field: field}} }
	classes := []schema.Class{
		{Source: "app", Name: "spans", Key: []string{"id"}, Fields: []schema.Field{
			{Name: "id", Type: schema.Integer}, {Name: "org", Type: schema.Integer, Bounds: under("c")}, {Name: "c", Type: schema.Integer},
			{Name: "a", Type: schema.Integer, Bounds: append(under("b"), schema.Bound{Op: "<>", Field: "c"})}, {Name: "b", Type: schema.Integer},
			{Name: "from", Type: schema.Date, Bounds: under("to")}, {Name: "to", Type: schema.Date},
			{Name: "low", Type: schema.Decimal, Scaled: true, Scale: 1, Bounds: under("high")}, {Name: "high", Type: schema.Decimal},
			{Name: "least", Type: schema.Decimal, Scale: 1, Bounds: under("most")}, {Name: "most", Type: schema.Decimal, Scaled: true, Scale: 1},
			{Name: "mixed", Type: schema.Integer, Bounds: []schema.Bound{{Op: "<", Field: "high"}, {Op: "<", Field: "small"}}}, {Name: "small", Type: schema.Integer, Native: "smallint"},
			{Name: "masked", Type: schema.Integer, Bounds: under("c")}, {Name: "hidden", Type: schema.Integer, Bounds: under("c")}, {Name: "kept", Type: schema.Integer, Bounds: under("masked")},
			{Name: "shy", Type: schema.Integer, Bounds: under("hidden")}}},
	}
	p, err := policy.New(policy.Rules{Version: "v", Gates: policy.Gates{RawWrites: policy.Review, SchemaWrites: policy.Review}, Classes: map[string]policy.ClassRule{
		"spans": {Tenant: &policy.TenantRule{Field: "org", Is: "9"}, Denied: []string{"hidden"}, Mask: map[string]policy.Mask{"masked": policy.Null}}}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	admin := principal
	admin.Scopes = append(admin.Scopes[:3:3], "schema")
	update := func(data string) string { return `{"op": "update", "class": "spans", "id": "1", "data": ` + data + `}` }
	create := func(data string) string { return `{"op": "create", "class": "spans", "data": ` + data + `}` }
	for _, tt := range []struct{ name, asked, before, want string }{
		{"the first of both", update(`{"a": 5}`), `{"a": 1, "b": 5}`, "/data/a: a must be less than b, and would be 5 with 5"},
		{"the second of both", update(`{"b": 0}`), `{"a": 1, "b": 5}`, "/data/b: a must be less than b, and would be 1 with 0"},
		{"both", update(`{"b": 7, "a": 8}`), `{"a": 1, "b": 5}`, "/data/a: a must be less than b, and would be 8 with 7"},
		{"both fit", update(`{"b": 9, "a": 8}`), `{"a": 1, "b": 5}`, ""},
		{"neither is set", update(`{"c": 2}`), `{"a": 9, "b": 5}`, ""}, // the constraint may be newer than the record
		{"its other bound", update(`{"a": 3}`), `{"a": 1, "b": 5, "c": 3}`, "/data/a: a must be other than c, and would be 3 with 3"},
		{"null fits", update(`{"a": null}`), `{"a": 1, "b": 0}`, ""},
		{"outside of the view", update(`{"a": 9}`), `null`, ""},
		{"no preview of it", update(`{"a": 9}`), "", ""},
		{"a new record", create(`{"a": 5, "b": 5}`), `null`, "/data/a: a must be less than b, and would be 5 with 5"},
		{"the second write", "[" + create(`{"a": 1}`) + "," + create(`{"a": 5, "b": 5}`) + "]", `null`, "/writes/1/data/a: a must be less than b, and would be 5 with 5"},
		{"beside a new class", `[{"op": "create_class", "source": "app", "class": "x", "fields": []}, ` + create(`{"a": 5, "b": 5}`) + "]", `null`, "/writes/1/data/a: a must be less than b, and would be 5 with 5"},
		{"a value of the rules", create(`{"c": 3}`), `null`, "/data/c: org must be less than c, and would be 9 with 3"},
		{"dates", update(`{"to": "2026-01-01"}`), `{"from": "2026-01-02T00:00:00Z"}`, "/data/to: from must be less than to, and would be 2026-01-02T00:00:00Z with 2026-01-01"},
		{"dates that may differ in what only the source has", update(`{"to": "2026-01-01"}`), `{"from": "2026-01-01T00:00:00Z"}`, ""},
		{"a date before it", update(`{"to": "2026-01-03"}`), `{"from": "2026-01-02T00:00:00Z"}`, ""},
		{"decimals", update(`{"low": 1.5}`), `{"high": 1.2}`, "/data/low: low must be less than high, and would be 1.5 with 1.2"},
		{"a decimal that the source rounds", update(`{"low": 1.25}`), `{"high": 1.2}`, ""},
		{"with an exponent", update(`{"low": 2e0}`), `{"high": 1.2}`, ""},
		{"with a large exponent", update(`{"low": 2E1}`), `{"high": 1.2}`, ""},
		{"not rounded without a scale", update(`{"least": 1.25}`), `{"most": 1.2}`, "/data/least: least must be less than most, and would be 1.25 with 1.2"},
		{"the other that the source rounds", update(`{"most": 1.24}`), `{"least": 1.3}`, ""},
		{"of different types", update(`{"mixed": 5}`), `{"high": 1.0}`, ""},
		{"of different types of the source", update(`{"mixed": 5}`), `{"small": 1}`, ""},
		{"a masked field", update(`{"c": 1}`), `{"masked": 5, "org": 0}`, ""},
		{"compared with a masked field", update(`{"kept": 9}`), `{"masked": 5}`, ""},
		{"a hidden field", update(`{"c": 1}`), `{"hidden": 5, "org": 0}`, ""},
		{"compared with a hidden field", update(`{"shy": 9}`), `{"hidden": 5}`, ""},
	} {
		var before []string
		if tt.before != "" {
			before = []string{tt.before, tt.before}[:1+strings.Count(tt.asked, `"op"`)/2]
		}
		plan := drafted(t, p, admin, write.Request{Writes: parsed(t, tt.asked)})
		got := ""
		given := effects(t, before...)
		for i := range given {
			members := given[i].Before.Members()
			for j, m := range members {
				if v, ok := value.OfDateText(m.Value.Text()); ok {
					members[j].Value = v
				}
			}
		}
		if err := plan.Pairs(given); err != nil {
			e := problem.Of(err)
			got = e.Pointer + ": " + e.Detail
		}
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

package mongodb_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
)

// TestMixedTypes compares fields that contain dates in one document and texts in another, and also numbers and texts.
// A note in the answer must name the values that are not compared. The stage in the note must compare all values. A
// principal who sees only values of one type must read the same.
func TestMixedTypes(t *testing.T) {
	for name, at := range map[string]struct {
		url  string
		full bool
	}{"FerretDB": {services.FerretDB(t), false}, "mingo": {services.Mingo(t), true}} {
		t.Run(name, func(t *testing.T) { mixedTypes(t, mongodb.Options{Name: "suite", URL: at.url, Full: at.full}) })
	}
}

func mixedTypes(t *testing.T, o mongodb.Options) {
	day := func(d int) time.Time { return time.Date(2026, 1, d, 9, 0, 0, 0, time.UTC) }
	for i, doc := range []bson.D{
		{{Key: "org", Value: "acme"}, {Key: "placed", Value: day(1)}, {Key: "total", Value: int32(5)}},
		{{Key: "org", Value: "acme"}, {Key: "placed", Value: "2026-01-20T09:00:00Z"}, {Key: "total", Value: "12.5"}},
		{{Key: "org", Value: "other"}, {Key: "placed", Value: day(20)}, {Key: "total", Value: 12.5}},
		{{Key: "org", Value: "other"}, {Key: "placed", Value: "soon"}, {Key: "total", Value: "many"}}} {
		if _, err := database(t, o.URL).Collection("orders").InsertOne(t.Context(), append(bson.D{{Key: "_id", Value: int32(i)}}, doc...)); err != nil {
			t.Fatal(err)
		}
	}
	s, classes := described(t, o)
	free, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	scoped, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"orders": {Tenant: &policy.TenantRule{Field: "org"}}}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	who := identity.Principal{ID: "test", Scopes: []identity.Scope{identity.Read}}
	other := who
	other.Tenant = "other"
	ask := func(p *policy.Policy, who identity.Principal, q query.Query) (n int64, notes string) {
		t.Helper()
		permit, err := p.Read(who, q)
		if err != nil {
			t.Fatal(err)
		}
		plan, _ := permit.Plan()
		rows, err := sourcetest.Collect(t.Context(), s, permit)
		if err != nil || len(rows) != 1 {
			t.Fatal(rows, err)
		}
		return rows[0][0].Int(), strings.Join(plan.Notes, "\n")
	}
	const dates, numbers = "This compares it with texts alone, not with dates or numbers", "This compares it with numbers alone, not with texts of digits"
	for _, tt := range []struct {
		where     string
		want, all int64  // the number of records that the condition finds, and that the stage of the note finds
		note      string // the note, or ""
	}{
		{`{"placed":{"$gte":"2026-01-10"}}`, 2, 2, dates}, // and the text "soon"
		{`{"placed":"2026-01-20T09:00:00Z"}`, 1, 2, dates},
		{`{"placed":{"$in":["2026-01-20T09:00:00Z"]}}`, 1, 2, dates},
		{`{"placed":"soon"}`, 1, 0, ""},
		{`{"placed":null}`, 0, 0, ""},
		{`{"total":{"$gt":7}}`, 1, 2, numbers},
		{`{"total":{"$ne":12.5}}`, 3, 2, numbers}, // "many" is not a number, so it counts as null, which differs from 12.5
		{`{"total":"12.5"}`, 1, 2, dates},
		{`{"org":"acme"}`, 2, 0, ""},
	} {
		where, err := query.ParseWhere(readValue(t, tt.where), "/where")
		if err != nil {
			t.Fatal(err)
		}
		got, notes := ask(free, who, &query.Count{Class: "orders", Where: where})
		if got != tt.want || !strings.Contains(notes, tt.note) || (notes == "") != (tt.note == "") {
			t.Errorf("%s: %d, %q; want %d", tt.where, got, notes, tt.want)
		}
		if _, same := ask(scoped, other, &query.Count{Class: "orders", Where: where}); same != notes {
			t.Errorf("%s: a tenant reads %q, not %q", tt.where, same, notes)
		}
		if tt.note == "" {
			continue
		}
		_, stage, _ := strings.Cut(notes, "all of them: ")
		stages, err := query.ParsePipeline(readValue(t, `[`+stage+`,{"$count":"n"}]`), "/pipeline")
		if err != nil {
			t.Fatalf("%s: %v", stage, err)
		}
		if n, _ := ask(free, who, &query.Pipeline{Class: "orders", Stages: stages, Limit: 10}); n != tt.all {
			t.Errorf("%s finds %d, want %d", stage, n, tt.all)
		}
	}
	for _, tt := range []struct {
		where, cast string
		want, all   int64
		note        string
	}{
		{"total > 7", "CAST(total AS double precision) > 7", 1, 2, numbers},
		{"7 < total", "CAST(total AS double precision) > 7", 1, 2, numbers},
		{"total IN (12.5, 6)", "CAST(total AS double precision) IN (12.5, 6)", 1, 2, numbers},
		{"placed = '2026-01-20T09:00:00Z'", "CAST(placed AS timestamp) = '2026-01-20T09:00:00Z'", 1, 2, dates},
		{"placed >= timestamp '2026-01-10'", "CAST(placed AS timestamp) >= timestamp '2026-01-10'", 1, 2, "dates alone, not with their texts"},
		{"placed = 'soon'", "", 1, 0, ""},
		{"org = 'acme'", "", 2, 0, ""},
	} {
		count := func(p *policy.Policy, who identity.Principal, where string) (int64, string) {
			t.Helper()
			q, err := query.ParseSQL("SELECT count(*) AS n FROM orders WHERE " + where)
			if err != nil {
				t.Fatal(err)
			}
			q.Limit = 10
			return ask(p, who, q)
		}
		got, notes := count(free, who, tt.where)
		if got != tt.want || !strings.Contains(notes, tt.note) || (notes == "") != (tt.note == "") {
			t.Errorf("%s: %d, %q; want %d, %q", tt.where, got, notes, tt.want, tt.note)
		}
		if _, same := count(scoped, other, tt.where); same != notes {
			t.Errorf("%s: a tenant reads %q, not %q", tt.where, same, notes)
		}
		if tt.cast == "" {
			continue
		}
		written, _, _ := strings.Cut(tt.cast, ")")
		if !strings.Contains(notes, written+") compares all of them") {
			t.Errorf("%s: %q doesn't write %s)", tt.where, notes, written)
		}
		if n, _ := count(free, who, tt.cast); n != tt.all {
			t.Errorf("%s finds %d, want %d", tt.cast, n, tt.all)
		}
	}
}

// TestComputedNumbers computes with numbers from a server. Some of these doubles are whole numbers.
func TestComputedNumbers(t *testing.T) {
	o := mongodb.Options{Name: "suite", URL: services.Mingo(t), Full: true}
	for i, n := range []float64{2.5, 3.5} {
		if _, err := database(t, o.URL).Collection("c").InsertOne(t.Context(), bson.D{{Key: "_id", Value: int32(i)}, {Key: "n", Value: n}}); err != nil {
			t.Fatal(err)
		}
	}
	s, classes := described(t, o)
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	stages, err := query.ParsePipeline(readValue(t, `[{"$group":{"_id":null,"m":{"$avg":"$n"}}},{"$bucketAuto":{"groupBy":{"$add":["$m",1.5]},"buckets":1,"output":{"s":{"$sum":{"$add":["$m",1.5]}}}}},{"$project":{"s":1,"_id":0}}]`), "/pipeline")
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{ID: "test", Scopes: []identity.Scope{identity.Read}}, &query.Pipeline{Class: "c", Stages: stages, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := sourcetest.Collect(t.Context(), s, permit); err != nil || len(rows) != 1 || rows[0][0].String() != "4.5" {
		t.Errorf("%v, %v; want 4.5", rows, err)
	}
}

// described opens a source, and returns it with its classes.
func described(t *testing.T, o mongodb.Options) (*mongodb.Source, []schema.Class) {
	t.Helper()
	s, err := mongodb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	classes, _, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, classes
}

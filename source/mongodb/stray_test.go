package mongodb_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/rewrite"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
)

// TestStrayValues checks that one bad value doesn't change the type of a field, and that the answer reports the
// number of different values. Conditions and ids must understand extended JSON and the notation of MongoDB's shell.
func TestStrayValues(t *testing.T) {
	o := mongodb.Options{Name: "suite", URL: services.FerretDB(t)}
	const id = "65a1b2c3d4e5f60718293a4b"
	oid, err := bson.ObjectIDFromHex(id)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		doc := bson.D{{Key: "_id", Value: int32(i)}, {Key: "created", Value: time.Date(2025, time.Month(i+1), 15, 0, 0, 0, 0, time.UTC)}, {Key: "n", Value: int64(i)}, {Key: "half", Value: int32(i)}}
		if i == 11 {
			doc = bson.D{{Key: "_id", Value: int32(99)}, {Key: "created", Value: "n/a"}, {Key: "n", Value: "many"}}
		}
		if i < 6 {
			doc[len(doc)-1].Value = "text"
		}
		if _, err := database(t, o.URL).Collection("dirty").InsertOne(t.Context(), doc); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := database(t, o.URL).Collection("ids").InsertOne(t.Context(), bson.D{{Key: "_id", Value: oid}, {Key: "of", Value: oid}}); err != nil {
		t.Fatal(err)
	}
	s, classes := described(t, o)
	for i := range classes {
		for name, want := range map[string]schema.Type{"created": schema.Date, "n": schema.Integer, "half": schema.Any} {
			if f := classes[i].Field(name); f != nil && f.Type != want {
				t.Errorf("%s is of type %s, want %s", name, f.Type, want)
			}
		}
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	who := identity.Principal{ID: "test", Scopes: []identity.Scope{identity.Read}}
	for _, tt := range []struct {
		class, where string
		want         int64
		note         string
	}{
		{"dirty", `{"created":{"$gte":{"$date":"2025-08-01T00:00:00Z"},"$lt":{"$date":"2025-09-01T00:00:00Z"}}}`, 1, "1 of 12 values of created"},
		{"dirty", `{"created":{"$gte":"2025-08-01","$lt":"2025-09-01"}}`, 1, "1 of 12 values of created"},
		{"dirty", `{"created":{"$gte":"ISODate(\"2025-08-01T00:00:00Z\")"}}`, 4, "was taken as 2025-08-01T00:00:00Z"},
		{"dirty", `{"created":{"$gte":{"$date":{"$numberLong":"1754006400000"}}}}`, 4, ""},
		{"dirty", `{"n":{"$gte":{"$numberLong":"9"}}}`, 2, "1 of 12 values of n"},
		{"dirty", `{"n":"NumberLong(9)"}`, 1, ""},
		{"ids", `{"_id":{"$oid":"` + id + `"}}`, 1, ""},
		{"ids", `{"_id":"ObjectId(\"` + id + `\")"}`, 1, ""},
		{"ids", `{"of":{"$in":["ObjectId('` + id + `')"]}}`, 1, ""},
		{"ids", `{"of":"` + id + `"}`, 1, ""},
	} {
		plain, more, err := rewrite.Where(readValue(t, tt.where), "/where", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		where, err := query.ParseWhere(plain, "/where")
		if err != nil {
			t.Fatal(err)
		}
		permit, err := p.Read(who, &query.Count{Class: tt.class, Where: where})
		if err != nil {
			t.Fatal(err)
		}
		plan, _ := permit.Plan()
		rows, err := sourcetest.Collect(t.Context(), s, permit)
		if notes := strings.Join(append(more, plan.Notes...), "\n"); err != nil || rows[0][0].Int() != tt.want || !strings.Contains(notes, tt.note) {
			t.Errorf("%s: %v, %v, %q; want %d, %q", tt.where, rows, err, notes, tt.want, tt.note)
		}
	}
	for _, text := range []string{id, `ObjectId("` + id + `")`, `{"$oid":"` + id + `"}`} {
		permit, err := p.Read(who, &query.Find{Class: "ids", IDs: []string{text}, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := sourcetest.Collect(t.Context(), s, permit); err != nil || len(rows) != 1 {
			t.Errorf("the id %s: %v, %v", text, rows, err)
		}
	}
}

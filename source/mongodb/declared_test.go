package mongodb_test

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
)

// TestDeclaredFields describes a collection with declared fields that no document has yet, or that documents have
// with another type.
func TestDeclaredFields(t *testing.T) {
	url := services.FerretDB(t)
	orders := database(t, url).Collection("orders")
	insert := func(doc bson.D) {
		if _, err := orders.InsertOne(t.Context(), doc); err != nil {
			t.Fatal(err)
		}
	}
	insert(bson.D{{Key: "_id", Value: "a"}, {Key: "n", Value: int32(1)}, {Key: "x", Value: "text"}})
	s, err := mongodb.Open(t.Context(), mongodb.Options{Name: "suite", URL: url, Collections: map[string]mongodb.Collection{
		"orders": {Fields: map[string]string{"coupon": "string", "n": "double"}, Index: "default", Search: []string{"x", "n"}}, "nothing": {}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	classes, warnings, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range classes[0].Fields {
		got = append(got, f.Name+" "+f.Type.String())
	}
	if has := strings.Join(got, ", "); !strings.Contains(has, "coupon string") || !strings.Contains(has, "n double") || !strings.Contains(has, "x string") || len(got) != 4 {
		t.Error(has)
	}
	if want := "[orders: search names n, which is no field of strings collections names nothing, which the database doesn't have]"; fmt.Sprint(warnings) != want {
		t.Errorf("%v\nwant %s", warnings, want)
	}
	if len(classes[0].Text) > 0 {
		t.Error("FerretDB has Atlas Search")
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	insert(bson.D{{Key: "_id", Value: "b"}, {Key: "coupon", Value: "SAVE"}})
	where, err := query.ParseWhere(readValue(t, `{"coupon":"SAVE"}`), "/where")
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{ID: "test", Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "orders", Where: where, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := sourcetest.Collect(t.Context(), s, permit); err != nil || len(rows) != 1 {
		t.Error(rows, err)
	}
}

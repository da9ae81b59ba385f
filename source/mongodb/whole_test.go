package mongodb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestListsInScalarFields checks documents with a list in the field of a tenant, of a filter or of the pointer to a
// tenant. Such a document must belong to no tenant, although the field is of type string. MongoDB itself would match
// lists by their elements.
func TestListsInScalarFields(t *testing.T) {
	for name, server := range map[string]func(testing.TB) string{"FerretDB": services.FerretDB, "Mingo": services.Mingo} {
		t.Run(name, func(t *testing.T) {
			o := mongodb.Options{Name: "suite", URL: server(t)}
			db := database(t, o.URL)
			notes, parts := db.Collection("notes"), db.Collection("parts")
			insert := func(id string, org, state, gone any, of any) {
				if _, err := notes.InsertOne(t.Context(), bson.D{{Key: "_id", Value: id}, {Key: "org", Value: org}, {Key: "state", Value: state}, {Key: "gone", Value: gone}}); err != nil {
					t.Fatal(err)
				}
				if _, err := parts.InsertOne(t.Context(), bson.D{{Key: "_id", Value: id}, {Key: "note", Value: of}}); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 60 {
				insert(fmt.Sprintf("x%02d", i), "globex", "live", "no", fmt.Sprintf("x%02d", i))
			}
			insert("ours", "acme", "live", nil, "ours")
			insert("list", bson.A{"acme", "globex"}, "live", nil, bson.A{"ours", "x01"})
			insert("one", bson.A{"acme"}, "live", nil, bson.A{"ours"})
			insert("state", "acme", bson.A{"live", "draft"}, nil, "ours")
			insert("gone", "acme", "live", bson.A{nil, "yes"}, "list")
			s, classes := described(t, o)
			for i := range classes {
				classes[i].Relations = nil
			}
			acme := identity.Principal{ID: "a", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}
			filtered := acme
			filtered.Filters = map[string]query.Filter{"notes": query.In{Path: query.Path{"state"}, Values: value.OfStrings([]string{"live", "other"}).List()}}
			globex := acme
			globex.Tenant = "globex"
			rules := policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{
				"notes": {Tenant: &policy.TenantRule{Field: "org"}, Canonical: query.Exists{Path: query.Path{"gone"}}},
				"parts": {Tenant: &policy.TenantRule{Through: "note"}, Pointers: map[string]policy.Pointer{"note": {Class: "notes"}}}}}
			p, err := policy.New(rules, classes)
			if err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct {
				who   identity.Principal
				class string
				want  string
			}{{acme, "notes", "ours,state"}, {filtered, "notes", "ours"}, {acme, "parts", "ours,state"}, {globex, "notes", ""}} {
				for _, ids := range [][]string{nil, {"ours", "list", "one", "state"}} {
					permit, err := p.Read(tt.who, &query.Find{Class: tt.class, IDs: ids, Limit: 100, Keys: []query.Path{{"_id"}}})
					if err != nil {
						t.Fatal(err)
					}
					rows, err := sourcetest.Collect(t.Context(), s, permit)
					var got []string
					for _, row := range rows {
						got = append(got, row[0].Text())
					}
					slices.Sort(got)
					if err != nil || strings.Join(got, ",") != tt.want {
						t.Errorf("%s of %s, by ids %q: %q, %v; want %s", tt.class, tt.who.Tenant, ids, got, err, tt.want)
					}
				}
				permit, err := p.Read(tt.who, &query.Count{Class: tt.class})
				if err != nil {
					t.Fatal(err)
				}
				if rows, err := sourcetest.Collect(t.Context(), s, permit); err != nil || rows[0][0].Int() != int64(len(strings.FieldsFunc(tt.want, func(r rune) bool { return r == ',' }))) {
					t.Errorf("%s of %s are counted as %v, %v; want %s", tt.class, tt.who.Tenant, rows, err, tt.want)
				}
			}
		})
	}
}

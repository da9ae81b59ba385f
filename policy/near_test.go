package policy

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestNear checks the order that a $near gives, that another order replaces it, and which fields are refused.
func TestNear(t *testing.T) {
	logs := schema.Class{Source: "app", Name: "places", Table: "places", Fields: []schema.Field{{Name: "at", Type: schema.JSON}, {Name: "line", Type: schema.String}}}
	p, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{"people": {Mask: map[string]Mask{"notes": Null}}}}, append(staff(), logs))
	if err != nil {
		t.Fatal(err)
	}
	open, err := New(Rules{Unlisted: true}, append(staff(), logs))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		policy              *Policy
		class, where, order string
		want                string
	}{
		{open, "people", `{"notes":{"$nearSphere":[1,2]}}`, "", "[near notes -1 id -1] true"},
		{open, "people", `{"$and":[{"id":5},{"notes.a":{"$nearSphere":[1,2]}}]}`, "", "[near notes -1 id -1] true"},
		{open, "people", `{"boss.notes":{"$nearSphere":[1,2]}}`, "", "[near notes 0 id -1] true"},
		{open, "people", `{"notes":{"$nearSphere":[1,2]}}`, "name", "[name -1 id -1] true"},
		{open, "people", `{"notes":{"$geoWithin":{"$box":[[1,2],[3,4]]}}}`, "", "[id -1] true"},
		{open, "places", `{"at":{"$nearSphere":[1,2]}}`, "", "[near at -1 at -1 line -1] false"},
		{open, "people", `{"name":{"$nearSphere":[1,2]}}`, "", "name is of type string. $near takes JSON that holds points: GeoJSON, [longitude, latitude], or an object with both by name"},
		{p, "people", `{"notes":{"$nearSphere":[1,2]}}`, "", "notes is masked: it is shown and can't be filtered, sorted, grouped or joined on"},
		{p, "people", `{"notes":{"$nearSphere":[1,2]}}`, "name", "notes is masked: it is shown and can't be filtered, sorted, grouped or joined on"},
		{p, "people", `{"boss.notes":{"$nearSphere":[1,2]}}`, "", "notes is masked: it is shown and can't be filtered, sorted, grouped or joined on"},
	} {
		v, err := value.Read([]byte(tt.where), 0)
		if err != nil {
			t.Fatal(err)
		}
		q := &query.Find{Class: tt.class, Limit: 5}
		if q.Where, err = query.ParseWhere(v, "/where"); err != nil {
			t.Fatal(err)
		}
		if q.Order, err = query.ParseOrder(tt.order, "/order"); err != nil {
			t.Fatal(err)
		}
		permit, err := tt.policy.Read(identity.Principal{ID: "test", Scopes: []identity.Scope{identity.Read}}, q)
		got := ""
		if err != nil {
			got = problem.Of(err).Detail
		} else {
			var order []string
			for _, o := range permit.plan.Order {
				if o.Near != nil {
					order = append(order, "near")
				}
				order = append(order, fmt.Sprint(o.Field.Name, " ", o.Join))
			}
			got = fmt.Sprint(order, " ", permit.plan.Unique)
		}
		if got != tt.want {
			t.Errorf("%s where %s, order %q: %s, want %s", tt.class, tt.where, tt.order, got, tt.want)
		}
	}
}

package mariadb_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestPointColumns queries points in a column of the type POINT. A column that may contain other geometries is not
// supported.
func TestPointColumns(t *testing.T) {
	statements := []string{`CREATE TABLE m (id int PRIMARY KEY, x point, g geometry, n int)`,
		`INSERT INTO m (id, x, g) VALUES (1, POINT(10.7522, 59.9139), POINT(1, 2)), (2, ST_GeomFromText('POINT(5.3221 60.3913)', 4326), NULL), (3, POINT(200, 60), NULL),
			(4, POINT(1e300, -1e300), NULL), (5, POINT(60, 90.1), NULL), (6, NULL, NULL)`}
	suite.Finds(t, map[string]string{
		`{"x":{"$geoWithin":{"$box":[[5,55],[11,61]]}}}`:                             "1 2",
		`{"x":{"$geoWithin":{"$box":[[-180,-90],[180,90]]}}}`:                        "1 2",
		`{"x":{"$geoWithin":{"$centerSphere":[[10.7522,59.9139],0.0476]}}}`:          "1",
		`{"x":{"$geoWithin":{"$centerSphere":[[10.7522,59.9139],3.15]}}}`:            "1 2",
		`{"x":{"$not":{"$geoWithin":{"$centerSphere":[[10.7522,59.9139],0.0476]}}}}`: "2 3 4 5 6",
		`{"x":{"$nearSphere":[5.3221,60.3913]}}`:                                     "2 1",
		`{"x":{"$near":{"$geometry":[5.3221,60.3913],"$minDistance":305000}}}`:       "1",
		`{"x":"POINT(10.7522 59.9139)"}`:                                             "1",
	}, statements...)
	_, classes, _ := opened(t, statements...)
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"g", "n"} {
		v, err := value.Read([]byte(`{"`+field+`":{"$geoWithin":{"$box":[[0,0],[1,1]]}}}`), 0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := query.ParseWhere(v, "/where")
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "m", Where: f, Limit: 9})
		if problem.CodeOf(err) != problem.Unsupported || problem.Of(err).Suggestion == "" {
			t.Errorf("$geoWithin on %s: %v", field, err)
		}
	}
}

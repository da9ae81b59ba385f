package database

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// hostilePoints contains points, and values on which an SQL function may fail. The first point is in Oslo.
var hostilePoints = []string{`[10.7522,59.9139]`, `{"lng":1e-320,"lat":1e-320}`, `[1e999,1]`, `[1e-999,-0.0]`, `[1]`, `null`,
	`{"type":"Point","coordinates":[1,-1e400]}`, `{"lat":"1","lng":1}`, `"POINT(1 2)"`, `[123456789012345678901234567890,9223372036854775808]`,
	`{"type":"Point","coordinates":"1,2"}`, `{"type":null,"coordinates":[1,2]}`, `[[1e999,1e999],true]`, `{"latitude":[1],"longitude":{}}`, `[180,90]`, `[-180,-90]`, `5`, `{}`, `[]`}

// TestPoints searches for points among hostile values. A hostile value is in no area and must not cause an error.
// json is the type of a JSON column.
func (d *Database) TestPoints(t *testing.T, json string) {
	statements := []string{"CREATE TABLE m (id int PRIMARY KEY, doc " + json + ")"}
	for i, doc := range hostilePoints {
		statements = append(statements, fmt.Sprintf("INSERT INTO m VALUES (%d, '%s')", i+1, doc))
	}
	d.Finds(t, map[string]string{
		`{"doc":{"$nearSphere":[10.7522,59.9139]}}`:                                     "1 15 2 4 16",
		`{"doc":{"$nearSphere":[0,0]}}`:                                                 "2 4 1 15 16",
		`{"doc":{"$nearSphere":[0,0],"$minDistance":1,"$maxDistance":1.1}}`:             "1",
		`{"doc":{"$geoWithin":{"$centerSphere":[[0,0],0.1]}}}`:                          "2 4",
		`{"doc":{"$geoWithin":{"$box":[[0,0],[0,0]]}}}`:                                 "4",
		`{"doc":{"$geoWithin":{"$centerSphere":[[10.7522,59.9139],0]}}}`:                "1",
		`{"doc":{"$geoWithin":{"$box":[[-180,-90],[180,90]]}}}`:                         "1 2 4 15 16",
		`{"doc":{"$geoWithin":{"$centerSphere":[[-180,0],1.570796326794897]}}}`:         "15 16",
		`{"doc":{"$not":{"$geoWithin":{"$centerSphere":[[-10.7522,-59.9139],3.15]}}}}`:  "3 5 6 7 8 9 10 11 12 13 14 17 18 19",
		`{"$nor":[{"doc":{"$geoWithin":{"$box":[[-180,-90],[180,90]]}}},{"doc":null}]}`: "3 5 7 8 9 10 11 12 13 14 17 18 19",
	}, statements...)
}

// Finds checks which records of the class m the conditions match. The keys of want are conditions, and its values are
// ids. The statements fill the database.
func (d *Database) Finds(t *testing.T, want map[string]string, statements ...string) {
	t.Helper()
	src := d.OpenWith(t, statements...)
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	for where, want := range want {
		v, err := value.Read([]byte(where), 0)
		if err != nil {
			t.Fatal(err)
		}
		filter, err := query.ParseWhere(v, "/where")
		if err != nil {
			t.Fatal(err)
		}
		permit, err := p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "m", Where: filter, Limit: 100})
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		rows, err := sourcetest.Collect(t.Context(), src, permit)
		ids := make([]string, len(rows))
		for i, row := range rows {
			ids[i] = row[0].String()
		}
		if got := strings.Join(ids, " "); err != nil || got != want {
			t.Errorf("%s: %s; want %s; %v", where, got, want, errors.Unwrap(err))
		}
	}
}

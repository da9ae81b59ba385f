package postgres

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestPoints checks $geoWithin on a column of points, and on JSON with numbers that no double can represent. A hidden
// column must fail like a column that doesn't exist.
func TestPoints(t *testing.T) {
	url := services.Postgres(t)
	run(t, connect(t, url), `CREATE TABLE m (id int PRIMARY KEY, x point, doc jsonb, r int4range); INSERT INTO m (id, x, doc) VALUES (1, '(10.7522,59.9139)', '[10.7522,59.9139]'),
		(2, '(5.3221,60.3913)', '{"lng":1e-320,"lat":1e-320}'), (3, '(NaN,60)', '[1e999,1]'), (4, '(Infinity,60)', '[1e-999,-0.0]'), (5, '(200,60)', '[1]'), (6, NULL, NULL)`)
	src, p := pointsOf(t, url, policy.Rules{Unlisted: true})
	where := func(text string) query.Filter { return whereOf(t, text) }
	for text, want := range map[string]string{
		`{"x":{"$geoWithin":{"$box":[[5,55],[11,61]]}}}`:                             "[1 2]",
		`{"x":{"$geoWithin":{"$box":[[-180,-90],[180,90]]}}}`:                        "[1 2]",
		`{"x":{"$geoWithin":{"$centerSphere":[[10.7522,59.9139],0.0476]}}}`:          "[1]",
		`{"x":{"$geoWithin":{"$centerSphere":[[10.7522,59.9139],0.0479]}}}`:          "[1 2]",
		`{"x":{"$not":{"$geoWithin":{"$centerSphere":[[10.7522,59.9139],0.0476]}}}}`: "[2 3 4 5 6]",
		`{"x":{"$nearSphere":[5.3221,60.3913]}}`:                                     "[2 1]",
		`{"x":{"$nearSphere":[10.7522,59.9139]}}`:                                    "[1 2]",
		`{"x":{"$near":{"$geometry":[5.3221,60.3913],"$maxDistance":305000}}}`:       "[2]",
		`{"x":{"$near":{"$geometry":[5.3221,60.3913],"$minDistance":305000}}}`:       "[1]",
		`{"doc":{"$nearSphere":[10.7522,59.9139]}}`:                                  "[1 2 4]",
		`{"doc":{"$geoWithin":{"$centerSphere":[[0,0],0.1]}}}`:                       "[2 4]",
		`{"doc":{"$geoWithin":{"$box":[[0,0],[0,0]]}}}`:                              "[4]",
		`{"doc":{"$geoWithin":{"$centerSphere":[[10.7522,59.9139],0]}}}`:             "[1]",
	} {
		if got, _ := onePage(t, src, p, &query.Find{Class: "m", Where: where(text), Limit: 9}, nil); fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
	reader := identity.Principal{Scopes: []identity.Scope{identity.Read}}
	for _, field := range []string{"r", "id"} {
		_, err := p.Read(reader, &query.Find{Class: "m", Where: where(`{"` + field + `":{"$geoWithin":{"$box":[[0,0],[1,1]]}}}`), Limit: 9})
		if problem.CodeOf(err) != problem.Unsupported || problem.Of(err).Suggestion == "" {
			t.Errorf("$geoWithin on %s: %v", field, err)
		}
	}
	_, masked := pointsOf(t, url, policy.Rules{Classes: map[string]policy.ClassRule{"m": {Denied: []string{"x"}}}})
	for _, operators := range []string{`{"$geoWithin":{"$box":[[0,0],[1,1]]}}`, `{"$nearSphere":[0,0]}`} {
		ask := func(field string) string {
			_, err := masked.Read(reader, &query.Find{Class: "m", Where: where(`{"` + field + `":` + operators + `}`), Limit: 9})
			return fmt.Sprint(err)
		}
		if a, b := ask("x"), ask("y"); a == "<nil>" || len(a) != len(b) {
			t.Errorf("%s: a hidden point: %s; an absent one: %s", operators, a, b)
		}
	}
}

// TestPlaces checks by PostGIS's type modifiers which of its columns are points on the earth.
func TestPlaces(t *testing.T) {
	const degrees = 4326 << 8
	for _, tt := range []struct {
		of   column
		want bool
	}{
		{column{Type: "geometry", Modifier: 4 | degrees}, true}, {column{Type: "geometry", Modifier: 4}, true}, {column{Type: "geography", Modifier: 4 | degrees}, true},
		{column{Type: "geometry", Modifier: -1}, false},               // any geometry
		{column{Type: "geometry", Modifier: 3857<<8 | 4}, false},      // a point in metres
		{column{Type: "geometry", Modifier: 6 | degrees}, false},      // a point with a height
		{column{Type: "geometry", Modifier: 3<<2 | degrees}, false},   // a polygon
		{column{Type: "geography", Modifier: 4}, false},               // PostGIS writes no such modifier
		{column{Type: "box2d", Modifier: 4 | degrees}, false},         // another type
		{column{Type: "_geometry", Modifier: 4 | degrees}, false},     // a list
		{column{Type: "geometry", Modifier: 4, TypeKind: "c"}, false}, // a composite type of this name
		{column{Type: "geometry", Modifier: 4, TypeSpace: "pg_catalog"}, false},
	} {
		x := tt.of
		x.TypeKind, x.TypeSpace = cmp.Or(x.TypeKind, "b"), cmp.Or(x.TypeSpace, "public")
		field := schema.Field{}
		x.setType(&field)
		if field.Point != tt.want || field.Type != schema.Opaque || field.Native != "public."+x.Type && x.TypeSpace == "public" {
			t.Errorf("%+v is %+v", x, field)
		}
	}
}

// TestPostGIS queries points in PostGIS columns if the server has PostGIS. Other geometries are not supported, and
// neither are points in other units than degrees.
func TestPostGIS(t *testing.T) {
	url := services.Postgres(t)
	conn := connect(t, url)
	var has bool
	if err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'postgis')`).Scan(&has); err != nil {
		t.Fatal(err)
	}
	if !has {
		t.Skip("LEFT OUT: PostGIS: the server doesn't have the extension")
	}
	run(t, conn, `CREATE SCHEMA "g.is"; CREATE EXTENSION postgis SCHEMA "g.is"; SET search_path = public, "g.is";
		CREATE TABLE m (id int PRIMARY KEY, x geometry(Point, 4326), y geography(Point), z geometry(Point), any_shape geometry, metres geometry(Point, 3857), height geometry(PointZ, 4326));
		INSERT INTO m (id, x, any_shape, metres) VALUES (1, 'POINT(10.7522 59.9139)', 'POINT(1 2)', 'POINT(10 20)'), (2, 'SRID=4326;POINT(5.3221 60.3913)', NULL, NULL), (3, 'POINT(200 60)', NULL, NULL),
			(4, 'POINT EMPTY', NULL, NULL), (5, NULL, NULL, NULL), (6, 'POINT(1e300 -1e300)', NULL, NULL);
		UPDATE m SET z = ST_SetSRID(x, 0), y = CASE WHEN id < 3 OR id = 4 THEN x::geography END`)
	src, p := pointsOf(t, url, policy.Rules{Unlisted: true})
	for text, want := range map[string]string{
		`{"x":{"$geoWithin":{"$box":[[5,55],[11,61]]}}}`:                             "[1 2]",
		`{"y":{"$geoWithin":{"$box":[[-180,-90],[180,90]]}}}`:                        "[1 2]",
		`{"z":{"$geoWithin":{"$centerSphere":[[10.7522,59.9139],0.0476]}}}`:          "[1]",
		`{"y":{"$geoWithin":{"$centerSphere":[[10.7522,59.9139],0.0479]}}}`:          "[1 2]",
		`{"x":{"$not":{"$geoWithin":{"$centerSphere":[[10.7522,59.9139],0.0476]}}}}`: "[2 3 4 5 6]",
		`{"x":{"$nearSphere":[5.3221,60.3913]}}`:                                     "[2 1]",
		`{"y":{"$nearSphere":[10.7522,59.9139]}}`:                                    "[1 2]",
		`{"y":"(10.7522,59.9139)"}`:                                                  "[1]",
		`{"x":{"$in":["(10.7522,59.9139)","(5.3221,60.3913)"]}}`:                     "[1 2]",
	} {
		if got, _ := onePage(t, src, p, &query.Find{Class: "m", Where: whereOf(t, text), Limit: 9}, nil); fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
	permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "m", Keys: []query.Path{{"x"}, {"y"}}, IDs: []string{"1"}, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := sourcetest.Collect(t.Context(), src, permit)
	if got := fmt.Sprint(rows); err != nil || !strings.HasPrefix(got, "[[1 (10.7522,59.9139) (10.7522,59.9139)") {
		t.Errorf("shown as %s, %v", got, err)
	}
	for _, field := range []string{"any_shape", "metres", "height"} {
		_, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "m", Where: whereOf(t, `{"`+field+`":{"$geoWithin":{"$box":[[0,0],[1,1]]}}}`), Limit: 9})
		if problem.CodeOf(err) != problem.Unsupported || problem.Of(err).Suggestion == "" {
			t.Errorf("$geoWithin on %s: %v", field, err)
		}
	}
}

// pointsOf opens a database with rules.
func pointsOf(t *testing.T, url string, rules policy.Rules) (*Source, *policy.Policy) {
	t.Helper()
	src, err := Open(t.Context(), "app", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(rules, classes)
	if err != nil {
		t.Fatal(err)
	}
	return src, p
}

// whereOf parses a where object.
func whereOf(t *testing.T, text string) query.Filter {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := query.ParseWhere(v, "/where")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

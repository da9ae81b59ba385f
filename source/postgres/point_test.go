package postgres

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/testservices"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestPoints checks $geoWithin on a column of points, on JSON with numbers that no double holds, and that a hidden column is refused
// as one that isn't there.
func TestPoints(t *testing.T) {
	url := testservices.Postgres(t)
	run(t, connect(t, url), `CREATE TABLE m (id int PRIMARY KEY, x point, doc jsonb, r int4range); INSERT INTO m (id, x, doc) VALUES (1, '(10.7522,59.9139)', '[10.7522,59.9139]'),
		(2, '(5.3221,60.3913)', '{"lng":1e-320,"lat":1e-320}'), (3, '(NaN,60)', '[1e999,1]'), (4, '(Infinity,60)', '[1e-999,-0.0]'), (5, '(200,60)', '[1]'), (6, NULL, NULL)`)
	src, err := Open(t.Context(), "app", url)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	where := func(text string) query.Filter {
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
	masked, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"m": {Denied: []string{"x"}}}}, classes)
	if err != nil {
		t.Fatal(err)
	}
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

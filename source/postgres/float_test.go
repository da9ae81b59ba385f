package postgres

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestSinglePrecision checks that a real is found by its shown value, and that pagination over it loses no record.
func TestSinglePrecision(t *testing.T) {
	url := services.Postgres(t)
	run(t, connect(t, url), `CREATE TABLE m (id int PRIMARY KEY, x real); INSERT INTO m VALUES (1, 0.1), (2, 0.2), (3, 'NaN'), (4, 16777217), (5, NULL)`)
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
	for _, tt := range []struct {
		op   query.Op
		x    string
		want string
	}{{query.Eq, "0.1", "[1]"}, {query.Gt, "0.1", "[2 3 4]"}, {query.Lt, "0.2", "[1]"}, {query.Eq, "16777216", "[4]"}, {query.Ne, "0.1", "[2 3 4 5]"}} {
		where := query.Compare{Path: query.Path{"x"}, Op: tt.op, Value: value.OfDecimal(tt.x)}
		if got, _ := onePage(t, src, p, &query.Find{Class: "m", Where: where, Limit: 9}, nil); fmt.Sprint(got) != tt.want {
			t.Errorf("x %s %s: %v, want %s", tt.op, tt.x, got, tt.want)
		}
	}
	var all []string
	q := &query.Find{Class: "m", Order: []query.Sort{{Path: query.Path{"x"}}}, Limit: 1}
	for at := (*policy.Position)(nil); len(all) < 9; {
		page, place := onePage(t, src, p, q, at)
		if page == nil {
			break
		}
		all, at = append(all, page...), &policy.Position{After: place}
	}
	if fmt.Sprint(all) != "[5 1 2 4 3]" {
		t.Errorf("page by page in the order of x: %v", all)
	}
}

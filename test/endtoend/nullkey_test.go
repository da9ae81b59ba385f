package endtoend

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
)

// TestNullKeys reads pages of a table in which SQLite allows several null keys. No record may be missing or repeated.
func TestNullKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE a (id TEXT PRIMARY KEY, n INTEGER);
		INSERT INTO a VALUES (NULL, 1), (NULL, 2), ('x', 3), (NULL, 2), ('y', 1), (NULL, 5)`); err != nil {
		t.Fatal(err)
	}
	src, err := sqlite.Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": src}, Rules: policy.Rules{Unlisted: true}, Audit: forgetful{}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"id":"x","n":3} {"id":"y","n":1} {"id":null,"n":1} {"id":null,"n":2} {"id":null,"n":2} {"id":null,"n":5}]`
	for _, order := range [][]query.Sort{nil, {{Path: query.Path{"n"}}}, {{Path: query.Path{"id"}, Desc: true}}} {
		for limit := 1; limit < 6; limit++ {
			q := &query.Find{Class: "a", Order: order, Limit: limit}
			var got []string
			for more := true; more && len(got) < 9; {
				page, err := g.Read(t.Context(), reader, q)
				if err != nil {
					t.Fatal(err)
				}
				for i := range page.Count {
					got = append(got, string(page.Record(i)))
				}
				more, q.Cursor = page.More, page.Cursor
			}
			slices.Sort(got)
			if fmt.Sprint(got) != want {
				t.Errorf("order %v, %d a page: %v, want %s", order, limit, got, want)
			}
		}
	}
}

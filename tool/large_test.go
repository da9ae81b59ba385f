package tool_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// library has works whose bodies have 0, 5, 120,000 and 17 million characters of two bytes each.
func library(t *testing.T) *tool.Set {
	t.Helper()
	return stocked(t, func(db *sql.DB) error {
		if _, err := db.Exec("CREATE TABLE works (id INTEGER PRIMARY KEY, title TEXT, body TEXT, secret TEXT)"); err != nil {
			return err
		}
		for id, n := range []int{0, 5, 120_000, 8 << 20} {
			if _, err := db.Exec("INSERT INTO works VALUES (?, 'a title', ?, 's')", id, strings.Repeat("é", n)); err != nil {
				return err
			}
		}
		_, err := db.Exec("UPDATE works SET body = body || 'x' WHERE id = 3") // over 16 MiB
		return err
	})
}

// stocked returns the tools over a library that fill makes.
func stocked(t *testing.T, fill func(*sql.DB) error) *tool.Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "library.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fill(db), db.Close()); err != nil {
		t.Fatal(err)
	}
	src, err := sqlite.Open(t.Context(), "library", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	rules := policy.Rules{Classes: map[string]policy.ClassRule{"works": {Denied: []string{"secret"}}}}
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"library": src}, Rules: rules, Audit: &audit.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

type answer struct {
	Object    map[string]any
	Results   []map[string]any
	HasMore   bool `json:"has_more"`
	Truncated *struct {
		Dropped []string         `json:"dropped_fields"`
		Bytes   map[string]int64 `json:"largest_bytes"`
		Kept    int              `json:"kept_count"`
	} `json:"_truncated"`
	Next *struct {
		Tool      string
		Arguments json.RawMessage
	} `json:"next_call"`
}

func asked(t *testing.T, set *tool.Set, name, arguments string) (answer, string, error) {
	t.Helper()
	args, err := value.Read([]byte(arguments), 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := set.Call(t.Context(), agent(), tool.Request{Name: name, Arguments: args})
	var a answer
	if err == nil {
		if err := json.Unmarshal(got.Structured, &a); err != nil {
			t.Fatal(err)
		}
	}
	return a, got.Text, err
}

// TestReadsByParts follows next_call from a record that is too large for an answer to the end of its field.
func TestReadsByParts(t *testing.T) {
	set := library(t)
	for _, arguments := range []string{`{"class_name": "works", "object_id": "2"}`, `{"class_name": "works", "object_id": "2", "keys": ["body"]}`} {
		a, text, err := asked(t, set, "get_object", arguments)
		if err != nil || a.Truncated == nil || fmt.Sprint(a.Truncated.Dropped) != "[body]" || a.Truncated.Bytes["body"] != 240_000 || a.Next == nil || a.Object["id"] != "2" {
			t.Fatalf("%s: %+v, %v", arguments, a, err)
		}
		if !strings.Contains(text, "without body (too large: up to 240000 bytes), more: get_object ") {
			t.Errorf("the text is silent: %s", text)
		}
		var body strings.Builder
		calls := 0
		for a.Next != nil {
			if calls++; calls > 20 {
				t.Fatal("next_call has no end")
			}
			if a, _, err = asked(t, set, a.Next.Tool, string(a.Next.Arguments)); err != nil {
				t.Fatal(err)
			}
			piece, _ := a.Object["body"].(string)
			body.WriteString(piece)
		}
		if body.String() != strings.Repeat("é", 120_000) || calls != 12 {
			t.Errorf("%d bytes in %d calls", body.Len(), calls)
		}
	}
}

// TestPageDropsItsHeaviest checks that a page has all its records, without the field that is too large, which is
// named.
func TestPageDropsItsHeaviest(t *testing.T) {
	set := library(t)
	a, text, err := asked(t, set, "query_class", `{"class_name": "works"}`)
	if err != nil || len(a.Results) != 4 || a.HasMore || a.Truncated == nil || fmt.Sprint(a.Truncated.Dropped) != "[body]" || a.Truncated.Bytes["body"] != 16<<20+1 {
		t.Errorf("%+v, %v", a, err)
	}
	if !strings.Contains(text, "4 records, without body (too large: up to 16777217 bytes), no more") {
		t.Errorf("the text is silent: %s", text)
	}
	if a, _, err := asked(t, set, "get_objects", `{"class_name": "works", "ids": ["0", "1", "2"]}`); err != nil || a.Truncated == nil || a.Truncated.Kept != 3 {
		t.Errorf("get_objects: %+v, %v", a, err)
	}
}

// TestParts checks that each part is as requested, or refused with the possible ones.
func TestParts(t *testing.T) {
	set := library(t)
	for _, tt := range []struct{ part, want string }{
		{`{"field": "body", "offset": 1, "length": 2}`, `{"class_name":"works","object":{"body":"éé"},"part":{"field":"body","offset":1,"length":2,"total":5},"next_call":{"tool":"get_object","arguments":{"class_name":"works","object_id":"1","part":{"field":"body","offset":3,"length":2}}}}`},
		{`{"field": "body", "offset": 3}`, `{"class_name":"works","object":{"body":"éé"},"part":{"field":"body","offset":3,"length":2,"total":5}}`},
		{`{"field": "body", "offset": 9}`, `{"class_name":"works","object":{"body":""},"part":{"field":"body","offset":9,"length":0,"total":5}}`},
		{`{"field": "id"}`, "invalid_argument: part reads texts, JSON and bytes beside the id. id is of type integer"},
		{`{"field": "secret"}`, `invalid_query: unknown field "secret" of works`},
		{`{"field": "absent"}`, `invalid_query: unknown field "absent" of works`},
	} {
		args, err := value.Read([]byte(`{"class_name": "works", "object_id": "1", "part": `+tt.part+`}`), 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := set.Call(t.Context(), agent(), tool.Request{Name: "get_object", Arguments: args})
		said := string(got.Structured)
		if err != nil {
			said = err.Error()
		}
		if said != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.part, said, tt.want)
		}
	}
	_, _, err := asked(t, set, "get_object", `{"class_name": "works", "object_id": "3", "part": {"field": "body"}}`)
	if p := problem.Of(err); p == nil || p.Code != problem.BudgetExceeded || p.Detail != "body has 16777217 bytes, more than this source can read a part of" {
		t.Errorf("a part of 16 MiB: %v", err)
	}
	if _, _, err := asked(t, set, "get_object", `{"class_name": "works", "object_id": "1", "keys": ["title"], "part": {"field": "body"}}`); problem.CodeOf(err) != problem.InvalidArgument {
		t.Errorf("keys and part: %v", err)
	}
}

// An export that row_cap ends says how many records there are, up to the most that row_cap takes: the others aren't counted.
func TestExportCounts(t *testing.T) {
	const most = 10_000
	set := stocked(t, func(db *sql.DB) error {
		_, err := db.Exec(`CREATE TABLE works (id INTEGER PRIMARY KEY, title TEXT, secret TEXT);
			INSERT INTO works WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i <= 10000) SELECT i, 'a title', 's' FROM s`)
		return err
	})
	for _, tt := range []struct {
		arguments string
		available any
		hint      string
	}{
		{`{"class_name": "works", "keys": ["id"], "row_cap": 10000}`, nil, "the first 10000 of more than 10000 rows, the most that row_cap takes. Narrow it, or ask for the others by another where"},
		{`{"class_name": "works", "keys": ["id"], "row_cap": 7}`, nil, "the first 7 of more than 10000 rows, the most that row_cap takes. Narrow it, or ask for the others by another where"},
		{`{"class_name": "works", "pipeline": [{"$project": {"title": 1}}], "row_cap": 7}`, nil, "the first 7 of more than 10000 rows, the most that row_cap takes. Narrow it, or ask for the others by another where"},
		{`{"class_name": "works", "keys": ["id"], "row_cap": 7, "where": {"id": {"$gt": 1}}}`, float64(most), "the first 7 of 10000 rows. Raise row_cap (at most 10000), or narrow it"},
		{`{"class_name": "works", "pipeline": [{"$match": {"id": {"$lte": 20}}}], "row_cap": 7}`, 20.0, "the first 7 of 20 rows. Raise row_cap (at most 10000), or narrow it"},
	} {
		args, err := value.Read([]byte(tt.arguments), 20)
		if err != nil {
			t.Fatal(err)
		}
		res, err := set.Call(t.Context(), agent(), tool.Request{Name: "export_data", Arguments: args})
		if err != nil {
			t.Fatal(tt.arguments, err)
		}
		var got map[string]any
		if err := json.Unmarshal(res.Structured, &got); err != nil || got["available_rows"] != tt.available || got["hint"] != tt.hint {
			t.Errorf("%s: %v, %v, %v", tt.arguments, got["available_rows"], got["hint"], err)
		}
	}
}

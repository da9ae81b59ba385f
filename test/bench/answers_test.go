package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// pageRows is the number of records on a page of the benchmarks.
const pageRows = 50

// A side is one database with a driver for handwritten queries and the tools.
type side struct {
	name string
	raw  driver
	set  *tool.Set // the audit is chained but not stored
	kept *tool.Set // the audit is on the disk before a call is answered
	id   string    // the id of an issue
	of   string    // the project of that issue
}

// onSQLite opens the demo's tracker.
func onSQLite(t testing.TB) *side {
	t.Helper()
	path := tracker(t)
	s := sqliteSource(t, path)
	raw := openRawSQLite(t, path)
	out := &side{name: "sqlite", raw: raw, set: benchTools(t, gateway(t, s, rules(t), &sealed{})), kept: benchTools(t, gateway(t, s, rules(t), store(t)))}
	out.id, out.of = anIssue(t, raw)
	return out
}

// onPostgres opens the same issues in PostgreSQL.
func onPostgres(t testing.TB) *side {
	t.Helper()
	url := services.Postgres(t)
	fill(t, tracker(t), url)
	s, err := postgres.Open(t.Context(), "tracker", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	raw := rawPostgres{pool(t, url)}
	out := &side{name: "postgres", raw: raw, set: benchTools(t, gateway(t, s, rules(t, classes...), &sealed{})),
		kept: benchTools(t, gateway(t, s, rules(t, classes...), store(t)))}
	out.id, out.of = anIssue(t, raw)
	return out
}

// store opens a store in a new file.
func store(t testing.TB) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "bailiwick.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var _ audit.Log = (*sqlite.Store)(nil)

// anIssue returns an issue from the middle of a page, and its project.
func anIssue(t testing.TB, d driver) (id, project string) {
	t.Helper()
	page, err := d.page(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var records []struct {
		ID      string
		Project string `json:"project_id"`
	}
	if err := json.Unmarshal(page, &records); err != nil || len(records) != pageRows {
		t.Fatal(len(records), err)
	}
	return records[pageRows/2].ID, records[pageRows/2].Project
}

// pointCall and the following three functions return the four questions as calls.
func pointCall(t testing.TB, id string) tool.Request {
	return request(t, "get_object", fmt.Sprintf(`{"class_name": "issues", "object_id": %q}`, id))
}

func pageCall(t testing.TB) tool.Request {
	return request(t, "query_class", `{"class_name": "issues", "order": "id", `+fields+`}`)
}

func projectCall(t testing.TB, id string) tool.Request {
	return request(t, "query_class", fmt.Sprintf(`{"class_name": "issues", "where": {"project_id": %q}, "order": "number", %s}`, id, fields))
}

const fields = `"limit": 50, "keys": ["id", "project_id", "number", "type", "status", "priority", "title", "assignee_id", "estimate",
	"due_date", "created_at", "updated_at"]`

func countCall(t testing.TB) tool.Request {
	return request(t, "count_objects", `{"class_name": "issues", "where": {"status": "Done", "priority": {"$in": ["High", "Critical"]}}}`)
}

// answer calls a tool and returns the JSON of its result.
func answer(t testing.TB, set *tool.Set, r tool.Request) json.RawMessage {
	t.Helper()
	res, err := set.Call(t.Context(), agent(), r)
	if err != nil {
		t.Fatal(r.Arguments, err, problem.Of(err).Err) // only this test shows the cause
	}
	return res.Structured
}

// TestSameAnswers checks that both sides of a comparison return the same data.
func TestSameAnswers(t *testing.T) {
	for _, open := range []func(testing.TB) *side{onSQLite, onPostgres} {
		s := open(t)
		t.Run(s.name, func(t *testing.T) { same(t, s) })
	}
}

func same(t *testing.T, s *side) {
	for _, q := range []struct {
		member string
		call   tool.Request
		raw    func() ([]byte, error)
	}{
		{"object", pointCall(t, s.id), func() ([]byte, error) { return s.raw.point(t.Context(), s.id) }},
		{"results", pageCall(t), func() ([]byte, error) { return s.raw.page(t.Context()) }},
		{"results", projectCall(t, s.of), func() ([]byte, error) { return s.raw.project(t.Context(), s.of) }},
		{"count", countCall(t), func() ([]byte, error) {
			n, err := s.raw.count(t.Context())
			return strconv.AppendInt(nil, n, 10), err
		}},
	} {
		var got map[string]json.RawMessage
		if err := json.Unmarshal(answer(t, s.set, q.call), &got); err != nil {
			t.Fatal(err)
		}
		want, err := q.raw()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got[q.member])); diff != "" || len(want) < 3 {
			t.Errorf("%s: %s", q.member, diff)
		}
	}
}

// BenchmarkRead compares the gateway with the bare driver for the same record, the same page and the same count.
func BenchmarkRead(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { read(b, onSQLite(b)) })
	b.Run("postgres", func(b *testing.B) { read(b, onPostgres(b)) })
}

func read(b *testing.B, s *side) {
	version, err := s.raw.version(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, q := range []struct {
		name string
		raw  func(context.Context) error
		call tool.Request
	}{
		{"point", func(ctx context.Context) error { _, err := s.raw.point(ctx, s.id); return err }, pointCall(b, s.id)},
		{"rows50", func(ctx context.Context) error { _, err := s.raw.page(ctx); return err }, pageCall(b)},
		{"project50", func(ctx context.Context) error { _, err := s.raw.project(ctx, s.of); return err }, projectCall(b, s.of)},
		{"count", func(ctx context.Context) error { _, err := s.raw.count(ctx); return err }, countCall(b)},
	} {
		b.Run(q.name+"/raw", func(b *testing.B) {
			b.Logf("database: %s", version) // printed for the table
			b.ReportAllocs()
			for b.Loop() {
				if err := q.raw(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
		for _, way := range []struct {
			name string
			set  *tool.Set
		}{{"gateway", s.set}, {"gateway_audit_on_disk", s.kept}} {
			b.Run(q.name+"/"+way.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := way.set.Call(b.Context(), agent(), q.call); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

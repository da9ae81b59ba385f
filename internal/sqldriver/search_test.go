package sqldriver_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// notes are the searched records. The field secret is hidden.
var notes = [][4]any{ // id, title, body, secret
	{1, "Crash at login", "The server crashes with out of memory", "melon"},
	{2, "Login page", "memory of a crash", nil},
	{3, "CRASH", nil, "login"},
	{4, nil, nil, "crash"},
	{5, "it's 100% done; see a-b", "Über café", "x"},
	{6, "", "out of order memory", "melon crash"},
}

// searches contains searches that have the same results in all sources.
var searches = []struct {
	query  string
	fields []string
	want   []string
}{
	{query: "crash", want: []string{"3", "2", "1"}},
	{query: "CRASH login", want: []string{"2", "1"}}, // one term in the title, the other in the body
	{query: "crash -login", want: []string{"3"}},
	{query: `"out of memory"`, want: []string{"1"}},
	{query: `memory -"out of memory" -crash`, want: []string{"6"}},
	{query: "memory", fields: []string{"title"}},
	{query: "login", fields: []string{"body"}},
	{query: "crash", fields: []string{"title"}, want: []string{"3", "1"}},
	{query: "crash", fields: []string{"body", "title"}, want: []string{"3", "2", "1"}},
	{query: "melon"},
	{query: "100", want: []string{"5"}},
	{query: "a-b", want: []string{"5"}},
	{query: "zebra"},
	{query: "crash zebra"},
	{query: `NOT AND OR : * ^ {secret} NEAR(a b) "`},
}

// searchable returns the sources that support the searches.
func searchable(t *testing.T) map[string]source.Source {
	class := schema.Class{Source: "s", Name: "notes", Table: "notes", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer},
		{Name: "title", Type: schema.String}, {Name: "body", Type: schema.String}, {Name: "secret", Type: schema.String}},
		Text: []schema.TextIndex{{Name: "words", Fields: []string{"title", "body", "secret"}}}}
	var rows []value.Row
	for _, n := range notes {
		row := value.Row{value.OfInt(int64(n[0].(int)))}
		for _, s := range n[1:] {
			if s == nil {
				row = append(row, value.Value{})
			} else {
				row = append(row, value.OfString(s.(string)))
			}
		}
		rows = append(rows, row)
	}
	const table = "CREATE TABLE notes (id INTEGER PRIMARY KEY, title text, body text, secret text)"
	rebuild := func(index string) string { return fmt.Sprintf("INSERT INTO %s (%[1]s) VALUES ('rebuild')", index) }
	return map[string]source.Source{
		"memory": memory.New([]schema.Class{class}, map[string][]value.Row{"notes": rows}),
		"SQLite, one index": sqliteNotes(t, []string{table, "CREATE VIRTUAL TABLE words USING fts5(secret, title, body, content='notes', content_rowid='id')"},
			rebuild("words")),
		"SQLite, an index each": sqliteNotes(t, []string{table, "CREATE VIRTUAL TABLE w1 USING fts5(secret, title, content='notes', content_rowid='id')",
			"CREATE VIRTUAL TABLE w2 USING fts5(body, content='notes')"}, rebuild("w1"), rebuild("w2")),
		"PostgreSQL": postgresNotes(t, table, "CREATE INDEX ON notes USING gin (to_tsvector('simple', title))",
			"CREATE INDEX ON notes USING gist (to_tsvector('simple', coalesce(body, '')))", "CREATE INDEX ON notes USING gin (to_tsvector('simple', secret))"),
		"PostgreSQL, a column of words": postgresNotes(t, table, `ALTER TABLE notes ADD words tsvector GENERATED ALWAYS AS
			(setweight(to_tsvector('simple', coalesce(title, '')), 'A') || setweight(to_tsvector('simple', coalesce(body, '')), 'B')) STORED`,
			"CREATE INDEX ON notes USING gin (words)",
			"ALTER TABLE notes ADD hidden tsvector GENERATED ALWAYS AS (to_tsvector('simple', secret || title)) STORED", "CREATE INDEX a ON notes USING gin (hidden)"),
	}
}

func sqliteNotes(t *testing.T, before []string, after ...string) source.Source {
	path := filepath.Join(t.TempDir(), "notes.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(statement string, args ...any) {
		if _, err := db.Exec(statement, args...); err != nil {
			t.Fatalf("%v in %s", err, statement)
		}
	}
	for _, s := range before {
		exec(s)
	}
	for _, n := range notes {
		exec("INSERT INTO notes VALUES (?, ?, ?, ?)", n[:]...)
	}
	for _, s := range after {
		exec(s)
	}
	src, err := sqlite.Open(t.Context(), "s", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

func postgresNotes(t *testing.T, statements ...string) source.Source {
	url := services.Postgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%v in %s", err, s)
		}
	}
	for _, n := range notes {
		if _, err := conn.Exec(t.Context(), "INSERT INTO notes (id, title, body, secret) VALUES ($1, $2, $3, $4)", n[:]...); err != nil {
			t.Fatal(err)
		}
	}
	src, err := postgres.Open(t.Context(), "s", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// TestSearch checks that every source returns the expected results.
func TestSearch(t *testing.T) {
	for name, src := range searchable(t) {
		t.Run(name, func(t *testing.T) {
			p := overNotes(t, src)
			for _, tt := range searches {
				if len(tt.fields) == 1 && name == "PostgreSQL, a column of words" {
					continue // its index covers both fields
				}
				if got := found(t, src, p, tt.query, tt.fields); !cmp.Equal(got, tt.want) {
					t.Errorf("%s in %v: %v, want %v", tt.query, tt.fields, got, tt.want)
				}
			}
		})
	}
}

func overNotes(t *testing.T, src source.Source) *policy.Policy {
	t.Helper()
	classes, warnings, err := src.Describe(t.Context())
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	p, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"notes": {Denied: []string{"secret"}}}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// found returns the ids of the matching records, in order.
func found(t *testing.T, src source.Source, p *policy.Policy, text string, fields []string) []string {
	t.Helper()
	rows, err := src.Read(t.Context(), searchFor(t, p, text, fields))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for row, err := range rows {
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		ids = append(ids, row[0].String())
	}
	return ids
}

func searchFor(t *testing.T, p *policy.Policy, text string, fields []string) policy.Permit {
	t.Helper()
	q, err := literals.ParseSearch(text, "/query")
	if err != nil {
		t.Fatal(err)
	}
	q.Fields = fields
	permit, err := p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}},
		&query.Find{Class: "notes", Search: q, Keys: []query.Path{{"id"}}, Sample: true, Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	return permit
}

// TestSearchPlan checks that a search uses the indexes of PostgreSQL. For that, the statement must contain the
// indexed expressions.
func TestSearchPlan(t *testing.T) {
	url := services.Postgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, s := range []string{"CREATE TABLE notes (id int PRIMARY KEY, title varchar(80), body text, secret text)", "SET enable_seqscan = off", "SET enable_indexscan = off",
		"INSERT INTO notes SELECT n, 'crash ' || n, 'login ' || n FROM generate_series(1, 2000) AS n",
		"CREATE INDEX by_title ON notes USING gin (to_tsvector('english', coalesce(title, '')))", "CREATE INDEX by_body ON notes USING gin (to_tsvector('simple', body))", "ANALYZE notes"} {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%v in %s", err, s)
		}
	}
	src, err := postgres.Open(t.Context(), "s", url)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	st, err := sqlgen.SQL(searchFor(t, overNotes(t, src), "7 12 -13", nil), postgres.Dialect())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), "EXPLAIN (COSTS OFF) "+st.Text, st.Args...)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	plan := strings.Join(lines, "\n")
	for _, index := range []string{"Bitmap Index Scan on by_title", "Bitmap Index Scan on by_body"} {
		if !strings.Contains(plan, index) {
			t.Errorf("no %s in\n%s", index, plan)
		}
	}
}

// TestSearchNeverFails searches for texts that might be syntax to a database. No text may make a search fail.
func TestSearchNeverFails(t *testing.T) {
	pieces := []string{"a", "crash", `"`, `""`, "'", "-", "--", "*", "(", ")", "{", "}", ":", "^", "+", " ", " ", "\x00", "\n", "AND", "OR", "NOT", "NEAR(", ", 3)", "title:", "&", "|", "!", "<->", "<2>",
		`\`, "%", ";", "é", "日本", "\u0301", "\U0001F600", "٣", "½", "/*", "*/", "$1", "?", "a.a.a.a.a.a", "http://a.b/c?d=e", "<b>", "&amp;", "1e400", "x@y.z", strings.Repeat("w", 90)}
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{strings.Repeat("a.", 199), strings.Repeat("<", 399) + "a", `"` + strings.Repeat("a ", 199)}
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(8) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		texts = append(texts, b.String())
	}
	for name, src := range searchable(t) {
		t.Run(name, func(t *testing.T) {
			p, asked := overNotes(t, src), 0
			for _, text := range texts {
				if _, err := literals.ParseSearch(text, ""); err == nil {
					found(t, src, p, text, nil)
					asked++
				}
			}
			if asked < 1500 {
				t.Errorf("only %d texts are searches", asked)
			}
		})
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	services.Stop()
	os.Exit(code)
}

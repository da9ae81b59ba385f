package sqlgen_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestSearchWithOthers shows a search together with the other conditions of a page.
func TestSearchWithOthers(t *testing.T) {
	p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{{Source: "app", Name: "notes", Table: "notes", Key: []string{"id"},
		Text:   []schema.TextIndex{{Name: "words", Key: "id", Fields: []string{"title"}}},
		Fields: []schema.Field{{Name: "id", Type: schema.Integer, Native: "INTEGER", NotNull: true}, {Name: "title", Type: schema.String, Native: "TEXT"}}}})
	if err != nil {
		t.Fatal(err)
	}
	words, err := literals.ParseSearch("crash", "")
	if err != nil {
		t.Fatal(err)
	}
	for conditions, want := range map[string]string{"": "", `{"title":{"$ne":null}}`: `v1."title" IS NOT NULL AND `} {
		permit, err := p.Read(reader, &query.Find{Class: "notes", Search: words, Where: where(t, conditions), Keys: paths("id"), Limit: 20})
		if err != nil {
			t.Fatal(err)
		}
		if permit, err = permit.From(policy.Position{After: []value.Value{value.OfInt(7)}}); err != nil {
			t.Fatal(err)
		}
		st, err := sqlgen.SQL(permit, sqlite.Dialect())
		want = `SELECT +v1."id" FROM (SELECT t."id", t."title" FROM "main"."notes" AS t) AS v1 WHERE ` + want +
			`v1."id" IN (SELECT f.rowid FROM "main"."words" AS f WHERE f."words" MATCH ?) AND (v1."id" > ?) ORDER BY v1."id" LIMIT +?`
		if got := arguments(st.Args); err != nil || st.Text != want || got != `'{"title"} : ("crash")' 7 21` {
			t.Errorf("%v\n got %s\n     %s\nwant %s", err, st.Text, got, want)
		}
	}
}

// TestSearch shows searches and their statements side by side.
func TestSearch(t *testing.T) {
	fts := func(name string, fields ...string) schema.TextIndex {
		return schema.TextIndex{Name: name, Key: "id", Fields: fields}
	}
	gin := func(config, field string, noNulls bool) schema.TextIndex {
		return schema.TextIndex{Name: "x_" + field, Config: config, Fields: []string{field}, NoNulls: noNulls}
	}
	for _, tt := range []struct {
		name, space string
		dialect     sqlgen.Dialect
		indexes     []schema.TextIndex
		query       string
		text, args  string
	}{
		{"one index", "", sqlite.Dialect(), []schema.TextIndex{fts("words", "title", `a "b"`, "hidden")}, `crash "out of" -now -"a b"`,
			`v1."id" IN (SELECT f.rowid FROM "main"."words" AS f WHERE f."words" MATCH ?)`,
			`'({"title" "a ""b"""} : ("crash" AND "out of")) NOT ({"title" "a ""b"""} : ("now" OR "a b"))'`},
		{"one index, nothing to leave out", "crm", sqlite.Dialect(), []schema.TextIndex{fts(`w"s`, "hidden", "title")}, `it's {hidden} :`,
			`v1."id" IN (SELECT f.rowid FROM "crm"."w""s" AS f WHERE f."w""s" MATCH ?)`, `'{"title"} : ("it's" AND "{hidden}")'`},
		{"two indexes", "", sqlite.Dialect(), []schema.TextIndex{fts("w1", "title"), fts("w2", `a "b"`)}, `one two -three`,
			`(v1."id" IN (SELECT f.rowid FROM "main"."w1" AS f WHERE f."w1" MATCH ?) OR v1."id" IN (SELECT f.rowid FROM "main"."w2" AS f WHERE f."w2" MATCH ?)) AND ` +
				`(v1."id" IN (SELECT f.rowid FROM "main"."w1" AS f WHERE f."w1" MATCH ?) OR v1."id" IN (SELECT f.rowid FROM "main"."w2" AS f WHERE f."w2" MATCH ?)) AND NOT ` +
				`(v1."id" IN (SELECT f.rowid FROM "main"."w1" AS f WHERE f."w1" MATCH ?) OR v1."id" IN (SELECT f.rowid FROM "main"."w2" AS f WHERE f."w2" MATCH ?))`,
			`'{"title"} : ("one")' '{"a ""b"""} : ("one")' '{"title"} : ("two")' '{"a ""b"""} : ("two")' '{"title"} : ("three")' '{"a ""b"""} : ("three")'`},
		{"one field", "", postgres.Dialect(), []schema.TextIndex{gin("english", "title", false), gin("simple", "hidden", false)}, `crash`,
			`(numnode(phraseto_tsquery('english'::regconfig, $1::text)) = 0 OR to_tsvector('english'::regconfig, v1."title") @@ phraseto_tsquery('english'::regconfig, $1::text))` +
				` AND numnode(phraseto_tsquery('english'::regconfig, $1::text)) > 0`, `'crash'`},
		{"two fields", "crm", postgres.Dialect(), []schema.TextIndex{gin("english", "title", true), gin("s.simple", `a "b"`, false)}, `crash -"now or"`,
			`(numnode(phraseto_tsquery('english'::regconfig, $1::text)) + numnode(phraseto_tsquery('s.simple'::regconfig, $1::text)) = 0` +
				` OR to_tsvector('english'::regconfig, COALESCE(v1."title", '')) @@ phraseto_tsquery('english'::regconfig, $1::text)` +
				` OR to_tsvector('s.simple'::regconfig, v1."a ""b""") @@ phraseto_tsquery('s.simple'::regconfig, $1::text))` +
				` AND numnode(phraseto_tsquery('english'::regconfig, $1::text)) + numnode(phraseto_tsquery('s.simple'::regconfig, $1::text)) > 0` +
				` AND ((to_tsvector('english'::regconfig, COALESCE(v1."title", '')) @@ phraseto_tsquery('english'::regconfig, $2::text)` +
				` OR to_tsvector('s.simple'::regconfig, v1."a ""b""") @@ phraseto_tsquery('s.simple'::regconfig, $2::text)) IS NOT TRUE)`, `'crash' 'now or'`},
		{"two indexes of one language", "", postgres.Dialect(), []schema.TextIndex{gin("english", "title", false), gin("english", `a "b"`, false)}, `crash`,
			`(numnode(phraseto_tsquery('english'::regconfig, $1::text)) = 0 OR to_tsvector('english'::regconfig, v1."title") @@ phraseto_tsquery('english'::regconfig, $1::text)` +
				` OR to_tsvector('english'::regconfig, v1."a ""b""") @@ phraseto_tsquery('english'::regconfig, $1::text)) AND numnode(phraseto_tsquery('english'::regconfig, $1::text)) > 0`, `'crash'`},
		{"two columns of words", "", postgres.Dialect(), []schema.TextIndex{{Config: "simple", Fields: []string{"title"}, Column: "title"}, {Config: "simple", Fields: []string{`a "b"`}, Column: `a "b"`}}, `crash`,
			`(numnode(phraseto_tsquery('simple'::regconfig, $1::text)) = 0 OR v1."title" @@ phraseto_tsquery('simple'::regconfig, $1::text) OR v1."a ""b""" @@ phraseto_tsquery('simple'::regconfig, $1::text))` +
				` AND numnode(phraseto_tsquery('simple'::regconfig, $1::text)) > 0`, `'crash'`},
		{"a column of words", "", postgres.Dialect(), []schema.TextIndex{{Config: "english", Fields: []string{"title", `a "b"`}, Column: "title"}}, `crash -now`,
			`(numnode(phraseto_tsquery('english'::regconfig, $1::text)) = 0 OR v1."title" @@ phraseto_tsquery('english'::regconfig, $1::text))` +
				` AND numnode(phraseto_tsquery('english'::regconfig, $1::text)) > 0 AND ((v1."title" @@ phraseto_tsquery('english'::regconfig, $2::text)) IS NOT TRUE)`,
			`'crash' 'now'`},
		{"none here", "", mariadb.Dialect(), []schema.TextIndex{gin("", "title", false)}, `crash`, "unsupported_by_source: full-text indexes of MariaDB are not searched", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			native := map[sqlgen.Dialect]string{sqlite.Dialect(): "TEXT", postgres.Dialect(): "text", mariadb.Dialect(): "varchar"}[tt.dialect]
			class := schema.Class{Source: "app", Name: "notes", Table: "notes", Space: tt.space, Key: []string{"id"}, Text: tt.indexes, Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "INTEGER", NotNull: true}, {Name: "title", Type: schema.String, Native: native},
				{Name: `a "b"`, Type: schema.String, Native: native}, {Name: "hidden", Type: schema.String, Native: native}}}
			p, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"notes": {Denied: []string{"hidden"}}}}, []schema.Class{class})
			if err != nil {
				t.Fatal(err)
			}
			words, err := literals.ParseSearch(tt.query, "")
			if err != nil {
				t.Fatal(err)
			}
			permit, err := p.Read(reader, &query.Find{Class: "notes", Search: words, Keys: []query.Path{{"id"}}, Limit: 20})
			if err != nil {
				t.Fatal(err)
			}
			st, err := sqlgen.SQL(permit, tt.dialect)
			if err != nil {
				if err.Error() != tt.text {
					t.Fatal(err)
				}
				return
			}
			_, got, _ := strings.Cut(st.Text, "AS v1 WHERE ")
			if got, _, _ = strings.Cut(got, " ORDER BY "); got != tt.text {
				t.Errorf("%s\nwant %s", st.Text, tt.text)
			}
			if got := arguments(st.Args[:len(st.Args)-1]); got != tt.args {
				t.Errorf("arguments %s, want %s", got, tt.args)
			}
		})
	}
}

package postgres

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/schema"
)

func TestVector(t *testing.T) {
	for _, tt := range []struct {
		expression string
		want       *schema.TextIndex
	}{
		{`to_tsvector('english'::regconfig, title)`, &schema.TextIndex{Config: "english", Fields: []string{"title"}}},
		{`to_tsvector('s.words'::regconfig, "a ""b"", c")`, &schema.TextIndex{Config: "s.words", Fields: []string{`a "b", c`}}},
		{`to_tsvector('simple'::regconfig, title::text)`, &schema.TextIndex{Config: "simple", Fields: []string{"title"}}},
		{`to_tsvector('simple'::regconfig, (title)::text)`, &schema.TextIndex{Config: "simple", Fields: []string{"title"}}},
		{`to_tsvector('simple'::regconfig, COALESCE(title, ''::text))`, &schema.TextIndex{Config: "simple", Fields: []string{"title"}, NoNulls: true}},
		{`to_tsvector('simple'::regconfig, COALESCE(title, ''::character varying)::text)`, &schema.TextIndex{Config: "simple", Fields: []string{"title"}, NoNulls: true}},
		{`to_tsvector('simple'::regconfig, COALESCE(title::text, ''::text))`, &schema.TextIndex{Config: "simple", Fields: []string{"title"}, NoNulls: true}},
		{`to_tsvector('simple'::regconfig, COALESCE(title, 'x'::text))`, nil},
		{`to_tsvector('simple'::regconfig, (title || ' '::text) || secret)`, nil},
		{`to_tsvector('simple'::regconfig, lower(title))`, nil},
		{`to_tsvector('simple'::regconfig, title) || to_tsvector('simple'::regconfig, secret)`, nil},
		{`to_tsvector(config, title)`, nil},
		{`to_tsvector('it''s'::regconfig, title)`, nil},
		{`setweight(to_tsvector('simple'::regconfig, title), 'A'::"char")`, nil},
		{`s.to_tsvector('simple'::regconfig, title)`, nil},
		{`title gin_trgm_ops`, nil},
		{``, nil},
	} {
		checkIndex(t, tt.expression, tt.want, vector)
	}
}

func TestGenerated(t *testing.T) {
	for _, tt := range []struct {
		expression string
		want       *schema.TextIndex
	}{
		{`to_tsvector('english'::regconfig, title)`, &schema.TextIndex{Config: "english", Fields: []string{"title"}}},
		{`to_tsvector('english'::regconfig, (COALESCE(title, ''::text) || ' '::text) || COALESCE(body, 'it''s ("x"'::text))`,
			&schema.TextIndex{Config: "english", Fields: []string{"title", "body"}}},
		{`setweight(to_tsvector('simple'::regconfig, COALESCE(title, ''::character varying)::text), 'A'::"char") || setweight(to_tsvector('simple'::regconfig, "B ""x"""), 'B'::"char")`,
			&schema.TextIndex{Config: "simple", Fields: []string{"title", `B "x"`}}},
		{`to_tsvector('english'::regconfig, title) || to_tsvector('simple'::regconfig, body)`, nil},
		{`to_tsvector('english'::regconfig, secret_of(title))`, nil},
		{`to_tsvector('english'::regconfig, s.secret_of(title))`, nil},
		{`to_tsvector('english'::regconfig, "Secret"(title))`, nil},
		{`to_tsvector('english'::regconfig, CASE WHEN secret IS NULL THEN title ELSE ''::text END)`, nil},
		{`to_tsvector(config, title)`, nil},
		{`to_tsvector('english'::regconfig, doc ->> 'a'::text)`, nil},
		{`to_tsvector('english'::regconfig, (row).secret)`, nil},
		{`to_tsvector('english'::regconfig, 'x'::text)`, nil},
		{`to_tsvector('english'::regconfig, 'never closed)`, nil},
		{``, nil},
	} {
		checkIndex(t, tt.expression, tt.want, parseTextIndex)
	}
}

func checkIndex(t *testing.T, expression string, want *schema.TextIndex, read func(string) (schema.TextIndex, bool)) {
	t.Helper()
	got, ok := read(expression)
	if ok != (want != nil) {
		t.Errorf("%s: %t %v", expression, ok, got)
	} else if ok {
		if d := cmp.Diff(*want, got); d != "" {
			t.Errorf("%s: %s", expression, d)
		}
	}
}

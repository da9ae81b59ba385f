package sqlite

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVirtual(t *testing.T) {
	for _, tt := range []struct {
		ddl, module string
		args        []string
		ok          bool
	}{
		{"CREATE VIRTUAL TABLE f USING fts5(a, b UNINDEXED)", "fts5", []string{"a", "b UNINDEXED"}, true},
		{"CREATE VIRTUAL TABLE \"using fts5(x\" USING\nFTS5 ( a , content='t, ''u''' )", "FTS5", []string{"a", "content='t, ''u'''"}, true},
		{"CREATE VIRTUAL TABLE f USING rtree_i32(id, x0, x1)", "rtree_i32", []string{"id", "x0", "x1"}, true},
		{"CREATE VIRTUAL TABLE f USING fts5(a, tokenize=\"unicode61 tokenchars '-,('\")", "fts5", []string{"a", "tokenize=\"unicode61 tokenchars '-,('\""}, true},
		{"CREATE VIRTUAL TABLE f USING dbstat", "dbstat", nil, true},
		{"CREATE VIRTUAL TABLE f USING fts5(a /* , content=b */)", "fts5", nil, false},
		{"CREATE TABLE f (using int)", "", nil, false},
		{"", "", nil, false},
	} {
		module, args, ok := virtual(tt.ddl)
		if module != tt.module || ok != tt.ok || !slices.Equal(args, tt.args) {
			t.Errorf("%s: %q %q %t", tt.ddl, module, args, ok)
		}
	}
}

func TestAssignment(t *testing.T) {
	for _, tt := range []struct {
		arg, option, value string
		ok                 bool
	}{
		{"content='a b'", "content", "a b", true},
		{"Content_Rowid = id", "content_rowid", "id", true},
		{"tokenize=[porter ascii]", "tokenize", "porter ascii", true},
		{`content=""`, "content", "", true},
		{"detail = full x", "detail", "", true},
		{"a UNINDEXED", "", "", false},
		{`"content=x"`, "", "", false},
		{"", "", "", false},
	} {
		if option, v, ok := assignment(tt.arg); option != tt.option || v != tt.value || ok != tt.ok {
			t.Errorf("%s: %q %q %t", tt.arg, option, v, ok)
		}
	}
}

func TestTextTables(t *testing.T) {
	got := slices.Sorted(maps.Keys(textTables(map[string]string{
		"Notes": "CREATE VIRTUAL TABLE Notes USING fts5(a)",
		"words": "CREATE VIRTUAL TABLE words USING FTS5vocab(notes, row)",
		"old":   "CREATE VIRTUAL TABLE old USING fts4(a -- b\n)",
		"boxes": "CREATE VIRTUAL TABLE boxes USING rtree(id, a, b)",
	})))
	want := []string{"notes", "notes_config", "notes_content", "notes_data", "notes_docsize", "notes_idx",
		"old", "old_content", "old_docsize", "old_segdir", "old_segments", "old_stat", "words"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

package sqlgen_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
)

// TestObject shows a record as JSON: ids as text, JSON unchanged, and nested objects, or null if there was no record.
func TestObject(t *testing.T) {
	at := func(path string, typ schema.Type) plan.Column {
		return plan.Column{Path: query.ParsePath(path), Type: typ}
	}
	id := func(typ schema.Type) plan.Column {
		return plan.Column{Path: query.Path{"id"}, Type: typ, ID: true}
	}
	for _, tt := range []struct {
		columns  []plan.Column
		optional []query.Path
		more     []string
		want     string
	}{
		{[]plan.Column{at("a", schema.JSON), {Type: schema.JSON}}, nil, nil, `jsonb_build_object(<a>, t.c1)`},
		{[]plan.Column{at("a", schema.Array)}, nil, nil, `jsonb_build_object(<a>, t.c1)`},
		{[]plan.Column{at("a", schema.Opaque)}, nil, nil, `jsonb_build_object(<a>, to_jsonb(t.c1))`},
		{[]plan.Column{at("a", schema.Bytes)}, nil, nil, `jsonb_build_object(<a>, to_jsonb(translate(encode(t.c1, 'base64'), chr(10), '')))`},
		{[]plan.Column{id(schema.Integer)}, nil, nil, `jsonb_build_object(<id>, to_jsonb((t.c1::text COLLATE "C")))`},
		{[]plan.Column{id(schema.UUID)}, nil, nil, `jsonb_build_object(<id>, to_jsonb(t.c1))`},
		{[]plan.Column{at("a", schema.Integer)}, nil, []string{"steps", "t.d"}, `jsonb_build_object(<a>, to_jsonb(t.c1), <steps>, t.d)`},
		{[]plan.Column{at("a.b", schema.JSON), at("c", schema.JSON), at("a.d.e", schema.JSON), at("a.d.f", schema.JSON)}, nil, nil,
			`jsonb_build_object(<a>, jsonb_build_object(<b>, t.c1, <d>, jsonb_build_object(<e>, t.c3, <f>, t.c4)), <c>, t.c2)`},
		{[]plan.Column{at("a.b", schema.JSON), at("a.d.e", schema.JSON)}, []query.Path{{"a", "d"}}, nil,
			`jsonb_build_object(<a>, jsonb_build_object(<b>, t.c1, <d>, (CASE WHEN (t.c2 IS NOT NULL) THEN jsonb_build_object(<e>, t.c2) END)))`},
		{[]plan.Column{at("a.b", schema.JSON), at("a.c", schema.JSON)}, []query.Path{{"a"}}, nil,
			`jsonb_build_object(<a>, (CASE WHEN (t.c1 IS NOT NULL OR t.c2 IS NOT NULL) THEN jsonb_build_object(<b>, t.c1, <c>, t.c2) END))`},
	} {
		shape := plan.Shape{Columns: tt.columns, Optional: tt.optional}
		if got := sqlgen.ObjectText(postgres.Dialect(), shape, tt.more...); got != tt.want {
			t.Errorf("%v\n got %s\nwant %s", tt.columns, got, tt.want)
		}
	}
	// A value of an opaque type is written as its text. MariaDB must quote that text.
	for typ, want := range map[schema.Type]string{schema.Opaque: "(JSON_QUOTE(t.c1) COLLATE utf8mb4_nopad_bin)", schema.Array: "t.c1", schema.JSON: "t.c1"} {
		if got := sqlgen.LeafText(mariadb.Dialect(), at("a", typ)); got != want {
			t.Errorf("%s: %s, want %s", typ, got, want)
		}
	}
	// An id is written as text, even if it is a decimal or a double.
	for _, typ := range []schema.Type{schema.Decimal, schema.Double} {
		d := postgres.Dialect()
		if got, want := sqlgen.LeafText(d, id(typ)), `to_jsonb(`+d.Convert(columns{}, "t.c1", typ, schema.String)+`)`; got != want {
			t.Errorf("%s: %s, want %s", typ, got, want)
		}
	}
}

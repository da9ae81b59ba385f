package sqlgen_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
)

var (
	guarded = regexp.MustCompile(`CASE WHEN octet_length\((.+?)\) <= (\d+) THEN (.+?) END`)
	sizes   = regexp.MustCompile(`, CASE WHEN octet_length\([^?]+? THEN concat_ws\(',', (.+?)\) END FROM`)
)

// plain returns a statement's text without the limits on the lengths of values, which TestBounds shows. It checks
// that the number of limits matches the statement's Bounded.
func plain(t *testing.T, st sqlgen.Statement) string {
	t.Helper()
	if n := len(guarded.FindAllString(st.Text, -1)); n != len(st.Bounded) {
		t.Errorf("%d bounds, %d columns that have one: %s", n, len(st.Bounded), st.Text)
	}
	if len(st.Bounded) == 0 {
		return st.Text
	}
	text := guarded.ReplaceAllString(st.Text, "$3")
	if m := sizes.FindStringSubmatch(text); m == nil || strings.Count(m[1], "coalesce(") != len(st.Bounded) {
		t.Errorf("no column tells %d lengths: %s", len(st.Bounded), st.Text)
	}
	return sizes.ReplaceAllString(text, " FROM")
}

// TestBounds shows that the database returns the length of a value that is too long, and not the value.
func TestBounds(t *testing.T) {
	const from = ` FROM (SELECT t."id", t."name", t."plan" FROM "public"."orgs" AS t) AS v1 ORDER BY v1."id" COLLATE "C" LIMIT $1`
	for _, tt := range []struct {
		most int
		want string
	}{
		{0, `SELECT CASE WHEN octet_length(v1."id") <= 1048576 THEN v1."id" END, CASE WHEN octet_length(v1."plan"::text) <= 1048576 THEN v1."plan" END, ` +
			`CASE WHEN octet_length(v1."id") > 1048576 OR octet_length(v1."plan"::text) > 1048576 THEN ` +
			`concat_ws(',', coalesce(octet_length(v1."id"), 0), coalesce(octet_length(v1."plan"::text), 0)) END` + from},
		{100, `SELECT CASE WHEN octet_length(v1."id") <= 100 THEN v1."id" END, CASE WHEN octet_length(v1."plan"::text) <= 100 THEN v1."plan" END, ` +
			`CASE WHEN octet_length(v1."id") > 100 OR octet_length(v1."plan"::text) > 100 THEN ` +
			`concat_ws(',', coalesce(octet_length(v1."id"), 0), coalesce(octet_length(v1."plan"::text), 0)) END` + from},
	} {
		permit := permitted(t, postgres.Dialect(), nil, &query.Find{Class: "orgs", Keys: []query.Path{{"plan"}}, Limit: 1}, nil)
		permit, err := permit.Within(tt.most)
		if err != nil {
			t.Fatal(err)
		}
		st, err := sqlgen.SQL(permit, postgres.Dialect())
		if err != nil || st.Text != tt.want || fmt.Sprint(st.Bounded) != "[0 1]" {
			t.Errorf("%v, %v\n got %s\nwant %s", err, st.Bounded, st.Text, tt.want)
		}
	}
	if _, err := (policy.Permit{}).Within(1); err == nil {
		t.Error("the zero Permit was bounded")
	}
}

// TestBoundOfRecords checks that a record has at most four MiB, however many values it has. A caller can set another
// maximum for a single value. Each value may have at least 64 KiB.
func TestBoundOfRecords(t *testing.T) {
	for _, tt := range []struct{ columns, most, want int }{
		{1, 0, 1 << 20}, {4, 0, 1 << 20}, {5, 0, 838860}, {64, 0, 64 << 10}, {200, 0, 64 << 10}, {1, 100_000, 100_000}, {41, 100_000, 100_000}, {64, 100_000, 64 << 10},
		{64, 100, 100}, {1, 16 << 20, 16 << 20}, {16, 16 << 20, 1 << 20},
	} {
		class := schema.Class{Source: "app", Name: "wide", Table: "wide"}
		for i := range tt.columns {
			class.Fields = append(class.Fields, schema.Field{Name: fmt.Sprintf("f%d", i), Type: schema.String, Native: "text"})
		}
		p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{class})
		if err != nil {
			t.Fatal(err)
		}
		permit, err := p.Read(reader, &query.Find{Class: "wide", Limit: 1})
		if err == nil {
			permit, err = permit.Within(tt.most)
		}
		if err != nil {
			t.Fatal(err)
		}
		if st, err := sqlgen.SQL(permit, postgres.Dialect()); err != nil || st.Most != tt.want || len(st.Bounded) != tt.columns {
			t.Errorf("%d columns of at most %d: %d bytes each of %d, %v; want %d", tt.columns, tt.most, st.Most, len(st.Bounded), err, tt.want)
		}
	}
}

// TestShortValues checks that values that can't be long have no limit. In SQLite, a column may contain values of any
// type. Only numbers, dates and ids can't be long there.
func TestShortValues(t *testing.T) {
	field := func(typ schema.Type, length int) *schema.Field {
		return &schema.Field{Type: typ, Length: length, Native: "x"}
	}
	for _, tt := range []struct {
		field *schema.Field
		want  string // the databases in which values of the field have a limit
	}{
		{field(schema.Integer, 0), ""}, {field(schema.UUID, 0), ""}, {field(schema.Date, 0), ""}, {field(schema.Decimal, 0), ""},
		{field(schema.String, 255), "sqlite"}, {field(schema.String, 8192), "sqlite"}, {field(schema.String, 8193), "sqlite postgresql mariadb"}, {field(schema.String, 0), "sqlite postgresql mariadb"},
		{field(schema.Bytes, 16), "sqlite postgresql mariadb"}, {field(schema.JSON, 0), "sqlite postgresql mariadb"}, {field(schema.Any, 0), "sqlite postgresql mariadb"},
		{field(schema.Opaque, 0), "sqlite postgresql mariadb"}, {field(schema.Array, 0), "sqlite postgresql mariadb"},
	} {
		var got []string
		for _, d := range databases {
			if sqlgen.Long(d.dialect, tt.field) {
				got = append(got, d.name)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s of length %d is bounded in %v; want %s", tt.field.Type, tt.field.Length, got, tt.want)
		}
	}
}

package sqlite_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// literal is a scope that writes values directly into the text.
type literal struct{ sqlgen.Scope }

func (literal) Arg(v any, _ string) string { return fmt.Sprintf("<%v>", v) }
func (literal) Alias(prefix string) string { return prefix + "1" }

// TestTexts checks properties of the text that results don't show: faster forms, columns of other types, and limits
// to the depth of an expression.
func TestTexts(t *testing.T) {
	d, s := sqlite.Dialect(), literal{}
	text := func(x string, err error) string { return fmt.Sprint(x, err) }
	find := func(f, g schema.Field) string {
		test, exact := d.Find("x", &f, "y", &g)
		if exact {
			test += " exact"
		}
		return test
	}
	by, show := d.Key(s, "x", schema.Any, false)
	firstKey := func(f schema.Field) string {
		by, show := sqlite.First().KeyOf("x", &f)
		return by + "; " + show
	}
	firstSum := func(op plan.Accumulate, f schema.Field) string {
		return sqlite.First().AccumulateOf(op, "x", &f)
	}
	number, firm := schema.Field{Type: schema.Integer, Typing: schema.Converting}, schema.Field{Type: schema.Integer, Typing: schema.Strict}
	many := slices.Repeat([]string{"x"}, 16) // 33 parts with separators and brackets
	parts := []string{"'['", "coalesce(x, 'null')"}
	for range many[1:] {
		parts = append(parts, "','", "coalesce(x, 'null')")
	}
	parts = append(parts, "']'")
	join := func(from, to int) string { return "(" + strings.Join(parts[from:to], " || ") + ")" }
	for _, tt := range []struct{ got, want string }{
		{text(d.Apply(s, plan.Apply{Op: plan.Add, T: schema.Decimal}, []string{"x", "y"})), "bailiwick_add_decimal(x, y)<nil>"},
		{text(d.Apply(s, plan.Apply{Op: plan.Div, T: schema.Decimal}, []string{"x", "y"})), "bailiwick_divide(x, y)<nil>"},
		{text(d.Apply(s, plan.Apply{Op: plan.Mod, T: schema.Decimal}, []string{"x", "y"})), "bailiwick_modulo(x, y)<nil>"},
		{text(d.Compare(s, plan.Eq, "x", "y", schema.Array)), "(bailiwick_json_compare(x, y) = 0)<nil>"},
		{d.(sqlgen.NullComparer).CompareNull(plan.Gte, "x", "y", schema.Array), "(bailiwick_json_compare(x, y) IN (0, 1))"},
		{by + "; " + show, "x COLLATE BINARY; coalesce(min(x COLLATE BINARY) FILTER (WHERE typeof(x COLLATE BINARY) = 'integer'), min(x COLLATE BINARY))"},
		{text(d.Accumulate(s, plan.Min, "x", schema.Array)), "bailiwick_json_min(x)<nil>"},
		{text(d.Accumulate(s, plan.Avg, "x", schema.Double)), "bailiwick_avg(x)<nil>"},
		{text(d.Accumulate(s, plan.Avg, "x", schema.Integer)),
			"(((sum(x >> 32) + (sum(x & 4294967295) >> 32)) * 4294967296.0 + (sum(x & 4294967295) & 4294967295)) / count(x))<nil>"},
		{find(schema.Field{Type: schema.Integer}, schema.Field{Type: schema.Integer}), "(x = y)"},
		{find(schema.Field{Type: schema.Integer}, schema.Field{Type: schema.String}), ""},
		{find(number, number), "(x = y)"}, {find(number, firm), "(x = y) exact"}, {find(firm, schema.Field{Type: schema.Integer}), "(x = y)"},
		{firstKey(number), "x; CASE WHEN typeof(x) IN ('integer', 'null') THEN x ELSE bailiwick_doubt(x) END"}, {firstKey(firm), "x; +x"}, {firstKey(schema.Field{Type: schema.Integer}), "; "},
		{firstKey(schema.Field{Type: schema.String, Typing: schema.Converting, Unordered: true}), "; "}, {firstKey(schema.Field{Type: schema.Bytes, Typing: schema.Strict}), "; "},
		{firstSum(plan.Sum, number), "coalesce(sum(x) FILTER (WHERE typeof(x) = 'integer'), 0)"}, {firstSum(plan.Sum, firm), ""}, {firstSum(plan.Avg, number), ""},
		{firstSum(plan.Max, schema.Field{Type: schema.String}), "max(x) FILTER (WHERE typeof(x) = 'text')"}, {firstSum(plan.Max, schema.Field{Type: schema.String, Unordered: true}), ""},
		{d.StoredValue(s, "x", &firm), "+x"}, {d.StoredValue(s, "x", &number), "CASE WHEN typeof(x) = 'integer' THEN x END"},
		{find(schema.Field{Type: schema.String}, schema.Field{Type: schema.String}), "(x = y)"},
		{find(schema.Field{Type: schema.String, Unordered: true}, schema.Field{Type: schema.String}), ""},
		{find(schema.Field{Type: schema.String}, schema.Field{Type: schema.String, Unordered: true}), ""},
		{find(schema.Field{Type: schema.Double}, schema.Field{Type: schema.Double}), ""},
		{find(schema.Field{Type: schema.UUID}, schema.Field{Type: schema.UUID}), "(x IN (y, lower(y), upper(y)))"},
		{d.Const(s, value.OfDate(-1), schema.Date), "<-1>"}, {d.Const(s, value.OfDate(-1000), schema.Date), "<-1>"}, {d.Const(s, value.OfDate(1999), schema.Date), "<1>"},
		{d.As(s, "x", schema.Any, schema.Double), "bailiwick_any_double(x)"}, {d.As(s, "x", schema.Any, schema.Integer), "bailiwick_as_integer(bailiwick_of_any(x))"},
		{d.Convert(s, "x", schema.Any, schema.Integer), "bailiwick_to_integer_json(bailiwick_of_any(x))"}, {d.Convert(s, "x", schema.Integer, schema.Bytes), "NULL"},
		{text(sqlite.First().Accumulate(s, plan.Sum, "x", schema.Integer)), "coalesce(sum(x), 0)<nil>"},
		{d.StoredValue(s, "x", &schema.Field{Type: schema.Date, Stored: &schema.Stored{}}), "x"}, {d.StoredValue(s, "x", &schema.Field{Type: schema.Date}), "bailiwick_instant(x)"},
		{d.StoredValue(s, "x", &schema.Field{Type: schema.Day, Stored: &schema.Stored{}}), "x"}, {d.StoredValue(s, "x", &schema.Field{Type: schema.Day}), "bailiwick_day(x)"},
		{text(d.Accumulate(s, plan.CountDistinct, "x", schema.JSON)), "count(DISTINCT bailiwick_json_key(x))<nil>"}, {text(d.Accumulate(s, plan.Count, "", schema.Any)), "count(*)<nil>"},
		{d.Widen(s, "x", schema.Integer, schema.Double), "CAST(x AS REAL)"}, {d.Widen(s, "x", schema.Integer, schema.Decimal), "x"},
		{d.List(s, many), "(" + join(0, 16) + " || (" + join(16, 24) + " || " + join(24, 33) + "))"},
	} {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}

// TestBounds checks the number of bytes that a condition of a view may copy and read. If the dialect limits the read
// bytes, views are computed apart.
func TestBounds(t *testing.T) {
	for _, tt := range []struct {
		of           sqlgen.Dialect
		copied, read int
	}{{sqlite.Dialect(), 4 << 20, 0}, {sqlite.First(), 4 << 20, 0}, {sqlite.Apart(), 4 << 20, 40 << 20}} {
		if copied, read := tt.of.Bounds(); copied != tt.copied || read != tt.read {
			t.Errorf("%T: %d, %d", tt.of, copied, read)
		}
	}
}

// TestOverBody checks that the body of an Over gets the result so far only in a Reduce. Errors of the body must be
// returned.
func TestOverBody(t *testing.T) {
	for do, want := range map[plan.Each]string{plan.MapEach: "e1.value ", plan.SelectEach: "e1.value ", plan.ReduceEach: "e1.value r1.v"} {
		var got string
		if _, err := sqlite.Dialect().Over(literal{}, sqlgen.Over{Do: do, Input: "x", Initial: "y", Body: func(_ sqlgen.Scope, element, before string) (string, error) {
			got = element + " " + before
			return "b", nil
		}}); err != nil || got != want {
			t.Errorf("%d: %q, %v; want %q", do, got, err, want)
		}
	}
	fault := errors.New("no body")
	if _, err := sqlite.Dialect().Over(literal{}, sqlgen.Over{Input: "x", Body: func(sqlgen.Scope, string, string) (string, error) { return "", fault }}); !errors.Is(err, fault) {
		t.Error(err)
	}
}

package postgres_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/dialecttest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// columns are the fields for which conditions are written.
var columns = []schema.Field{
	{Name: "text", Type: s, Native: "text"}, {Name: "varchar", Type: s, Native: "varchar"}, {Name: "text in an order of its own", Type: s, Native: "text", Unordered: true},
	{Name: "citext", Type: s, Native: "citext", Unordered: true}, {Name: "enum", Type: s, Native: "mood"}, {Name: "int4", Type: i, Native: "int4"},
	{Name: "float4", Type: d, Native: "float4"}, {Name: "float8", Type: d, Native: "float8"}, {Name: "numeric", Type: m, Native: "numeric"}, {Name: "money", Type: m, Native: "money"},
	{Name: "bool", Type: b, Native: "bool"}, {Name: "date", Type: schema.Day, Native: "date"}, {Name: "uuid", Type: schema.UUID, Native: "uuid"},
	{Name: "bytea", Type: schema.Bytes, Native: "bytea"}, {Name: "jsonb", Type: j, Native: "jsonb"}, {Name: "inet", Type: schema.Opaque, Native: "inet"},
	{Name: "inet[]", Type: schema.Array, Native: "inet"}, {Name: "xml", Type: schema.Opaque, Native: "xml"},
}

// shown returns the statement that write writes, with its arguments.
func shown(t *testing.T, write func(*sqlgen.Writer) error) string {
	t.Helper()
	var w sqlgen.Writer
	if err := write(&w); err != nil {
		return "refused: " + problem.Of(err).Detail
	}
	text, args, err := w.Statement(postgres.Dialect(), sqlgen.MaxText)
	if err != nil {
		t.Fatal(err)
	}
	return dialecttest.WithArguments(text, args)
}

// conditions writes how columns are read, ordered and compared.
func conditions(t *testing.T, b *dialecttest.Sheet) {
	c := postgres.Dialect()
	b.Part("conditions")
	for _, f := range columns {
		sorted, _ := c.OrderTerm("x", &f)
		b.Line(f.Name, strings.Join([]string{c.Read("x", &f), c.AsText("x", &f), sorted}, "; "))
	}
	for _, f := range columns {
		of := sqlgen.Operand{Text: "x", Field: &f}
		if f.Type == s || f.Type == schema.Opaque {
			for _, op := range []string{"=", ">"} {
				b.Line(f.Name+" "+op, shown(t, func(w *sqlgen.Writer) error { return c.CompareValue(w, of, op, "v") }))
			}
		}
		values := []value.Value{value.OfInt(1), value.OfDecimal("1.5")}
		switch f.Type {
		case s, schema.Opaque, schema.UUID, schema.Boolean, schema.Bytes:
			values = []value.Value{value.OfString("v"), value.OfString("w")}
		case schema.Day:
			values = []value.Value{value.OfDay(0), value.OfDay(1)}
		}
		b.Line(f.Name+" of two", shown(t, func(w *sqlgen.Writer) error { return c.Among(w, of, values) }))
	}
	for _, f := range columns[:5] {
		for _, g := range columns[:5] {
			b.Line("keys "+f.Name+", "+g.Name, c.JoinKey("x", &f, &g)+" = "+c.JoinKey("y", &g, &f))
		}
	}
	for _, pair := range [][2]int{{5, 0}, {6, 7}, {9, 8}, {6, 6}} {
		f, g := &columns[pair[0]], &columns[pair[1]]
		b.Line("keys "+f.Name+", "+g.Name, c.JoinKey("x", f, g)+" = "+c.JoinKey("y", g, f))
	}
	for _, f := range []schema.Field{columns[0], columns[3], columns[5]} {
		node, key := c.Members(sqlgen.Operand{Text: "x"}, "k", &f)
		b.Line("members of "+f.Name, node+" = "+key)
	}
}

// searches writes how words are found in tsvector columns, with and without a trigger.
func searches(t *testing.T, b *dialecttest.Sheet) {
	b.Part("searches")
	for _, kept := range []bool{false, true} {
		of := &policy.Search{Terms: []string{"t"}, In: []policy.Searched{
			{Index: &schema.TextIndex{Config: "english", Column: "words", Kept: kept}, Fields: []string{"a", "b", "c"}},
			{Index: &schema.TextIndex{Config: "simple"}, Fields: []string{"d"}},
		}}
		name := "words"
		if kept {
			name = "words of a trigger"
		}
		b.Line(name, shown(t, func(w *sqlgen.Writer) error { return postgres.Dialect().Search(named{w}, "", of) }))
	}
}

// A named is a text whose columns have the names of their fields.
type named struct{ *sqlgen.Writer }

func (named) Quote(name string) string  { return name }
func (named) Column(name string) string { return name }

package typecheck_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A record is a Scope of fields without pointers.
type record map[string]schema.Type

func (r record) Field(path query.Path, at string) (*schema.Field, string, int, error) {
	t, ok := r[path[0]]
	if !ok {
		return nil, "", 0, problem.Invalid(at, "unknown field %q", path[0])
	}
	return &schema.Field{Name: path[0], Type: t}, path[0], 1, nil
}
func (record) ID(string) bool                           { return false }
func (record) Pointer(string) (string, string)          { return "", "" }
func (record) AllowedValues(string) []typecheck.Allowed { return nil }

// Relations without other classes.
type alone struct{ typecheck.Relations }

// TestMeant has rows for comparisons that mean another one: with a field for which the meaning applies, and with a
// field for which it doesn't. Owners' rules (without relations) are bound exactly as written.
func TestMeant(t *testing.T) {
	fields := record{"t": schema.String, "n": schema.Integer, "b": schema.Boolean, "l": schema.Array, "j": schema.JSON, "d": schema.Double}
	for _, tt := range []struct{ where, want, rule string }{
		{`{"t": ["a", "b"]}`, `{"t":{"$in":["a","b"]}} /t: a list was taken as $in: t holds one value`, `never`},
		{`{"t": {"$ne": ["a"]}}`, `{"t":{"$nin":["a"]}} /t/$ne: a list was taken as $nin: t holds one value`, `all`},
		{`{"l": ["a"]}`, `{"l":{"$eq":["a"]}}`, `{"l":{"$eq":["a"]}}`},
		{`{"j": ["a"]}`, `{"j":{"$eq":["a"]}}`, `{"j":{"$eq":["a"]}}`},
		{`{"n": {">": 5, "lt": 9}}`, `{"$and":[{"n":{"$gt":5}},{"n":{"$lt":9}}]} /n: {">":5,"lt":9} was taken as {"$gt":5,"$lt":9}`, `never`},
		{`{"n": {"between": [1, 5]}}`, `{"$and":[{"n":{"$gte":1}},{"n":{"$lte":5}}]} /n: {"between":[1,5]} was taken as {"$gte":1,"$lte":5}`, `never`},
		{`{"t": {"is null": true}}`, `{"t":{"$eq":null}} /t: {"is null":true} was taken as {"$eq":null}`, `never`},
		{`{"t": {"gt": "a", "unit": "b"}}`, `never /t: t is of type string, which is never like an object: this comparison matches nothing`, `never`},
		{`{"n": {"gt": 5, ">": 5, "after": 5, "<": 9, "lt": 9}}`, `never /n: n is of type integer, which is never like an object: this comparison matches nothing`, `never`},
		{`{"j": {"gt": 5}}`, `{"j":{"$eq":{"gt":5}}}`, `{"j":{"$eq":{"gt":5}}}`},
		{`{"n": "5"}`, `{"n":{"$eq":5}} /n: "5" was taken as 5: n is of type integer`, `never`},
		{`{"d": {"$in": ["2.5", "x", 1]}}`, `{"d":{"$in":[2.5,1]}} /d/$in: "2.5" was taken as 2.5: d is of type double /d/$in: d is of type double, which is never like a string: this comparison matches nothing`, `{"d":{"$in":[1]}}`},
		{`{"b": 1}`, `{"b":{"$eq":true}} /b: 1 was taken as true: b is of type boolean`, `never`},
		{`{"b": "False"}`, `{"b":{"$eq":false}} /b: "False" was taken as false: b is of type boolean`, `never`},
		{`{"b": 2}`, `never /b: b is of type boolean, which is never like an integer: this comparison matches nothing`, `never`},
		{`{"t": {"$contains": "a.b"}}`, `{"t":{"$regex":"a\\.b"}}`, `{"t":{"$regex":"a\\.b"}}`},
		{`{"l": {"$contains": "a.b"}}`, `{"l":{"$eq":"a.b"}}`, `{"l":{"$eq":"a.b"}}`},
		{`{"n": {"$contains": "a"}}`, `never /n/$contains: n is of type integer, and $contains matches strings alone: it matches nothing`, `never`},
		{`{"j": {"$contains": "a.b"}}`, `j may hold texts and lists, and $contains asks each another thing`, `j may hold texts and lists, and $contains asks each another thing`},
	} {
		for relations, want := range map[typecheck.Relations]string{alone{}: tt.want, nil: tt.rule} {
			v, err := value.Read([]byte(tt.where), 0)
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := query.ParseWhere(v, "")
			if err != nil {
				t.Fatal(tt.where, err)
			}
			f, notes, err := typecheck.Filter(parsed, fields, relations)
			got := ""
			switch f := f.(type) {
			case nil:
				got = problem.Of(err).Detail
			case query.Never:
				got = "never"
			case query.Not:
				if _, ok := f.Part.(query.Never); ok {
					got = "all"
				}
			default:
				got = query.Print(f).String()
			}
			if relations != nil {
				got = strings.Join(append([]string{got}, notes...), " ")
			}
			if got != want {
				t.Errorf("%s, with relations %t\n got %s\nwant %s", tt.where, relations != nil, got, want)
			}
		}
	}
}

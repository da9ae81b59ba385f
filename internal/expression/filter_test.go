package expression

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestFill checks the result of Fill for filters and claims, and the comparisons that it passes to check.
func TestFill(t *testing.T) {
	c := NewCompiler()
	for _, tt := range []struct{ filter, claims, want, checked string }{
		{`{"a": {"$cel": "principal.claims.x"}}`, `{"x": 1}`, `{"a":{"$eq":1}}`, `{"a":{"$eq":1}}`},
		{`{"a": 1}`, `{}`, `{"a":{"$eq":1}}`, ""},
		{`{"a": {"$cel": "principal.claims.x"}}`, `{"x": [1]}`, errKind.Error(), ""},
		{`{"a": {"$in": {"$cel": "principal.claims.x"}}}`, `{"x": [1]}`, `{"a":{"$in":[1]}}`, `{"a":{"$in":[1]}}`},
		{`{"a": {"$in": {"$cel": "principal.claims.x"}}}`, `{"x": 1}`, errKind.Error(), ""},
		{`{"a": {"$cel": "principal.y"}}`, `{}`, "character 1 of the expression: a principal has no \"y\". It has id, name, kind, owner, tenant, scopes, claims, token_id, parent, depth, author", ""},
		{`{"$nor": [{"a": {"$cel": "principal.claims.x"}}, {"b": 2}]}`, `{"x": 1}`, `{"$nor":[{"a":{"$eq":1}},{"b":{"$eq":2}}]}`, `{"a":{"$eq":1}}`},
		{`{"a": 5, "b": {"$not": {"$gt": {"$cel": "principal.claims.x"}}}}`, `{"x": 1}`, `{"$and":[{"a":{"$eq":5}},{"$not":{"b":{"$gt":1}}}]}`, `{"b":{"$gt":1}}`},
		{`{"b": {"$not": {"$gt": {"$cel": "principal.claims.x"}}}}`, `{}`, errNothing.Error(), ""},
		{`{"$and": [{"a": 1}, {"b": {"$cel": "principal.claims.x"}}]}`, `{}`, errNothing.Error(), ""},
		{`{"$or": [{"a": 1}, {"b": {"$cel": "principal.claims.x"}}]}`, `{}`, errNothing.Error(), ""},
		{`{"a": {"$elemMatch": {"b": {"$cel": "principal.claims.x"}}}}`, `{"x": 1}`, `{"a":{"$elemMatch":{"b":{"$eq":1}}}}`, ""},
		{`{"a": {"$elemMatch": {"b": {"$cel": "principal.claims.x"}}}}`, `{}`, errNothing.Error(), ""},
		{`{"a": {"$inQuery": {"className": "b", "where": {"c": {"$cel": "principal.claims.x"}}}}}`, `{"x": 1}`, `{"a":{"$inQuery":{"className":"b","where":{"c":{"$eq":1}}}}}`, `{"c":{"$eq":1}}`},
		{`{"a": {"$inQuery": {"className": "b", "where": {"c": {"$cel": "principal.claims.x"}}}}}`, `{}`, errNothing.Error(), ""},
	} {
		v, err := value.Read([]byte(tt.filter), 0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := query.ParseRule(v, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Check(f); (err != nil) != strings.Contains(tt.want, "a principal has no") || err != nil && (problem.Of(err).Detail != tt.want || problem.Of(err).Pointer != "/a/$cel") {
			t.Errorf("%s checked: %+v", tt.filter, err)
		}
		before := query.Print(f).String()
		checked := ""
		got, err := c.Fill(f, principal(t, tt.claims), func(made query.Filter) error { checked += query.Print(made).String(); return nil })
		text := query.Print(got).String()
		if err != nil {
			text = err.Error()
		}
		if text != tt.want || checked != tt.checked {
			t.Errorf("%s of %s:\n got %s\nwant %s\nchecked %s", tt.filter, tt.claims, text, tt.want, checked)
		}
		if err == nil && Within(got) || Within(f) != (tt.filter != `{"a": 1}`) {
			t.Errorf("%s: expressions within it %t, and within what it became %t", tt.filter, Within(f), Within(got))
		}
		if query.Print(f).String() != before {
			t.Errorf("%s was changed to %s", before, query.Print(f))
		}
		if err == nil && checked != "" {
			if _, err := c.Fill(f, principal(t, tt.claims), nil); err != nil {
				t.Errorf("%s unchecked: %v", tt.filter, err)
			}
			no := errors.New("no")
			if _, err := c.Fill(f, principal(t, tt.claims), func(query.Filter) error { return no }); !errors.Is(err, no) {
				t.Errorf("%s refused: %v", tt.filter, err)
			}
		}
	}
}

// TestElement covers a case without a text form. A query of another class inside an $elemMatch doesn't belong to its
// elements.
func TestElement(t *testing.T) {
	d := query.Deferred{Path: query.Path{"c"}, Op: query.Eq, CEL: "principal.id"}
	for _, tt := range []struct {
		filter query.Filter
		want   bool
	}{
		{d, false},
		{query.ElemMatch{Path: query.Path{"a"}, Match: d}, true},
		{query.InQuery{Path: query.Path{"a"}, Where: d}, false},
		{query.ElemMatch{Path: query.Path{"a"}, Match: query.InQuery{Path: query.Path{"b"}, Where: d}}, false},
	} {
		n := 0
		_, err := Replace(tt.filter, func(d query.Deferred, element bool) (query.Filter, error) {
			if n++; element != tt.want {
				t.Errorf("%+v: of an element: %t", tt.filter, element)
			}
			return d, nil
		})
		if n != 1 || err != nil {
			t.Errorf("%+v: visited %d times, %v", tt.filter, n, err)
		}
	}
}

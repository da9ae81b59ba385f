package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

func TestJoined(t *testing.T) {
	for _, tt := range []struct{ ids, want string }{
		{"a b", "a, b"},
		{"issues/list gists/get issues/get", "issues/{list, get}, gists/get"},
		{"x.v1.A.Get x.v1.B.Get x.v1.A.List x.v1.B.List a", "x.v1.A.{Get, List}, x.v1.B.{Get, List}, a"},
		{"a/{id} a/b a/c, a/d", "a/{id}, a/{b, d}, a/c,"},
		{"a/ a/b", "a/, a/b"},
	} {
		if got := formatIDs(strings.Fields(tt.ids)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.ids, got, tt.want)
		}
	}
}

// TestAlso checks that a search names further operations, each once and within its budget. A search without a good
// match must name all services.
func TestAlso(t *testing.T) {
	v := see(t, file(t, "../testdata/trackline.json"), spec.Filter{})
	is := func(id string) bool {
		return slices.ContainsFunc(v.Operations(), func(op *spec.Operation) bool { return op.ID == id })
	}
	ix := New(v, Options{})
	for _, query := range []string{"list issues", "make my colleague the boss", "wobble", "member"} {
		r, err := ix.Search(Query{Text: query})
		if err != nil {
			t.Fatal(err)
		}
		said := DescribeResult(v, r)
		shown := map[string]int{}
		for line := range strings.Lines(said) {
			if id, _, ok := strings.Cut(line, ": "); ok && is(id) {
				shown[id]++
			}
		}
		size := 0
		for _, id := range strings.FieldsFunc(said, func(c rune) bool { return strings.ContainsRune(" ,:{}\n", c) }) {
			if is(id) && !slices.ContainsFunc(r.Operations, func(op *spec.Operation) bool { return op.ID == id }) {
				shown[id]++
				size += len(id) + 2
			}
		}
		for id, n := range shown {
			if n != 1 {
				t.Errorf("%s: %s is named %d times", query, id, n)
			}
		}
		if want := alsoBytes; size > map[bool]int{false: want, true: alsoBytesWeak}[r.Weak] || len(r.Also) > 30 && size < want*3/4 {
			t.Errorf("%s: %d bytes of ids of %d operations", query, size, len(r.Also))
		}
		for _, s := range r.Services {
			if !strings.Contains(said, fmt.Sprintf("%s (%d)", s.Name, s.Operations)) {
				t.Errorf("%s: the service %s is missing\n%s", query, s.Name, said)
			}
		}
	}
}

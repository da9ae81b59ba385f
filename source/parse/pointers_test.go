package parse_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/query"
)

// TestPointerLists compares conditions over lists of pointers, and joins through them, with Parse Server's answers.
func TestPointerLists(t *testing.T) {
	m := newMatrix(t)
	class := m.names[slicesIndex(m.names, "Open")]
	alice, token := m.session("alice")
	bob, _ := m.session("bob")
	header := "X-Parse-Session-Token: " + token
	pointer := func(id string) string { return `{"__type":"Pointer","className":"_User","objectId":"` + id + `"}` }
	for _, direct := range []string{"", m.Database} {
		a := m.open("session alice", direct, nil)
		for _, text := range []string{
			`{"fans":` + pointer(alice) + `}`, `{"fans":` + pointer(bob) + `}`, `{"fans":` + pointer("nobody") + `}`,
			`{"fans":{"$in":[` + pointer(alice) + `,` + pointer("nobody") + `]}}`,
			`{"fans":{"$all":[` + pointer(alice) + `,` + pointer(bob) + `]}}`,
			`{"owner":` + pointer(alice) + `}`, `{"owner":{"$in":[` + pointer(bob) + `]}}`, `{"owner":{"$ne":` + pointer(bob) + `}}`,
		} {
			got, want := a.found(&query.Find{Class: class, Where: where(t, text), Limit: 100}), m.theirs(class, text, header)
			if !slices.Equal(got, want) {
				t.Errorf("direct %v: %s: %v; Parse Server: %v", direct != "", text, got, want)
			}
		}
		stages := `[{"$unwind":"$fans"},{"$lookup":{"from":"_User","localField":"fans.objectId","foreignField":"objectId","as":"u"}},{"$unwind":"$u"},{"$group":{"_id":"$u.username","n":{"$sum":1}}}]`
		_, rows, err := a.read(pipeline(t, class, stages))
		want := strings.Count(strings.Join(m.theirs(class, `{"fans":`+pointer(alice)+`}`, header), "\n"), "\n") + 1
		if got := shown(rows, err); got != `"alice" `+string(rune('0'+want))+"\n" {
			t.Errorf("direct %v: joined %s; want alice %d times", direct != "", got, want)
		}
	}
}

package endtoend

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// lifeOfAClass is a sequence of changes. Each row says whether the class notes exists afterwards.
var lifeOfAClass = []struct {
	write string
	there bool
}{
	{`{"op": "create_class", "source": "app", "class": "notes", "fields": [{"name": "id", "type": "integer", "required": true}, {"name": "text", "type": "string"}]}`, true},
	{`{"op": "create", "class": "notes", "data": {"id": 1, "text": "x"}}`, true},
	{`{"op": "delete", "class": "notes", "id": "1"}`, true},
	{`{"op": "delete_class", "class": "notes"}`, false},
}

var allClasses = policy.Rules{Version: "v1", Unlisted: true, Gates: policy.Gates{RawWrites: policy.Review, SchemaWrites: policy.Review}}

// approved proposes a write as an agent and approves it as a person.
func (o *office) approved(write string) {
	o.Helper()
	s, err := o.propose(o.token(identity.Agent, "ana", "", identity.Read, identity.Write, identity.Delete, identity.Schema), write)
	if err != nil {
		o.Fatal(write, err)
	}
	ben := o.gateway.Reviewer(o.token(identity.Human, "ben", "", identity.Read, identity.Review), "visit")
	if done, err := ben.Approve(o.Context(), s.ID, s.Digest, ""); err != nil || done.State != change.Applied {
		o.Fatalf("%s: %+v %v", write, done, err)
	}
}

// hasNotes reports whether g has the class notes.
func hasNotes(g *bailiwick.Gateway) bool {
	return slices.ContainsFunc(g.Catalogue(), func(c schema.Class) bool { return c.Name == "notes" })
}

// TestClassComesAndGoes checks that a class is described as soon as its change is reported as applied. Listeners must
// be notified once.
func TestClassComesAndGoes(t *testing.T) {
	o := newOffice(t, func(o *bailiwick.Options, _ *change.Options) { o.Rules = allClasses })
	told := 0
	defer o.gateway.Subscribe(func(c bailiwick.Event) {
		if c == bailiwick.CatalogueChanged {
			told++
		}
	})()
	for i, tt := range lifeOfAClass {
		o.approved(tt.write)
		if hasNotes(o.gateway) != tt.there {
			t.Errorf("%s: described %v", tt.write, !tt.there)
		}
		if want := []int{1, 1, 1, 2}[i]; told != want {
			t.Errorf("%s: told %d times, want %d", tt.write, told, want)
		}
	}
}

// TestClassOfAnother checks two processes. Whichever of them applies a change of a class, both must describe the
// class soon.
func TestClassOfAnother(t *testing.T) {
	o := newOffice(t, func(o *bailiwick.Options, _ *change.Options) { o.Rules = allClasses })
	replica, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: o.sources, Rules: allClasses, Audit: o.store, Refresher: o.tokens,
		Changes: change.NewQueue(change.Options{Store: o.store})})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for _, g := range []*bailiwick.Gateway{o.gateway, replica} {
		running.Go(func() { g.Execute(ctx, failing(t)) })
	}
	time.Sleep(100 * time.Millisecond) // they only receive events after their start
	for _, tt := range lifeOfAClass {
		o.approved(tt.write)
		for _, g := range []*bailiwick.Gateway{o.gateway, replica} {
			for end := time.Now().Add(5 * time.Second); hasNotes(g) != tt.there; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%s: still described %v", tt.write, !tt.there)
				}
			}
		}
	}
}

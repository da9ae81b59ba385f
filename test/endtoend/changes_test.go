package endtoend

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestSubscribe checks that a subscriber is notified of each change, in order, until it stops.
func TestSubscribe(t *testing.T) {
	g := gateway(t, bailiwick.Options{Audit: &audit.Memory{}})
	var got []string
	first := g.Subscribe(func(c bailiwick.Event) { got = append(got, "first "+string(c)) })
	second := g.Subscribe(func(c bailiwick.Event) { got = append(got, "second "+string(c)) })
	refresh := func() {
		if _, err := g.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	refresh()
	first()
	refresh()
	second()
	refresh()
	if diff := cmp.Diff([]string{"first catalogue", "second catalogue", "second catalogue"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestUses checks that using tools requires the right to call them and a scope, like calling them directly.
func TestUses(t *testing.T) {
	log := &audit.Memory{}
	g := gateway(t, bailiwick.Options{Audit: log})
	only := func(names ...string) identity.Principal {
		principal := reader
		principal.Tools.Only = names
		return principal
	}
	for _, tt := range []struct {
		who  identity.Principal
		uses []string
		want problem.Code
		kind string
	}{
		{only("a", "b"), []string{"a", "b"}, "", ""},
		{only("a"), []string{"a", "b"}, problem.UnknownTool, "tool_filtered"},
		{only("a"), []string{}, "", ""},
		{only("a"), nil, problem.UnknownTool, "tool_filtered"},
		{only("prompt:x"), nil, "", ""},
		{identity.Principal{ID: "nobody"}, []string{}, problem.PermissionDenied, "scope"},
	} {
		ask := bailiwick.CallSpec{Tool: "prompt:x", Needs: identity.Read, Uses: tt.uses}
		err := g.Do(t.Context(), tt.who, ask, func(context.Context, *bailiwick.Call) (int, error) { return 0, nil })
		got := ""
		if p := problem.Of(err); p != nil {
			got = p.Kind
		}
		if problem.CodeOf(err) != tt.want || got != tt.kind {
			t.Errorf("%v with %v: %v %s", tt.uses, tt.who.Tools, err, got)
		}
		var last audit.Record
		if err := log.Backwards(t.Context(), audit.Last, func(r audit.Record) bool { last = r; return false }); err != nil {
			t.Fatal(err)
		}
		if said := fmt.Sprint(last.Tool, " ", last.Kind); said != "prompt:x "+tt.kind {
			t.Error(said)
		}
	}
}

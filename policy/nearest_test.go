package policy

import (
	"slices"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestNearestClass checks the hint for names of classes in another case, and behind the name of a source that doesn't exist.
func TestNearestClass(t *testing.T) {
	p, err := New(sample(), catalogue())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Issues", "ISSUES", "isues", "nowhere.issues", "public.Issues"} {
		_, err := p.View(agent(), name, "/class_name", false)
		if near := problem.Of(err).Near; !slices.Equal(near, []string{"issues"}) {
			t.Errorf("%s: %v, near %q", name, err, near)
		}
	}
}

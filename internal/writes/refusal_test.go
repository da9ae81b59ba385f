package writes_test

import (
	"errors"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestRefusal checks that a refusal names the right write and field, whatever position the text of the error
// contains.
func TestRefusal(t *testing.T) {
	const fine = `{"op": "update", "class": "issues", "id": "1", "data": {"n": 6}}`
	for _, tt := range []struct {
		asked, field string
		write        int
	}{
		{`[` + fine + `, {"op": "update", "class": "issues", "id": "2", "data": {"n": 6, "title": "x"}}]`, "title", 1},
		{`{"op": "update", "class": "issues", "id": "2", "data": {"title": "x"}}`, "title", 0},
		{`{"op": "update", "class": "issues", "id": "2", "data": {"a/b~": "x"}}`, "a/b~", 0},
		{`[` + fine + `, {"op": "delete", "class": "fixed", "id": "2"}]`, "", 1},
	} {
		rules := func(r *policy.Rules) {
			issues := r.Classes["issues"]
			issues.Permitted = []string{"n"}
			r.Classes["issues"] = issues
		}
		_, err := writes.Propose(t.Context(), compiled(t, rules), principal, write.Request{Writes: parsed(t, tt.asked)})
		if r, ok := errors.AsType[*writes.Refusal](err); !ok || r.Write != tt.write || r.Field != tt.field || problem.Of(err).Detail == "" {
			t.Errorf("%s: %+v, want %d %q", tt.asked, err, tt.write, tt.field)
		}
	}
}

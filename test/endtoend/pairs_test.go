package endtoend

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// toldOfSpans proposes writes of spans in a world where each has the hidden ceiling at. It returns everything that
// the agent receives. For filed changes it also returns the reviewer's text about a refusal.
func toldOfSpans(t *testing.T, at int, writes []string) (agent, reviewer []string) {
	t.Helper()
	o := newOffice(t, nil)
	if _, err := o.db.Exec(`INSERT INTO spans (id, lo, hi, ceiling) VALUES (1, 10, 20, ?), (2, NULL, 20, ?)`, at, at); err != nil {
		t.Fatal(err)
	}
	rules := o.rules
	rules.Version, rules.Classes = "v2", maps.Clone(rules.Classes)
	rules.Classes["spans"] = policy.ClassRule{Denied: []string{"ceiling"}}
	if err := o.gateway.SetRules(t.Context(), rules, nil); err != nil {
		t.Fatal(err)
	}
	bot, ben := o.bot(), o.person("ben")
	for _, w := range writes {
		s, err := o.propose(bot, w)
		if err != nil {
			p := problem.Of(err)
			agent, reviewer = append(agent, fmt.Sprint(p.Code, " ", p.Pointer, " ", p.Detail)), append(reviewer, "")
			continue
		}
		agent = append(agent, fleeting.ReplaceAllString(review.Text(s), "…"))
		seen, err := ben.Sheet(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		reviewer = append(reviewer, seen.Refused)
	}
	return agent, reviewer
}

// TestConstraintOverFields checks writes that violate a constraint over two fields. If the agent sees both fields, it
// must learn so at once. If a field is hidden, only the reviewer learns the name of the constraint. The agent's
// answer must not depend on the hidden field.
func TestConstraintOverFields(t *testing.T) {
	update := func(id int, data string) string {
		return fmt.Sprintf(`{"op": "%s", "class": "spans", "id": "%d", "data": %s}`, write.OpUpdate, id, data)
	}
	writes := []string{update(1, `{"lo": 21}`), update(1, `{"hi": 9}`), update(1, `{"lo": 30, "hi": 29}`), `{"op": "create", "class": "spans", "data": {"lo": 2, "hi": 1}}`,
		update(1, `{"lo": 20}`), update(2, `{"hi": 3}`), update(1, `{"lo": 21, "hi": 22}`), update(1, `{"lo": null}`), update(1, `{"hi": 40}`)}
	agent, reviewer := toldOfSpans(t, 50, writes)
	for i, want := range []string{"/data/lo lo must be at most hi, and would be 21 with 20", "/data/hi lo must be at most hi, and would be 10 with 9", "/data/lo lo must be at most hi, and would be 30 with 29",
		"/data/lo lo must be at most hi, and would be 2 with 1"} {
		if agent[i] != "invalid_argument "+want {
			t.Errorf("%s: %s", writes[i], agent[i])
		}
	}
	for i := 4; i < len(writes); i++ {
		if strings.HasPrefix(agent[i], "invalid_argument") || reviewer[i] != "" {
			t.Errorf("%s: %s, the reviewer reads %q", writes[i], agent[i], reviewer[i])
		}
	}
	low, seen := toldOfSpans(t, 35, writes)
	if strings.Join(low, "\n") != strings.Join(agent, "\n") {
		t.Errorf("under another ceiling the agent is told\n%s\nin place of\n%s", low, agent)
	}
	if got := seen[len(seen)-1]; got != "a constraint on ceiling, hi doesn't hold: low" {
		t.Errorf("the reviewer reads %q", got)
	}
}

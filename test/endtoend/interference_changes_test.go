package endtoend

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestNonInterferenceChanges proposes the same writes as the same agent in two worlds that differ in hidden data.
// Records of another tenant conflict with the agent's keys, unique values and foreign keys. The agent's own records
// have a hidden field. Another person's agent proposes changes of the same records. All answers about the agent's
// proposals and changes must have the same bytes, except for ids and times. The answers include names of records,
// conflicts and words of people.
func TestNonInterferenceChanges(t *testing.T) {
	t.Parallel()
	inOffices(t, func(t *testing.T, open func(*testing.T, func(*bailiwick.Options, *change.Options)) *office) {
		one, other := open(t, nil), open(t, nil)
		most := 200
		if one.driver != "" {
			most = 40
		}
		interfereByChanges(t, [2]*office{one, other}, most, hideFrom)
	})
}

// hideFrom changes data that an agent of acme doesn't see: another tenant's records and a denied field.
func hideFrom(o *office, r *rand.Rand) {
	o.Helper()
	o.run("DELETE FROM issues WHERE org = 'globex'")
	o.run("UPDATE issues SET secret_note = NULL")
	for range r.IntN(6) {
		id, code := 3+r.IntN(8), string(rune('c'+r.IntN(6)))
		o.run(`INSERT OR IGNORE INTO issues (id, org, title, n, code) VALUES (?, 'globex', 'x', ?, ?)`, id, r.IntN(5), code)
		o.run(`INSERT INTO comments (issue_id, body) SELECT id, 'x' FROM issues WHERE id = ? AND org = 'globex'`, id)
		o.run(`UPDATE issues SET secret_note = ? WHERE org = 'acme'`, fmt.Sprint(r.IntN(5)))
	}
}

// interfereByChanges proposes the same writes in two offices. The function hide changes data that the agent doesn't
// see. BAILIWICK_SOAK sets the number of writes.
func interfereByChanges(t *testing.T, offices [2]*office, most int, hide func(*office, *rand.Rand)) {
	one, other := offices[0], offices[1]
	bots := map[*office]identity.Principal{one: one.bot(), other: other.bot()}
	people := map[*office]bailiwick.Reviewer{one: one.person("ben"), other: other.person("ben")}
	least := pairs(t, most)
	r := rand.New(rand.NewPCG(firstSeed(t), 6))
	theirs := map[*office]identity.Principal{}
	for _, o := range offices {
		theirs[o] = o.token(identity.Agent, "greta", "acme", identity.Read, identity.Write)
	}
	filed, applied, refused := 0, 0, map[string]int{}
	for i := 0; i < least || applied == 0 && i < 10*least; i++ {
		if r.IntN(4) == 0 {
			for _, o := range offices {
				hide(o, r)
				for range r.IntN(3) { // up to 200 of them wait
					data := fmt.Sprintf(`{"op": "update", "class": "issues", "id": "%d", "data": {"n": %d, "title": "%s"}}`, 1+r.IntN(2), 10+r.IntN(1000), "theirs")
					_, err := o.propose(theirs[o], data)
					if code := problem.CodeOf(err); err != nil && code != problem.RateLimited && code != problem.BudgetExceeded { // too fast or too many
						t.Fatal(err)
					}
				}
			}
		}
		asked := drawWrites(r)
		// Unique values conflict with hidden records. People see that when they approve.
		approve := strings.HasPrefix(asked, `{"op": "update", "class": "issues"`) && !strings.Contains(asked, `"code"`)
		first, second := one.told(bots[one], people[one], asked, approve), other.told(bots[other], people[other], asked, approve)
		if first != second {
			t.Fatalf("%s\nin one world:\n%s\nin the other:\n%s", asked, first, second)
		}
		switch {
		case strings.HasPrefix(first, "error"):
			refused[strings.Fields(first)[1]]++
		case strings.Contains(first, `"state":"applied"`):
			applied++
			fallthrough
		default:
			filed++
		}
	}
	t.Log(filed, applied, refused)
	if !testing.Short() && (filed < least/10 || applied == 0 || len(refused) < 3) { // a short run may draw only a few kinds
		t.Error("the questions say too little:", filed, applied, refused)
	}
}

// drawWrites draws random writes for an agent to propose.
func drawWrites(r *rand.Rand) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	data := func() string {
		out := []string{}
		for _, field := range r.Perm(9)[:1+r.IntN(2)] {
			out = append(out, []string{`"status": "Done"`, `"n": 3`, `"code": ` + strconv.Quote(pick("a", "c", "d", "e")), `"code": ` + strconv.Quote(pick("c", "d", "e")), `"n": 4`,
				pick(`"secret_note": "x"`, `"nope": 1`), pick(`"org": "globex"`, `"org": "acme"`), `"id": ` + pick("1", "4", "5", "9"), `"points": ` + pick("1", "101")}[field])
		}
		if len(out) == 2 && out[0][:4] == out[1][:4] {
			out = out[:1]
		}
		return strings.Join(out, ", ")
	}
	one := func() string {
		id := pick("1", "1", "2", "2", "2", "4", "9", "x")
		switch r.IntN(7) {
		case 0:
			return fmt.Sprintf(`{"op": "delete", "class": %q, "id": %q}`, pick("issues", "issues", "comments", "vault"), id)
		case 1, 2:
			return fmt.Sprintf(`{"op": "create", "class": "issues", "data": {"title": "y", %s}}`, data())
		case 3:
			return fmt.Sprintf(`{"op": "create", "class": "comments", "data": {"body": "y", "issue_id": %q}}`, id)
		case 4:
			return fmt.Sprintf(`{"op": "update", "class": "comments", "id": %q, "data": {"issue_id": %q}}`, id, pick("1", "2", "4", "9"))
		}
		return fmt.Sprintf(`{"op": "update", "class": "issues", "id": %q, "data": {%s}}`, id, data())
	}
	if r.IntN(5) > 0 {
		return one()
	}
	return "[" + one() + ", " + one() + "]"
}

// fleeting matches texts that differ between any two changes, such as ids and times.
var fleeting = regexp.MustCompile(`01[0-9a-z]{32}|\d{4}-\d\d-\d\d[T ][0-9:.]+(Z| UTC)`)

// told returns everything that an agent learns about a proposal: the answer, its change, and the list of its changes.
// It includes the results after a person has looked at the change, and after an approval or the agent's withdrawal.
func (o *office) told(bot identity.Principal, ben bailiwick.Reviewer, asked string, approve bool) string {
	o.Helper()
	ctx := o.Context()
	s, err := o.propose(bot, asked)
	if err != nil {
		p := problem.Of(err)
		text, err := json.Marshal(p)
		if err != nil {
			o.Fatal(err)
		}
		return fmt.Sprintf("error %s %s", p.Code, text)
	}
	var out strings.Builder
	write := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			o.Fatal(err)
		}
		out.Write(text)
	}
	write(s)
	out.WriteString(review.Text(s))
	seen, err := ben.Sheet(ctx, s.ID)
	if err != nil {
		o.Fatal(err)
	}
	if approve {
		_, err = ben.Approve(ctx, s.ID, seen.Digest, "fine")
	} else {
		_, err = ben.Comment(ctx, s.ID, "hm")
	}
	if err != nil {
		o.Fatal(err)
	}
	err = o.gateway.Do(ctx, bot, bailiwick.CallSpec{Tool: "get_change", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		rows, _, err := c.Changes(ctx, change.Filter{Limit: 3})
		if err != nil {
			return 0, err
		}
		write(rows)
		own, err := c.Change(ctx, s.ID)
		if err != nil {
			return 0, err
		}
		write(own)
		if approve {
			return len(rows), nil
		}
		back, err := c.CancelChange(ctx, s.ID)
		if err != nil {
			return 0, err
		}
		write(back)
		return 0, nil
	})
	if err != nil {
		o.Fatal(err)
	}
	return fleeting.ReplaceAllString(out.String(), "…")
}

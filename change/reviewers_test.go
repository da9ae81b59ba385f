package change_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// ruled is a queue whose rules name reviewers: two of billing for all changes, and dana for deletes.
func ruled(t *testing.T) (*hall, []change.Rule) {
	t.Helper()
	billing := change.Reviewer{Name: "team:billing", People: []string{"Ben", "cleo"}, Claims: map[string][]string{"groups": {"billing", "finance"}}}
	rules := []change.Rule{
		{Name: "review[0]", Approvals: 2, Reviewers: []change.Reviewer{billing}},
		{Name: "review[1]", When: when(t, `change.op == "delete"`), Reviewers: []change.Reviewer{{Name: "dana"}, {Name: "team:ops", People: []string{"olga"}}}},
	}
	h := newHall(t, change.Options{})
	h.Queue = h.Under("v1", rules...)
	return h, rules
}

// proposeOp files a change with one write of an operation, which rules have judged.
func (h *hall) proposeOp(op write.Op, rules []change.Rule) *change.Change {
	h.Helper()
	h.n++
	c := &change.Change{Source: "app", Agent: change.PartyOf(bot), Effects: effects(op, 1, "n"),
		Writes: []value.Value{write.Print(&write.Update{Class: "issues", ID: fmt.Sprint(h.n), Data: doc(h, `{"n": 1}`)})}}
	change.Judge(c, rules, bot, "")
	kept, err := h.Propose(h.Context(), c)
	if err != nil {
		h.Fatal(err)
	}
	return kept
}

// TestReviewers checks who can approve changes whose rules name reviewers, and when each rule has its approvals.
func TestReviewers(t *testing.T) {
	h, rules := ruled(t)
	member := person("Fay")
	member.Claims = doc(t, `{"groups": ["sales", "finance"]}`)
	one := person("gil")
	one.Claims = doc(t, `{"groups": "billing"}`)
	near := person("hal")
	near.Claims = doc(t, `{"groups": ["billing2"], "group": "billing"}`)
	for _, tt := range []struct {
		name string
		op   write.Op
		by   []identity.Principal
		want string
	}{
		{"a person of the team", "update", []identity.Principal{person("BEN")}, "pending 1 team:billing"},
		{"two of the team", "update", []identity.Principal{person("ben"), person("cleo")}, "approved"},
		{"a claim that is a list", "update", []identity.Principal{person("ben"), member}, "approved"},
		{"a claim that is a text", "update", []identity.Principal{one, member}, "approved"},
		{"other claims", "update", []identity.Principal{near}, "reviewers"},
		{"nobody of it", "update", []identity.Principal{person("dana")}, "reviewers"},
		{"a person with the name of the team", "update", []identity.Principal{person("team:billing")}, "reviewers"},
		{"each of two rules", "delete", []identity.Principal{person("ben"), person("cleo"), person("dana")}, "approved"},
		{"the other first", "delete", []identity.Principal{person("olga"), person("ben")}, "pending 1 team:billing"},
		{"one rule has enough", "delete", []identity.Principal{person("ben"), person("cleo")}, "pending 1 dana team:ops"},
	} {
		c := h.proposeOp(tt.op, rules)
		got := ""
		for _, p := range tt.by {
			now, err := h.Approve(t.Context(), c.ID, p, change.Verdict{Digest: c.Digest})
			if err != nil {
				got = kind(err)
				break
			}
			got = string(now.State)
			for _, panel := range now.Missing() {
				got += fmt.Sprintf(" %d %s", panel.Need, strings.Join(panel.Names, " "))
			}
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	c := h.proposeOp("delete", rules)
	_, err := h.Approve(t.Context(), c.ID, person("eve"), change.Verdict{Digest: c.Digest})
	if err == nil || !strings.Contains(err.Error(), "this change is for team:billing (Ben, cleo, the groups billing, the groups finance), and for dana or team:ops (olga)") {
		t.Error(err)
	}
	if _, err := h.Under("v2").Approve(t.Context(), c.ID, person("ben"), change.Verdict{Digest: c.Digest}); kind(err) != "reviewers" {
		t.Error("without the rules:", err)
	}
	boss := person("eve", identity.Review, identity.Operator)
	if now, err := h.Approve(t.Context(), c.ID, boss, change.Verdict{Digest: c.Digest, Comment: "at once", Broken: true}); err != nil || now.State != change.Granted {
		t.Error("breaking the glass:", err)
	}
}

// TestReviewersOfRules checks that reviewers make a rule require a review, and which changes of rules a change covers.
func TestReviewersOfRules(t *testing.T) {
	_, rules := ruled(t)
	judged := func(rules ...change.Rule) *change.Change {
		c := &change.Change{Effects: effects("delete", 1, "n")}
		change.Judge(c, rules, bot, write.Allow)
		return c
	}
	allow := change.Rule{Name: "review[2]", Mode: write.Allow}
	if c := judged(allow, rules[1]); c.Mode != write.Review || c.Need != 1 || len(c.Panels) != 1 {
		t.Errorf("%+v", c)
	}
	both := judged(rules...)
	wider, fewer, more := rules[0], rules[0], rules[0]
	wider.Reviewers = append([]change.Reviewer{{Name: "gil"}}, wider.Reviewers...)
	fewer.Approvals, more.Approvals = 1, 3
	for name, tt := range map[string]struct {
		had, now *change.Change
		want     bool
	}{
		"the same":               {both, both, true},
		"a rule less":            {both, judged(rules[0]), true},
		"a rule more":            {judged(rules[0]), both, false},
		"none before":            {judged(), judged(rules[1]), false},
		"more people now":        {judged(rules[0]), judged(wider), true},
		"fewer people now":       {judged(wider), judged(rules[0]), false},
		"fewer approvals now":    {judged(rules[0]), judged(fewer), true},
		"more approvals now":     {judged(rules[0]), judged(more), false},
		"none before, none now":  {judged(), judged(), true},
		"some before, none now ": {both, judged(), true},
	} {
		if got := tt.had.Covers(tt.now); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

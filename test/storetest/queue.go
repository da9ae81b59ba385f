package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/value"
)

// variedChange returns the n-th change of a queue. All properties that a Filter can select vary.
func variedChange(n int) *change.Change {
	c := plain(n, fmt.Sprint("agent", n%3))
	c.Agent.Owner, c.Agent.Tenant = fmt.Sprint("owner", n%2), []string{"", "acme", "zen"}[n%3]
	c.Schema = []string{"", "acme", "zen"}[n%3]
	c.Source, c.Risk = []string{"tracker", "crm"}[n%5/4], []change.Risk{change.Low, change.Medium, change.High}[n%7/3]
	c.Classes = []string{c.Source + ".issues"}
	if n%4 == 0 {
		c.Classes, c.Op = append(c.Classes, c.Source+".users"), "delete"
	}
	c.Effects = nil
	for at := range n % 3 {
		c.Effects = append(c.Effects, change.Effect{Op: c.Op, Class: c.Classes[0], Key: fmt.Sprint(n%10 + at)})
	}
	if len(c.Effects) > 0 {
		object := func(title string) value.Value {
			return value.OfObject([]value.Member{{Name: "title", Value: value.OfString(title)}, {Name: "number", Value: value.OfInt(int64(370 + n%10))}, {Name: "project", Value: value.OfString("PAY")},
				{Name: "note", Value: value.OfString([]string{"secret", "open"}[n%2])}})
		}
		c.Effects[0].Before, c.Effects[0].After = object("Refund twice"), object([]string{"Rolled back", "Refund (once)"}[n/2%2])
	}
	c.Reason = []string{"weil die ÄNDERUNG fällig ist", "because 100% of _it_ is due"}[n%2]
	if n%2 == 0 { // together enough words with one beginning for it to count as common
		for i := range 50 {
			c.Reason += fmt.Sprint(" x", i)
		}
	}
	return c
}

// matchesFilter reports whether f selects c. It implements Filter in Go.
func matchesFilter(f change.Filter, c *change.Change) bool {
	schema, divided := f.Schemas[c.Source]
	return (!divided || schema != "" && schema == c.Schema) && (len(f.States) == 0 || slices.Contains(f.States, c.State)) &&
		(f.Principal == "" || f.Principal == c.Agent.Principal) && (f.Owner == "" || f.Owner == c.Agent.Owner) &&
		(!f.Tenanted || f.Tenant == c.Agent.Tenant) && (f.Source == "" || f.Source == c.Source) &&
		(f.Class == "" || slices.Contains(c.Classes, f.Class)) && (f.Op == "" || f.Op == string(c.Op)) && (f.Risk == "" || f.Risk == c.Risk) &&
		hasWords(f, c) &&
		(f.Before == "" || c.ID < f.Before) &&
		(len(f.Records) == 0 || !c.State.IsFinal() && slices.ContainsFunc(c.Targets(), func(at change.Target) bool { return slices.Contains(f.Records, at) }))
}

// hasWords reports whether c has all words of f.Text, where f.Sees. The words of the test have no accents but ä.
func hasWords(f change.Filter, c *change.Change) bool {
	if f.Text == "" {
		return true
	}
	sees := func(class, field string) bool { return f.Sees != nil && f.Sees(class, field) }
	texts := []string{c.ID, c.Reason, string(c.Op), string(c.Risk), c.Source, c.Tool, c.Agent.Name, c.Agent.Owner, c.Agent.Principal}
	for _, s := range c.History {
		texts = append(texts, s.By, s.Comment)
	}
	if sees(c.Classes[0], "") {
		texts = append(texts, c.Title)
	}
	for _, class := range c.Classes {
		if sees(class, "") {
			texts = append(texts, class)
		}
		for _, field := range c.Fields {
			if sees(class, field) {
				texts = append(texts, field)
			}
		}
	}
	for _, e := range c.Effects {
		if sees(e.Class, "#") {
			texts = append(texts, e.Key)
		}
		for _, side := range []value.Value{e.Before, e.After} {
			for _, m := range side.Members() {
				if sees(e.Class, m.Name) {
					texts = append(texts, m.Value.String())
				}
			}
		}
	}
	plain := strings.NewReplacer("ä", "a").Replace
	has := func(word string) bool {
		for _, text := range texts {
			text = plain(strings.ToLower(text))
			for i := range text {
				before, _ := utf8.DecodeLastRuneInString(text[:i])
				if strings.HasPrefix(text[i:], word) && (i == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before)) {
					return true
				}
			}
		}
		return strings.HasPrefix(string(c.State), word)
	}
	words := strings.Fields(plain(strings.ToLower(f.Text)))
	for _, word := range words {
		word = strings.Trim(word, "%_()")
		if word == "" || strings.ContainsRune(word, 0) || !has(word) && !(word == "pay-377" && has("377") && has("pay")) {
			return false
		}
	}
	return true
}

// Sees of the filters: everything, and everything but a field or a class.
func all(string, string) bool { return true }

func allBut(class, field string) func(string, string) bool {
	return func(c, f string) bool { return c != class || field != "" && f != field }
}

var filters = []change.Filter{
	{},
	{States: []change.State{change.Pending}},
	{States: []change.State{change.Rejected, change.Pending, change.Rejected}},
	{States: []change.State{change.Unknown}},
	{States: []change.State{"nonsense"}},
	{Principal: "agent1"},
	{Principal: "agent1", States: []change.State{change.Pending}},
	{Principal: "agent1", Class: "tracker.users"},
	{Principal: "nobody"},
	{Owner: "owner1", Class: "crm.issues", States: []change.State{change.Pending, change.Granted}},
	{Tenanted: true},
	{Tenant: "acme", Tenanted: true},
	{Tenant: "acme"}, // has no effect, because Tenanted isn't set
	{Source: "crm", Risk: change.High},
	{Schemas: map[string]string{"tracker": "acme"}},
	{Schemas: map[string]string{"tracker": "acme", "crm": ""}, Class: "tracker.users"},
	{Schemas: map[string]string{"tracker": "", "crm": ""}},
	{Schemas: map[string]string{"tracker": "acm", "crm": Strange}},
	{Schemas: map[string]string{"other": ""}, Principal: "agent1"},
	{Class: "tracker.users"},
	{Class: "tracker.users", States: []change.State{change.Pending}, Tenanted: true, Tenant: "zen"},
	{Class: "tracker"},
	{Op: "delete"},
	{Text: "änderung FÄLLIG"},
	{Text: "anderung fallig pending"},
	{Text: "100% of _it_"},
	{Text: "0% of"},
	{Text: "00000000007"},
	{Text: "Issue 12", Risk: change.Low, Sees: all},
	{Text: "Issue 12"},
	{Text: "agent1 rejected"},
	{Text: "x"}, {Text: "x", Sees: all}, {Text: "x twice", Sees: all}, {Text: "x pending", Sees: all, Limit: 1}, {Text: "x x1", Sees: all}, {Text: "X", Sees: allBut("tracker.issues", "title"), Tenanted: true, Tenant: "zen"},
	{Text: "refund", Sees: all}, {Text: "refund"}, {Text: "refund", Sees: allBut("tracker.issues", "title")}, {Text: "refund", Sees: allBut("tracker.issues", "")},
	{Text: "PAY-377", Sees: all}, {Text: "pay-377 twice", Sees: all}, {Text: "PAY-377", Sees: allBut("tracker.issues", "number")},
	{Text: "secret", Sees: all}, {Text: "secret", Sees: allBut("tracker.issues", "note")},
	{Text: "rolled", Sees: all}, {Text: "olled", Sees: all}, {Text: "crm.issues", Sees: all}, {Text: "refund", Sees: all, Class: "crm.issues", States: []change.State{change.Pending}},
	{Text: "5", Sees: all}, {Text: "5", Sees: allBut("tracker.issues", "#")}, {Text: "%%%", Sees: all}, {Text: "refund", Sees: all, Before: "00000000000000000000000050", Limit: 1},
	{Text: "refund", Sees: all, Records: []change.Target{{Class: "tracker.issues", Key: "3"}}},
	{Text: Strange}, {Principal: Strange}, {Owner: Strange}, {Tenant: Strange, Tenanted: true}, {Source: Strange}, {Class: Strange}, {Op: Strange}, {Risk: change.Risk(Strange)},
	{Before: "00000000000000000000000050"},
	{Before: "00000000000000000000000050", Class: "tracker.issues", States: []change.State{change.Pending}},
	{Before: Strange, Principal: "nobody"},
	{Records: []change.Target{{Class: "tracker.issues", Key: "3"}}},
	{Records: []change.Target{{Class: "tracker.issues", Key: "3"}, {Class: "crm.issues", Key: "3"}, {Class: "tracker.issues", Key: "4"}}, Principal: "agent2"},
	{Records: []change.Target{{Class: "tracker.issues", Key: Strange}}, Tenant: "acme", Tenanted: true},
	{Records: []change.Target{{Class: "tracker.issues", Key: "3"}}, Class: "tracker.users", Limit: 1},
	{Limit: 1},
	{Limit: 100_000},
}

// testQueue lists and counts changes with all filters and page by page.
func testQueue(t *testing.T, open Open) {
	place, ctx := t.TempDir(), t.Context()
	s, other := Handle(t, open, place), Handle(t, open, place)
	const n = 230
	var all []*change.Change // newest first
	for i := range n {
		c := put(t, s, variedChange(i))
		if i%6 == 0 {
			if err := step(t, s, c, change.Step{State: change.Rejected, Event: change.EventRejected}, change.Guard{}); err != nil {
				t.Fatal(err)
			}
		}
		all = append([]*change.Change{c}, all...)
	}
	for _, f := range filters {
		var want, got []string
		counts := map[change.State]int{}
		every := f
		every.States, every.Before = nil, ""
		for _, c := range all {
			if matchesFilter(f, c) {
				want = append(want, c.ID)
			}
			if matchesFilter(every, c) {
				counts[c.State]++
			}
		}
		page, most := f, map[int]int{0: 50, 1: 1, 100_000: 200}[f.Limit]
		for more := true; more; {
			var found []*change.Change
			var err error
			if found, more, err = other.List(ctx, page); err != nil {
				t.Fatalf("%+v: %v", f, err)
			}
			if len(found) > most || more && len(found) != most {
				t.Fatalf("%+v: a page of %d, more: %v", f, len(found), more)
			}
			for _, c := range found {
				got, page.Before = append(got, c.ID), c.ID
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", f, diff)
		}
		if n, mine, err := s.Counts(ctx, f); err != nil || !cmp.Equal(n, counts) || len(mine) > 0 {
			t.Errorf("%+v: counted %v and %v, want %v; %v", f, n, mine, counts, err)
		}
	}
	testWaiting(t, other, all)
}

// testWaiting compares the numbers of pending changes by source and risk with those of the changes in all, the newest
// first.
func testWaiting(t *testing.T, s Store, all []*change.Change) {
	t.Helper()
	got, err := s.Waiting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]store.Waiting{}
	for _, c := range all {
		if c.State == change.Pending {
			at := c.Source + " " + string(c.Risk)
			want[at] = store.Waiting{Source: c.Source, Risk: string(c.Risk), Changes: want[at].Changes + 1, Oldest: store.ProposalTime(c.ID)}
		}
	}
	found := map[string]store.Waiting{}
	for _, w := range got {
		found[w.Source+" "+w.Risk] = w
	}
	if diff := cmp.Diff(want, found); diff != "" || len(got) != len(found) || len(found) != 6 {
		t.Errorf("%d kinds of waiting changes (-want +got):\n%s", len(got), diff)
	}
}

// testDue checks which changes are due.
func testDue(t *testing.T, open Open) {
	s, ctx := Handle(t, open, t.TempDir()), t.Context()
	want := []string{}
	n, after := 0, []string(nil)
	add := func(due bool, life time.Duration, to change.State, g change.Guard) {
		n++
		c := plain(n, "a")
		c.After = after
		c, err := s.Put(ctx, c, change.Filing{Life: life, Most: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if to != change.Pending {
			if err := step(t, s, c, change.Step{State: to, Event: change.EventClaimed}, g); err != nil {
				t.Fatal(err)
			}
		}
		if due {
			want = append(want, c.ID)
		}
	}
	const soon = time.Millisecond
	for _, state := range change.States() {
		add(state == change.Granted, time.Hour, state, change.Guard{})
		add(state == change.Pending || state == change.Returned || state == change.Stale || state == change.Granted, soon, state, change.Guard{})
	}
	// A change that waits for others is due when all of them have ended in any way, or when it has expired itself.
	others := map[change.State]string{}
	for _, state := range change.States() {
		add(state == change.Granted, time.Hour, state, change.Guard{})
		others[state] = plain(n, "").ID
	}
	for _, state := range change.States() {
		after = []string{others[state], others[change.Applied]}
		add(state.IsFinal(), time.Hour, change.Granted, change.Guard{})
		add(true, soon, change.Granted, change.Guard{})
	}
	after = nil
	add(true, time.Hour, change.Applying, change.Guard{Lease: soon})
	add(false, time.Hour, change.Applying, change.Guard{Lease: time.Hour})
	add(false, soon, change.Applying, change.Guard{Lease: time.Hour})
	time.Sleep(5 * soon)
	got, err := s.Due(ctx, 100)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := s.Due(ctx, 2); err != nil || len(got) != 2 {
		t.Error(got, err)
	}
}

// testEvents writes through two handles while readers follow on both. Each reader must read every event once and in
// order.
func testEvents(t *testing.T, open Open) {
	place := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	handles := []Store{Handle(t, open, place), Handle(t, open, place)}
	const writers, each = 6, 20
	var writing, reading sync.WaitGroup
	for who := range writers {
		writing.Go(func() {
			for i := range each {
				c := put(t, handles[who%2], plain(who*1000+i, fmt.Sprint(who)))
				if err := step(t, handles[who%2], c, change.Step{State: change.Rejected, Event: change.EventRejected}, change.Guard{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	read := make([][]int64, len(handles))
	for i, s := range handles {
		reading.Go(func() {
			var after int64
			for len(read[i]) < 2*writers*each {
				if err := s.Await(ctx, after); err != nil {
					t.Error(err)
					return
				}
				events, err := s.Events(ctx, after, 7)
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range events {
					read[i], after = append(read[i], e.Seq), e.Seq
				}
			}
		})
	}
	writing.Wait()
	reading.Wait()
	if !cmp.Equal(read[0], read[1]) || !slices.IsSorted(read[0]) || len(slices.Compact(slices.Clone(read[0]))) != 2*writers*each {
		t.Errorf("read %d and %d events, or not in order", len(read[0]), len(read[1]))
	}
}

// testAwait checks how soon an event is noticed, and that Await ends with its context.
func testAwait(t *testing.T, open Open) {
	place := t.TempDir()
	handles := []Store{Handle(t, open, place), Handle(t, open, place)}
	for round := range 6 {
		s, other := handles[round%2], handles[1-round%2]
		after := lastEvent(t, s)
		heard := make(chan error, 2)
		for _, h := range handles {
			go func() { heard <- h.Await(t.Context(), after) }()
		}
		time.Sleep(20 * time.Millisecond)
		select {
		case err := <-heard:
			t.Fatal("heard of nothing:", err)
		default:
		}
		put(t, other, plain(round, "a"))
		for range handles {
			select {
			case err := <-heard:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("not heard of")
			}
		}
		if err := s.Await(t.Context(), after); err != nil {
			t.Error("an event that is there:", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := handles[0].Await(ctx, lastEvent(t, handles[0])); err == nil {
		t.Error("an event that is not there")
	}
}

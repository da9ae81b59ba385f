package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// retitled returns a change that sets the title of an issue.
func retitled(t testing.TB, before, after string) *change.Change {
	return of(t, write.OpUpdate, `{"id":42,"title":`+string(value.AppendQuote(nil, before))+`}`, `{"id":42,"title":`+string(value.AppendQuote(nil, after))+`}`, "title")
}

// TestUnread checks that a sheet counts all changed parts that it omits.
func TestUnread(t *testing.T) {
	long := strings.Repeat("é", maxWhole)
	for _, c := range []struct {
		name, before, after string
		unread              int
	}{
		{"a text at the limit", "", long, 0},
		{"one character more", "", long + "!", 1},
		{"a tail behind many lines", "", strings.Repeat("\n", maxBreaks) + "seen", 0},
		{"a tail behind one line more", "", strings.Repeat("\n", maxBreaks+1) + "unseen", 7},
		{"what goes is too long", long + "!!", "x", 2},
		{"the end of a long text changes", strings.Repeat("word ", 5000) + "old", strings.Repeat("word ", 5000) + "new", 0},
		{"a long part comes into a text", "begin end", "begin " + long + "!!! end", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(retitled(t, c.before, c.after), issues, Viewer{Human: "rita", Reviewer: true})
			if got := s.Items[0].Fields[0].Unread; got != c.unread {
				t.Errorf("%d unread, want %d", got, c.unread)
			}
			if longs := s.Longs(); len(longs) != min(c.unread, 1) {
				t.Errorf("%+v", longs)
			}
		})
	}
	// A sheet of many long values has a limit. It counts the values that exceed the limit.
	var fields []string
	data := map[string]string{}
	for i := range 60 {
		fields = append(fields, fmt.Sprintf("f%02d", i))
		data[fields[i]] = strings.Repeat("x", maxWhole)
	}
	var members []value.Member
	for _, f := range fields {
		members = append(members, value.Member{Name: f, Value: value.OfString(data[f])})
	}
	c := of(t, write.OpCreate, `null`, `{}`)
	c.Effects[0].After = value.OfObject([]value.Member{{Name: "custom", Value: value.OfArray([]value.Value{value.OfObject(members)})}})
	c.Effects[0].Asked = []string{"custom"}
	c.Effects[0].Before, c.Effects[0].Op = value.OfObject([]value.Member{{Name: "custom", Value: value.OfArray([]value.Value{value.OfObject(nil)})}}), write.OpUpdate
	s := New(c, issues, Viewer{Reviewer: true})
	shown, unread := 0, 0
	for _, f := range s.Items[0].Fields {
		shown, unread = shown+len(f.After.Text), unread+f.Unread
	}
	if shown+unread != 60*maxWhole || shown > maxRoom+60*MaxShown || len(s.Longs()) == 0 {
		t.Errorf("%d shown, %d unread, %d long", shown, unread, len(s.Longs()))
	}
}

// TestLongNames checks that a member with a long name isn't shown under a part of its name.
func TestLongNames(t *testing.T) {
	name := strings.Repeat("n", maxLine) + " and what is behind"
	c := of(t, write.OpUpdate, `{"custom":{"a":1}}`, `{"custom":{"a":1,"`+name+`":2}}`, "custom")
	if f := New(c, issues, Viewer{Reviewer: true}).Items[0].Fields[0]; f.Path != "custom" || !strings.Contains(f.After.Text, "behind") {
		t.Errorf("%+v", f)
	}
}

// TestWhole checks that the pages of a field contain all of both values, for any values.
func TestWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.Custom(func(rt *rapid.T) string {
			words := rapid.SliceOfN(rapid.SampledFrom([]string{"alpha ", "beta\n", "γάμμα ", "x", "unique1 ", "unique2 ", strings.Repeat("long ", 3000)}), 0, 12).Draw(rt, "words")
			return strings.Join(words, "")
		})
		a, b := text.Draw(rt, "a"), text.Draw(rt, "b")
		s := New(retitled(t, a, b), issues, Viewer{Human: "rita", Reviewer: true})
		before, after := "", ""
		for page, pages := 1, 1; page <= pages; page++ {
			w, err := s.Whole(Place{Page: page})
			if err != nil {
				rt.Fatal(err)
			}
			pages = w.Pages
			for _, word := range w.Words {
				if word.Kind != "added" {
					before += word.Text
				}
				if word.Kind != "removed" {
					after += word.Text
				}
			}
			if w.After.Digest != sumOf(b) || w.Before.Digest != sumOf(a) {
				rt.Fatal("the hashes")
			}
		}
		if before != a || after != b {
			rt.Fatalf("%q → %q: %q → %q", a, b, before, after)
		}
		for side, want := range map[string]string{"before": a, "after": b} {
			if w, err := s.Whole(Place{Side: side}); err != nil || w.Exact != want {
				rt.Fatal(side, err)
			}
		}
	})
}

// TestWholeRefuses checks that hidden, masked and absent fields and sides return the same error. It also checks that
// another version is refused.
func TestWholeRefuses(t *testing.T) {
	c := of(t, write.OpUpdate, `{"title":"a","status":"b"}`, `{"title":"c","status":"d"}`, "title", "status")
	visibility := issues("")
	visibility.Masks = map[string]Masked{"title": func(value.Value) value.Value { return value.OfString("…") }}
	delete(visibility.Fields, "status")
	s := New(c, func(string) Visibility { return visibility }, Viewer{Reviewer: true})
	for _, at := range []Place{{Field: 0}, {Field: 0, Side: "after"}, {Field: 1}, {Field: -1}, {Item: 1}, {Item: -1}} {
		if _, err := s.Whole(at); problem.CodeOf(err) != problem.NotFound || problem.Of(err).Detail != "the change has no such field" {
			t.Errorf("%+v: %v", at, err)
		}
	}
	s = New(c, issues, Viewer{Reviewer: true})
	for at, want := range map[Place]problem.Code{{Digest: "other"}: problem.Conflict, {Side: "left"}: problem.InvalidArgument, {Page: 2}: problem.NotFound, {Digest: "d1"}: ""} {
		if _, err := s.Whole(at); problem.CodeOf(err) != want && !(want == "" && err == nil) {
			t.Errorf("%+v: %v", at, err)
		}
	}
}

// TestMarks checks that a mark counts only for one person and one version.
func TestMarks(t *testing.T) {
	mark := func(id, digest, after, person, part string) string {
		c := retitled(t, "", after+strings.Repeat("x", 2*maxWhole))
		c.ID, c.Digest = id, digest
		return New(c, issues, Viewer{Reviewer: true}).Longs()[0].Mark(person, part)
	}
	all := []string{mark("a", "d", "v", "rita", "1"), mark("b", "d", "v", "rita", "1"), mark("a", "e", "v", "rita", "1"), mark("a", "d", "w", "rita", "1"),
		mark("a", "d", "v", "ines", "1"), mark("a", "d", "v", "rita", "2"), mark("a", "d", "v", "rita", "after")}
	if slices.Sort(all); len(slices.Compact(all)) != 7 {
		t.Error("two are alike")
	}
}

// TestLongDiff checks that separate edits of a long text are found as separate differences.
func TestLongDiff(t *testing.T) {
	var a, b []string
	for i := range 3000 {
		a = append(a, fmt.Sprintf("line %d of a long text about things", i))
		b = append(b, a[i])
		if i%500 == 250 {
			b[i] = fmt.Sprintf("line %d of a long text about other things", i)
		}
	}
	s := New(retitled(t, strings.Join(a, "\n"), strings.Join(b, "\n")), issues, Viewer{Reviewer: true})
	changed := 0
	for _, w := range s.Items[0].Fields[0].Words {
		switch {
		case w.Kind == "removed", w.Kind == "added" && strings.TrimSpace(w.Text) != "other":
			t.Errorf("%+v", w)
		case w.Kind == "added":
			changed++
		}
	}
	if changed != 6 {
		t.Errorf("%d changes, want 6", changed)
	}
}

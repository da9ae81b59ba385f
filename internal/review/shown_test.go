package review

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain, Ünïcödé, 日本語, 🙂\n\tnext", "plain, Ünïcödé, 日本語, 🙂\n\tnext"},
		{"\x1b[31mred\x1b[0m", "⟨U+001B⟩[31mred⟨U+001B⟩[0m"},
		{"a\r\nb\x00\x07\x7f\u0085", "a⟨U+000D⟩\nb⟨U+0000⟩⟨U+0007⟩⟨U+007F⟩⟨U+0085⟩"},
		{"pay \u202e001\u202c", "pay ⟨U+202E⟩001⟨U+202C⟩"},
		{"\u2066\u2067\u2068\u2069\u061c\u200e\u200f", "⟨U+2066⟩⟨U+2067⟩⟨U+2068⟩⟨U+2069⟩⟨U+061C⟩⟨U+200E⟩⟨U+200F⟩"},
		{"ad\u200bmin\ufeff\u00ad\u2060\u2028\u2029", "ad⟨U+200B⟩min⟨U+FEFF⟩⟨U+00AD⟩⟨U+2060⟩⟨U+2028⟩⟨U+2029⟩"},
		{"a\u00a0b\u3000c\u3164\u115f\u2800", "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+3164⟩⟨U+115F⟩⟨U+2800⟩"},
		{"\U000e0041\U000e0042\ufe0f\U000e0100\u034f", "⟨U+E0041⟩⟨U+E0042⟩⟨U+FE0F⟩⟨U+E0100⟩⟨U+034F⟩"},
		{"\ue000\U0010ffff", "⟨U+E000⟩⟨U+10FFFF⟩"},
		{"é e\u0301 z\u0301\u0302\u0303\u0304\u0305\u0306", "é e\u0301 z\u0301\u0302\u0303\u0304⟨U+0305⟩⟨U+0306⟩"},
		{"⟨U+202E⟩ and ⟨x⟩", "⟨U+27E8⟩U+202E⟩ and ⟨x⟩"},
	} {
		if got := Visible(c.in); got != c.want {
			t.Errorf("%q\ngot  %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestShow(t *testing.T) {
	long := strings.Repeat("é", 501)
	sum := sha256.Sum256([]byte(long))
	for _, c := range []struct {
		v    value.Value
		t    schema.Type
		want Shown
	}{
		{value.Value{}, schema.String, Shown{Kind: "null"}},
		{value.OfString(""), schema.String, Shown{Kind: "empty"}},
		{value.OfBytes(""), schema.Bytes, Shown{Kind: "empty"}},
		{value.OfBytes("\x00"), schema.Bytes, Shown{Kind: "bytes", Text: "AA=="}},
		{value.OfBool(false), schema.Boolean, Shown{Kind: "boolean", Text: "false"}},
		{value.OfInt(-1 << 63), schema.Integer, Shown{Kind: "number", Text: "-9223372036854775808"}},
		{value.OfDecimal("1.10"), schema.Decimal, Shown{Kind: "number", Text: "1.10"}},
		{value.OfFloat(1e300), schema.Double, Shown{Kind: "number", Text: "1e+300"}},
		{value.OfDay(0), schema.Day, Shown{Kind: "date", Text: "1970-01-01"}},
		{value.OfDate(0), schema.Date, Shown{Kind: "date", Text: "1970-01-01T00:00:00Z"}},
		{value.OfArray(nil), schema.JSON, Shown{Kind: "json", Text: "[]"}},
		{value.OfString(long[2:]), schema.String, Shown{Kind: "text", Text: long[2:]}},
		{value.OfString(long), schema.String, Shown{Kind: "text", Text: long[2:], Length: 501, Digest: hex.EncodeToString(sum[:]), cut: 1}},
	} {
		if got := show(c.v, c.t); got != c.want {
			t.Errorf("%v: got %v want %v", c.v, got, c.want)
		}
	}
}

// FuzzVisible checks that different texts look different and that no invisible character remains.
func FuzzVisible(f *testing.F) {
	f.Add("⟨U+202E⟩", "\u202e")
	f.Add("⟨", "⟨U")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		shown := Visible(a)
		if a != b && shown == Visible(b) {
			t.Errorf("%q and %q both look like %q", a, b, shown)
		}
		for _, r := range shown {
			if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
				t.Errorf("%q shows %U", a, r)
			}
		}
	})
}

// TestWordsKeepTexts checks that the words of a difference restore both texts if nothing is cut.
func TestWordsKeepTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab]{0,3}( [abé.]{0,3}){0,12}`)
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		d := differ{cells: rapid.IntRange(0, 50).Draw(t, "cells") * 10}
		before, after, changes := "", "", 0
		words, _ := d.words(value.OfString(a), value.OfString(b))
		for _, w := range words {
			switch w.Kind {
			case "same":
				before, after = before+w.Text, after+w.Text
			case "removed":
				before, changes = before+w.Text, changes+1
			case "added":
				after, changes = after+w.Text, changes+1
			}
		}
		if words != nil && (before != a || after != b || changes == 0) {
			t.Fatalf("%q → %q: %q", a, b, words)
		}
	})
}

// TestWords checks long texts. Unchanged parts are cut to their ends, and changed parts to their beginning.
func TestWords(t *testing.T) {
	many := strings.Repeat("word ", 400)
	line := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		name, before, after string
		want                string
	}{
		{"nothing in common", "Todo", "Done", ""},
		{"rewritten but for one word", "The export of invoices is slow and times out", "Move the query to a replica", ""},
		{"a fifth is common", "one two three four", "one six seven", `="one " -"two three four" +"six seven"`},
		{"alike around a change", many + "old" + " " + many, many + "new" + " " + many,
			`~"1920" ="` + many[:80] + `" -"old" +"new" =" ` + many[:79] + `" ~"1921"`},
		{"a long part comes", "a b", "a " + many + "b", `="a " +"` + many[:500] + `" ~"1500" ="b"`},
		{"a line of a megabyte", line + "a", line + "b", `~"1048496" ="` + line[:80] + `" -"a" +"b"`},
		{"within emoji", "a 👩\u200D🚀 🇩🇪 b", "a 👩\u200D🔬 🇩🇰 b", "=\"a \" -\"👩\\u200d🚀 🇩🇪\" +\"👩\\u200d🔬 🇩🇰\" =\" b\""},
		{"two that differ everywhere", strings.Repeat("ab ", 1<<18) + "end.", strings.Repeat("cd ", 1<<18) + "end.", "bounded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := differ{cells: maxCells}
			words, _ := d.words(value.OfString(c.before), value.OfString(c.after))
			if d.cells < 0 {
				t.Errorf("%d comparisons more than a sheet may make", -d.cells)
			}
			got := strings.TrimSpace(strings.TrimPrefix(lines(Item{Fields: []Field{{Words: words}}}), " :  → "))
			if c.want != "bounded" && got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if len(got) > 4000 {
				t.Error(len(got))
			}
		})
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		name string
		of   func() *change.Change
		want string
	}{
		{"pending", func() *change.Change {
			return of(t, write.OpUpdate, `{"id":42,"title":"Fix the \"login\"","status":"Todo","due":null}`,
				`{"id":42,"title":"Fix the \"login\"\nstatus: \"Done\"","status":"","due":"2026-01-01T00:00:00Z"}`, "title", "status", "due")
		}, `Change pending approval. ID: 01JDC0000000000000000000AA

Operation: Issue 42: title, status, due
Target: issues 42
title: "Fix the \"login\"" → "Fix the \"login\"\nstatus: \"Done\""
status: "Todo" → ""
due: null → 2026-01-01T00:00:00Z

A human must approve this change before it takes effect. It expires at 2026-11-22 17:00 UTC.
`},
		{"a group, half approved, of what isn't all seen", func() *change.Change {
			c := of(t, write.OpCreate, `null`, `{"title":"x","salary":3}`, "title", "salary")
			c.Effects = append(c.Effects, of(t, write.OpDelete, `{"title":"y"}`, `null`).Effects[0])
			c.Op, c.Need, c.Title = "group", 2, "two things"
			c.Decisions = []change.Decision{{By: change.Party{Owner: "rita"}, Approve: true, Digest: "d1", Comment: "fine\nby me"}}
			c.History = append(c.History, change.Step{Event: change.EventDecided, By: "rita", Digest: "d1", Comment: "fine\nby me"})
			return c
		}, `Change pending approval. ID: 01JDC0000000000000000000AA

Operation: 1 create in issues, 1 delete in issues
1. create a new record of issues
   title: "x"
   (1 more that you don't see)
2. delete issues 42
   title: "y" → (gone)
rita approved: "fine\nby me"

One more human must approve this change before it takes effect. It expires at 2026-11-22 17:00 UTC.
`},
		{"stale", func() *change.Change {
			c := of(t, write.OpUpdate, `{"status":"a"}`, `{"status":"b","hours":5}`, "status")
			c.State, c.Outcome = change.Stale, &change.Outcome{Now: []change.Effect{{Before: read(t, `{"status":"c"}`)}}}
			c.History = append(c.History, change.Step{Event: change.EventCommented, By: "rita", Digest: "d1", Comment: "hm"})
			return c
		}, `Change stale. ID: 01JDC0000000000000000000AA

Operation: Issue 42: status a → b
Target: issues 42
status: "a" → "b" (now "c")
hours: (none) → 5 (by the source)
rita commented: "hm"

What it would change has changed since it was looked at. Nothing was written.
`},
		{"applied, of a record that has a key now", func() *change.Change {
			c := of(t, write.OpCreate, `null`, `{"title":"`+strings.Repeat("x", 600)+`"}`, "title")
			c.State, c.Outcome = change.Applied, &change.Outcome{Receipt: &change.Receipt{Keys: []string{"77"}}}
			return c
		}, `Change applied. ID: 01JDC0000000000000000000AA

Operation: Create issue 77
Target: issues 77
title: "` + strings.Repeat("x", 120) + `"… (600 characters)

It was applied.
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Text(New(c.of(), issues, Viewer{Reviewer: true})); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// FuzzSheet makes sheets of arbitrary records. It checks that nothing panics or hangs, and that no record adds a line
// to the text.
func FuzzSheet(f *testing.F) {
	f.Add(`{"title":"a","custom":{"x":[1,2]}}`, `{"title":"b\nc","custom":{"x":[2]}}`)
	f.Add(`null`, `{"custom":[[[]]]}`)
	f.Add(`{"hours":1e9999999}`, `{"hours":-0}`)
	f.Fuzz(func(t *testing.T, before, after string) {
		was, err := value.Read([]byte(before), 0)
		is, err2 := value.Read([]byte(after), 0)
		if err != nil || err2 != nil {
			return
		}
		c := of(t, write.OpUpdate, `null`, `null`, "title", "custom")
		c.Effects[0].Before, c.Effects[0].After = was, is
		for _, line := range strings.Split(Text(New(c, issues, Viewer{Reviewer: true})), "\n") {
			if hidden := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); hidden >= 0 {
				t.Errorf("%q", line)
			}
		}
	})
}

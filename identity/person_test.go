package identity

import (
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// TestPerson checks that spellings of one name have the same form, and different names don't.
func TestPerson(t *testing.T) {
	for _, name := range []string{"ana@example.org", "ANA@Example.ORG", " ana@example.org\t", "\u200bana@example.org", "a\u200dna@example\u2060.org", "ａｎａ＠ｅｘａｍｐｌｅ．ｏｒｇ",
		"ana@exam\u00adple.org", "ana\ufe0f@example.org", "\u202eana@example.org\u202c", "ana@example.org\u3164", "ana\u034f@example.org", "ana@example.org\u00a0", "ªna@example.org"} {
		if got := Person(name); got != "ana@example.org" {
			t.Errorf("%+q is %+q", name, got)
		}
	}
	for _, pair := range [][2]string{{"Straße", "STRASSE"}, {"é", "E\u0301"}, {"Ｊ Ｄｏｅ", "j  doe"}, {"ΣΊΣΥΦΟΣ", "σίσυφος"}, {"İ", "i\u0307"}, {"ﬁ", "FI"}, {"j\tdoe", "j doe"}, {"jdoe\x7f", "jdoe"}} {
		if a, b := Person(pair[0]), Person(pair[1]); a != b || a == "" {
			t.Errorf("%q is %q and %q is %q", pair[0], a, pair[1], b)
		}
	}
	for _, pair := range [][2]string{{"ana", "anna"}, {"ana", "an a"}, {"j.doe", "jdoe"}, {"rené", "rene"}} {
		if Person(pair[0]) == Person(pair[1]) {
			t.Errorf("%q and %q are one person", pair[0], pair[1])
		}
	}
	for _, none := range []string{"", " ", "\u200b", "\u2060\u00ad \ufeff"} {
		if got := Person(none); got != "" {
			t.Errorf("%+q is %+q", none, got)
		}
	}
}

// TestPersonOnce checks that Person is idempotent, for every character before, after and between others.
func TestPersonOnce(t *testing.T) {
	for r := rune(0); r <= 0xe01ef; r++ {
		if !unicode.IsPrint(r) && !unicode.In(r, unicode.Cf, unicode.Cc, unicode.Other_Default_Ignorable_Code_Point) || unicode.Is(unicode.Han, r) && norm.NFKC.IsNormalString(string(r)) || unicode.Is(unicode.Hangul, r) {
			continue
		}
		for _, name := range []string{string(r), "a" + string(r), string(r) + "\u0301", "x" + string(r) + "\u0345y"} {
			once := Person(name)
			if again := Person(once); again != once || !norm.NFKC.IsNormalString(once) {
				t.Fatalf("%+q is %+q, which is %+q", name, once, again)
			}
		}
	}
}

// TestAccount checks that sub-principals and other spellings share one account.
func TestAccount(t *testing.T) {
	a := Principal{ID: "token:1", Owner: "Ana", Scopes: []Scope{Read}}
	b := Principal{ID: "token:2", Owner: "ａｎａ\u200b", Scopes: []Scope{Read}}
	child, err := Derive(Principal{ID: "host:x", Scopes: []Scope{Read}}, Derivation{Name: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if a.Account() != "ana" || b.Account() != "ana" || child.Account() != "host:x" {
		t.Error(a.Account(), b.Account(), child.Account())
	}
	if err := mayHold(Human, "\u200b", []Scope{Review}); err == nil {
		t.Error("a person whose name shows nothing decides")
	}
	if err := mayHold(Agent, "\u200b", []Scope{Write}); err == nil {
		t.Error("an agent writes for a person whose name shows nothing")
	}
}

// TestAuthor checks what a record says of its author.
func TestAuthor(t *testing.T) {
	for want, p := range map[string]Principal{"triage-bot (maria)": {ID: "token:1", Name: "triage-bot", Owner: "maria"}, "triage-bot": {ID: "token:1", Name: "triage-bot"},
		"maria": {ID: "token:1", Owner: "maria"}, "Maria": {ID: "token:1", Name: "Maria", Owner: "maria"}, "token:1": {ID: "token:1"}} {
		if got := p.Author(); got != want {
			t.Errorf("%+v is %q, want %q", p, got, want)
		}
	}
}

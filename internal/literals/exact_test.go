package literals

import (
	"regexp"
	"testing"
)

// TestExact checks which expressions are accepted. For all short texts of some characters, it also checks that the
// longest match is the same as the first match. Engines use one of these two rules.
func TestExact(t *testing.T) {
	taken := []string{"a", "ab", "[^0-9]+", `\s+`, "^a+", "a+$", "a?b", "[ab]?c+", "a{1,2}b", "ab*c", "a|b+", "ab|c", "^a+|a+$", "(?s:.)", "(a)(b)", "a[ab]", "a+b?c?$", "(?i)a+B", "[ab]{2}", "-[^-]*-"}
	for _, p := range taken {
		if err := ExactPattern(p); err != nil {
			t.Errorf("%s is refused: %v", p, err)
		}
		first, longest := regexp.MustCompile(p), regexp.MustCompile(p)
		longest.Longest()
		for n := range 5 * 5 * 5 * 5 * 5 * 5 {
			var text []byte
			for ; n > 0; n /= 5 {
				text = append(text, "ab c-"[n%5])
			}
			if a, b := first.ReplaceAllString(string(text), "<$0>"), longest.ReplaceAllString(string(text), "<$0>"); a != b {
				t.Fatalf("%s in %q finds %s first, and %s is the longest", p, text, a, b)
			}
		}
	}
	for _, p := range []string{"(a)(b)?", "((a)|b)", "(a)*b"} {
		if err := CheckCaptures(p); err != nil {
			t.Errorf("the groups of %s are refused: %v", p, err)
		}
	}
	for _, p := range []string{"^(a+)|(a+)$", "(a|ab)c", "(a*)b?"} {
		if CheckCaptures(p) == nil {
			t.Errorf("the groups of %s are taken", p)
		}
	}
	for p, want := range map[string]bool{"a": false, "a*": true, "(a|b?)": true, "^$": true, "a?b+": false, `\b`: true, "a{0,3}": true, "(?:a*){2}": true, "[ab]c*": false, "": true} {
		tree, err := ParsePattern(p, "")
		if err != nil || MatchesEmpty(tree) != want {
			t.Errorf("%s: %v, want %t", p, err, want)
		}
	}
	for _, p := range []string{"a*", "", "(a|ab)c", "a|ab", ".*b", "a+?", "[ab]+a", "(ab)+", "a?ab", `\ba`, "^a+|b+|a+$", "^a+|[ab]+$", "a$b", "x(^a)", "(?:)", "a?b?", "[ab]{1,2}b", "^a|a$", "foo|foobar"} {
		if ExactPattern(p) == nil {
			t.Errorf("%s is taken", p)
		}
	}
}

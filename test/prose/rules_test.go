package prose

import (
	"regexp"
	"strings"
	"testing"
)

// Sentences have at most so many words. Comments may have a few more.
const maxWords, maxCommentWords = 25, 28

// A rule finds what is wrong with one sentence.
type rule struct {
	name  string
	fix   string
	wrong func(s sentence) bool
}

var rules = []rule{
	{"long", "split the sentence: at most 25 words, 28 in comments", func(s sentence) bool {
		limit := maxWords
		if s.kind == comment {
			limit = maxCommentWords
		}
		return words(s.text) > limit
	}},
	{"semicolon", "write two sentences", matches(`;(\s|$)`)},
	{"is-no", `write "is not a"`, func(s sentence) bool {
		for _, m := range isNo.FindAllStringSubmatch(s.text, -1) {
			if m[1] == "" && !comparison.MatchString(m[2]) {
				return true
			}
		}
		return false
	}},
	{"not-there", `name what is missing, or write "is not supported"`, matches(`\b(isn't|aren't|wasn't|weren't|(is|are|was|were) not) there([^-\w]|$)`)},
	{"be-had", `write "can't fetch", "can't read" or "is not available"`, matches(`\b(be|been) had\b`)},
	{"what-clause", "begin with the noun: the fields, the value, the reason", what},
	{"alone", `write "only"`, func(s sentence) bool {
		return len(alone.FindAllString(s.text, -1)) > len(apart.FindAllString(s.text, -1))
	}},
	{"for-none", `write ", or nil" or ", or empty"`, matches("(\\bnil|``|\"\") for (none|nothing|nowhere|nobody)\\b")},
	{"but-for", `write "except for"`, matches(`\b[Bb]ut for\b`)},
	{"whom", "name who acts", matches(`\b[Ww]hom\b`)},
	{"so-it-is", `write "the same holds for"`, matches(`^So it is\b`)},
}

var (
	// isNo takes the word before and the word after.
	isNo       = regexp.MustCompile(`(?:\b([Tt]here(?: (?:would|can|could|may|might|must|will|should))?) )?\b(?:is|are|was|were|be|isn't) no ([\w'-]+)`)
	comparison = regexp.MustCompile(`^(longer|more|less|later|earlier|better|worse|fewer|faster|slower|larger|smaller|greater|higher|lower|wider|older|newer|shorter|cheaper|deeper|stronger|different)$`)

	alone = regexp.MustCompile(`\balone\b`)
	// apart are the uses of the word in which it doesn't mean only.
	apart = regexp.MustCompile(`\b([Ll]et|[Ss]tands?|(decide|approve|judge|act|work)[sd]?|[Ll](eave|eft)s?( (it|them|him|her|the|a|an|this|that|these|those|all|\w+s))?( \w+)?|[Rr](uns?|an)) alone\b`)

	capital = regexp.MustCompile(`^["(]?What('s)?\b`)
	lower   = regexp.MustCompile(`^what\b`)
	// clause ends what a sentence that begins with what says first.
	clause = regexp.MustCompile(`[,:;(]|\b(where|if|when|while|that|which|who|because|so|as|unless|until|before|after|and|or|but|than)\b`)
	verb   = regexp.MustCompile(`\b(is|are|was|were|isn't|aren't|wasn't|has|have|hasn't|can|can't|may|must|will|does|doesn't|do|don't|needs|ends|stays|comes|goes|takes|gets|makes)\b`)
)

// what reports a clause that begins with what and is the subject. Questions and headings may begin so. Comments often begin
// in lower case, with what a field holds: two verbs tell a clause with a verb of its own.
func what(s sentence) bool {
	if s.kind == heading || strings.HasSuffix(strings.TrimRight(s.text, `")*_ `), "?") {
		return false
	}
	if capital.MatchString(s.text) {
		return true
	}
	if !lower.MatchString(s.text) {
		return false
	}
	main := s.text
	if end := clause.FindStringIndex(main[len("what"):]); end != nil {
		main = main[:len("what")+end[0]]
	}
	return len(verb.FindAllString(main, -1)) > 1
}

func matches(pattern string) func(sentence) bool {
	re := regexp.MustCompile(pattern)
	return func(s sentence) bool { return re.MatchString(s.text) }
}

// broken returns the rules that a sentence breaks.
func broken(s sentence) []rule {
	var out []rule
	for _, r := range rules {
		if r.wrong(s) {
			out = append(out, r)
		}
	}
	return out
}

// TestRules checks each rule with sentences that break it and with ones that look alike and don't.
func TestRules(t *testing.T) {
	long := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) + "." }
	for _, c := range []struct {
		rule string
		kind kind
		text string
		want int
	}{
		{"long", page, long(25), 0},
		{"long", page, long(26), 1},
		{"long", page, long(20) + " " + long(20), 0},
		{"long", comment, long(28), 0},
		{"long", comment, long(29), 1},
		{"long", message, long(26), 1},
		{"long", comment, long(26) + ` "a text of six words here" end.`, 0},
		{"long", page, long(20)[:99] + ", e.g. " + long(10), 1},
		{"long", page, "— | 12 – " + long(24), 0},
		{"semicolon", page, "It ends; nothing is written.", 1},
		{"semicolon", page, "It ends. Nothing is written.", 0},
		{"semicolon", comment, `the near name; "" for none`, 1},
		{"semicolon", comment, `splits at "; " and at ";" as SQL does`, 0},
		{"semicolon", comment, "as in `a; b`", 0},
		{"semicolon", comment, "text/html;charset=utf-8 is answered", 0},
		{"semicolon", message, "unknown key %q; its keys are %s", 1},
		{"is-no", message, "%s is no number", 1},
		{"is-no", message, "%s is not a number", 0},
		{"is-no", page, "There is no such table.", 0},
		{"is-no", page, "Then there would be no group.", 0},
		{"is-no", page, "It would be no group.", 1},
		{"is-no", page, "The rule is no longer read.", 0},
		{"is-no", page, "They are no arguments of agents.", 1},
		{"is-no", page, "It has no fields.", 0},
		{"is-no", page, "If there is no key, it is no object.", 1},
		{"is-no", page, "It is no larger than before.", 0},
		{"not-there", message, "FETCH … WITH TIES isn't there", 1},
		{"not-there", message, "the file is not there", 1},
		{"not-there", message, "FETCH … WITH TIES is not supported", 0},
		{"not-there", page, "It isn't therefore wrong.", 0},
		{"be-had", message, "the issuer's keys could not be had", 1},
		{"be-had", message, "can't fetch the issuer's keys", 0},
		{"be-had", page, "An agent that had no token.", 0},
		{"what-clause", page, "What the agent isn't shown is left out.", 1},
		{"what-clause", page, "Hidden fields are left out.", 0},
		{"what-clause", page, "It is left out. What stays is counted.", 1},
		{"what-clause", page, "What is a pack?", 0},
		{"what-clause", heading, "What an agent sees", 0},
		{"what-clause", message, "what is masked can be kept in a JSON body", 1},
		{"what-clause", comment, "what is kept where nothing is masked", 0},
		{"what-clause", comment, "what the agent sees", 0},
		{"what-clause", page, "It returns what is left.", 0},
		{"alone", page, "Masked values can be kept in a JSON body alone.", 1},
		{"alone", page, "Masked values can be kept only in a JSON body.", 0},
		{"alone", page, "It leaves the field alone.", 0},
		{"alone", page, "It leaves it alone, for readers alone.", 1},
		{"alone", page, "A standalone program.", 0},
		{"alone", page, "The server runs alone.", 0},
		{"alone", page, "A person may decide alone.", 0},
		{"for-none", comment, "the provider, nil for none", 1},
		{"for-none", comment, `the label, "" for nothing`, 1},
		{"for-none", comment, "the provider, or nil", 0},
		{"for-none", comment, "nil for a view", 0},
		{"but-for", page, "All but for stages.", 1},
		{"but-for", page, "All except for stages.", 0},
		{"whom", comment, "returns whom to act as", 1},
		{"whom", comment, "returns the acting user", 0},
		{"so-it-is", page, "So it is for a call of an API.", 1},
		{"so-it-is", page, "The same holds for API calls.", 0},
	} {
		p := passage{kind: c.kind}
		p.add(c.text, 1)
		got := 0
		for _, s := range p.sentences() {
			for _, r := range broken(s) {
				if r.name == c.rule {
					got++
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %d hits, want %d: %s", c.rule, got, c.want, c.text)
		}
	}
}

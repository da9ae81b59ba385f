package typecheck

import (
	"slices"
	"strings"
	"unicode"
)

// states are words for how far work has come, in order: not begun, under way, over, given up.
var states = [...]string{
	"open new todo backlog planned pending queued waiting unstarted notstarted draft ready triage reported created",
	"open active inprogress progress doing started working review inreview ongoing current assigned blocked testing",
	"closed done complete completed finished resolved fixed solved shipped released merged archived ended over",
	"closed cancelled canceled rejected declined abandoned dropped wontfix wontdo duplicate invalid",
}

// alike returns the allowed values, at most three, that name the same state as text: "open" is what isn't over.
func alike(text string, allowed []string) (out []string) {
	for _, words := range states {
		if !names(words, text) {
			continue
		}
		for _, a := range allowed {
			if names(words, a) && !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	return out[:min(len(out), 3)]
}

// names reports whether text is one of words, without case, spaces and marks.
func names(words, text string) bool {
	text = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
	return slices.Contains(strings.Fields(words), text)
}

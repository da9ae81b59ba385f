package typecheck

import (
	"slices"
	"strings"
	"unicode"
)

// states are words for stages of work, in this order: not begun, in progress, finished, given up.
var states = [...]string{
	"open new todo backlog planned pending queued waiting unstarted notstarted draft ready triage reported created",
	"open active inprogress progress doing started working review inreview ongoing current assigned blocked testing",
	"closed done complete completed finished resolved fixed solved shipped released merged archived ended over",
	"closed cancelled canceled rejected declined abandoned dropped wontfix wontdo duplicate invalid",
}

// alike returns at most three allowed values that name the same state as text. "open" means not finished.
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

// names reports whether text is one of words. It ignores case, spaces and punctuation.
func names(words, text string) bool {
	text = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
	return slices.Contains(strings.Fields(words), text)
}

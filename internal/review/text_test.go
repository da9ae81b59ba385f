package review

import "testing"

// TestSentence checks how a text becomes a sentence.
func TestSentence(t *testing.T) {
	for text, want := range map[string]string{"": "", "the change is another": "The change is another.", "Until then:": "Until then:", "It is so. ": "It is so.", "é": "É."} {
		if got := Sentence(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

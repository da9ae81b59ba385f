package writes

import "testing"

// TestSentence checks how a summary is shortened for a title.
func TestSentence(t *testing.T) {
	for summary, want := range map[string]string{"Get a team": "Get a team", "Put puts the key.\nA put makes an event.": "Put puts the key", "Restart v2.1 of it.": "Restart v2.1 of it", "": ""} {
		if got := sentence(summary); got != want {
			t.Errorf("%q: %q", summary, got)
		}
	}
}

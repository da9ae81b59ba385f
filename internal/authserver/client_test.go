package authserver

import (
	"fmt"
	"testing"
)

// TestMetadata reads what clients say of themselves in one way: the last of two equal names, or another spelling, isn't taken for it.
func TestMetadata(t *testing.T) {
	for body, want := range map[string]string{
		`{"redirect_uris": ["a"], "client_name": "x", "contacts": [{"a": 1}]}`:          "[a]",
		`{"redirect_uris": ["a"], "redirect_uris": ["b"]}`:                              "refused",
		`{"redirect_uris": ["a"], "Redirect_URIs": ["b"], "redirect_uri\u017f": ["c"]}`: "[a]",
		`{"redirect_uris": ["a"]} {"redirect_uris": ["b"]}`:                             "refused",
		`{"redirect_uris": "a"}`: "refused",
		`["a"]`:                  "refused",
		``:                       "refused",
	} {
		m, err := readMetadata([]byte(body))
		got := fmt.Sprint(m.Redirects)
		if err != nil {
			got = "refused"
		}
		if got != want {
			t.Errorf("%s: %s, %v; want %s", body, got, err, want)
		}
	}
}

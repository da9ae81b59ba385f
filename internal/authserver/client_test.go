package authserver

import (
	"fmt"
	"testing"
)

// TestMetadata checks that a client's metadata has only one meaning. A duplicate name, or a name in another spelling,
// isn't used.
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

package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/console"
)

// TestForeignPages checks that no route answers a page of another site, with any method, and that links from other
// sites still work.
func TestForeignPages(t *testing.T) {
	w := newWorld(t, newDrawers(samples()...), nil)
	b := w.signedIn(t, "rosa")
	ask := func(method, path string, header ...string) int {
		t.Helper()
		r := b.request(method, path, "")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		resp, err := b.client.Do(r) // the body isn't read: streams don't end
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	for _, route := range w.console.Routes() {
		method, path := route[0], console.Path+strings.NewReplacer("{$}", "", "{id}", id(1), "{name}", "console.css", "{what}", "sessions", "{deed}", "reject", "{source}", "x").Replace(route[1])
		for _, header := range [][]string{
			{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Origin", "http://127.0.0.1:1"},
			{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, {"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"},
			{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"},
		} {
			if got := ask(method, path, header...); got != http.StatusForbidden {
				t.Errorf("%s %s with %q: %d, want 403", method, path, header, got)
			}
		}
	}
	for _, header := range [][]string{
		nil, {"Origin", b.url}, {"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}, {"Origin", "null", "Sec-Fetch-Site", "same-origin"},
		{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"},
	} {
		for _, path := range []string{console.Path + "/changes", console.Path + "/events"} {
			if got := ask("GET", path, header...); got != http.StatusOK {
				t.Errorf("GET %s with %q: %d, want 200", path, header, got)
			}
		}
	}
}

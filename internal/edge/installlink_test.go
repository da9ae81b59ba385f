package edge_test

import (
	"encoding/base64"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// TestLinks checks the contents of the links. The links in the README must be for the address of the default
// configuration.
func TestLinks(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"Cursor":  `{"headers":{"Authorization":"Bearer ${env:BAILIWICK_TOKEN}"},"url":"http://127.0.0.1:8420/mcp"}`,
		"VS Code": `{"headers":{"Authorization":"Bearer ${input:bailiwick-token}"},"type":"http","url":"http://127.0.0.1:8420/mcp"}`,
	}
	for _, l := range edge.InstallLinks("bailiwick", "http://127.0.0.1:8420/mcp") {
		if !strings.Contains(string(readme), "]("+l.URL+")") {
			t.Errorf("README.md has no link\n](%s)", l.URL)
		}
		u, err := url.Parse(l.URL)
		if err != nil {
			t.Fatal(err)
		}
		config := u.Query().Get("config")
		if plain, err := base64.StdEncoding.DecodeString(config); err == nil {
			config = string(plain)
		}
		if config != want[l.Client] {
			t.Errorf("%s: config is %s", l.Client, config)
		}
	}
}

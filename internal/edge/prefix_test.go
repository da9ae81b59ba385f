package edge_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// TestPrefixed requests addresses with and without the path of a proxy, and checks the addresses in the responses.
func TestPrefixed(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "/console/sign-in?next=%2Fconsole", http.StatusSeeOther)
		case "/page":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			for _, part := range []string{`<a href="/con`, `sole/queue">=&#34;/console</a><form action="/console`, `"><a href="https://x.example/console">="/conso`} {
				fmt.Fprint(w, part)
			}
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"at":"/console","path":%q}`, r.URL.EscapedPath())
		}
	})
	for _, tt := range []struct{ base, path, location, body string }{
		{"https://x.example", "/mcp", "", `{"at":"/console","path":"/mcp"}`},
		{"https://x.example/", "/page", "", `<a href="/console/queue">=&#34;/console</a><form action="/console"><a href="https://x.example/console">="/conso`},
		{"https://x.example/team/bw", "/mcp", "", `{"at":"/console","path":"/mcp"}`},
		{"https://x.example/team/bw", "/team/bw/mcp", "", `{"at":"/console","path":"/mcp"}`},
		{"https://x.example/team/bw", "/team/bw", "", `{"at":"/console","path":"/"}`},
		{"https://x.example/team/bw", "/team/bwx/mcp", "", `{"at":"/console","path":"/team/bwx/mcp"}`},
		{"https://x.example/team/bw", "/team/bw/console/a%2Fb", "", `{"at":"/console","path":"/console/a%2Fb"}`},
		{"https://x.example/team/bw", "/.well-known/oauth-protected-resource/team/bw/mcp", "", `{"at":"/console","path":"/.well-known/oauth-protected-resource/mcp"}`},
		{"https://x.example/team/bw", "/.well-known/oauth-authorization-server/team/bw", "", `{"at":"/console","path":"/.well-known/oauth-authorization-server"}`},
		{"https://x.example/team/bw", "/team/bw/.well-known/openid-configuration", "", `{"at":"/console","path":"/.well-known/openid-configuration"}`},
		{"https://x.example/team/bw", "/away", "/team/bw/console/sign-in?next=%2Fconsole", ""},
		{"https://x.example/team/bw", "/team/bw/page", "", `<a href="/team/bw/console/queue">=&#34;/console</a><form action="/team/bw/console"><a href="https://x.example/console">="/conso`},
	} {
		w := httptest.NewRecorder()
		edge.WithPrefix(h, tt.base).ServeHTTP(w, httptest.NewRequest(http.MethodGet, tt.path, nil))
		body, _ := io.ReadAll(w.Result().Body)
		if got := w.Header().Get("Location"); got != tt.location {
			t.Errorf("%s of %s leads to %q, want %q", tt.path, tt.base, got, tt.location)
		}
		if tt.body != "" && string(body) != tt.body {
			t.Errorf("%s of %s\n got %s\nwant %s", tt.path, tt.base, body, tt.body)
		}
	}
}

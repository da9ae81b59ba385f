package serve_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/serve"
	"github.com/bailiwick-dev/bailiwick/tool"
)

const configuration = `
store: sqlite:bailiwick.db
gates: {writes: review, raw_writes: review}
sources:
  tracker: {url: "sqlite:tracker.db"}
classes:
  tracker.issues: {tenant: {field: org_id, is: principal.tenant}, visible: [id, title, status], permitted: [title]}
`

// as adds a header to every request, which the test's Authenticate reads.
type as string

func (name as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-User", string(name))
	return http.DefaultTransport.RoundTrip(r)
}

func signedIn(r *http.Request) (identity.Principal, error) {
	switch name := r.Header.Get("X-User"); name {
	case "agent":
		return identity.Principal{ID: "app:agent", Kind: identity.Agent, Owner: "ana", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read, identity.Write}}, nil
	case "rosa":
		return identity.Principal{ID: "app:rosa", Kind: identity.Human, Owner: "rosa", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read, identity.Review}}, nil
	}
	return identity.Principal{}, identity.UnauthorizedError("not signed in", nil)
}

type greeting struct {
	Words string `json:"words"`
}

func open(t *testing.T, config string) (*serve.Server, string, error) {
	t.Helper()
	dir := t.TempDir()
	if err := demo.Create(t.Context(), filepath.Join(dir, "tracker.db")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "bailiwick.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := serve.Open(t.Context(), file, serve.Options{Authenticate: signedIn, Challenge: `Desk realm="desk"`, Tools: []tool.Tool{
		tool.Typed(tool.Tool{Name: "greet", Description: "Greets.", Category: tool.Custom, Annotations: tool.Annotations{ReadOnly: true}},
			func(context.Context, *bailiwick.Call, struct{}) (greeting, error) { return greeting{"hello"}, nil })}})
	return s, file, err
}

// TestServer mounts a configuration in a program with its own authentication and tool. An agent proposes, a person
// approves through the review API, and the change is applied.
func TestServer(t *testing.T) {
	s, file, err := open(t, configuration)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.MCP())
	mux.Handle("/api/", s.ReviewAPI())
	mux.Handle("/console/", s.Console())
	web := httptest.NewServer(mux)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx, web.URL)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	call := func(name string, args map[string]any) string {
		t.Helper()
		c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL + "/mcp", MaxRetries: -1, DisableStandaloneSSE: true,
			HTTPClient: &http.Client{Transport: as("agent")}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return res.Content[0].(*mcp.TextContent).Text
	}
	review := func(user, method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, web.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := (&http.Client{Transport: as(user)}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
	if got := call("greet", nil); got != `{"words":"hello"}` {
		t.Errorf("greet answers %s", got)
	}
	const issue = "0194b278-9ec8-7336-939c-d937258146b6"
	selected := call("query_sql", map[string]any{"sql": "SELECT count(*) AS n, $2 AS word, $3 AS third FROM issues WHERE id = $1", "params": []any{issue, "it's \"so\" -- ;", nil}})
	if want := `1,"it's \"so\" -- ;",`; !strings.Contains(selected, want) {
		t.Errorf("query_sql with params answers %s, want %s", selected, want)
	}
	if got := call("query_sql", map[string]any{"sql": "SELECT $4 AS x FROM issues", "params": []any{issue, 1, 2}}); !strings.Contains(got, "the parameter 4 has no value") {
		t.Errorf("query_sql without a value for $4 answers %s", got)
	}
	proposed := call("update_object", map[string]any{"class_name": "issues", "object_id": issue, "data": map[string]any{"title": "Seen from a program"}, "reason": "A test."})
	_, rest, ok := strings.Cut(proposed, "ID: ")
	if !ok {
		t.Fatalf("update_object answers %s", proposed)
	}
	id := strings.Fields(rest)[0]
	if code, _ := review("nobody", "GET", "/api/changes", ""); code != http.StatusUnauthorized {
		t.Errorf("without a sign-in the API answers %d", code)
	}
	for _, path := range []string{"/mcp", "/api/changes"} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		r.Host = strings.TrimPrefix(web.URL, "http://")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if got := w.Header().Get("WWW-Authenticate"); w.Code != http.StatusUnauthorized || got != `Desk realm="desk"` {
			t.Errorf("%s answers %d with the challenge %q", path, w.Code, got)
		}
	}
	code, sheet := review("rosa", "GET", "/api/changes/"+id, "")
	if code != http.StatusOK || !strings.Contains(sheet, "Seen from a program") {
		t.Fatalf("the API shows %d %s", code, sheet)
	}
	_, digest, _ := strings.Cut(sheet, `"digest":"`)
	digest, _, _ = strings.Cut(digest, `"`)
	if code, body := review("rosa", "POST", "/api/changes/"+id+"/approve", `{"digest":"`+digest+`"}`); code != http.StatusOK {
		t.Fatalf("approving answers %d %s", code, body)
	}
	for deadline := time.Now().Add(time.Minute); !strings.Contains(call("get_object", map[string]any{"class_name": "issues", "object_id": issue}), "Seen from a program"); {
		if time.Now().After(deadline) {
			t.Fatal("the approved change was not applied")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if code, page := review("rosa", "GET", "/console/sign-in", ""); code != http.StatusOK || !strings.Contains(page, "Bailiwick") {
		t.Errorf("the console answers %d %.80s", code, page)
	}

	// The program's own tool remains when the file changes. An invalid file changes nothing.
	if err := os.WriteFile(file, []byte(strings.Replace(configuration, "title, status]", "title, status, priority]", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := call("get_schema", map[string]any{"class_name": "issues"}); !strings.Contains(got, "priority") {
		t.Errorf("after the reload the schema is %s", got)
	}
	if got := call("greet", map[string]any{}); got != `{"words":"hello"}` {
		t.Errorf("after the reload greet answers %s", got)
	}
	if err := os.WriteFile(file, []byte(configuration+"colour: blue\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "colour") {
		t.Errorf("reloading a wrong file: %v", err)
	}
	if got := call("get_schema", map[string]any{"class_name": "issues"}); !strings.Contains(got, "priority") {
		t.Errorf("after a failed reload the schema is %s", got)
	}
}

// TestOpenRefuses checks that errors contain the position, and that everything is closed.
func TestOpenRefuses(t *testing.T) {
	for _, tt := range []struct{ config, want string }{
		{strings.Replace(configuration, "tracker.issues:", "tracker.isues:", 1), "Did you mean"},
		{strings.Replace(configuration, "tracker.db", "none.db", 1), "none.db"},
	} {
		if _, _, err := open(t, tt.config); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want an error with %q", err, tt.want)
		}
	}
	if _, err := serve.Open(t.Context(), filepath.Join(t.TempDir(), "bailiwick.yaml"), serve.Options{}); err == nil {
		t.Error("a file that is missing is opened")
	}
}

// TestServeIsBounded checks that Serve limits the number of connections as configured, and ends with its context.
func TestServeIsBounded(t *testing.T) {
	s, _, err := open(t, configuration+"server: {connections: {max: 4, each: 4}}\n")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	const asked, most = 12, 4
	closed := make(chan struct{}, asked)
	for answered, tries := 0, 0; answered < asked; tries++ {
		if tries == 100*asked {
			t.Fatalf("%d connections are answered after %d tries", answered, tries)
		}
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "HEAD /healthz HTTP/1.1\r\nHost: "+l.Addr().String()+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: "HEAD"})
		if err != nil || res.StatusCode == http.StatusServiceUnavailable {
			continue // refused, because no connection is idle yet. The server notices that a moment after its response
		}
		if res.StatusCode != http.StatusOK {
			t.Fatal(res)
		}
		answered++
		go func() {
			_, _ = c.Read(make([]byte, 1)) // until the server closes it
			closed <- struct{}{}
		}()
	}
	for i := range asked - most { // the connections that were idle longest were closed
		select {
		case <-closed:
		case <-time.After(30 * time.Second):
			t.Fatalf("%d of %d connections are still open, %d are allowed", asked-i, asked, most)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

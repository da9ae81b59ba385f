package endtoend

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/tool/changes"
)

// post sends one request of protocol 2026-07-28 through the complete transport.
func post(t *testing.T, set *tool.Set, method, params string) []byte {
	t.Helper()
	s, err := mcp.New(mcp.Options{Tools: set, Authenticate: func(*http.Request) (identity.Principal, error) {
		return identity.Principal{ID: "a", Owner: "ann", Scopes: []identity.Scope{identity.Read, identity.Write, identity.Delete, identity.Schema}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	if params != "" {
		meta += "," + params
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", web.URL+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+meta+`}}`))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method} {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: %d %s %v", method, res.StatusCode, body, err)
	}
	if _, data, ok := bytes.Cut(body, []byte("data: ")); ok {
		body = bytes.TrimSpace(data)
	}
	return body
}

// TestBudgets checks that the answer to tools/list costs an agent few tokens (bytes/4). The maximum is 1,500 for
// reading and 2,600 with changes and APIs.
func TestBudgets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE a (id INTEGER PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	src, err := sqlite.Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": src}, Rules: policy.Rules{Unlisted: true, Gates: policy.Gates{Writes: policy.Review, RawWrites: policy.Review, SchemaWrites: policy.Review}}, Audit: &audit.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	profile := func(name string) []tool.Tool {
		return slices.DeleteFunc(tool.Data(tool.Options{}), func(t tool.Tool) bool { return !slices.Contains(tool.Profiles()[name], t.Name) })
	}
	apis := func(g *bailiwick.Gateway) []tool.Tool {
		all := changes.APIs(changes.New(changes.Options{Gateway: g}))
		for i := range all {
			all[i].Offered = nil // they are offered if a source is an API
		}
		return all
	}
	standard := func(tools []tool.Tool) []tool.Tool {
		for i := range tools {
			tools[i].Unlisted = tools[i].Category != tool.API && !slices.Contains(tool.Standard(), tools[i].Name)
		}
		return tools
	}
	for _, tt := range []struct {
		name         string
		tools        []tool.Tool
		many, tokens int
	}{
		{"standard", standard(tool.Data(tool.Options{})), 6, 1500},
		{"standard with changes and APIs", standard(slices.Concat(tool.Data(tool.Options{}), changes.New(changes.Options{Gateway: g}).Tools(), apis(g))), 12, 2600},
		{"standard with changes", standard(slices.Concat(tool.Data(tool.Options{}), changes.New(changes.Options{Gateway: g}).Tools())), 9, 2000},
		{"data", tool.Data(tool.Options{}), 16, 2960},
		{"everything", slices.Concat(tool.Data(tool.Options{}), changes.New(changes.Options{Gateway: g}).Tools()), 27, 4500},
		{"lean", profile("lean"), 5, 1100},
		{"sql", profile("sql"), 3, 510},
	} {
		set, err := tool.NewSet(g, tt.tools...)
		if err != nil {
			t.Fatal(err)
		}
		body := post(t, set, "tools/list", "")
		var answer struct {
			Result struct{ Tools []json.RawMessage }
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatalf("%s: %v %s", tt.name, err, body)
		}
		if n := len(answer.Result.Tools); n != tt.many {
			t.Errorf("%s: %d tools, want %d", tt.name, n, tt.many)
		}
		if n := len(body) / 4; n > tt.tokens {
			t.Errorf("%s: tools/list is %d tokens, want at most %d", tt.name, n, tt.tokens)
		} else {
			t.Logf("%s: %d tokens", tt.name, n)
		}
	}
}

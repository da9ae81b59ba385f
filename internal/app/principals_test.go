package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/mcp"
)

var update = flag.Bool("update", false, "rewrite golden answers")

// principals returns the tokens of the principals in these tests.
func principals() []identity.Token {
	only := func(classes ...string) identity.List { return identity.List{Only: classes} }
	read := []identity.Scope{identity.Read}
	return []identity.Token{
		{Name: "support", Kind: identity.Agent, Owner: "sam", Tenant: demo.Acme, Scopes: read, Classes: only("issues", "comments"),
			Filters: map[string]string{"issues": `{"status": {"$in": ["Todo", "InProgress"]}}`}},
		{Name: "analyst", Kind: identity.Agent, Owner: "ann", Tenant: demo.Acme, Scopes: read},
		{Name: "globex", Kind: identity.Agent, Owner: "gus", Tenant: demo.Globex, Scopes: read},
		{Name: "operator", Kind: identity.Human, Owner: "olga", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read, identity.Audit, identity.Operator}},
	}
}

// requests are sent for each principal: tools, errors, resources, prompts and completions.
var requests = []struct{ method, name, arguments string }{
	{"tools/list", "", ""},
	{"prompts/list", "", ""},
	{"resources/list", "", ""},
	{"tools/call", "get_all_schemas", `{}`},
	{"tools/call", "count_objects", `{"class_name": "issues"}`},
	{"tools/call", "count_objects", `{"class_name": "comments"}`},
	{"tools/call", "group_by", `{"class_name": "issues", "field": "status"}`},
	{"tools/call", "query_class", `{"class_name": "users", "keys": ["name", "email"], "limit": 2}`},
	{"tools/call", "query_class", `{"class_name": "users", "where": {"email": {"$startsWith": "a"}}, "keys": ["name"], "limit": 2}`},
	{"tools/call", "query_class", `{"class_name": "issues", "keys": ["title", "assignee_id"], "include": ["assignee_id"], "where": {"assignee_id": {"$exists": true}}, "limit": 1}`},
	{"tools/call", "query_class", `{"class_name": "api_keys", "limit": 1}`},
	{"tools/call", "query_class", `{"class_name": "api_kesy", "limit": 1}`},
	{"tools/call", "aggregate", `{"class_name": "issues", "pipeline": [{"$lookup": {"from": "users", "localField": "assignee_id", "foreignField": "id", "as": "who"}}, {"$limit": 1}, {"$project": {"who": 1}}]}`},
	{"resources/read", "bailiwick://tracker/users/schema", ""},
	{"resources/read", "bailiwick://tracker/api_keys/count", ""},
	{"resources/read", "bailiwick://tracker/nothing/count", ""},
	{"resources/read", "bailiwick://tracker/comments/count", ""},
	{"prompts/get", "class_overview", `{"class_name": "users"}`},
	{"prompts/get", "standup", `{"team": "web"}`},
	{"completion/complete", "class_overview", `{"class_name": ""}`},
	{"completion/complete", "bailiwick://{source}/{class}/schema", `{"class": "u"}`},
}

// TestPrincipals checks a gateway with four principals over one database. Each principal gets exactly its view, in
// every tool, prompt, resource, completion and error. The golden file is meant to be read by people.
func TestPrincipals(t *testing.T) {
	dir := t.TempDir()
	rules, err := os.ReadFile("testdata/principals.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "bailiwick.yaml")
	if err := errors.Join(os.WriteFile(file, rules, 0o600), demo.Create(t.Context(), filepath.Join(dir, "tracker.db"))); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := app.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	door, err := mcp.New(p.Door())
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(door.Handler())
	t.Cleanup(web.Close)
	t.Cleanup(func() { door.Close() })

	var got strings.Builder
	for _, token := range principals() {
		_, secret, err := p.Tokens.Create(t.Context(), identity.Local("test"), token)
		if err != nil {
			t.Fatal(err)
		}
		client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		s, err := client.Connect(context.Background(), &sdk.StreamableClientTransport{Endpoint: web.URL + "/mcp", MaxRetries: -1, DisableStandaloneSSE: true,
			HTTPClient: &http.Client{Transport: bearer(secret)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "==== %s\n", token.Name)
		for _, r := range requests {
			fmt.Fprintf(&got, "-- %s %s %s\n%s\n", r.method, r.name, r.arguments, ask(t, s, r.method, r.name, r.arguments))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	const golden = "testdata/principals.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-file +now):\n%s", golden, diff)
	}
}

// bearer sends a token with every request.
type bearer string

func (token bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// changing matches the parts of an answer that differ between two runs.
var changing = regexp.MustCompile(`"cursor":"[^"]*"`)

// ask makes one request and returns the answer as an agent sees it.
func ask(t *testing.T, s *sdk.ClientSession, method, name, arguments string) string {
	ctx := t.Context()
	var lines []string
	var err error
	switch method {
	case "tools/list":
		for x, e := range s.Tools(ctx, nil) {
			err = errors.Join(err, e)
			lines = append(lines, x.Name)
		}
		lines = []string{strings.Join(lines, " ")}
	case "prompts/list":
		for x, e := range s.Prompts(ctx, nil) {
			err = errors.Join(err, e)
			lines = append(lines, x.Name)
		}
		lines = []string{strings.Join(lines, " ")}
	case "resources/list":
		for x, e := range s.Resources(ctx, nil) {
			err = errors.Join(err, e)
			lines = append(lines, x.URI)
		}
	case "tools/call":
		var res *sdk.CallToolResult
		if res, err = s.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)}); err == nil {
			for _, c := range res.Content {
				lines = append(lines, c.(*sdk.TextContent).Text)
			}
		}
	case "resources/read":
		var res *sdk.ReadResourceResult
		if res, err = s.ReadResource(ctx, &sdk.ReadResourceParams{URI: name}); err == nil {
			for _, c := range res.Contents {
				lines = append(lines, c.Text)
			}
		}
	default:
		lines, err = guided(t, s, method, name, arguments)
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return fmt.Sprintf("ERROR %d %s", e.Code, e.Message)
	}
	if err != nil {
		t.Fatalf("%s %s: %v", method, name, err)
	}
	return changing.ReplaceAllString(strings.Join(lines, "\n"), `"cursor":"…"`)
}

// guided requests a prompt, or completions of its arguments.
func guided(t *testing.T, s *sdk.ClientSession, method, name, arguments string) (lines []string, err error) {
	var args map[string]string
	if err := json.Unmarshal([]byte(arguments), &args); err != nil {
		t.Fatal(err)
	}
	if method == "prompts/get" {
		res, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: args})
		if err != nil {
			return nil, err
		}
		for _, m := range res.Messages {
			lines = append(lines, m.Content.(*sdk.TextContent).Text)
		}
		return lines, nil
	}
	ref := &sdk.CompleteReference{Type: "ref/prompt", Name: name}
	if strings.Contains(name, "://") {
		ref = &sdk.CompleteReference{Type: "ref/resource", URI: name}
	}
	for argument, written := range args {
		res, err := s.Complete(t.Context(), &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: argument, Value: written}})
		if err != nil {
			return nil, err
		}
		lines = append(lines, strings.Join(res.Completion.Values, " "))
	}
	return lines, nil
}

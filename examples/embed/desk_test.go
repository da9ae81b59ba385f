package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/internal/demo"
)

// as sends every request with this user's credentials.
type as string

func (name as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.SetBasicAuth(string(name), string(name))
	return http.DefaultTransport.RoundTrip(r)
}

// TestDesk calls the desk as agents of its people: each sees the issues of its own organisation.
func TestDesk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tracker.db")
	if err := demo.Create(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	d, err := newDesk(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(d.handler())
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	speak := func(name string) (*mcp.ClientSession, error) {
		c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		return c.Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: web.URL + "/agents/mcp", MaxRetries: -1,
			DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: as(name)}}, nil)
	}
	if _, err := speak("eve"); err == nil || !strings.Contains(err.Error(), "Unauthorized") {
		t.Errorf("eve is let in: %v", err)
	}
	s, err := speak("ana")
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "standup", Arguments: map[string]string{"days": "30"}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "Call untouched_issues with days 30, then triage. Say in three lines what the team should talk about."
	if text := got.Messages[0].Content.(*mcp.TextContent).Text; text != want {
		t.Errorf("standup says %q", text)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		who, tool string
		args      map[string]any
		want      string
	}{
		{"ana", "untouched_issues", map[string]any{"days": 300}, "1581 issues"},
		{"bo", "untouched_issues", map[string]any{"days": 300}, "905 issues"},
		{"ana", "triage", map[string]any{}, "id,title,priority\n" +
			`"0194b278-9ec8-7336-939c-d937258146b6","Limit how many times the sign-in flow tries a saved card again","Critical"` + "\n" +
			`"0195474c-4680-775c-a4a2-9714a8834ca2","As a merchandiser I can export each basket I may see","Critical"` + "\n" +
			`"0195945f-7a00-749e-90bb-de7d13c2cd53","Write the migration for the new invoice columns","Critical"`},
		{"ana", "count_objects", map[string]any{"class_name": "comments"}, "not_found: there is no class \"comments\" (at /class_name)\n→ get_all_schemas lists the classes"},
		{"ana", "untouched_issues", map[string]any{"days": 0}, "invalid_argument: days is from 1 to 365"},
	} {
		s, err := speak(tt.who)
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: tt.args})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Content[0].(*mcp.TextContent).Text; got != tt.want {
			t.Errorf("%s calls %s: %q, want %q", tt.who, tt.tool, got, tt.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

package app_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestPacks serves a bundled pack and a pack from a folder, and reloads changes of both.
func TestPacks(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id": "i1", "name": %q, "teams": []}`, r.Header.Get("Authorization"))
	}))
	t.Cleanup(api.Close)
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "own"), 0o700); err != nil {
		t.Fatal(err)
	}
	const own = "tools:\n  - {name: NAME, description: d, annotations: {readOnly: true}, operation: GET /api/v1/user/teams, result: {teams: $.teams}}\n"
	write("own/teams.yaml", strings.Replace(own, "NAME", "my-teams", 1))
	load := func(source, more string) *config.Config {
		write("bailiwick.yaml", "sources:\n  forge: {openapi: {base_url: '"+api.URL+"', credential: {bearer: up}, packs: [flowfuse, ./own]"+source+"}}\nstore: sqlite:memory.db\n"+more)
		c, err := config.Load(filepath.Join(dir, "bailiwick.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	p, err := app.Build(t.Context(), load(", site: 'https://forge.example'", "apis: {forge: {}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	bot := identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ana", Scopes: []identity.Scope{identity.Read}}
	call := func(name, args string) string {
		in, err := value.Read([]byte(args), 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Tools.Call(t.Context(), bot, tool.Request{Name: name, Arguments: in})
		if p, ok := errors.AsType[*problem.Error](err); ok {
			return string(p.Code)
		}
		return string(r.Structured)
	}
	listed := func() string {
		var names []string
		for _, one := range p.Tools.List(bot, string(tool.Platform)) {
			names = append(names, one.Name)
		}
		if len(names) > 3 {
			return fmt.Sprintf("%d, my-teams %v", len(names), slices.Contains(names, "my-teams"))
		}
		return strings.Join(names, " ")
	}
	const editor = `{"url":"SITE/instance/i1/editor","target":"editor","message":"The editor of Bearer up"}`
	for _, step := range []struct {
		name      string
		do        func()
		list      string
		opens     string // the answer of platform.open-editor
		ownAnswer string // the answer of my-teams
	}{
		{"as it starts", func() {}, "12, my-teams true", strings.Replace(editor, "SITE", "https://forge.example", 1), `{"teams":[]}`},
		{"with another rule", func() {
			if _, err := p.Reload(t.Context(), load(", site: 'https://forge.example'", "apis: {forge: {hidden: [{operations: ['GET /api/v1/user/teams']}]}}\n")); err != nil {
				t.Fatal(err)
			}
		}, "10, my-teams false", strings.Replace(editor, "SITE", "https://forge.example", 1), "unknown_tool"},
		{"with fewer tools", func() {
			if _, err := p.Reload(t.Context(), load("", "apis: {forge: {}}\ntools: {only: [platform.open-editor, my-teams]}\n")); err != nil {
				t.Fatal(err)
			}
		}, "my-teams platform.open-editor", strings.Replace(editor, "SITE", api.URL, 1), `{"teams":[]}`},
		{"with another file", func() {
			write("own/teams.yaml", strings.Replace(own, "NAME", "our-teams", 1))
			if _, err := p.Reload(t.Context(), load("", "apis: {forge: {}}\ntools: {only: [platform.open-editor, our-teams]}\n")); err != nil {
				t.Fatal(err)
			}
		}, "our-teams platform.open-editor", strings.Replace(editor, "SITE", api.URL, 1), "unknown_tool"},
		{"with other names", func() {
			if _, err := p.Reload(t.Context(), load(", names: underscore", "apis: {forge: {}}\ntools: {only: [platform_open_editor, our_teams]}\n")); err != nil {
				t.Fatal(err)
			}
		}, "our_teams platform_open_editor", "unknown_tool", "unknown_tool"},
	} {
		step.do()
		got := []string{listed(), call("platform.open-editor", `{"instanceId":"i1"}`), call("my-teams", `{}`)}
		if diff := cmp.Diff([]string{step.list, step.opens, step.ownAnswer}, got); diff != "" {
			t.Errorf("%s: %s", step.name, diff)
		}
	}
	if _, err := p.Reload(t.Context(), load("", "apis: {forge: {}}\ntools: {only: [platform.open-editr]}\n")); err == nil || !strings.Contains(err.Error(), "Did you mean platform.open-editor") {
		t.Error(err)
	}
}

// TestPackChecks checks that arguments of pack tools are checked against a class before a change is proposed.
func TestPackChecks(t *testing.T) {
	api := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(api.Close)
	dir := t.TempDir()
	if err := demo.Create(t.Context(), filepath.Join(dir, "tracker.db")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "own"), 0o700); err != nil {
		t.Fatal(err)
	}
	build := func(check string) (*app.App, error) {
		for name, text := range map[string]string{
			"own/apps.yaml": "tools:\n  - name: make-app\n    description: d\n    annotations: {}\n    input: {required: [name], properties: {name: {type: string}}}\n" +
				"    operation: POST /api/v1/applications\n    body: {name: {$cel: input.name}, teamId: t}\n    check_against: " + check + "\n",
			"bailiwick.yaml": "sources:\n  tracker: {url: 'sqlite:tracker.db'}\n  forge: {openapi: {base_url: '" + api.URL + "', packs: [flowfuse, ./own]}}\n" +
				"store: sqlite:memory.db\npolicy: {unlisted: visible}\napis: {forge: {}}\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := config.Load(filepath.Join(dir, "bailiwick.yaml"))
		if err != nil {
			return nil, err
		}
		return app.Build(t.Context(), c)
	}
	if _, err := build("tracker.isues"); err == nil || !strings.Contains(err.Error(), `own/apps.yaml:8:5: tools.0.check_against`) {
		t.Error(err)
	}
	p, err := build("{class: tracker.issues, fields: {name: status}}")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	bot := identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ana", Scopes: []identity.Scope{identity.Read, identity.Write}}
	for _, tt := range []struct{ args, want string }{
		{`{"name": "Todo", "reason": "why"}`, "pending_review"},
		{`{"name": "Tod"}`, `/name: status must be one of Backlog, Todo, InProgress, Review, Done, Cancelled, not "Tod". Did you mean Todo?`},
	} {
		in, err := value.Read([]byte(tt.args), 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Tools.Call(t.Context(), bot, tool.Request{Name: "make-app", Arguments: in})
		got := ""
		if p, ok := errors.AsType[*problem.Error](err); ok {
			got = p.Pointer + ": " + p.Detail
		} else if err != nil {
			t.Fatal(err)
		} else {
			out, err := value.Read(r.Structured, 0)
			if err != nil {
				t.Fatal(err)
			}
			status, _ := out.Get("status")
			got = status.Text()
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.args, got, tt.want)
		}
	}
}

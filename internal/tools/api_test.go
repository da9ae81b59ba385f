package tools_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// trackline imitates the API that its document describes.
func trackline(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.Method + " " + r.URL.Path {
	case "GET /api/v1/projects/p1":
		fmt.Fprint(w, `{"id": "p1", "name": "Apollo", "key": "APO", "description": "To the moon", "token": "s3cret"}`)
	case "GET /api/v1/projects/p1/issues":
		if r.URL.Query().Get("limit") == "3" { // the result has three pages
			next := map[string]string{"": `, "nextCursor": "b"`, "b": `, "nextCursor": "c"`}[r.URL.Query().Get("cursor")]
			fmt.Fprintf(w, `{"items": [{"id": "1%[1]s"}, {"id": "2%[1]s"}], "total": 6%[2]s}`, r.URL.Query().Get("cursor"), next)
			return
		}
		fmt.Fprint(w, `{"items": [{"id": "i1", "title": "One", "estimate": 9007199254740993}, {"id": "i2", "title": "Two"}], "total": 7}`)
	default:
		w.WriteHeader(404)
		fmt.Fprint(w, `{"code": "not_found", "error": "there is no such thing\n\tat server.go:12"}`)
	}
}

// serve serves the tools for the named APIs. Their documents are in source/openapi.
func serve(t *testing.T, names ...string) *tool.Set {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "bailiwick.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	server := httptest.NewServer(http.HandlerFunc(trackline))
	t.Cleanup(server.Close)
	files := map[string]string{"trackline": "trackline.json", "fleet": "fleet.yaml"}
	o := bailiwick.Options{Sources: map[string]source.Source{}, Audit: store, Changes: change.NewQueue(change.Options{Store: store}), Refresher: identity.Fixed{},
		Rules: policy.Rules{Version: "v1", APIs: map[string]calls.Rules{}}}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join("..", "openapi", "testdata", files[name]))
		if err != nil {
			t.Fatal(err)
		}
		d, err := spec.Load(b)
		if err != nil {
			t.Fatal(err)
		}
		sender, err := client.New(client.Options{Base: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sender.Close)
		o.Sources[name] = openapi.New(name, sender)
		rules := calls.Rules{Document: d, Access: spec.ClassOptions{RPCNames: name == "fleet"}}
		if name == "trackline" {
			rules.Access.Rules = []spec.ClassRule{{Operations: []string{"POST /api/v1/account/tokens"}, Class: spec.ClassForbidden, Reason: "it makes a credential", Instead: "make one in the account's settings"}}
			rules.Hidden = []calls.Hidden{{Operations: []string{"* /api/v1/workspaces/*"}}}
		}
		o.Rules.APIs[name] = rules
	}
	g, _, err := bailiwick.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	room := tools.NewChangeTools(tools.ChangeOptions{Gateway: g})
	set, err := tool.NewSet(g, append(tools.NewAPITools(room).Tools(), room.Tools()...)...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

var varies = regexp.MustCompile(`[0-9a-z]{34}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z| UTC)`)

// TestConversations compares calls with golden answers, for one API and for two.
func TestConversations(t *testing.T) {
	principal := identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ana", Scopes: []identity.Scope{identity.Read, identity.Write}}
	for _, name := range []string{"one", "two"} {
		t.Run(name, func(t *testing.T) {
			set := serve(t, map[string][]string{"one": {"trackline"}, "two": {"fleet", "trackline"}}[name]...)
			file := filepath.Join("testdata", name+".txt")
			old, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for line := range strings.Lines(string(old)) {
				if strings.HasPrefix(line, "% ") {
					out.WriteString(line)
				}
				asked, ok := strings.CutPrefix(line, "→ ")
				if !ok {
					continue
				}
				tl, args, _ := strings.Cut(strings.TrimSpace(asked), " ")
				in, err := value.Read([]byte(args), 0)
				if err != nil {
					t.Fatal(asked, err)
				}
				r, err := set.Call(t.Context(), principal, tool.Request{Name: tl, Arguments: in, Correlation: "c1"})
				answer := string(r.Structured) + "\n" + r.Text
				if !json.Valid(r.Structured) && err == nil {
					t.Error("no JSON:", asked)
				}
				if tl == "search_api" {
					answer = r.Text // the member found contains the same text
				}
				if err != nil {
					p := problem.Of(err)
					answer = fmt.Sprintf("%s %s: %s %s\n", p.Code, p.Pointer, p.Detail, p.Suggestion)
					for _, f := range p.Faults {
						answer += fmt.Sprintf("  %s: %s\n", f.Pointer, f.Message)
					}
				}
				fmt.Fprintf(&out, "→ %s%s\n", asked, varies.ReplaceAllString(answer, "…"))
			}
			if *update {
				if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(string(old), out.String()); d != "" && !*update {
				t.Error(d)
			}
		})
	}
}

// TestSchemas limits the size of the three tools to 665 tokens of four bytes, for APIs of any size. Batches, filters
// and the arguments that continue a cut answer use 45 of these tokens.
func TestSchemas(t *testing.T) {
	size := 0
	for _, tl := range tools.NewAPITools(nil).Tools() {
		doc, err := json.Marshal(map[string]any{"name": tl.Name, "title": tl.Title, "description": tl.Description, "inputSchema": tl.Input, "outputSchema": tl.Output,
			"annotations": map[string]bool{"readOnlyHint": tl.Annotations.ReadOnly, "destructiveHint": tl.Annotations.Destructive, "idempotentHint": tl.Annotations.Idempotent, "openWorldHint": tl.Annotations.OpenWorld}})
		if err != nil {
			t.Fatal(err)
		}
		size += len(doc)
	}
	if t.Logf("%d bytes, %d tokens", size, size/4); size > 4*665 {
		t.Errorf("the tools are %d bytes, %d tokens", size, size/4)
	}
}

// TestOffered checks that each tool is offered only to principals that can use it.
func TestOffered(t *testing.T) {
	set := serve(t, "trackline")
	for _, row := range []struct {
		scopes  []identity.Scope
		classes []string
		want    string
	}{
		{[]identity.Scope{identity.Read}, nil, "call_api_read search_api"},
		{[]identity.Scope{identity.Read, identity.Write}, nil, "call_api_read call_api_write cancel_change get_change list_my_changes propose_changes reply_to_change search_api wait_for_change"},
		{[]identity.Scope{identity.Read, identity.Write}, []string{"trackline.get_account"}, "call_api_read search_api"},
		{[]identity.Scope{identity.Read, identity.Write}, []string{"shop.orders"}, ""},
	} {
		p := identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ana", Scopes: row.scopes, Classes: identity.List{Only: row.classes}}
		var names []string
		for _, tl := range set.List(p, "") {
			if tl.Name == "list_tools" {
				continue
			}
			names = append(names, tl.Name)
		}
		if got := strings.Join(names, " "); got != row.want {
			t.Errorf("%v %v: %q, want %q", row.scopes, row.classes, got, row.want)
		}
	}
}

package tools_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/pack"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// site serves the pack's tools for a forge through a complete gateway.
type site struct {
	*testing.T
	forge   *forge
	gateway *bailiwick.Gateway
	set     *tool.Set
}

// newSite serves the tools. The arguments apis and gates are the configurations of the API and of the gates.
func newSite(t *testing.T, apis, gates string) *site {
	t.Helper()
	s := &site{T: t, forge: newForge()}
	server := httptest.NewServer(s.forge)
	t.Cleanup(server.Close)
	c, err := config.Parse(filepath.Join(t.TempDir(), "f.yaml"), []byte("sources: {flow: {openapi: {base_url: '"+server.URL+"', packs: [flowfuse]}}}\napis: {flow: "+apis+"}\n"+gates), nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "bailiwick.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	sender, err := client.New(client.Options{Base: server.URL, Credential: client.BearerHeader(forgeToken)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sender.Close)
	s.gateway, _, err = bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"flow": openapi.New("flow", sender)}, Rules: c.Rules, Audit: store,
		Changes: change.NewQueue(change.Options{Store: store}), Refresher: identity.Fixed{}})
	if err != nil {
		t.Fatal(err)
	}
	all := tools.NewChangeTools(tools.ChangeOptions{Gateway: s.gateway})
	tools := tools.NewPackTools(all).Tools(tools.PackAPI{Name: "flow", Site: "https://forge.example.com", Tools: c.Packs["flow"]})
	if s.set, err = tool.NewSet(s.gateway, append(tools, all.Tools()...)...); err != nil {
		t.Fatal(err)
	}
	return s
}

func agent(scopes ...identity.Scope) identity.Principal {
	return identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ana", Scopes: scopes}
}

// call calls a tool. It returns the structured result, or the code and the detail of its refusal.
func (s *site) call(principal identity.Principal, name, args string) string {
	s.Helper()
	in, err := value.Read([]byte(args), 0)
	if err != nil {
		s.Fatal(err)
	}
	out, err := s.set.Call(s.Context(), principal, tool.Request{Name: "platform." + name, Arguments: in})
	if p, ok := errors.AsType[*problem.Error](err); ok {
		text := fmt.Sprintf("%s %s", p.Code, p.Detail)
		if p.Pointer != "" {
			text += " at " + p.Pointer
		}
		if p.Reply != nil {
			text += fmt.Sprintf(" {%d %s %s}", p.Reply.Status, p.Reply.UpstreamCode, p.Reply.Message)
		}
		return text
	}
	if err != nil {
		s.Fatal(err)
	}
	return string(out.Structured)
}

// TestScopes checks which tools each set of scopes lists. Other tools must be refused before any request is sent.
func TestScopes(t *testing.T) {
	s := newSite(t, "{}", "")
	reads := []string{"check-name-availability", "get-instance", "get-instance-status", "list-applications", "list-blueprints", "list-instance-types", "list-instances", "list-stacks", "list-teams", "open-editor", "open-instance"}
	writes := []string{"create-application", "create-instance", "create-snapshot", "manage-instance", "update-instance-settings"}
	deletes := []string{"delete-application", "delete-instance"}
	for _, tt := range []struct {
		who  identity.Principal
		want []string
	}{
		{agent(identity.Read), reads},
		{agent(identity.Read, identity.Write), slices.Concat(reads, writes)},
		{agent(identity.Read, identity.Write, identity.Delete), slices.Concat(reads, writes, deletes)},
		{agent(), nil},
	} {
		want := slices.Sorted(slices.Values(tt.want))
		var got []string
		for _, one := range s.set.List(tt.who, "platform") {
			got = append(got, strings.TrimPrefix(one.Name, "platform."))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: %s", tt.who.Scopes, diff)
		}
		for _, name := range slices.Concat(reads, writes, deletes) {
			if slices.Contains(want, name) {
				continue
			}
			args := `{"instanceId":"i1","applicationId":"a1","name":"n"}`
			if said := s.call(tt.who, name, args); !strings.HasPrefix(said, "permission_denied") && !strings.HasPrefix(said, "unknown_tool") {
				t.Errorf("%v calls %s: %s", tt.who.Scopes, name, said)
			}
		}
		if asked := s.forge.calls(); asked != nil {
			t.Errorf("%v: the platform was asked %q", tt.who.Scopes, asked)
		}
	}
}

// TestReads checks the result for the agent and the requests to the platform, for each tool and its arguments.
func TestReads(t *testing.T) {
	s := newSite(t, "{}", "")
	const pump = "GET /api/v1/projects/i1"
	for _, tt := range []struct {
		tool, args, want string
		asked            []string
	}{
		{"list-teams", `{}`, `{"teams":[{"id":"t1","name":"Alpha","slug":"alpha"}]}`, []string{"GET /api/v1/user/teams"}},
		{"list-applications", `{"teamId":"t1"}`, `{"applications":[{"description":"","id":"a1","name":"Press","team":"t1"},{"description":"","id":"a2","name":"Empty","team":"t1"}]}`,
			[]string{"GET /api/v1/teams/t1/applications?includeApplicationSummary=true"}},
		{"list-applications", `{"teamId":"t2"}`, `permission_denied the API itself refused this call: 403 unauthorized: unauthorized {403 unauthorized unauthorized}`, []string{"GET /api/v1/teams/t2/applications?includeApplicationSummary=true"}},
		{"list-applications", `{"teamId":"../user"}`, `invalid_argument a segment of a path can't be "." or ".."`, nil},
		{"list-applications", `{"teamId":".."}`, `invalid_argument the path parameter teamId can't be "." or ".." at /teamId`, nil},
		{"list-applications", `{"teamId":"t1/x?y"}`, `not_found the API found nothing: 404 not_found {404 not_found Not Found}`, []string{"GET /api/v1/teams/t1%2Fx%3Fy/applications?includeApplicationSummary=true"}},
		{"list-applications", `{}`, `invalid_argument the argument "teamId" is missing at /teamId`, nil},
		{"list-instances", `{"applicationId":"a1"}`, `{"instances":[{"id":"i1","name":"pump"}]}`, []string{"GET /api/v1/applications/a1/instances"}},
		{"list-instances", `{"applicationId":"zz"}`, `not_found the API found nothing: 404 not_found {404 not_found Not Found}`, []string{"GET /api/v1/applications/zz/instances"}},
		{"get-instance-status", `{"instanceId":"i1"}`, `{"id":"i1","name":"pump","state":"running","meta":{"state":"running"}}`, []string{pump}},
		{"get-instance", `{"instanceId":"i1"}`, `{"application":"a1","id":"i1","meta":{"state":"running"},"name":"pump","settings":{"env":[{"name":"A","value":"1"},{"name":"DB_PASSWORD","value":"[masked]"}],"theme":"dark"},"_notes":["masked, for their names are those of credentials: DB_PASSWORD"]}`, []string{pump}},
		{"list-instance-types", `{"teamId":"t1"}`, `{"instanceTypes":[{"active":true,"id":"p1","name":"Small"}]}`, []string{"GET /api/v1/project-types/"}},
		{"list-stacks", `{"instanceTypeId":"p1"}`, `{"stacks":[{"active":true,"id":"s1","name":"Node-RED 4","projectType":"p1"}]}`, []string{"GET /api/v1/stacks/?projectType=p1"}},
		{"list-stacks", `{"instanceTypeId":"p1&x=y"}`, `{"stacks":[]}`, []string{"GET /api/v1/stacks/?projectType=p1%26x%3Dy"}},
		{"list-blueprints", `{"teamId":"t1"}`, `{"blueprints":[],"message":"The platform answers 404: its edition has no blueprints, as the community edition hasn't, or there is no such team. create-instance works without flowBlueprintId."}`, []string{"GET /api/v1/flow-blueprints/?team=t1"}},
		{"check-name-availability", `{"name":"valve","type":"instance"}`, `{"available":true}`, []string{`POST /api/v1/projects/check-name {"name":"valve"}`}},
		{"check-name-availability", `{"name":"pump","type":"instance"}`, `{"available":false,"reason":"name in use"}`, []string{`POST /api/v1/projects/check-name {"name":"pump"}`}},
		{"check-name-availability", `{"name":"Press","type":"application","teamId":"t1"}`, `{"available":false,"reason":"an application of the team has the name"}`, []string{"GET /api/v1/teams/t1/applications"}},
		{"check-name-availability", `{"name":"Punch","type":"application","teamId":"t1"}`, `{"available":true}`, []string{"GET /api/v1/teams/t1/applications"}},
		{"check-name-availability", `{"name":"Press","type":"application"}`, `invalid_argument names of applications are checked within a team; give the teamId, from list-teams at /teamId`, nil},
		{"check-name-availability", `{"name":" ","type":"instance"}`, `invalid_argument name must match \S at /name`, nil},
		{"open-editor", `{"instanceId":"i1"}`, `{"url":"https://forge.example.com/instance/i1/editor","target":"editor","message":"The editor of pump"}`, []string{pump}},
		{"open-instance", `{"instanceId":"i1"}`, `{"url":"https://forge.example.com/instance/i1","target":"instance","message":"The page of pump"}`, []string{pump}},
		{"open-instance", `{"instanceId":"zz"}`, `not_found the API found nothing: 404 not_found {404 not_found Not Found}`, []string{"GET /api/v1/projects/zz"}},
	} {
		t.Run(tt.tool+" "+tt.args, func(t *testing.T) {
			got := s.call(agent(identity.Read), tt.tool, tt.args)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.asked, s.forge.calls()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWrites compares calls with golden answers. An answer contains the title and the differences of the change, and
// the requests to the platform, without reads for reviewers. Without a rule the change waits and nothing is written.
// If the rules apply it at once, the platform must receive exactly the shown request.
func TestWrites(t *testing.T) {
	for _, tt := range []struct{ file, apis, gates string }{
		{"proposed.txt", "{}", ""},
		{"applied.txt", "{write: allow}", "gates: {writes: 'on'}\n"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			file := filepath.Join("testdata", tt.file)
			old, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for line := range strings.Lines(string(old)) {
				asked, ok := strings.CutPrefix(line, "→ ")
				if !ok {
					continue
				}
				s := newSite(t, tt.apis, tt.gates)
				name, args, _ := strings.Cut(strings.TrimSpace(asked), " ")
				said := differences(s.call(agent(identity.Read, identity.Write, identity.Delete), name, args))
				fmt.Fprintf(&out, "%s%s\n", line, said)
				for _, call := range s.forge.calls() {
					out.WriteString("← " + call + "\n")
				}
				out.WriteString("\n")
			}
			if *update {
				if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.TrimSpace(string(old)), strings.TrimSpace(out.String())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestApprovedLater checks the agent's result of a change that a person approved after the call. The tool must select
// the same parts as in a call without review. If the platform refuses, the error contains its status and message.
func TestApprovedLater(t *testing.T) {
	s := newSite(t, "{}", "gates: {writes: review}\n")
	bot := agent(identity.Read, identity.Write, identity.Delete)
	ben := s.gateway.Reviewer(identity.Principal{ID: "token:2", Kind: identity.Human, Owner: "ben", Scopes: []identity.Scope{identity.Read, identity.Review, identity.Operator}}, "visit")
	for _, tt := range []struct {
		tool, args, want string
		failed           bool
	}{
		{"create-instance", `{"name":"valve","applicationId":"a1","projectType":"p1","stack":"s1","template":"x1"}`,
			`{"id":"inew1","name":"valve","url":"https://valve.example.com","navigation":{"suggestion":"Open the editor of the new instance with platform.open-editor","target":"inew1","label":"Open editor"}}`, false},
		{"create-instance", `{"name":"vane","applicationId":"a1","projectType":"p1","stack":"s1"}`, // this call reads the templates
			`{"id":"inew2","name":"vane","url":"https://vane.example.com","navigation":{"suggestion":"Open the editor of the new instance with platform.open-editor","target":"inew2","label":"Open editor"}}`, false},
		{"manage-instance", `{"instanceId":"i1","action":"stop"}`, `{"status":"okay","instanceId":"i1","action":"stop"}`, false},
		{"delete-application", `{"applicationId":"a2"}`, `{"status":"okay","message":"The application a2 is deleted"}`, false},
		{"create-instance", `{"name":"pump","applicationId":"a1","projectType":"p1","stack":"s1"}`, `{"status":409,"upstream_code":"invalid_project_name","message":"name in use"}`, true},
	} {
		said, err := value.Read([]byte(s.call(bot, tt.tool, tt.args)), 0)
		if err != nil {
			t.Fatal(err)
		}
		id, _ := said.Get("change_id")
		sheet, err := ben.Sheet(t.Context(), id.Text())
		if err != nil {
			t.Fatal(tt.tool, said, err)
		}
		if _, err := ben.Approve(t.Context(), sheet.ID, sheet.Digest, ""); err != nil {
			t.Fatal(tt.tool, err)
		}
		out, err := s.set.Call(t.Context(), bot, tool.Request{Name: "get_change", Arguments: value.OfObject([]value.Member{{Name: "change_id", Value: id}})})
		if err != nil {
			t.Fatal(tt.tool, err)
		}
		v, _ := value.Read(out.Structured, 0)
		got, ok := v.Get("answer")
		if !ok {
			got, _ = v.Get("refusal")
		}
		if got.String() != tt.want || out.Failed != tt.failed {
			t.Errorf("%s %s\n got %s %t\nwant %s", tt.tool, tt.args, got, out.Failed, tt.want)
		}
	}
}

// differences formats the answer of a proposing tool. It shows the status, the title, and one difference per line.
func differences(said string) string {
	v, err := value.Read([]byte(said), 0)
	items, ok := v.Get("diff")
	if err != nil || !ok {
		return said
	}
	status, _ := v.Get("status")
	summary, _ := v.Get("summary")
	out := []string{status.Text() + ": " + summary.Text()}
	for _, item := range items.List() {
		fields, _ := item.Get("fields")
		request, _ := item.Get("object_id")
		out = append(out, request.Text())
		for _, f := range fields.List() {
			path, _ := f.Get("field")
			before, _ := f.Get("before")
			after, _ := f.Get("after")
			if !strings.HasPrefix(path.Text(), "request/") {
				out = append(out, fmt.Sprintf("%s: %s → %s", path.Text(), before.AppendJSON(nil), after.AppendJSON(nil)))
			}
		}
	}
	for _, name := range []string{"outcome", "answer"} {
		if m, ok := v.Get(name); ok {
			out = append(out, name+": "+m.String())
		}
	}
	return strings.Join(out, "\n")
}

// TestHidden checks that a tool is not offered if the API hides an operation that it calls or a field that it must
// preserve.
func TestHidden(t *testing.T) {
	for _, tt := range []struct {
		apis   string
		absent []string
	}{
		{"{}", nil},
		{"{hidden: [{operations: ['GET /api/v1/templates/']}]}", []string{"platform.create-instance"}},
		{"{hidden: [{fields: [Instance.settings]}]}", []string{"platform.update-instance-settings"}},
		{"{hidden: [{fields: [value], when: 'principal.owner == \"ana\"'}]}", []string{"platform.update-instance-settings"}},
		{"{hidden: [{fields: [value], when: 'principal.owner == \"ben\"'}]}", nil},
		{"{access: [{operations: ['DELETE *'], class: excluded}]}", []string{"platform.delete-application", "platform.delete-instance"}},
		{"{access: [{operations: ['DELETE *'], class: forbidden, reason: people do, instead: on the platform}]}", []string{"platform.delete-application", "platform.delete-instance"}},
	} {
		s := newSite(t, tt.apis, "")
		all := s.set.List(agent(identity.Read, identity.Write, identity.Delete), "platform")
		var absent []string
		for name := range bundled(t) {
			if !slices.ContainsFunc(all, func(one *tool.Tool) bool { return one.Name == name }) {
				absent = append(absent, name)
			}
		}
		slices.Sort(absent)
		if diff := cmp.Diff(tt.absent, absent); diff != "" {
			t.Errorf("%s: %s", tt.apis, diff)
		}
	}
}

func bundled(t *testing.T) map[string]pack.Annotations {
	t.Helper()
	p, err := pack.BundledPack("flowfuse")
	if err != nil {
		t.Fatal(err)
	}
	return maps.Collect(p.ToolAnnotations)
}

// TestCut checks that no result is derived from a cut response, and that a cut list is reported.
func TestCut(t *testing.T) {
	s := newSite(t, "{}", "")
	for i := range 5000 {
		id := fmt.Sprintf("b%04d", i)
		s.forge.apps[id] = map[string]any{"id": id, "name": strings.Repeat("n", 40) + id, "description": "", "team": "t1"}
	}
	got := s.call(agent(identity.Read), "check-name-availability", `{"name":"free","type":"application","teamId":"t1"}`)
	if want := "budget_exceeded the API has more to say than can be looked at in one call, so this can't be told for sure"; got != want {
		t.Errorf("got %s", got)
	}
	got = s.call(agent(identity.Read), "list-applications", `{"teamId":"t1"}`)
	if !strings.Contains(got, `"_notes":["applications: the first `) || len(got) > 110_000 {
		t.Errorf("%d bytes: %s", len(got), got[max(0, len(got)-200):])
	}
}

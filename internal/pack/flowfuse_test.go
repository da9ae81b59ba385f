package pack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

func flowfuse(t *testing.T) map[string]*Tool {
	t.Helper()
	p, err := BundledPack("flowfuse")
	if err != nil {
		t.Fatal(err)
	}
	d, err := spec.Load(p.Document)
	if err != nil || d.Warnings != nil {
		t.Fatal(err, d.Warnings)
	}
	rules, err := spec.NewClassifier(d, spec.ClassOptions{Rules: p.Access})
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Compile(d, rules)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*Tool{}
	for _, tool := range all {
		out[tool.Name] = tool
	}
	return out
}

// TestFlowFuseTools checks the 18 tools: arguments (? means optional), annotations (readOnly, destructive,
// idempotent, openWorld) and routes. Tools that open something are reads, because they change nothing.
func TestFlowFuseTools(t *testing.T) {
	const want = `
platform.check-name-availability name type teamId? | T F T F | POST /api/v1/projects/check-name, GET /api/v1/teams/{teamId}/applications
platform.create-application name teamId description? reason? | F F F F | POST /api/v1/applications/
platform.create-instance name applicationId projectType stack template? flowBlueprintId? reason? | F F F F | GET /api/v1/templates/, POST /api/v1/projects/
platform.create-snapshot instanceId name description? reason? | F F F F | POST /api/v1/projects/{instanceId}/snapshots/
platform.delete-application applicationId reason? | F T F F | DELETE /api/v1/applications/{applicationId}
platform.delete-instance instanceId reason? | F T F F | DELETE /api/v1/projects/{instanceId}
platform.get-instance instanceId | T F T F | GET /api/v1/projects/{instanceId}
platform.get-instance-status instanceId | T F F F | GET /api/v1/projects/{instanceId}
platform.list-applications teamId | T F T F | GET /api/v1/teams/{teamId}/applications
platform.list-blueprints teamId | T F T F | GET /api/v1/flow-blueprints/
platform.list-instance-types teamId | T F T F | GET /api/v1/project-types/
platform.list-instances applicationId | T F T F | GET /api/v1/applications/{applicationId}/instances
platform.list-stacks instanceTypeId | T F T F | GET /api/v1/stacks/
platform.list-teams | T F T F | GET /api/v1/user/teams
platform.manage-instance instanceId action reason? | F F T F | POST /api/v1/projects/{instanceId}/actions/start, POST /api/v1/projects/{instanceId}/actions/stop, POST /api/v1/projects/{instanceId}/actions/restart, POST /api/v1/projects/{instanceId}/actions/suspend
platform.open-editor instanceId | T F T F | GET /api/v1/projects/{instanceId}
platform.open-instance instanceId | T F T F | GET /api/v1/projects/{instanceId}
platform.update-instance-settings instanceId env? settings? reason? | F F T F | GET /api/v1/projects/{instanceId}, PUT /api/v1/projects/{instanceId}
`
	var lines []string
	for name, tool := range flowfuse(t) {
		schema, err := value.Read(tool.Input, 0)
		if err != nil {
			t.Fatal(err)
		}
		must, _ := schema.Get("required")
		properties, _ := schema.Get("properties")
		line := name
		for _, p := range properties.Members() {
			line += " " + p.Name
			if !slices.ContainsFunc(must.List(), func(v value.Value) bool { return v.Text() == p.Name }) {
				line += "?"
			}
		}
		a := tool.Annotations
		line += " |"
		for _, is := range []bool{a.ReadOnly, a.Destructive, a.Idempotent, a.OpenWorld} {
			line += map[bool]string{true: " T", false: " F"}[is]
		}
		var routes []string
		for _, op := range tool.Operations {
			routes = append(routes, op.Name())
		}
		lines = append(lines, line+" | "+strings.Join(routes, ", "))
	}
	slices.Sort(lines)
	if diff := cmp.Diff(strings.TrimSpace(want), strings.Join(lines, "\n")); diff != "" {
		t.Error(diff)
	}
}

// A script contains the responses to reads by operation id. A response is a body, or a status and a body.
type script struct {
	answers map[string]string
	asked   []string
}

func (s *script) Read(_ context.Context, r Request) (value.Value, error) {
	s.asked = append(s.asked, shown(&r))
	text, ok := s.answers[r.Operation]
	if !ok {
		return value.Value{}, fmt.Errorf("nothing answers %s", r.Operation)
	}
	code := 200
	if n, _ := fmt.Sscanf(text, "%d ", &code); n == 1 {
		text = text[4:]
	}
	body, err := value.Read([]byte(text), 0)
	if err != nil || code < 400 {
		return body, err
	}
	said, _ := body.Get("error")
	return value.Value{}, &problem.Error{Code: problem.Conflict, Detail: fmt.Sprintf("the API answered %d", code), Reply: &problem.Reply{Status: code, Message: said.Text()}}
}

// shown formats a request for tests: the operation, its arguments, the fields, and ! if the whole response is
// required.
func shown(r *Request) string {
	out := strings.TrimSpace(r.Operation + " " + strings.Replace(calls.EncodeArguments(r.Arguments).String(), "{}", "", 1))
	if r.Fields != nil {
		out += " [" + strings.Join(r.Fields, " ") + "]"
	}
	if r.Whole {
		out += " !"
	}
	return out
}

// TestFlowFuseCalls checks the requests and the outcome for a tool, arguments and responses. The outcome is a result,
// a refusal, or a proposed call with its title.
func TestFlowFuseCalls(t *testing.T) {
	tools := flowfuse(t)
	const instance = `{"id":"i1","name":"pump","settings":{"env":[{"name":"A","value":"1","policy":true},{"name":"B","value":"2"}],"theme":"dark"},"meta":{"state":"running"}}`
	answers := func(more ...string) map[string]string {
		out := map[string]string{"get_projects_instanceId": instance, "get_templates": `{"templates":[{"id":"t0","active":false},{"id":"t1","active":true},{"id":"t2","active":true}]}`,
			"get_teams_teamId_applications": `{"applications":[{"id":"a","name":"Press","x":1}]}`}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	const getInstance = `get_projects_instanceId {"path":{"instanceId":"i1"}}`
	for _, tt := range []struct {
		tool, args string
		answers    map[string]string
		want       []string
	}{
		{"list-teams", `{}`, answers("get_user_teams", `{"count":1,"teams":[{"id":"t"}]}`), []string{`get_user_teams`, `{"teams":[{"id":"t"}]}`}},
		{"list-applications", `{"teamId":"../user"}`, answers(), []string{`get_teams_teamId_applications {"path":{"teamId":"../user"},"query":{"includeApplicationSummary":true}}`, `{"applications":[{"id":"a","name":"Press","x":1}]}`}},
		{"list-instance-types", `{"teamId":"t"}`, answers("get_project-types", `{"types":[]}`), []string{`get_project-types`, `{"instanceTypes":[]}`}},
		{"list-stacks", `{"instanceTypeId":"p"}`, answers("get_stacks", `{"stacks":[]}`), []string{`get_stacks {"query":{"projectType":"p"}}`, `{"stacks":[]}`}},
		{"get-instance", `{"instanceId":"i1"}`, answers(), []string{getInstance, instance}},
		{"get-instance-status", `{"instanceId":"i1"}`, answers(), []string{getInstance + ` [id name meta] !`, `{"id":"i1","name":"pump","state":"running","meta":{"state":"running"}}`}},
		{"get-instance-status", `{"instanceId":"i1"}`, answers("get_projects_instanceId", `{"id":"i1","name":"pump"}`), []string{getInstance + ` [id name meta] !`, `{"id":"i1","name":"pump"}`}},
		{"check-name-availability", `{"name":"n","type":"instance"}`, answers("post_projects_check-name", `{"available":true}`), []string{`post_projects_check-name {"body":{"name":"n"}}`, `{"available":true}`}},
		{"check-name-availability", `{"name":"n","type":"instance"}`, answers("post_projects_check-name", `409 {"code":"invalid_project_name","error":"name in use"}`), []string{`post_projects_check-name {"body":{"name":"n"}}`, `{"available":false,"reason":"name in use"}`}},
		{"check-name-availability", `{"name":"n","type":"instance"}`, answers("post_projects_check-name", `403 {}`), []string{`post_projects_check-name {"body":{"name":"n"}}`, `conflict: the API answered 403`}},
		{"check-name-availability", `{"name":"n","type":"application"}`, answers(), []string{`invalid_argument: names of applications are checked within a team; give the teamId, from list-teams`}},
		{"check-name-availability", `{"name":"Press","type":"application","teamId":"t"}`, answers(), []string{`get_teams_teamId_applications {"path":{"teamId":"t"}} [applications.name] !`, `{"available":false,"reason":"an application of the team has the name"}`}},
		{"check-name-availability", `{"name":"press","type":"application","teamId":"t"}`, answers(), []string{`get_teams_teamId_applications {"path":{"teamId":"t"}} [applications.name] !`, `{"available":true}`}},
		{"check-name-availability", `{"name":"press","type":"application","teamId":"t"}`, answers("get_teams_teamId_applications", `[]`), []string{`get_teams_teamId_applications {"path":{"teamId":"t"}} [applications.name] !`, `upstream_error: the API's answer is not as the tool expects it`}},
		{"open-editor", `{"instanceId":"i1"}`, answers(), []string{getInstance + ` [id name] !`, `{"url":"https://forge.example.com/base/instance/i1/editor","target":"editor","message":"The editor of pump"}`}},
		{"open-instance", `{"instanceId":"i1"}`, answers("get_projects_instanceId", `{"id":"../x","name":"pump"}`), []string{getInstance + ` [id name] !`, `{"url":"https://forge.example.com/base/instance/..%2Fx","target":"instance","message":"The page of pump"}`}},
		{"open-instance", `{"instanceId":"i1"}`, answers("get_projects_instanceId", `{"name":"pump"}`), []string{getInstance + ` [id name] !`, `upstream_error: there is nothing to link to`}},

		{"create-application", `{"name":"n","teamId":"t","reason":"why"}`, answers(), []string{`propose post_applications {"body":{"name":"n","teamId":"t"}}`, `Create the application n`, `applied {"id":"new","name":"n","url":"u"}`}},
		{"create-snapshot", `{"instanceId":"i1","name":"n","description":"d"}`, answers(), []string{`propose post_projects_instanceId_snapshots {"path":{"instanceId":"i1"},"body":{"name":"n","description":"d"}}`, `Create the snapshot n of the instance i1`, `applied {"id":"new","name":"n"}`}},
		{"create-instance", `{"name":"n","applicationId":"a","projectType":"p","stack":"s"}`, answers(),
			[]string{`get_templates [templates.id templates.active] !`, `propose post_projects {"body":{"name":"n","applicationId":"a","projectType":"p","stack":"s","template":"t1"}}`, `Create the instance n`,
				`applied {"id":"new","name":"n","url":"u","navigation":{"suggestion":"Open the editor of the new instance with platform.open-editor","target":"new","label":"Open editor"}}`}},
		{"create-instance", `{"name":"n","applicationId":"a","projectType":"p","stack":"s"}`, answers("get_templates", `{"templates":[{"id":"t0","active":false}]}`),
			[]string{`get_templates [templates.id templates.active] !`, `invalid_argument: the platform has no active template; give one`}},
		{"create-instance", `{"name":"n","applicationId":"a","projectType":"p","stack":"s","template":"mine","flowBlueprintId":"b"}`, answers(),
			[]string{`propose post_projects {"body":{"name":"n","applicationId":"a","projectType":"p","stack":"s","template":"mine","flowBlueprintId":"b"}}`, `Create the instance n`,
				`applied {"id":"new","name":"n","url":"u","navigation":{"suggestion":"Open the editor of the new instance with platform.open-editor","target":"new","label":"Open editor"}}`}},
		{"manage-instance", `{"instanceId":"i1","action":"suspend"}`, answers(), []string{`propose post_projects_instanceId_actions_suspend {"path":{"instanceId":"i1"}}`, `suspend the instance i1`, `applied {"instanceId":"i1","action":"suspend"}`}},
		{"delete-instance", `{"instanceId":"i1"}`, answers(), []string{`propose delete_projects_instanceId {"path":{"instanceId":"i1"}}`, `Delete the instance i1`, `applied {"message":"The instance i1 is deleted"}`}},
		{"delete-application", `{"applicationId":"a"}`, answers(), []string{`propose delete_applications_applicationId {"path":{"applicationId":"a"}}`, `Delete the application a`, `applied {"message":"The application a is deleted"}`}},

		{"update-instance-settings", `{"instanceId":"i1"}`, answers(), []string{`{"message":"No changes to apply"}`}},
		{"update-instance-settings", `{"instanceId":"i1","env":{},"settings":{}}`, answers(), []string{`{"message":"No changes to apply"}`}},
		{"update-instance-settings", `{"instanceId":"i1","env":{"B":"2"},"settings":{"theme":"dark"}}`, answers(), []string{getInstance + ` [id name settings] !`, `{"message":"No changes to apply"}`}},
		{"update-instance-settings", `{"instanceId":"i1","env":{"C":"3","A":"9"}}`, answers(), []string{getInstance + ` [id name settings] !`,
			`propose put_projects_instanceId {"path":{"instanceId":"i1"},"body":{"settings":{"env":[{"name":"A","value":"9","policy":true},{"name":"B","value":"2"},{"name":"C","value":"3"}]}}}`, `Change the settings of the instance pump`, `applied {"id":"new","name":"n"}`}},
		{"update-instance-settings", `{"instanceId":"i1","env":{"C":"3"},"settings":{"theme":"light"}}`, answers("get_projects_instanceId", `{"id":"i1","name":"pump"}`), []string{getInstance + ` [id name settings] !`,
			`propose put_projects_instanceId {"path":{"instanceId":"i1"},"body":{"settings":{"theme":"light","env":[{"name":"C","value":"3"}]}}}`, `Change the settings of the instance pump`, `applied {"id":"new","name":"n"}`}},
		{"update-instance-settings", `{"instanceId":"i1","settings":{"theme":"light"}}`, answers(), []string{getInstance + ` [id name settings] !`,
			`propose put_projects_instanceId {"path":{"instanceId":"i1"},"body":{"settings":{"theme":"light"}}}`, `Change the settings of the instance pump`, `applied {"id":"new","name":"n"}`}},
		{"update-instance-settings", `{"instanceId":"i1","settings":{"env":[]}}`, answers(), []string{`invalid_argument: give environment variables as env, not in settings`}},
		{"update-instance-settings", `{"instanceId":"i1","env":{"C":"3"}}`, answers("get_projects_instanceId", `404 {"code":"not_found"}`), []string{getInstance + ` [id name settings] !`, `conflict: the API answered 404`}},
		{"update-instance-settings", `{"instanceId":"i1","env":{"C":"3"}}`, answers("get_projects_instanceId", `{"settings":{"env":{}}}`), []string{getInstance + ` [id name settings] !`, `upstream_error: the API's answer is not as the tool expects it: what is to be merged is of another kind`}},
	} {
		t.Run(tt.tool+" "+tt.args, func(t *testing.T) {
			args, err := value.Read([]byte(tt.args), 0)
			if err != nil {
				t.Fatal(err)
			}
			s := &script{answers: tt.answers}
			out, err := tools["platform."+tt.tool].Run(t.Context(), Call{Input: args, Site: "https://forge.example.com/base/", Reader: s})
			got := s.asked
			switch {
			case err != nil:
				p, ok := errors.AsType[*problem.Error](err)
				if !ok {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprintf("%s: %s", p.Code, p.Detail))
			case out.Write != nil:
				done, err := out.WriteResult(value.OfObject([]value.Member{{Name: "id", Value: value.OfString("new")}, {Name: "name", Value: value.OfString("n")}, {Name: "url", Value: value.OfString("u")}}))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, "propose "+shown(out.Write), out.Title, "applied "+done.String())
			default:
				got = append(got, out.Result.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

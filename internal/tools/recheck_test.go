package tools_test

import (
	"database/sql"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// alter runs a statement on the tracker's database, as an unrelated program would.
func (x *tracker) alter(statement string, args ...any) {
	x.Helper()
	db, err := sql.Open("sqlite", x.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		x.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(x.Context(), statement, args...); err != nil {
		x.Fatal(err)
	}
}

// declare replaces the gateway's actions.
func (x *tracker) declare(actions []action.Declaration) {
	x.Helper()
	if err := x.gateway.SetRules(x.Context(), x.rules, actions); err != nil {
		x.Fatal(err)
	}
}

// TestRecheck checks that the requirements of an action are evaluated again at review and when the change is applied.
// If they no longer hold, the change becomes stale and nothing is written.
func TestRecheck(t *testing.T) {
	const said = ". Nothing was written"
	for _, tt := range []struct {
		name   string
		tool   string
		args   string // {issue} is replaced by an issue with status Todo, and {project} by a project
		change func(x *tracker, issue, project string)
		want   change.State
		why    string
	}{
		{"nothing has changed", "update_status", `{"issueId":"{issue}","newStatus":"InProgress"}`, nil, change.Applied, ""},
		{"another field has changed", "update_status", `{"issueId":"{issue}","newStatus":"InProgress"}`, func(x *tracker, issue, _ string) {
			x.alter(`UPDATE issues SET title = 'Other' WHERE id = ?`, issue)
		}, change.Applied, ""},
		{"what the action looked up has changed", "create_issue", `{"projectId":"{project}","title":"New","type":"Epic"}`, func(x *tracker, _, project string) {
			x.alter(`UPDATE projects SET archived = 1 WHERE id = ?`, project)
		}, change.Stale, "the project is archived and takes no new issues"},
		{"the same by call_method", "call_method", `{"class_name":"issues","method_name":"create_issue","arguments":{"projectId":"{project}","title":"New","type":"Epic"}}`,
			func(x *tracker, _, project string) { x.alter(`UPDATE projects SET archived = 1 WHERE id = ?`, project) },
			change.Stale, "the project is archived and takes no new issues"},
		{"the record has moved on", "update_status", `{"issueId":"{issue}","newStatus":"InProgress"}`, func(x *tracker, issue, _ string) {
			x.alter(`UPDATE issues SET status = 'InProgress' WHERE id = ?`, issue)
		}, change.Stale, "newStatus is InProgress already"},
		{"the transition is gone", "update_status", `{"issueId":"{issue}","newStatus":"InProgress"}`, func(x *tracker, _, _ string) {
			actions := slices.Clone(x.actions)
			for i := range actions {
				if actions[i].Name == "update_status" {
					actions[i].Transitions = map[string]map[string][]string{"status": {"Todo": {"Backlog"}}}
				}
			}
			x.declare(actions)
		}, change.Stale, "newStatus can't go from Todo to InProgress; from Todo it can go to Backlog"},
		{"what the action sets has changed", "update_status", `{"issueId":"{issue}","newStatus":"InProgress"}`, func(x *tracker, _, _ string) {
			actions := slices.Clone(x.actions)
			for i := range actions {
				if actions[i].Name == "update_status" {
					actions[i].Set = value.OfObject([]value.Member{{Name: "status", Value: value.OfString("Backlog")}})
				}
			}
			x.declare(actions)
		}, change.Stale, "the action update_status would write something else now"},
		{"the action is gone", "update_status", `{"issueId":"{issue}","newStatus":"InProgress"}`, func(x *tracker, _, _ string) {
			x.declare(slices.DeleteFunc(slices.Clone(x.actions), func(d action.Declaration) bool { return d.Name == "update_status" }))
		}, change.Stale, "the agent has no action update_status any more"},
		{"a write that is no action's", "update_object", `{"class_name":"issues","object_id":"{issue}","data":{"title":"x"}}`, func(x *tracker, _, project string) {
			x.declare(nil)
			x.alter(`UPDATE projects SET archived = 1 WHERE id = ?`, project)
		}, change.Applied, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := newTracker(t, nil)
			issue, project := x.first(`{"status":"Todo","type":"Bug"}`, "id"), x.first(`{"status":"Todo","type":"Bug"}`, "project_id")
			res, err := x.call(x.bot(), tt.tool, strings.NewReplacer("{issue}", issue, "{project}", project).Replace(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			id := regexp.MustCompile(`01[0-9a-z]{32}`).FindString(string(res.Structured))
			if tt.change != nil {
				tt.change(x, issue, project)
			}
			rita := x.gateway.Reviewer(x.token(identity.Human, "rita", identity.Read, identity.Review), "visit")
			sheet, err := rita.Sheet(t.Context(), id)
			if err != nil || sheet.CanApprove != (tt.want == change.Applied) {
				t.Fatalf("%v: it can be approved %v %+v", err, sheet.CanApprove, sheet.Checks)
			}
			done, err := rita.Approve(t.Context(), id, sheet.Digest, "")
			if err != nil || done.State != tt.want {
				t.Fatalf("%+v %v", done, err)
			}
			if tt.why == "" {
				return
			}
			if !strings.HasPrefix(done.Outcome, tt.why) || !strings.HasSuffix(done.Outcome, said) {
				t.Errorf("outcome %q, want %q", done.Outcome, tt.why+said)
			}
			if _, err := rita.Renew(t.Context(), id); err == nil || !strings.HasPrefix(problem.Of(err).Detail, tt.why) {
				t.Error("previewed again:", err)
			}
			if tt.name == "the record has moved on" {
				if now := done.Items[0].Fields[0].Now; now == nil || now.Text != "InProgress" {
					t.Errorf("now %+v", now)
				}
			}
		})
	}
}

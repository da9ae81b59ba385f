package tools_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A desk is a tracker with a bot, a reviewer, and two issues with status Todo in separate projects.
type desk struct {
	*tracker
	bot     identity.Principal
	rita    bailiwick.Reviewer
	replace *strings.Replacer // replaces {a}, {b} and {project}, the project of issue a
	a, b    string
}

func newDesk(t *testing.T, more func(*config.Config, *bailiwick.Options)) *desk {
	x := newTracker(t, func(c *config.Config, o *bailiwick.Options) {
		c.Rules.Gates.RawWrites = policy.Review
		if more != nil {
			more(c, o)
		}
	})
	d := &desk{tracker: x, bot: x.bot(), rita: x.gateway.Reviewer(x.token(identity.Human, "rita", identity.Read, identity.Review), "visit"),
		a: x.first(`{"status":"Todo","type":"Bug"}`, "id"), b: x.first(`{"status":"Todo","type":"Story"}`, "id")}
	d.replace = strings.NewReplacer("{a}", d.a, "{b}", d.b, "{project}", x.first(`{"status":"Todo","type":"Bug"}`, "project_id"))
	return d
}

// propose proposes writes as one change, and returns its id.
func (d *desk) propose(list ...string) (string, error) {
	d.Helper()
	return d.filed("propose_changes", `{"summary":"Sort them in","writes":[`+strings.Join(list, ",")+`]}`)
}

func (d *desk) filed(tool, args string) (string, error) {
	d.Helper()
	res, err := d.call(d.bot, tool, d.replace.Replace(args))
	if err != nil {
		return "", err
	}
	var answer struct {
		ID string `json:"change_id"`
	}
	if err := json.Unmarshal(res.Structured, &answer); err != nil || answer.ID == "" {
		d.Fatal(string(res.Structured), err)
	}
	return answer.ID, nil
}

// must calls propose and fails the test on an error. It returns the sheet for the reviewer rita.
func (d *desk) must(list ...string) *review.Sheet {
	d.Helper()
	id, err := d.propose(list...)
	if err != nil {
		d.Fatalf("%+v", problem.Of(err))
	}
	sheet, err := d.rita.Sheet(d.Context(), id)
	if err != nil {
		d.Fatal(err)
	}
	return sheet
}

// value returns the only value that a query finds in the tracker's database.
func (d *desk) value(query string, args ...any) (out string) {
	d.Helper()
	db, err := sql.Open("sqlite", d.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		d.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(d.Context(), query, args...).Scan(&out); err != nil {
		d.Fatal(query, err)
	}
	return out
}

const (
	comments = `{"op":"action","class_name":"comments","method_name":"add_comment","arguments":{"issueId":"{a}","content":"On it."}}`
	starts   = `{"op":"action","class_name":"issues","method_name":"update_status","arguments":{"issueId":"{a}","newStatus":"InProgress"}}`
	starts2  = `{"op":"action","class_name":"issues","method_name":"update_status","arguments":{"issueId":"{b}","newStatus":"InProgress"}}`
	files    = `{"op":"action","class_name":"issues","method_name":"create_issue","arguments":{"projectId":"{project}","title":"Follow up","type":"Bug"}}`
	urgent   = `{"op":"update","class_name":"issues","object_id":"{b}","data":{"priority":"Critical"}}`
)

// TestGroup proposes actions and a write of a record as one change. Each item must show its action and the action's
// sentence. The agent sees the same without the sentences of templates. All writes must be applied once.
func TestGroup(t *testing.T) {
	d := newDesk(t, nil)
	sheet := d.must(comments, starts, urgent, files)
	var got []string
	for _, item := range sheet.Items {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s by %q, says %t", item.Op, item.Class, item.Action, item.Says != "")))
	}
	want := []string{`create comments by "add_comment", says true`, `update issues by "update_status", says true`, `update issues by "", says false`, `create issues by "create_issue", says true`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if sheet.Action != "" || sheet.SaidBy != "agent" || sheet.Says != "Sort them in" || sheet.CanEdit || !sheet.CanApprove {
		t.Errorf("action %q, said by %q %q, edit %t, approve %t %+v", sheet.Action, sheet.SaidBy, sheet.Says, sheet.CanEdit, sheet.CanApprove, sheet.Checks)
	}
	res, err := d.call(d.bot, "get_change", `{"change_id":"`+sheet.ID+`"}`)
	if err != nil || !strings.Contains(string(res.Structured), `"method_name":"update_status"`) || strings.Contains(string(res.Structured), "Status of") ||
		!strings.Contains(res.Text, "   by the action update_status\n") || strings.Contains(res.Text, sheet.Items[1].Says) {
		t.Errorf("%v %s\n%s", err, res.Structured, res.Text)
	}
	if again, err := d.propose(comments, starts, urgent, files); err != nil || again != sheet.ID {
		t.Error("the same again is another change:", again, err)
	}
	done, err := d.rita.Approve(t.Context(), sheet.ID, sheet.Digest, "")
	if err != nil || done.State != change.Applied {
		t.Fatalf("%+v %v", done, err)
	}
	if status, priority := d.value(`SELECT status FROM issues WHERE id = ?`, d.a), d.value(`SELECT priority FROM issues WHERE id = ?`, d.b); status != "InProgress" || priority != "Critical" {
		t.Error(status, priority)
	}
	if n := d.value(`SELECT (SELECT count(*) FROM comments WHERE body = 'On it.') || ' ' || (SELECT count(*) FROM issues WHERE title = 'Follow up')`); n != "1 1" {
		t.Error(n)
	}
	if !done.CanRevert {
		t.Fatal("it can't be taken back:", done.NoRevert)
	}
	back, err := d.rita.Revert(t.Context(), sheet.ID, "too early")
	if err != nil || len(back.Items) != 4 || back.Action != "revert" || back.Items[0].Action != "" {
		t.Fatalf("%+v %v", back, err)
	}
}

// TestGroupAlike checks that several writes of one action form a change of that action.
func TestGroupAlike(t *testing.T) {
	d := newDesk(t, nil)
	sheet := d.must(starts, starts2)
	if sheet.Action != "update_status" || sheet.Title != "2 updates in issues: status" || sheet.SaidBy != "agent" || sheet.Items[1].Says == "" {
		t.Errorf("%q %q %q %+v", sheet.Action, sheet.Title, sheet.SaidBy, sheet.Items[1])
	}
	raw := d.must(urgent, `{"op":"update","class_name":"issues","object_id":"{a}","data":{"priority":"Critical"}}`)
	if raw.Action != "" || raw.Items[0].Action != "" {
		t.Errorf("%q %q", raw.Action, raw.Items[0].Action)
	}
}

// TestGroupRefused checks that the error of an action names the position of its item. Nothing may be filed then.
func TestGroupRefused(t *testing.T) {
	d := newDesk(t, nil)
	act := func(parts string) string { return `{"op":"action",` + parts + `}` }
	for _, tt := range []struct {
		writes []string
		want   string // the pointer, then the detail
		faults string
	}{
		{[]string{urgent, act(`"class_name":"issues","method_name":"update_statu"`)}, `/writes/1/method_name issues has no method "update_statu". Did you mean update_status?`, ""},
		{[]string{urgent, act(`"class_name":"issues"`)}, `/writes/1/method_name an action needs method_name`, ""},
		{[]string{urgent, act(`"class_name":"issue","method_name":"x"`)}, `/writes/1/class_name there is no class "issue"`, ""},
		{[]string{urgent, act(`"class_name":"issues","method_name":"update_status","data":{}`)}, `/writes/1/data a write has no "data"`, ""},
		{[]string{urgent, act(`"class_name":"issues","method_name":"update_status","arguments":{"dry_run":true}`)}, `/writes/1/arguments/dry_run one of several writes isn't tried by itself: leave dry_run out`, ""},
		{[]string{urgent, act(`"class_name":"issues","method_name":"update_status","arguments":{"issueId":"{a}","newStatus":"Gone"}`)}, "", "/writes/1/arguments/newStatus"},
		{[]string{urgent, strings.Replace(starts, "InProgress", "Done", 1)}, "", "/writes/1/arguments/newStatus"},
		{[]string{strings.Replace(starts, "InProgress", "Done", 1)}, "", "/writes/0/arguments/newStatus"},
		{[]string{urgent, starts, strings.Replace(starts, "InProgress", "Backlog", 1)}, "/writes/2 it writes the record of /writes/1 again", ""},
		{[]string{starts, comments}, "/writes/1 add_comment is checked with a record that /writes/0 changes before it", ""},
		{[]string{strings.Replace(files, `"Bug"`, `"Task"`, 1), urgent}, "", "/writes/0/arguments/parentId"},
	} {
		_, err := d.propose(tt.writes...)
		p := problem.Of(err)
		var faults []string
		for _, f := range p.Faults {
			faults = append(faults, f.Pointer)
		}
		if got := p.Pointer + " " + p.Detail; err == nil || tt.want != "" && got != tt.want || tt.faults != "" && strings.Join(faults, " ") != tt.faults {
			t.Errorf("%v\n got %s %q %v\nwant %s %q", tt.writes, got, faults, err, tt.want, tt.faults)
		}
	}
	// An agent that may not call any action doesn't see this op.
	narrow := d.bot
	narrow.Actions.Except = []string{"create_issue", "update_status", "add_comment"}
	d.bot = narrow
	if _, err := d.propose(urgent, starts); err == nil || err.Error() != "invalid_argument: op is create, update or delete" {
		t.Error(err)
	}
	narrow.Actions.Except, narrow.Tools.Except = nil, []string{"call_method", "update_status"}
	d.bot = narrow
	if _, err := d.propose(urgent, starts); problem.Of(err).Pointer != "/writes/1/method_name" {
		t.Error("an action that the list of tools leaves out:", err)
	}
	if _, err := d.propose(comments, urgent); err != nil {
		t.Error("an action whose tool is left:", err)
	}
}

// TestGroupRecheck checks that each action of a group runs again at review and when the change is applied. If an
// action would propose something else, nothing of the group is written.
func TestGroupRecheck(t *testing.T) {
	without := func(name string) func(*desk) {
		return func(d *desk) {
			d.declare(slices.DeleteFunc(slices.Clone(d.actions), func(a action.Declaration) bool { return a.Name == name }))
		}
	}
	edited := func(name string, edit func(*action.Declaration)) func(*desk) {
		return func(d *desk) {
			actions := slices.Clone(d.actions)
			edit(&actions[slices.IndexFunc(actions, func(a action.Declaration) bool { return a.Name == name })])
			d.declare(actions)
		}
	}
	for _, tt := range []struct {
		name    string
		happens func(*desk)
		want    change.State
		why     string
	}{
		{"nothing", func(*desk) {}, change.Applied, ""},
		{"an action that isn't used is gone", without("create_issue"), change.Applied, ""},
		{"the first action is gone", without("add_comment"), change.Stale, "the agent has no action add_comment any more"},
		{"the last action is gone", without("update_status"), change.Stale, "the agent has no action update_status any more"},
		{"an action sets something else", edited("update_status", func(a *action.Declaration) {
			a.Set = value.OfObject([]value.Member{{Name: "status", Value: value.OfString("Backlog")}})
		}), change.Stale, "the action update_status would write something else now"},
		{"an action denies", edited("add_comment", func(a *action.Declaration) { a.Review = write.Deny }), change.Stale, "the agent has no action add_comment any more"},
		{"a transition is gone", edited("update_status", func(a *action.Declaration) {
			a.Transitions = map[string]map[string][]string{"status": {"Todo": {"Backlog"}}}
		}),
			change.Stale, "newStatus can't go from Todo to InProgress"},
		{"a record has moved on", func(d *desk) { d.alter(`UPDATE issues SET priority = 'Low' WHERE id = ?`, d.b) }, change.Stale, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, nil)
			sheet := d.must(urgent, comments, starts)
			tt.happens(d)
			now, err := d.rita.Sheet(t.Context(), sheet.ID)
			if err != nil || now.CanApprove != (tt.want == change.Applied) {
				t.Errorf("%v: it can be approved %t %+v", err, now.CanApprove, now.Checks)
			}
			done, err := d.rita.Approve(t.Context(), sheet.ID, sheet.Digest, "")
			if err != nil || done.State != tt.want || !strings.HasPrefix(done.Outcome, tt.why) {
				t.Fatalf("%s %q %v", done.State, done.Outcome, err)
			}
			want := map[change.State]string{change.Applied: "InProgress 1", change.Stale: "Todo 0"}[tt.want]
			if got := d.value(`SELECT status || ' ' || (SELECT count(*) FROM comments WHERE body = 'On it.') FROM issues WHERE id = ?`, d.a); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// TestGroupTime checks a field that an action sets to the current time. It must be applied with the reviewed value,
// even after a long review.
func TestGroupTime(t *testing.T) {
	d := newDesk(t, func(c *config.Config, o *bailiwick.Options) {
		var doc value.Value
		if err := json.Unmarshal([]byte(`{"body":{"$cel":"\"closed at \" + string(now)"}}`), &doc); err != nil {
			t.Fatal(err)
		}
		o.Actions = append(o.Actions, action.Declaration{Name: "stamp", On: "tracker.issues", Do: action.Update, Set: doc})
		c.Actions = append(c.Actions, o.Actions...)
	})
	const one, two = `{"op":"action","class_name":"issues","method_name":"stamp","object_id":"{a}"}`, `{"op":"action","class_name":"issues","method_name":"stamp","object_id":"{b}"}`
	sheet := d.must(one, two)
	if a, b := sheet.Items[0].Fields[0].After.Text, sheet.Items[1].Fields[0].After.Text; a != b || !strings.HasPrefix(a, "closed at ") {
		t.Errorf("%q and %q: the group has one time", a, b)
	}
	time.Sleep(2 * time.Millisecond) // the actual duration doesn't matter
	if done, err := d.rita.Approve(t.Context(), sheet.ID, sheet.Digest, ""); err != nil || done.State != change.Applied {
		t.Fatalf("%+v %v", done, err)
	}
}

// TestGroupJudged checks which review rule applies to a group. The strictest rule that matches any of its writes
// decides. A rule that approves must match all of its writes.
func TestGroupJudged(t *testing.T) {
	when := func(text string) *expression.Condition {
		c, err := expression.NewCompiler().CompileChange(text)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, tt := range []struct {
		name   string
		rules  []change.Rule
		writes []string
		need   int
		state  change.State
	}{
		{"no rule", nil, []string{urgent, comments}, 1, change.Pending},
		{"two for one action", []change.Rule{{When: when(`change.action == "add_comment"`), Approvals: 2}}, []string{urgent, comments}, 2, change.Pending},
		{"two for what has no action", []change.Rule{{When: when(`change.action == "" && change.op == "update"`), Approvals: 2}}, []string{comments, urgent}, 2, change.Pending},
		{"two for a class", []change.Rule{{When: when(`change.class == "tracker.issues"`), Approvals: 2}}, []string{comments, starts}, 2, change.Pending},
		{"two for a create", []change.Rule{{When: when(`change.op == "create"`), Approvals: 2}}, []string{urgent, comments}, 2, change.Pending},
		{"one action is let through", []change.Rule{{When: when(`change.action == "add_comment"`), Mode: write.Allow}}, []string{urgent, comments}, 1, change.Pending},
		{"each by a rule of its own", []change.Rule{{When: when(`change.action == "add_comment"`), Mode: write.Allow}, {When: when(`change.action == "update_status"`), Mode: write.Allow}},
			[]string{comments, starts}, 1, change.Pending},
		{"all by one rule", []change.Rule{{When: when(`change.op != "delete"`), Mode: write.Allow}}, []string{comments, starts}, 0, change.Applied},
		{"all of one action", []change.Rule{{When: when(`change.action == "update_status"`), Mode: write.Allow}}, []string{starts, starts2}, 0, change.Applied},
		{"one is denied", []change.Rule{{When: when(`change.action == "add_comment"`), Mode: write.Deny}}, []string{urgent, comments}, 0, ""},
		{"a rule that can't be evaluated allows nothing", []change.Rule{{When: when(`change.classes[7] == "x"`), Mode: write.Allow}}, []string{comments, starts}, 1, change.Pending},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, func(c *config.Config, o *bailiwick.Options) {
				c.Rules.Gates.Writes, c.Rules.Gates.RawWrites, c.Rules.Review = policy.On, policy.On, tt.rules
			})
			id, err := d.propose(tt.writes...)
			if tt.state == "" {
				if problem.CodeOf(err) != problem.PermissionDenied {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			sheet, err := d.rita.Sheet(t.Context(), id)
			if err != nil || sheet.State != tt.state || sheet.Need != tt.need {
				t.Errorf("%s, %d needed, %v; want %s, %d", sheet.State, sheet.Need, err, tt.state, tt.need)
			}
		})
	}
}

// TestGroupVersion checks that a new version of a group may contain actions and replaces the previous version.
func TestGroupVersion(t *testing.T) {
	d := newDesk(t, nil)
	sheet := d.must(urgent, comments)
	if _, err := d.rita.Ask(t.Context(), sheet.ID, "Start it, too."); err != nil {
		t.Fatal(err)
	}
	id, err := d.filed("reply_to_change", `{"change_id":"`+sheet.ID+`","text":"Done.","writes":[`+urgent+`,`+comments+`,`+starts+`]}`)
	if err != nil {
		t.Fatal(err)
	}
	next, err := d.rita.Sheet(t.Context(), id)
	if err != nil || next.Version != 2 || len(next.Since) != 1 || next.Since[0].Op != "added" || next.Items[2].Action != "update_status" {
		t.Fatalf("%v %+v", err, next.Since)
	}
	if done, err := d.rita.Approve(t.Context(), id, next.Digest, ""); err != nil || done.State != change.Applied {
		t.Fatalf("%+v %v", done, err)
	}
}

// TestSourceOfAll checks a source next to the writes. It is accepted if it is the source of all writes. Otherwise the
// error names it.
func TestSourceOfAll(t *testing.T) {
	d := newDesk(t, nil)
	ask := func(source string) error {
		_, err := d.filed("propose_changes", `{"source":"`+source+`","writes":[{"op":"update","class_name":"issues","object_id":"{a}","data":{"priority":"High"}}]}`)
		return err
	}
	if err := ask("tracker"); err != nil {
		t.Error(err)
	}
	if p := problem.Of(ask("orders")); p.Pointer != "/source" || !strings.HasPrefix(p.Detail, "issues is of the source tracker: ") {
		t.Errorf("%+v", p)
	}
}

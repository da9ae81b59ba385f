package tools_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/internal/tools"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	sqlitesource "github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// tracker serves the demo's tracker through a complete gateway with the demo's own configuration.
type tracker struct {
	*testing.T
	gateway *bailiwick.Gateway
	room    *tools.ChangeTools
	set     *tool.Set
	tokens  *identity.Tokens
	rules   policy.Rules
	path    string // of the database
	actions []action.Declaration
}

// issues returns the tracker's database file, which is created once.
var issues = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "tracker")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	path := filepath.Join(dir, "tracker.db")
	if err := demo.Create(context.Background(), path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// newTracker serves the tracker. The function more may modify its configuration.
func newTracker(t *testing.T, more func(*config.Config, *bailiwick.Options)) *tracker {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "tracker.db")
	b, err := issues()
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse(filepath.Join(dir, "bailiwick.yaml"), []byte(demo.Config), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	var options bailiwick.Options
	if more != nil {
		more(c, &options)
	}
	reads, err := sqlitesource.Open(t.Context(), "tracker", path)
	if err != nil {
		t.Fatal(err)
	}
	src, err := reads.Writable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "bailiwick.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	x := &tracker{T: t, rules: c.Rules, path: path, actions: c.Actions, tokens: identity.NewTokens(identity.TokenOptions{Store: store, Audit: store})}
	options.Sources, options.Rules, options.Audit = map[string]source.Source{"tracker": src}, c.Rules, store
	options.Changes, options.Refresher = change.NewQueue(change.Options{Store: store}), x.tokens
	options.Actions = c.Actions
	x.gateway, _, err = bailiwick.New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	x.room = tools.NewChangeTools(tools.ChangeOptions{Gateway: x.gateway, Link: func(id string) string { return "https://b.example/console/changes/" + id }})
	if x.set, err = tool.NewSet(x.gateway, append(tool.Data(tool.Options{Writing: x.room}), x.room.Tools()...)...); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *tracker) token(kind identity.Kind, owner string, scopes ...identity.Scope) identity.Principal {
	x.Helper()
	operator := identity.Principal{ID: "cli", Kind: identity.Human, Scopes: []identity.Scope{identity.Operator}}
	kept, _, err := x.tokens.Create(x.Context(), operator, identity.Token{Name: string(kind), Kind: kind, Owner: owner, Tenant: demo.Acme, Scopes: scopes})
	if err != nil {
		x.Fatal(err)
	}
	p, err := kept.Principal()
	if err != nil {
		x.Fatal(err)
	}
	return p
}

func (x *tracker) bot() identity.Principal {
	return x.token(identity.Agent, "ann", identity.Read, identity.Write, identity.Delete, identity.Schema)
}

func (x *tracker) call(p identity.Principal, name, args string) (tool.Result, error) {
	x.Helper()
	v, err := value.Read([]byte(args), 0)
	if err != nil {
		x.Fatalf("%s: %v", args, err)
	}
	return x.set.Call(x.Context(), p, tool.Request{Name: name, Arguments: v, Correlation: "c1"})
}

// first returns a field of the first record that matches the filter where.
func (x *tracker) first(where, field string) string {
	x.Helper()
	res, err := x.call(x.bot(), "query_class", `{"class_name":"issues","where":`+where+`,"keys":["`+field+`"],"order":"created_at,id","limit":1}`)
	if err != nil {
		x.Fatal(where, err)
	}
	var page struct{ Results []map[string]string }
	if err := json.Unmarshal(res.Structured, &page); err != nil || len(page.Results) != 1 {
		x.Fatal(where, string(res.Structured), err)
	}
	return page.Results[0][field]
}

// plain replaces text that differs between runs.
func plain(s string) string {
	for _, r := range [][2]string{{`01[0-9a-z]{32}`, "ID"}, {`20[0-9]{2}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z| UTC)`, "TIME"}, {`token:[0-9a-z]{16}`, "token:T"}} {
		s = regexp.MustCompile(r[0]).ReplaceAllString(s, r[1])
	}
	return s
}

func said(res tool.Result, err error) string {
	if err == nil {
		return plain(string(res.Structured) + "\n" + res.Text)
	}
	p := problem.Of(err)
	out := fmt.Sprintf("%s %s: %s", p.Code, p.Pointer, p.Detail)
	for _, f := range p.Faults {
		out += fmt.Sprintf(" [%s %s]", f.Pointer, f.Rule)
	}
	if p.Suggestion != "" {
		out += "; " + p.Suggestion
	}
	return plain(out)
}

// TestConversation compares the answers to a sequence of calls with golden files. It replaces {{name}} by an ID from
// an earlier lookup.
func TestConversation(t *testing.T) {
	x := newTracker(t, nil)
	bot := x.bot()
	ids := strings.NewReplacer("{{todo}}", x.first(`{"status":"Todo","type":"Bug"}`, "id"), "{{done}}", x.first(`{"status":"Done","type":"Bug"}`, "id"),
		"{{epic}}", x.first(`{"type":"Epic","status":"Todo"}`, "id"), "{{epicproject}}", x.first(`{"type":"Epic","status":"Todo"}`, "project_id"),
		"{{story}}", x.first(`{"type":"Story","status":"Todo"}`, "id"), "{{storyproject}}", x.first(`{"type":"Story","status":"Todo"}`, "project_id"),
		"{{task}}", x.first(`{"type":"Task","status":"Todo"}`, "id"), "{{taskproject}}", x.first(`{"type":"Task","status":"Todo"}`, "project_id"))
	file := filepath.Join("testdata", "conversation.txt")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	last := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			out.WriteString(line + "\n")
			continue
		}
		call, ok := strings.CutPrefix(line, "→ ")
		if !ok {
			continue
		}
		name, args, _ := strings.Cut(call, " ")
		res, err := x.call(bot, name, strings.ReplaceAll(ids.Replace(args), "{{last}}", last))
		var answer struct {
			ID string `json:"change_id"`
		}
		if err == nil && json.Unmarshal(res.Structured, &answer) == nil && answer.ID != "" {
			last = answer.ID
		}
		fmt.Fprintf(&out, "%s\n%s\n\n", line, strings.TrimSpace(said(res, err)))
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(strings.ReplaceAll(string(text), "\r", ""), out.String()); d != "" && !*update {
		t.Error(d)
	}
}

// TestChangeOffered checks which tools each principal is offered. The error for a tool that isn't offered must equal
// the error for a missing tool.
func TestChangeOffered(t *testing.T) {
	x := newTracker(t, nil)
	reads := x.token(identity.Agent, "ann", identity.Read)
	writes := x.token(identity.Agent, "ann", identity.Read, identity.Write)
	all := x.bot()
	narrowed := all
	narrowed.Actions.Except = []string{"issues.create_issue"}
	other := all
	other.Classes.Only = []string{"users", "organisations"}
	for _, tt := range []struct {
		name  string
		who   identity.Principal
		gates policy.Gates
		want  string
	}{
		{"who reads", reads, policy.Gates{RawWrites: policy.Review}, ""},
		{"who writes", writes, policy.Gates{RawWrites: policy.Review}, "add_comment call_method cancel_change create_issue create_object get_change list_my_changes propose_changes reply_to_change update_object update_status wait_for_change"},
		{"who deletes, too", all, policy.Gates{RawWrites: policy.Review}, "add_comment call_method cancel_change create_issue create_object delete_object get_change list_my_changes propose_changes reply_to_change update_object update_status wait_for_change"},
		{"the schema", all, policy.Gates{SchemaWrites: policy.Review}, "add_comment call_method cancel_change create_class create_issue delete_class get_change list_my_changes propose_changes reply_to_change update_status wait_for_change"},
		{"actions alone", all, policy.Gates{}, "add_comment call_method cancel_change create_issue get_change list_my_changes propose_changes reply_to_change update_status wait_for_change"},
		{"nothing", all, policy.Gates{Writes: policy.Off, RawWrites: policy.On}, ""},
		{"not every action", narrowed, policy.Gates{}, "add_comment call_method cancel_change get_change list_my_changes propose_changes reply_to_change update_status wait_for_change"},
		{"classes that deny all", other, policy.Gates{RawWrites: policy.Review}, ""},
	} {
		rules := x.rules
		rules.Gates = tt.gates
		if err := x.gateway.SetRules(x.Context(), rules, x.actions); err != nil {
			t.Fatal(err)
		}
		var got []string
		offered := map[string]bool{}
		for _, tl := range x.set.List(tt.who, "") {
			offered[tl.Name] = true
			if tl.Category == tool.Mutation || tl.Category == tool.Changes || tl.Category == tool.Custom {
				got = append(got, tl.Name)
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, s, tt.want)
		}
		for _, tl := range x.room.Tools() {
			_, err := x.call(tt.who, tl.Name, `{"nothing": 1}`)
			if unknown := problem.CodeOf(err) == problem.UnknownTool; unknown && offered[tl.Name] || !offered[tl.Name] && !unknown && problem.CodeOf(err) != problem.PermissionDenied {
				t.Errorf("%s: %s is offered %t, and says %v", tt.name, tl.Name, offered[tl.Name], err)
			}
		}
	}
}

// TestChangeScopes checks a tool that the principal could use with one more scope. The error must name the missing
// scope, because a client may request it from its person. A tool that no scope would enable must look missing.
func TestChangeScopes(t *testing.T) {
	x := newTracker(t, nil)
	reads := x.token(identity.Agent, "ann", identity.Read)
	for _, tt := range []struct {
		gates policy.Gates
		want  map[string]string
	}{
		{policy.Gates{RawWrites: policy.Review, SchemaWrites: policy.Review}, map[string]string{"propose_changes": "write", "create_object": "write", "update_object": "write", "delete_object": "delete",
			"call_method": "write", "create_issue": "write", "reply_to_change": "write", "list_my_changes": "", "get_change": "", "create_class": "schema", "delete_class": "schema"}},
		{policy.Gates{}, map[string]string{"propose_changes": "write", "create_object": "", "delete_object": "", "create_class": "", "call_method": "write"}},
		{policy.Gates{Writes: policy.Off}, map[string]string{"propose_changes": "", "call_method": "", "create_issue": "", "get_change": ""}},
	} {
		rules := x.rules
		rules.Gates = tt.gates
		if err := x.gateway.SetRules(x.Context(), rules, x.actions); err != nil {
			t.Fatal(err)
		}
		for name, scope := range tt.want {
			_, err := x.call(reads, name, `{}`)
			p := problem.Of(err)
			if scope == "" && (p == nil || p.Scope != "") || scope != "" && (p == nil || p.Code != problem.PermissionDenied || p.Scope != scope) {
				t.Errorf("%v: %s says %v, want the scope %q", tt.gates, name, err, scope)
			}
		}
	}
}

// TestShut checks that nobody can write to a record that a shut canonical filter excludes.
func TestShut(t *testing.T) {
	for _, shut := range []bool{false, true} {
		x := newTracker(t, func(c *config.Config, _ *bailiwick.Options) {
			rule := c.Rules.Classes["tracker.issues"]
			rule.Canonical, rule.CanonicalShut = query.Compare{Path: query.Path{"type"}, Op: query.Eq, Value: value.OfString("Bug")}, shut
			c.Rules.Classes["tracker.issues"] = rule
			c.Rules.Gates = policy.Gates{RawWrites: policy.Review}
		})
		bot := x.bot()
		db, err := sql.Open("sqlite", x.path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var other string
		if err := db.QueryRow(`SELECT id FROM issues WHERE type = 'Story' AND org_id = ? ORDER BY id LIMIT 1`, demo.Acme).Scan(&other); err != nil {
			t.Fatal(err)
		}
		for tool, args := range map[string]string{"update_object": `{"class_name":"issues","object_id":"` + other + `","data":{"priority":"High"}}`,
			"delete_object": `{"class_name":"issues","object_id":"` + other + `"}`} {
			if _, err := x.call(bot, tool, args); (problem.CodeOf(err) == problem.NotFound) != shut {
				t.Errorf("shut %t: %s of a record that doesn't count: %v", shut, tool, err)
			}
		}
	}
}

// TestApproved runs each of the tracker's tools and checks the result in its tables. Other principals must not see
// the change.
func TestApproved(t *testing.T) {
	x := newTracker(t, nil)
	bot := x.bot()
	rita := x.gateway.Reviewer(x.token(identity.Human, "rita", identity.Read, identity.Review), "visit")
	story, project := x.first(`{"type":"Story","status":"Todo"}`, "id"), x.first(`{"type":"Story","status":"Todo"}`, "project_id")
	approve := func(name, args string) string {
		t.Helper()
		res, err := x.call(bot, name, args)
		if err != nil {
			t.Fatal(name, problem.Of(err))
		}
		var answer struct {
			ID     string `json:"change_id"`
			Status string
			Next   string
			URL    string
		}
		if err := json.Unmarshal(res.Structured, &answer); err != nil || answer.Status != "pending_review" || answer.Next != "get_change" || answer.URL != "https://b.example/console/changes/"+answer.ID {
			t.Fatal(string(res.Structured), err)
		}
		if _, err := x.call(x.bot(), "get_change", `{"change_id":"`+answer.ID+`"}`); problem.CodeOf(err) != problem.NotFound {
			t.Error("another agent sees the change:", err)
		}
		sheet, err := rita.Sheet(t.Context(), answer.ID)
		if err != nil {
			t.Fatal(err)
		}
		if sheet, err = rita.Approve(t.Context(), answer.ID, sheet.Digest, "fine"); err != nil || sheet.State != change.Applied {
			t.Fatal(name, err, sheet)
		}
		start := time.Now()
		res, err = x.call(bot, "wait_for_change", `{"change_id":"`+answer.ID+`","timeout":50}`)
		if err != nil || !bytes.Contains(res.Structured, []byte(`"status":"applied"`)) || !bytes.Contains(res.Structured, []byte(`"text":"fine"`)) || time.Since(start) > 30*time.Second {
			t.Error(string(res.Structured), err)
		}
		return answer.ID
	}
	approve("create_issue", `{"projectId":"`+project+`","title":"New <b>","type":"Task","parentId":"`+story+`","estimatedHours":1.5,"reason":"why not"}`)
	task := x.first(`{"title":"New <b>"}`, "id")
	res, err := x.call(bot, "get_object", `{"class_name":"issues","object_id":"`+task+`","keys":["type","status","priority","parent_id","estimate","agent","reporter_id"]}`)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"type":"Task","status":"Backlog","priority":"Medium","parent_id":"` + story + `","estimate":1.5,"agent":"` + bot.Author() + `","reporter_id":null`; !bytes.Contains(res.Structured, []byte(want)) {
		t.Errorf("got %s\nwant %s", res.Structured, want)
	}
	if n := x.number(task); n < 2 {
		t.Error("the number of a new issue:", n)
	}
	approve("update_status", `{"issueId":"`+task+`","newStatus":"Todo"}`)
	approve("add_comment", `{"issueId":"`+task+`","content":"# Hi"}`)
	res, err = x.call(bot, "query_class", `{"class_name":"comments","where":{"issue_id":"`+task+`"},"keys":["body","agent","author_id"]}`)
	if err != nil || !bytes.Contains(res.Structured, []byte(`"body":"# Hi","agent":"`+bot.Author()+`","author_id":null`)) {
		t.Error(string(res.Structured), err)
	}
	if status := x.first(`{"title":"New <b>"}`, "status"); status != "Todo" {
		t.Error("status", status)
	}
}

func (x *tracker) number(id string) int {
	x.Helper()
	res, err := x.call(x.bot(), "get_object", `{"class_name":"issues","object_id":"`+id+`","keys":["number"]}`)
	var doc struct{ Object struct{ Number int } }
	if err == nil {
		err = json.Unmarshal(res.Structured, &doc)
	}
	if err != nil {
		x.Fatal(err)
	}
	return doc.Object.Number
}

// TestTransitions tries every pair of statuses. Pairs in the table are proposed. For other pairs, the error names the
// allowed statuses.
func TestTransitions(t *testing.T) {
	x := newTracker(t, nil)
	bot := x.bot()
	next := map[string][]string{"Backlog": {"Todo", "Cancelled"}, "Todo": {"InProgress", "Backlog", "Cancelled"}, "InProgress": {"Review", "Todo", "Cancelled"},
		"Review": {"Done", "InProgress", "Cancelled"}, "Done": {"InProgress"}, "Cancelled": {"Backlog"}}
	for from, allowed := range next {
		id := x.first(`{"status":"`+from+`","type":"Bug"}`, "id")
		for to := range next {
			res, err := x.call(bot, "update_status", `{"issueId":"`+id+`","newStatus":"`+to+`"}`)
			switch good := slices.Contains(allowed, to); {
			case good && (err != nil || !bytes.Contains(res.Structured, []byte(`"before":"`+from+`","after":"`+to+`"`))):
				t.Errorf("%s → %s: %s %v", from, to, res.Structured, err)
			case !good && (err == nil || !strings.HasSuffix(problem.Of(err).Detail, "; from "+from+" it can go to "+strings.Join(allowed, ", "))):
				t.Errorf("%s → %s: %v", from, to, err)
			}
		}
	}
}

// TestChangeSchemas compares the tools as agents see them. Together, the tools for records, actions and changes may
// have at most 1,500 tokens of four bytes.
func TestChangeSchemas(t *testing.T) {
	x := newTracker(t, nil)
	size := 0
	for _, tl := range x.room.Tools() {
		doc, err := json.Marshal(map[string]any{"name": tl.Name, "title": tl.Title, "description": tl.Description, "inputSchema": tl.Input, "outputSchema": tl.Output,
			"annotations": map[string]bool{"readOnlyHint": tl.Annotations.ReadOnly, "destructiveHint": tl.Annotations.Destructive, "idempotentHint": tl.Annotations.Idempotent, "openWorldHint": tl.Annotations.OpenWorld}})
		if err != nil {
			t.Fatal(err)
		}
		if tl.Category != tool.Custom && tl.Scope != identity.Schema {
			size += len(doc)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, doc, "", "  "); err != nil {
			t.Fatal(err)
		}
		indented.WriteByte('\n')
		file := filepath.Join("testdata", "schemas", tl.Name+".json")
		if *update {
			if err := os.WriteFile(file, indented.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), indented.String()); d != "" {
			t.Errorf("%s: %s", tl.Name, d)
		}
	}
	if size > 4*1550 {
		t.Errorf("the tools are %d bytes, %d tokens, at most 1,550", size, size/4)
	}
	t.Logf("%d bytes", size)
}

// TestWait checks a wait that ends without a decision, and a wait whose caller disconnects.
func TestWait(t *testing.T) {
	x := newTracker(t, nil)
	bot := x.bot()
	res, err := x.call(bot, "add_comment", `{"issueId":"`+x.first(`{"status":"Todo"}`, "id")+`","content":"x"}`)
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`01[0-9a-z]{32}`).FindString(string(res.Structured))
	start := time.Now()
	res, err = x.call(bot, "wait_for_change", `{"change_id":"`+id+`","timeout":1}`)
	if err != nil || !bytes.Contains(res.Structured, []byte(`"status":"pending_review"`)) || time.Since(start) < 900*time.Millisecond {
		t.Error(string(res.Structured), err, time.Since(start))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	args, _ := value.Read([]byte(`{"change_id":"`+id+`","timeout":50}`), 0)
	if _, err := x.set.Call(ctx, bot, tool.Request{Name: "wait_for_change", Arguments: args}); err == nil {
		t.Error("a wait outlives its caller")
	}
}

// TestFunction checks an action whose target is a function of the program. It must run once, after approval, with the
// approved values. Its outcome ends the change.
func TestFunction(t *testing.T) {
	var runs []bailiwick.Run
	var fails error
	x := newTracker(t, func(c *config.Config, o *bailiwick.Options) {
		object := func(text string) value.Value {
			v, err := value.Read([]byte(text), 0)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		c.Actions = append(c.Actions, action.Declaration{Name: "remind", On: "tracker.issues", Do: action.Go, Tool: true, Input: object(`{"properties":{"text":{"type":"string"}}}`),
			Set: object(`{"text":{"$cel":"input.text"},"title":{"$cel":"record == null ? \"\" : record.title"},"by":{"$cel":"principal.owner"}}`)})
		o.Functions = map[string]bailiwick.Function{"remind": func(_ context.Context, r bailiwick.Run) error {
			runs = append(runs, r)
			return fails
		}}
	})
	bot, id := x.bot(), x.first(`{"status":"Todo"}`, "id")
	rita := x.gateway.Reviewer(x.token(identity.Human, "rita", identity.Read, identity.Review), "visit")
	res, err := x.call(bot, "call_method", `{"class_name":"issues","method_name":"remind","object_id":"`+id+`","arguments":{"text":"soon","dry_run":true}}`)
	if want := `"supports_real_dry_run":false,"would_call":{"class_name":"issues","method_name":"remind","object_id":"` + id + `","arguments":{"text":"soon"}}}`; err != nil || !strings.HasSuffix(string(res.Structured), want) {
		t.Errorf("got %s %v\nwant %s", res.Structured, err, want)
	}
	for i, tt := range []struct {
		fails error
		want  change.State
	}{{nil, change.Applied}, {problem.New(problem.Conflict, "the post is closed"), change.Failed}} {
		fails = tt.fails
		res, err := x.call(bot, "remind", `{"object_id":"`+id+`","text":"soon `+fmt.Sprint(i)+`"}`)
		if err != nil || len(runs) != i {
			t.Fatal(problem.Of(err), runs)
		}
		change := regexp.MustCompile(`01[0-9a-z]{32}`).FindString(string(res.Structured))
		sheet, err := rita.Sheet(t.Context(), change)
		if err != nil {
			t.Fatal(err)
		}
		if sheet, err = rita.Approve(t.Context(), change, sheet.Digest, ""); err != nil || sheet.State != tt.want {
			t.Fatalf("%v %+v", err, sheet)
		}
		if len(runs) != i+1 || runs[i].Change != change || runs[i].Record != id || runs[i].Class != "tracker.issues" || !strings.HasPrefix(runs[i].Input.String(), `{"text":"soon `+fmt.Sprint(i)+`","title":"`) {
			t.Errorf("%+v", runs)
		}
		if tt.fails != nil && sheet.Outcome != "the post is closed. Nothing was written" {
			t.Error(sheet.Outcome)
		}
	}
}

// TestClass creates one class and rejects another. The reviewer must see the fields.
func TestClass(t *testing.T) {
	x := newTracker(t, func(c *config.Config, _ *bailiwick.Options) { c.Rules.Gates.SchemaWrites = policy.Review })
	res, err := x.call(x.bot(), "create_class", `{"class_name":"notes","fields":[{"name":"id","type":"integer","required":true},{"name":"text","type":"string"}],"reason":"x"}`)
	want := `{"status":"pending_review","change_id":"ID","summary":"Create the class notes","diff":[{"op":"schema","class_name":"notes","fields":[{"field":"fields","before":null,` +
		`"after":"[{\"name\":\"id\",\"type\":\"integer\",\"required\":true},{\"name\":\"text\",\"type\":\"string\"}]"}]}],"expires_at":"TIME","url":"https://b.example/console/changes/ID","next":"get_change"}`
	if got, _, _ := strings.Cut(said(res, err), "\n"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	rita := x.gateway.Reviewer(x.token(identity.Human, "rita", identity.Read, identity.Review), "visit")
	id := regexp.MustCompile(`01[0-9a-z]{32}`).FindString(string(res.Structured))
	sheet, err := rita.Sheet(t.Context(), id)
	if err != nil || !sheet.CanApprove {
		t.Fatalf("%v %+v", err, sheet)
	}
	if sheet, err = rita.Approve(t.Context(), id, sheet.Digest, ""); err != nil || sheet.State != change.Applied {
		t.Fatalf("%v %+v", err, sheet)
	}
	for args, want := range map[string]string{
		`{"class_name":"x","source":"traker","fields":[{"name":"a","type":"string"}]}`: `invalid_argument /source: there is no source "traker". Did you mean tracker?`,
		`{"class_name":"x","fields":[{"name":"a","type":"blob"}]}`:                     `invalid_argument /fields/0/type: fields/0/type must be one of string, integer, double, decimal, boolean, date, day, uuid, json, not "blob" [/fields/0/type enum]`,
	} {
		if got := said(x.call(x.bot(), "create_class", args)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", args, got, want)
		}
	}
	if got := said(x.call(x.bot(), "delete_class", `{"class_name":"api_keys"}`)); got != `not_found /class_name: there is no class "api_keys"; get_all_schemas lists the classes` {
		t.Error("a hidden class:", got)
	}
}

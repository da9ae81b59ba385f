package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/prompt"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// wrong contains calls that are refused, cut or empty, so that their answers contain advice.
var wrong = []string{
	`list_tools {"category": "nothing"}`, `list_tools {"categry": "query"}`, `get_all_schemas {"prefix": "nothing"}`,
	`get_schema {"class_name": "isues"}`, `query_class {"class_name": "isues"}`, `query_class {"class_name": "issues", "keys": ["titel"]}`,
	`query_class {"class_name": "issues", "where": {"status": "done"}}`, `query_class {"class_name": "issues", "limit": 1000}`,
	`query_class {"class_name": "issues", "order": "titel"}`, `query_class {"class_name": "issues", "where": {"$foo": 1}}`,
	`query_class {"class_name": "issues", "where": {"assignee_id": "nobody"}}`, `query_class {"class_name": "issues", "skip": -1}`,
	`query_sql {"sql": "SELECT * FROM isues"}`, `query_sql {"sql": "SELECT titel FROM issues"}`, `query_sql {"sql": "DELETE FROM issues"}`,
	`query_sql {"sql": "SELECT * FROM issues TABLESAMPLE SYSTEM (1)"}`, `query_sql {"sql": "SELECT * FROM issues WHERE id = '0'"}`,
	`aggregate {"class_name": "issues", "pipeline": [{"$foo": 1}]}`, `aggregate {"class_name": "issues", "pipeline": [{"$match": {"titel": 1}}]}`,
	`count_objects {"class_name": "isues"}`, `get_object {"class_name": "issues", "object_id": "0"}`, `get_object {"class_name": "isues", "object_id": "0"}`,
	`get_objects {"class_name": "issues", "ids": ["0"]}`, `get_sample_objects {"class_name": "isues"}`, `get_sample_objects {"class_name": "issues", "limit": 20}`,
	`group_by {"class_name": "issues", "field": "titel"}`, `group_by_date {"class_name": "issues", "field": "title", "interval": "month"}`, `distinct {"class_name": "issues", "field": "titel"}`,
	`export_data {"class_name": "issues", "format": "xml"}`, `export_data {"class_name": "issues", "format": "csv"}`, `explain_query {"class_name": "issues", "where": {"titel": 1}}`,
	`text_search {"class_name": "issues", "query": "x"}`, `propose_changes {"writes": [{"op": "create", "class_name": "issues", "data": {"titel": "x"}}]}`,
	`propose_changes {"writes": [{"op": "update", "class_name": "issues", "object_id": "0", "data": {"status": "Done"}}]}`,
	`propose_changes {"writes": [{"op": "action", "class_name": "issues", "method_name": "nothing"}]}`, `propose_changes {"writes": [{"op": "create", "class_name": "labels", "data": {"name": "new one"}}]}`,
	`create_object {"class_name": "labels", "data": {"name": "another one"}}`, `update_object {"class_name": "issues", "object_id": "0", "data": {"status": "Done"}}`, `delete_object {"class_name": "projects", "object_id": "0"}`,
	`create_class {"class_name": "x", "fields": []}`, `call_method {"class_name": "issues", "method_name": "nothing"}`, `list_my_changes {}`, `get_change {"change_id": "0"}`,
	`wait_for_change {"change_id": "0", "timeout": 0}`, `reply_to_change {"change_id": "0", "message": "x"}`, `cancel_change {"change_id": "0"}`,
	`update_status {"issueId": "0", "newStatus": "Done"}`, `find_values {"text": "nothing at all"}`, `find_values {"text": "Done", "class_names": ["isues"]}`,
}

// callIn matches a call that a prompt writes out in full.
var callIn = regexp.MustCompile(`([a-z_]+) (\{.*\})[.;:]? `)

// TestTexts checks the instructions, descriptions, prompts and refusals for several callers. They lack one tool, have
// only one tool, may only read, or may do everything. No text may name a tool that the caller can't call. Calls that
// prompts write out must succeed.
func TestTexts(t *testing.T) {
	for _, profile := range []string{"standard", "full"} {
		t.Run(profile, func(t *testing.T) {
			p := gateway(t, "tools: {profile: "+profile+"}\n")
			names := app.ToolNames(p.Config)
			everything := []identity.Scope{identity.Read, identity.Write, identity.Delete, identity.Schema}
			who := func(id string, scopes []identity.Scope, tools identity.List) identity.Principal {
				return identity.Principal{ID: "token:" + id, Owner: "ann", Tenant: demo.Acme, Scopes: scopes, Tools: tools}
			}
			all := []identity.Principal{who("all", everything, identity.List{}), who("reads", everything[:1], identity.List{})}
			for _, name := range names {
				all = append(all, who("no "+name, everything, identity.List{Except: []string{name}}))
				if profile == "standard" { // the other profile lists the same for these callers
					all = append(all, who("only "+name, everything, identity.List{Only: []string{name}}))
				}
			}
			for _, who := range all {
				walk(t, p, who)
			}
		})
	}
}

// gateway returns the demo's gateway with additional lines of configuration.
func gateway(t *testing.T, more string) *app.App {
	t.Helper()
	dir := t.TempDir()
	if err := demo.Create(t.Context(), filepath.Join(dir, "tracker.db")); err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse(filepath.Join(dir, "bailiwick.yaml"), []byte(demo.Config+more), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	c.Limits.Rate, c.Limits.Burst = config.Rate{Calls: 1_000_000_000, Per: time.Minute}, 1_000_000_000
	p, err := app.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// walk checks all texts for one caller.
func walk(t *testing.T, p *app.App, who identity.Principal) {
	t.Helper()
	check := func(where, text string, listed bool) {
		for _, name := range tool.Mentions(text) {
			if !p.Tools.May(who, name) {
				t.Errorf("%s: %s names %s, which this caller can't call: %s", who.ID, where, name, text)
			} else if listed && !p.Tools.Tool(name).ListedFor(who) {
				t.Errorf("%s: %s names %s, which is not listed: %s", who.ID, where, name, text)
			}
		}
	}
	door := p.Door()
	check("instructions", door.Guide(who), true)
	tools := p.Tools.List(who, "")
	listed := func(name string) bool {
		return slices.ContainsFunc(tools, func(t *tool.Tool) bool { return t.Name == name && t.ListedFor(who) })
	}
	for _, x := range tools {
		check("description of "+x.Name, tool.Advice(x.Description, listed), true)
		check("arguments of "+x.Name, described(x.Input), true)
	}
	for _, call := range wrong {
		name, arguments, _ := strings.Cut(call, " ")
		args, err := value.Read([]byte(arguments), 0)
		if err != nil {
			t.Fatal(err)
		}
		res, err := p.Tools.Call(context.Background(), who, tool.Request{Name: name, Arguments: args})
		if first := tool.Mentions(fmt.Sprint(problem.Of(err)) + res.Text); who.ID == "token:all" && name != "list_tools" && first != nil && first[0] != name {
			check(call+" begins with an unlisted tool", first[0], true)
		}
		if err != nil {
			check(call, strings.ReplaceAll(problem.Of(err).Text(), name+" needs the scope", "it needs the scope"), false)
		} else if name != "list_tools" {
			check(call, res.Text, false)
		}
	}
	for _, x := range p.Prompts.List(who) {
		got, err := p.Prompts.Get(context.Background(), who, prompt.Request{Name: x.Name, Arguments: argumentsOf(x)})
		if err != nil {
			t.Errorf("%s: prompt %s: %v", who.ID, x.Name, err)
			continue
		}
		check("description of prompt "+x.Name, x.Description, false)
		for _, m := range got.Messages {
			check("prompt "+x.Name, m.Text, false)
			if who.ID == "token:all" || who.ID == "token:reads" {
				makeCalls(t, p, who, x.Name, m.Text)
			}
		}
	}
}

// makeCalls makes the calls that a prompt writes out.
func makeCalls(t *testing.T, p *app.App, who identity.Principal, name, text string) {
	t.Helper()
	for _, m := range callIn.FindAllStringSubmatch(strings.ReplaceAll(text, "\n", " \n"), -1) {
		args, err := value.Read([]byte(m[2]), 0)
		if err != nil || p.Tools.Tool(m[1]) == nil || strings.Contains(m[2], "…") {
			continue // the call contains an ellipsis
		}
		if _, err := p.Tools.Call(context.Background(), who, tool.Request{Name: m[1], Arguments: args}); err != nil {
			if e := problem.Of(err); e.Code != problem.NotFound {
				t.Errorf("prompt %s: %s: %s", name, m[0], e.Text())
			}
		}
	}
}

// argumentsOf returns arguments for the demo's prompts.
func argumentsOf(p *prompt.Prompt) map[string]string {
	known := map[string]string{"class_name": "issues", "group_by": "status", "parent_class": "users", "parent_id": "1", "child_class": "issues", "pointer_field": "assignee_id",
		"since": "2026-01-01", "until": "2026-02-01", "classes": "issues, users", "change_id": "0"}
	out := map[string]string{}
	for _, a := range p.Arguments {
		if v, ok := known[a.Name]; ok {
			out[a.Name] = v
		}
	}
	return out
}

// described returns the descriptions in a JSON Schema.
func described(schema []byte) string {
	v, err := value.Read(schema, 0)
	if err != nil {
		return fmt.Sprint(err)
	}
	var out []string
	var visit func(value.Value)
	visit = func(v value.Value) {
		for _, m := range v.Members() {
			if m.Name == "description" && m.Value.Kind() == value.String {
				out = append(out, m.Value.Text())
			}
			visit(m.Value)
		}
		for _, e := range v.List() {
			visit(e)
		}
	}
	visit(v)
	return strings.Join(out, "\n")
}

package prompt_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/prompt"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

func handle(context.Context, *bailiwick.Call, prompt.Input) (prompt.Result, error) {
	return prompt.Say("", "x"), nil
}

func TestNewSetRefuses(t *testing.T) {
	for _, tt := range []struct {
		prompts []prompt.Prompt
		want    string
	}{
		{[]prompt.Prompt{{Handle: handle}}, "a prompt has no name"},
		{[]prompt.Prompt{{Name: "a"}}, "prompt a has no handler"},
		{[]prompt.Prompt{{Name: "a", Handle: handle}, {Name: "b", Handle: handle}, {Name: "a", Handle: handle}}, "prompt a appears twice"},
		{[]prompt.Prompt{{Name: "a", Handle: handle, Arguments: []prompt.Argument{{Name: "x"}, {Name: "x"}}}}, `prompt a: the argument "x" has no name or appears twice`},
	} {
		if _, err := prompt.NewSet(nil, nil, tt.prompts...); err == nil || err.Error() != tt.want {
			t.Errorf("%v; want %s", err, tt.want)
		}
	}
}

// TestReplace checks that the served prompts change immediately and that subscribers are notified. An invalid prompt
// changes nothing.
func TestReplace(t *testing.T) {
	s := open(t)
	var told []bailiwick.Event
	defer s.gateway.Subscribe(func(c bailiwick.Event) { told = append(told, c) })()
	// This set has no tools for changes, so the prompt about changes is not listed.
	if err := s.Replace(prompt.Prompt{Name: "a"}); err == nil || len(s.List(people["ann"])) != len(prompt.Builtin())-1 {
		t.Error(err)
	}
	if err := s.Replace(prompt.Prompt{Name: "a", Handle: handle}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), people["ann"], prompt.Request{Name: "conventions"}); err == nil {
		t.Error("what was taken out is served")
	}
	if list := s.List(people["ann"]); len(list) != 1 || list[0].Name != "a" {
		t.Error(list)
	}
	if diff := cmp.Diff([]bailiwick.Event{bailiwick.PromptsChanged}, told); diff != "" {
		t.Error(diff)
	}
}

// TestProfileSQL checks that the prompts teach query_sql if it is the only tool that reads records. The statements in
// the prompts must run successfully.
func TestProfileSQL(t *testing.T) {
	s := open(t)
	few := slices.DeleteFunc(tool.Data(tool.Options{}), func(x tool.Tool) bool { return !slices.Contains(tool.Profiles()["sql"], x.Name) })
	tools, err := tool.NewSet(s.gateway, few...)
	if err != nil {
		t.Fatal(err)
	}
	prompts, err := prompt.NewSet(s.gateway, tools, prompt.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for name, want := range map[string]string{"conventions": "query_sql takes one SELECT", "explore_database": "SELECT count(*)", "class_overview": `query_sql {"sql"`} {
		r := prompt.Request{Name: name}
		if name == "class_overview" {
			r.Arguments = map[string]string{"class_name": "orders"}
		}
		res, err := prompts.Get(t.Context(), people["ann"], r)
		if err != nil {
			t.Fatal(err)
		}
		said := res.Messages[0].Text
		if !strings.Contains(said, want) || strings.Contains(said, "count_objects") || strings.Contains(said, "query_class") {
			t.Errorf("%s says %s", name, said)
		}
		if name != "class_overview" {
			continue
		}
		for _, part := range strings.Split(said, "query_sql ")[1:] {
			args, err := value.Read([]byte(part[:strings.Index(part, "}")+1]), 0)
			if err != nil {
				t.Fatal(err, part)
			}
			if _, err := tools.Call(t.Context(), people["ann"], tool.Request{Name: "query_sql", Arguments: args}); err != nil {
				t.Errorf("%s: %v", args, err)
			}
			asked++
		}
	}
	if asked == 0 {
		t.Error("no statement was tried")
	}
}

// TestPages checks that a long list of resources has several pages and that each resource occurs once. Other cursors
// are refused.
func TestPages(t *testing.T) {
	var classes []schema.Class
	for i := range 150 {
		name := fmt.Sprintf("class_%03d", i)
		classes = append(classes, schema.Class{Source: "app", Name: name, Table: name, Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.String}}})
	}
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": memory.New(classes, nil)},
		Rules: policy.Rules{Unlisted: true}, Audit: &audit.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := prompt.NewSet(g, tools, prompt.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	sizes := []int{}
	for cursor := ""; ; {
		page, err := s.Resources(t.Context(), people["ann"], cursor, "")
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(page.Resources))
		for _, r := range page.Resources {
			seen[r.URI]++
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if diff := cmp.Diff([]int{100, 100, 100, 100, 50}, sizes); diff != "" || len(seen) != 450 {
		t.Errorf("%d resources; %s", len(seen), diff)
	}
	if _, err := s.Resources(t.Context(), people["ann"], "?", ""); err == nil || err.Error() != "invalid_argument: the cursor is none that resources/list gave" {
		t.Error(err)
	}
	done, err := s.Complete(t.Context(), people["ann"], prompt.Completion{Prompt: "class_overview", Argument: "class_name", Written: "c"})
	if err != nil || len(done.Values) != 100 || done.Total != 150 {
		t.Error(len(done.Values), done.Total, err)
	}
	res, err := s.Get(t.Context(), people["ann"], prompt.Request{Name: "explore_database"})
	if err != nil || !strings.Contains(res.Messages[0].Text, "class_029 and 120 more.") {
		t.Error(res, err)
	}
}

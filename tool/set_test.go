package tool_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// greet is a tool of an embedding program.
func greet(name, text string) tool.Tool {
	return tool.Tool{Name: name, Description: "Greets.", Input: []byte(`{"type":"object","additionalProperties":false}`), Category: tool.Custom,
		Annotations: tool.Annotations{ReadOnly: true}, Handle: func(context.Context, *bailiwick.Call, value.Value) (tool.Result, error) {
			return tool.Result{Structured: []byte(`{}`), Text: text}, nil
		}}
}

// TestReplace wants tools to come and go in one step each, all of them or none.
func TestReplace(t *testing.T) {
	g, _ := newGateway(t, 0, shopRules())
	set, err := tool.NewSet(g, greet("a", "old"))
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	stop := g.Subscribe(func(c bailiwick.Change) {
		if c == bailiwick.ToolsChanged {
			told++
		}
	})
	names := func() string {
		var all []string
		for _, tl := range set.List(agent(), "") {
			all = append(all, tl.Name)
		}
		return strings.Join(all, " ")
	}
	for _, tt := range []struct {
		what string
		do   func() error
		err  string
		then string
		told int
	}{
		{"add", func() error { return set.Add(greet("b", ""), greet("c", "")) }, "", "a b c", 1},
		{"add one that is there", func() error { return set.Add(greet("d", ""), greet("b", "")) }, "tool b stands twice", "a b c", 1},
		{"add a wrong one", func() error { return set.Add(greet("d", ""), tool.Tool{Name: "e"}) }, "tool e: ", "a b c", 1},
		{"remove", func() error { return set.Remove("c") }, "", "a b", 2},
		{"remove one that isn't there", func() error { return set.Remove("b", "c") }, "there is no tool c to take out", "a b", 2},
		{"replace", func() error { return set.Replace([]string{"a"}, []tool.Tool{greet("a", "new")}) }, "", "a b", 3},
		{"after unsubscribing", func() error { stop(); return set.Remove("b") }, "", "a", 3},
	} {
		err := tt.do()
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", tt.what, err, tt.err)
		}
		if got := names(); got != tt.then || told != tt.told {
			t.Errorf("%s: %q, told %d times; want %q, %d", tt.what, got, told, tt.then, tt.told)
		}
	}
	if res, err := set.Call(t.Context(), agent(), tool.Request{Name: "a", Arguments: value.OfObject(nil)}); err != nil || res.Text != "new" {
		t.Errorf("a answers %q, %v", res.Text, err)
	}
	if _, err := set.Call(t.Context(), agent(), tool.Request{Name: "b", Arguments: value.OfObject(nil)}); problem.CodeOf(err) != problem.UnknownTool {
		t.Errorf("b is gone, and answers %v", err)
	}
}

// TestReplaceUnderLoad calls a tool while it is replaced: each call is answered by the old one or by the new one.
func TestReplaceUnderLoad(t *testing.T) {
	g, _ := newGateway(t, 0, shopRules())
	set, err := tool.NewSet(g, greet("a", "x"))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 { // as many as the limits let through at once
				if res, err := set.Call(t.Context(), agent(), tool.Request{Name: "a", Arguments: value.OfObject(nil)}); err != nil || res.Text != "x" {
					t.Errorf("%q, %v", res.Text, err)
				}
			}
		})
	}
	for range 200 {
		if err := set.Replace([]string{"a"}, []tool.Tool{greet("a", "x")}); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

// TestUnknownTool: a tool that the asker's list leaves out, one that isn't offered and one that doesn't exist are refused
// in the same words, with the nearest names that the asker sees.
func TestUnknownTool(t *testing.T) {
	g, _ := newGateway(t, 0, shopRules())
	unoffered := greet("greet_c", "")
	unoffered.Offered = func(identity.Principal) bool { return false }
	set, err := tool.NewSet(g, append(tool.Data(tool.Options{}), greet("greet_a", ""), greet("greet_b", ""), unoffered)...)
	if err != nil {
		t.Fatal(err)
	}
	who := agent()
	who.Tools.Except = []string{"greet_b"}
	for name, kind := range map[string]string{"greet_b": "tool_filtered", "greet_c": "unknown_tool", "greet_d": "unknown_tool"} {
		_, err := set.Call(t.Context(), who, tool.Request{Name: name, Arguments: value.OfObject(nil)})
		p := problem.Of(err)
		want := "unknown_tool: unknown tool \"" + name + "\"; did you mean greet_a?\n→ list_tools names the tools you may call"
		if p.Text() != want || p.Kind != kind {
			t.Errorf("%s (%s), want %s (%s)", p.Text(), p.Kind, want, kind)
		}
	}
}

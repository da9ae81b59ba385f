package tool_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// greet returns a tool of an embedding program.
func greet(name, text string) tool.Tool {
	return tool.Tool{Name: name, Description: "Greets.", Input: []byte(`{"type":"object","additionalProperties":false}`), Category: tool.Custom,
		Annotations: tool.Annotations{ReadOnly: true}, Handle: func(context.Context, *bailiwick.Call, value.Value) (tool.Result, error) {
			return tool.Result{Structured: []byte(`{}`), Text: text}, nil
		}}
}

// TestReplace checks that tools are replaced in one step, all or none.
func TestReplace(t *testing.T) {
	g, _ := newGateway(t, 0, shopRules())
	set, err := tool.NewSet(g, greet("a", "old"))
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	stop := g.Subscribe(func(c bailiwick.Event) {
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
		{"add one that is there", func() error { return set.Add(greet("d", ""), greet("b", "")) }, "tool b appears twice", "a b c", 1},
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

// TestReplaceUnderLoad calls a tool while it is replaced: each call is answered by the old or the new one.
func TestReplaceUnderLoad(t *testing.T) {
	g, _ := newGateway(t, 0, shopRules())
	set, err := tool.NewSet(g, greet("a", "x"))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 { // as many as the limits admit at once
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

// TestUnknownTool checks a tool excluded by the caller's list, one that isn't offered and one that doesn't exist. They
// are refused with the same text, with the nearest names that the caller sees.
func TestUnknownTool(t *testing.T) {
	g, _ := newGateway(t, 0, shopRules())
	unoffered := greet("greet_c", "")
	unoffered.Offered = func(identity.Principal) bool { return false }
	set, err := tool.NewSet(g, append(tool.Data(tool.Options{}), greet("greet_a", ""), greet("greet_b", ""), unoffered)...)
	if err != nil {
		t.Fatal(err)
	}
	principal := agent()
	principal.Tools.Except = []string{"greet_b"}
	for name, kind := range map[string]string{"greet_b": "tool_filtered", "greet_c": "unknown_tool", "greet_d": "unknown_tool"} {
		_, err := set.Call(t.Context(), principal, tool.Request{Name: name, Arguments: value.OfObject(nil)})
		p := problem.Of(err)
		want := "unknown_tool: unknown tool \"" + name + "\". Did you mean greet_a?\n→ list_tools names the tools you may call"
		if p.Text() != want || p.Kind != kind {
			t.Errorf("%s (%s), want %s (%s)", p.Text(), p.Kind, want, kind)
		}
	}
}

// TestHard: a handler that ignores its context is abandoned, and the call is cancelled or times out in answer and
// audit.
func TestHard(t *testing.T) {
	g, log := newGateway(t, 0, shopRules())
	release := make(chan struct{})
	defer close(release)
	deaf, began := greet("deaf", "late"), make(chan struct{}, 2)
	deaf.Handle = func(context.Context, *bailiwick.Call, value.Value) (tool.Result, error) {
		began <- struct{}{}
		<-release
		return tool.Result{Text: "late"}, nil
	}
	brief := deaf
	brief.Name, brief.Timeout = "brief", time.Millisecond
	late := greet("late", "")
	ctx, cancel := context.WithCancel(t.Context())
	late.Handle = func(context.Context, *bailiwick.Call, value.Value) (tool.Result, error) {
		cancel()
		return tool.Result{Text: "done all the same"}, nil
	}
	set, err := tool.NewSet(g, deaf, brief, late)
	if err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	go func() { <-began; leave() }()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		want problem.Code
		kept string
	}{{"deaf", gone, problem.Cancelled, audit.Cancelled}, {"brief", t.Context(), problem.Timeout, audit.Failed}, {"late", ctx, problem.Cancelled, audit.Cancelled}} {
		_, err := set.Call(tt.ctx, agent(), tool.Request{Name: tt.name, Arguments: value.OfObject(nil)})
		var last audit.Record
		if err := log.Backwards(t.Context(), audit.Last, func(r audit.Record) bool { last = r; return false }); err != nil {
			t.Fatal(err)
		}
		if problem.CodeOf(err) != tt.want || last.Tool != tt.name || last.Outcome != tt.kept || last.Code != string(tt.want) {
			t.Errorf("%s: %v, recorded as %s %s %s", tt.name, err, last.Tool, last.Outcome, last.Code)
		}
	}
}

// TestCustom: tools of embedding programs may accept undeclared arguments. Their names are valid for all clients.
func TestCustom(t *testing.T) {
	g, _ := newGateway(t, 0, shopRules())
	open := greet("open", "took it")
	open.Input = []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	set, err := tool.NewSet(g, open)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]problem.Code{`{"n":1,"other":[2]}`: "", `{"n":"x"}`: problem.InvalidArgument} {
		v, _ := value.Read([]byte(args), 0)
		if _, err := set.Call(t.Context(), agent(), tool.Request{Name: "open", Arguments: v}); problem.CodeOf(err) != want {
			t.Errorf("%s: %v", args, err)
		}
	}
	for _, name := range []string{"", "a b", "a/b", "über", strings.Repeat("x", 65)} {
		if err := set.Add(greet(name, "")); err == nil || !strings.Contains(err.Error(), "its name must be 1 to 64 of A-Z a-z 0-9 _ - .") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestSubscriberPanics: the other subscribers are notified, and the call that made the change continues.
func TestSubscriberPanics(t *testing.T) {
	g, _ := newGateway(t, 0, shopRules())
	told := 0
	g.Subscribe(func(bailiwick.Event) { panic("first") })
	g.Subscribe(func(bailiwick.Event) { told++ })
	if _, err := tool.NewSet(g, greet("a", "")); err != nil {
		t.Fatal(err)
	}
	g.Announce(bailiwick.ToolsChanged)
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

// TestDeriveLists: a sub-principal's lists may only name tools that the caller can call, and must leave at least one.
func TestDeriveLists(t *testing.T) {
	g, _ := newGateway(t, 0, shopRules())
	var lists identity.List
	derive := greet("derive", "")
	derive.Handle = func(_ context.Context, c *bailiwick.Call, _ value.Value) (tool.Result, error) {
		_, err := c.Derive(identity.Derivation{Name: "sub", Tools: lists})
		return tool.Result{}, err
	}
	set, err := tool.NewSet(g, derive, greet("a", ""), greet("b", ""))
	if err != nil {
		t.Fatal(err)
	}
	p := agent()
	p.Tools.Except = []string{"b"}
	for _, tt := range []struct {
		lists identity.List
		want  string
	}{
		{identity.List{Only: []string{"a"}}, ""},
		{identity.List{Only: []string{"deriv"}}, "invalid_argument: unknown tool \"deriv\". Did you mean derive? (at /tools/only/0)"},
		{identity.List{Only: []string{"b"}}, "invalid_argument: unknown tool \"b\" (at /tools/only/0)"},
		{identity.List{Except: []string{"c"}}, "invalid_argument: unknown tool \"c\" (at /tools/except/0)"},
		{identity.List{Only: []string{"a"}, Except: []string{"a"}}, "invalid_argument: none of the tools in the list is one that the parent has: the sub-principal would have none (at /tools/only)"},
	} {
		lists = tt.lists
		_, err := set.Call(t.Context(), p, tool.Request{Name: "derive", Arguments: value.OfObject(nil)})
		got := ""
		if err != nil {
			got = problem.Of(err).Text()
		}
		if !strings.HasPrefix(got, tt.want) || (tt.want == "") != (got == "") {
			t.Errorf("%+v: %q, want %q", tt.lists, got, tt.want)
		}
	}
}

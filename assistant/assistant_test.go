package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/assistant"
	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/internal/llm"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/test/scripted"
)

// key is the provider's key, which must appear only in headers.
const key = "sk-proj-canary-0123456789"

// formats maps providers to the paths at which the scripted server serves their formats.
var formats = map[string]string{"openai": "/v1", "openai-responses": "/v1", "anthropic": "/v1", "google": "/v1beta", "lmstudio": "/v1"}

// serve returns a scripted server and its address.
func serve(t *testing.T, script scripted.Script) (*scripted.Server, string) {
	t.Helper()
	s := &scripted.Server{Script: script, Key: key}
	door := httptest.NewServer(s)
	t.Cleanup(door.Close)
	return s, door.URL
}

// eachFormat runs test for each provider.
func eachFormat(t *testing.T, test func(t *testing.T, name string)) {
	for name := range formats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, name)
		})
	}
}

// begin returns an assistant for a provider whose server is at url.
func begin(t *testing.T, name, url string, o assistant.Options) *assistant.Assistant {
	t.Helper()
	o.Provider = assistant.Provider{Name: name, Key: key, BaseURL: url + formats[name]}
	if o.Client == nil {
		o.Client = &shelf{}
	}
	a, err := assistant.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A shelf is a gateway's client with a few tools.
type shelf struct {
	tools []client.Tool
	call  func(ctx context.Context, name string, arguments json.RawMessage) (client.Answer, error)

	mu    sync.Mutex
	calls []string
}

func (s *shelf) Close() error { return nil }

func (s *shelf) Instructions() string { return "These tools count things." }

func (s *shelf) Tools(context.Context) ([]client.Tool, error) {
	if s.tools != nil {
		return s.tools, nil
	}
	reads := &client.Annotations{ReadOnly: true}
	return []client.Tool{
		{Name: "count", Description: "Count a class.", InputSchema: json.RawMessage(`{"type":"object","properties":{"class":{"type":"string"}},"anyOf":[{"required":["class"]}]}`), Annotations: reads},
		{Name: "look", Description: "Look.", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: reads},
		{Name: "propose", Description: "Propose.", InputSchema: json.RawMessage(`{"type":"object"}`)},
	}, nil
}

func (s *shelf) Call(ctx context.Context, name string, arguments json.RawMessage) (client.Answer, error) {
	s.mu.Lock()
	s.calls = append(s.calls, name+" "+string(arguments))
	s.mu.Unlock()
	if s.call != nil {
		return s.call(ctx, name, arguments)
	}
	switch name {
	case "count":
		return client.Answer{Text: "42 records of " + string(arguments)}, nil
	case "propose":
		return client.Answer{Text: "Change pending approval. ID: c1", Structured: json.RawMessage(`{"change_id":"c1","status":"pending_review","summary":"a write","url":"http://127.0.0.1/c1"}`)}, nil
	}
	return client.Answer{}, &client.Refusal{Problem: problem.New(problem.InvalidQuery, "no such field"), Raw: json.RawMessage(`{"error":"no such field","error_code":"invalid_query"}`)}
}

// TestAsk checks one conversation in each format. The question is sent to the model with the tools. Calls arrive in
// pieces and run, and their results are sent to the model. The text is streamed, and all usage is counted.
func TestAsk(t *testing.T) {
	eachFormat(t, func(t *testing.T, name string) {
		s, url := serve(t, scripted.Play(
			scripted.Turn{Text: "I'll look. ", Calls: []llm.Call{{Name: "count", Arguments: `{"class":"issues","n":9007199254740993}`}, {Name: "look", Arguments: `{}`}}, Usage: llm.Usage{Input: 1000, Cached: 400, Output: 20}},
			scripted.Turn{Text: "There are **42** – ça va.", Usage: llm.Usage{Input: 1100, Cached: 1000, Output: 8}},
			scripted.Turn{Text: "Still 42.", Usage: llm.Usage{Input: 1200, Output: 4}},
		))
		var text strings.Builder
		var heard []string
		gateway := &shelf{}
		a := begin(t, name, url, assistant.Options{Client: gateway, System: "Speak of issues.", Prices: map[string]assistant.Price{
			"gpt-4o-mini": {Input: 1, Cached: 0.5, Output: 10}, "claude-haiku-4-5": {Input: 1, Cached: 0.5, Output: 10}, "gemini-3.5-flash-lite": {Input: 1, Cached: 0.5, Output: 10}, "qwen2.5-7b-instruct": {Input: 1, Cached: 0.5, Output: 10}},
			Hooks: assistant.Hooks{OnText: func(p string) { text.WriteString(p) }, OnCall: func(c assistant.Call) { heard = append(heard, "call "+c.Name) },
				OnResult: func(c assistant.Call) { heard = append(heard, "result "+c.Name) }}})
		got, err := a.Ask(t.Context(), "How many issues?")
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != "There are **42** – ça va." || got.Stop != assistant.Done || text.String() != "I'll look. There are **42** – ça va." {
			t.Errorf("%q %s, streamed %q", got.Text, got.Stop, text.String())
		}
		slices.Sort(gateway.calls)
		if want := []string{`count {"class":"issues","n":9007199254740993}`, "look {}"}; !slices.Equal(gateway.calls, want) {
			t.Errorf("the gateway got %q, want %q", gateway.calls, want)
		}
		if len(got.Calls) != 2 || got.Calls[0].Name != "count" || got.Calls[0].Result != `42 records of {"class":"issues","n":9007199254740993}` || !got.Calls[1].Refused || len(heard) != 4 {
			t.Errorf("%+v, hooks %q", got.Calls, heard)
		}
		if u := got.Usage; u.Requests != 2 || u.Input != 2100 || u.Cached != 1400 || u.Output != 28 || fmt.Sprintf("%.6f", u.Cost) != "0.001680" {
			t.Errorf("%+v", u)
		}
		second := s.Requests()[1]
		if !strings.Contains(second.System, "never an instruction") || !strings.Contains(second.System, "These tools count things.") || !strings.Contains(second.System, "Speak of issues.") {
			t.Errorf("the system prompt: %s", second.System)
		}
		if r := second.Results(); len(r) != 2 || r[0].Text != got.Calls[0].Result || !strings.Contains(r[1].Text, "no such field") {
			t.Errorf("results: %+v", r)
		}
		if got, err = got.Reply(t.Context(), "And now?"); err != nil || got.Text != "Still 42." || len(a.History()) != 6 || a.Usage().Requests != 3 {
			t.Errorf("%v, %+v", err, a.History())
		}
		if third := s.Requests()[2]; len(third.Messages) != 5 || third.Messages[1].Text != "I'll look. " || third.Messages[3].Text != "There are **42** – ça va." {
			t.Errorf("the history: %+v", third.Messages)
		}
		a.Reset()
		if len(a.History()) != 0 {
			t.Error("the history stays after Reset")
		}
	})
}

// TestPropose checks that a write is proposed only after confirmation, and never without Confirm.
func TestPropose(t *testing.T) {
	yes := func(context.Context, assistant.Call) (bool, error) { return true, nil }
	no := func(context.Context, assistant.Call) (bool, error) { return false, nil }
	fails := func(context.Context, assistant.Call) (bool, error) { return false, errors.New("the terminal has gone") }
	for _, tt := range []struct {
		confirm func(context.Context, assistant.Call) (bool, error)
		want    string // in the result
		failure string
	}{{yes, "Change pending approval", ""}, {no, "the user declined this call", ""}, {nil, "may not propose writes", ""}, {fails, "", "the terminal has gone"}} {
		_, url := serve(t, scripted.Play(scripted.Turn{Calls: []llm.Call{{Name: "propose", Arguments: `{"x":1}`}}}, scripted.Turn{Text: "Done."}))
		gateway := &shelf{}
		a := begin(t, "openai", url, assistant.Options{Client: gateway, Hooks: assistant.Hooks{Confirm: tt.confirm}})
		got, err := a.Ask(t.Context(), "Write it.")
		if tt.failure != "" {
			if err == nil || !strings.Contains(err.Error(), tt.failure) || len(gateway.calls) != 0 || len(a.History()) != 0 {
				t.Errorf("%v, %q", err, gateway.calls)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		proposed := strings.HasPrefix(tt.want, "Change")
		if !strings.Contains(got.Calls[0].Result, tt.want) || got.Calls[0].Refused == proposed || (len(gateway.calls) == 1) != proposed {
			t.Errorf("want %q: %+v, the gateway got %q", tt.want, got.Calls, gateway.calls)
		}
		if proposed && (len(got.Changes) != 1 || got.Changes[0] != assistant.Change{ID: "c1", Status: "pending_review", Summary: "a write", URL: "http://127.0.0.1/c1"}) {
			t.Errorf("%+v", got.Changes)
		}
	}
}

// TestMending checks that invalid calls of the model are answered with a refusal that describes how to continue.
func TestMending(t *testing.T) {
	for _, tt := range []struct {
		call llm.Call
		want string
	}{
		{llm.Call{Name: "count", Arguments: `{"class": "iss`}, `the arguments of count are not a JSON object: unexpected end of JSON input`},
		{llm.Call{Name: "count", Arguments: `[1]`}, `the arguments of count are not a JSON object`},
		{llm.Call{Name: "count", Arguments: `null`}, `the arguments of count are not a JSON object`},
		{llm.Call{Name: "cuont", Arguments: `{}`}, `there is no tool \"cuont\"`},
		{llm.Call{Name: "use_tool", Arguments: `{"name":"count"}`}, `there is no tool \"use_tool\"`},
	} {
		for name := range formats {
			if name == "google" && !json.Valid([]byte(tt.call.Arguments)) {
				continue // this format carries only valid JSON. See TestFaults for invalid calls
			}
			s, url := serve(t, scripted.Play(scripted.Turn{Calls: []llm.Call{tt.call}}, scripted.Turn{Text: "Sorry."}))
			gateway := &shelf{}
			got, err := begin(t, name, url, assistant.Options{Client: gateway}).Ask(t.Context(), "How many?")
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if r := s.Requests()[1].Results(); !strings.Contains(r[0].Text, tt.want) || !got.Calls[0].Refused || len(gateway.calls) != 0 {
				t.Errorf("%s: %q, want %q", name, r[0].Text, tt.want)
			}
		}
	}
}

// TestUnlisted checks tools that the gateway doesn't list. They aren't declared to the model, but the model can call
// them by name. Their writes require confirmation too.
func TestUnlisted(t *testing.T) {
	eachFormat(t, func(t *testing.T, name string) {
		s, url := serve(t, scripted.Play(scripted.Turn{Calls: []llm.Call{{Name: "count", Arguments: `{"class":"a"}`}, {Name: "propose", Arguments: `{}`}}}, scripted.Turn{Text: "Done."}))
		gateway := &shelf{}
		tools, err := gateway.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		gateway.tools = []client.Tool{tools[1], tools[0], tools[2]}
		for i := 1; i < 3; i++ {
			gateway.tools[i].Meta.Listed = new(bool)
		}
		got, err := begin(t, name, url, assistant.Options{Client: gateway}).Ask(t.Context(), "How many?")
		if err != nil {
			t.Fatal(err)
		}
		if n := s.Requests()[0].Tools; len(n) != 1 {
			t.Errorf("declared: %v", n)
		}
		if len(gateway.calls) != 1 || got.Calls[0].Refused || !got.Calls[1].Refused {
			t.Errorf("%q, %+v", gateway.calls, got.Calls)
		}
	})
}

// TestRounds checks that after MaxRounds the model must answer with the results so far.
func TestRounds(t *testing.T) {
	eachFormat(t, func(t *testing.T, name string) {
		s, url := serve(t, func(_ int, c scripted.Conversation) scripted.Turn {
			if c.NoCalls {
				return scripted.Turn{Text: "As far as I got: 42."}
			}
			return scripted.Turn{Calls: []llm.Call{{Name: "count", Arguments: `{"class":"a"}`}}}
		})
		a := begin(t, name, url, assistant.Options{MaxRounds: 3})
		got, err := a.Ask(t.Context(), "How many?")
		if err != nil || got.Text != "As far as I got: 42." || got.Stop != assistant.Rounds || len(got.Calls) != 3 || len(s.Requests()) != 4 {
			t.Fatalf("%v, %+v", err, got)
		}
		if _, err := a.Reply(t.Context(), "And?"); err != nil {
			t.Error("the conversation does not go on:", err)
		}
	})
}

// TestStops checks the reasons why a reply can end.
func TestStops(t *testing.T) {
	calls := []llm.Call{{Name: "count", Arguments: `{"cla`}}
	for _, tt := range []struct {
		turn scripted.Turn
		stop assistant.Stop
		text string
		err  string
	}{
		{scripted.Turn{Refusal: "I can't help with that.", Stop: llm.Declined}, assistant.Declined, "I can't help with that.", ""},
		{scripted.Turn{Stop: llm.Declined}, assistant.Declined, "(The model declined to answer: ", ""},
		{scripted.Turn{Text: "It is a long", Stop: llm.Length}, assistant.Length, "It is a long", ""},
		{scripted.Turn{Text: "Let me", Calls: calls, Stop: llm.Length}, assistant.Length, "Let me", ""},
		{scripted.Turn{Stop: llm.Length}, "", "", "limit of tokens before it wrote an answer"},
		{scripted.Turn{Stop: llm.Done}, "", "", "ended without an answer"},
	} {
		for name := range formats {
			if name == "google" && tt.turn.Calls != nil {
				continue
			}
			_, url := serve(t, scripted.Play(tt.turn, scripted.Turn{Text: "On."}))
			a := begin(t, name, url, assistant.Options{})
			got, err := a.Ask(t.Context(), "How?")
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%s %+v: %v", name, tt.turn, err)
				}
				continue
			}
			if err != nil || got.Stop != tt.stop || !strings.HasPrefix(got.Text, tt.text) {
				t.Errorf("%s %+v: %v, %+v", name, tt.turn, err, got)
				continue
			}
			if got, err = a.Reply(t.Context(), "Go on."); err != nil || got.Text != "On." {
				t.Errorf("%s %+v: the conversation does not go on: %v", name, tt.turn, err)
			}
		}
	}
}

// TestManyTools checks that the model gets 126 of 1,000 tools, and can find and call the rest.
func TestManyTools(t *testing.T) {
	eachFormat(t, func(t *testing.T, name string) {
		gateway := &shelf{call: func(_ context.Context, name string, arguments json.RawMessage) (client.Answer, error) {
			return client.Answer{Text: name + string(arguments)}, nil
		}}
		for i := range 1000 {
			gateway.tools = append(gateway.tools, client.Tool{Name: fmt.Sprintf("%d. tool of a very long name that goes on and on, past sixty-four characters", i), Description: fmt.Sprintf("Does thing %d.", i),
				InputSchema: json.RawMessage(`{"type":["object"],"oneOf":[{}]}`), Annotations: &client.Annotations{ReadOnly: i != 999}})
		}
		gateway.tools[0].Name = "find_tools" // the same name as a tool of the assistant itself
		hidden := gateway.tools[999].Name
		s, url := serve(t, scripted.Play(
			scripted.Turn{Calls: []llm.Call{{Name: "find_tools", Arguments: `{"query":"THING 998."}`}, {Name: "find_tools_2", Arguments: `{}`}}},
			scripted.Turn{Calls: []llm.Call{{Name: "use_tool", Arguments: `{"name":"` + gateway.tools[998].Name + `","arguments":{"a":1}}`}, {Name: "use_tool", Arguments: `{"name":"` + hidden + `","arguments":{}}`}}},
			scripted.Turn{Text: "Found."}))
		got, err := begin(t, name, url, assistant.Options{Client: gateway}).Ask(t.Context(), "Do thing 998.")
		if err != nil {
			t.Fatal(err)
		}
		first := s.Requests()[0]
		if len(first.Tools) != 128 || len(got.Calls) != 4 {
			t.Fatalf("%d tools, calls %+v", len(first.Tools), got.Calls)
		}
		if !strings.Contains(got.Calls[0].Result, gateway.tools[998].Name) || got.Calls[1].Result != "find_tools{}" || got.Calls[2].Result != gateway.tools[998].Name+`{"a":1}` ||
			got.Calls[2].Name != gateway.tools[998].Name {
			t.Errorf("%+v", got.Calls)
		}
		if c := got.Calls[3]; !c.Refused || !strings.Contains(c.Result, "may not propose writes") {
			t.Errorf("a tool that writes was called without asking: %+v", c)
		}
	})
}

// TestSideBySide checks that the calls in one reply run concurrently.
func TestSideBySide(t *testing.T) {
	var running atomic.Int64
	all := make(chan struct{})
	gateway := &shelf{call: func(ctx context.Context, _ string, arguments json.RawMessage) (client.Answer, error) {
		if running.Add(1) == 8 {
			close(all)
		}
		select {
		case <-all:
			return client.Answer{Text: string(arguments)}, nil
		case <-ctx.Done():
			return client.Answer{}, ctx.Err()
		}
	}}
	var calls []llm.Call
	for i := range 8 {
		calls = append(calls, llm.Call{Name: "count", Arguments: fmt.Sprintf(`{"n":%d}`, i)})
	}
	s, url := serve(t, scripted.Play(scripted.Turn{Calls: calls}, scripted.Turn{Text: "Eight."}))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := begin(t, "anthropic", url, assistant.Options{Client: gateway}).Ask(ctx, "How many?"); err != nil {
		t.Fatal(err)
	}
	for i, r := range s.Requests()[1].Results() {
		if r.Text != calls[i].Arguments {
			t.Errorf("result %d is %q, want %q", i, r.Text, calls[i].Arguments)
		}
	}
}

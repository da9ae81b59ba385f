package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// A bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// An agent is a client that receives updates of resources.
type agent struct {
	ts *testscript.TestScript
	*mcp.ClientSession
	heard chan string
}

// connect connects to a gateway.
func connect(ctx context.Context, ts *testscript.TestScript, to mcp.Transport) *agent {
	a := &agent{ts: ts, heard: make(chan string, 10)}
	c := mcp.NewClient(&mcp.Implementation{Name: "bailiwick-cli", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { a.heard <- r.Params.URI }})
	var err error
	a.ClientSession, err = c.Connect(ctx, to, nil)
	ts.Check(err)
	return a
}

// told expects an update of a resource.
func (a *agent) told(uri string) {
	select {
	case got := <-a.heard:
		if got != uri {
			a.ts.Fatalf("told of %s", got)
		}
	case <-time.After(30 * time.Second):
		a.ts.Fatalf("no update of %s", uri)
	}
}

// completes reports whether the change at uri is offered as a completion.
func (a *agent) completes(ctx context.Context, uri string) bool {
	id := uri[strings.LastIndexByte(uri, '/')+1:]
	res, err := a.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource", URI: "bailiwick://changes/{id}"},
		Argument: mcp.CompleteParamsArgument{Name: "id", Value: id[:20]}})
	a.ts.Check(err)
	return slices.Contains(res.Completion.Values, id)
}

// call calls a tool and reads its answer.
func (a *agent) call(ctx context.Context, tool string, arguments map[string]any, answer any) {
	res, err := a.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	a.ts.Check(err)
	text, err := json.Marshal(res.StructuredContent)
	a.ts.Check(err)
	if res.IsError || json.Unmarshal(text, answer) != nil {
		a.ts.Fatalf("%s: %s", tool, text)
	}
}

// follow URL TOKEN follows a change as an agent: it proposes the change, subscribes to it, cancels it, and expects a
// notification. With follow PROGRAM ARGUMENT… it uses stdio.
func follow(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var to mcp.Transport = &mcp.StreamableClientTransport{Endpoint: args[0], HTTPClient: &http.Client{Transport: bearer(args[1])}}
	if !strings.HasPrefix(args[0], "http") {
		program := exec.Command(args[0], args[1:]...)
		program.Dir = ts.MkAbs(".")
		to = &mcp.CommandTransport{Command: program}
	}
	a := connect(ctx, ts, to)
	defer a.Close()
	var found struct{ Results []struct{ ID string } }
	a.call(ctx, "query_class", map[string]any{"class_name": "issues", "keys": []string{"id"}, "limit": 1}, &found)
	var kept struct {
		ID string `json:"change_id"`
	}
	a.call(ctx, "update_object", map[string]any{"class_name": "issues", "object_id": found.Results[0].ID, "data": map[string]any{"title": "Followed"}}, &kept)
	uri := "bailiwick://changes/" + kept.ID
	if !a.completes(ctx, uri) {
		ts.Fatalf("%s is not completed", uri)
	}
	ts.Check(a.Subscribe(ctx, &mcp.SubscribeParams{URI: uri}))
	time.Sleep(500 * time.Millisecond) // the SDK's Subscribe does not wait for the acknowledgement
	a.call(ctx, "cancel_change", map[string]any{"change_id": kept.ID}, &kept)
	a.told(uri)
}

// watch URL TOKEN URI COMMAND… reads a resource as an agent and subscribes to it. It then runs a command and expects
// an update at most a second after its end. With !, the resource must not exist for the agent.
func watch(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	session := connect(ctx, ts, &mcp.StreamableClientTransport{Endpoint: args[0], HTTPClient: &http.Client{Transport: bearer(args[1])}})
	defer session.Close()
	_, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: args[2]})
	if (err != nil) != neg {
		ts.Fatalf("reading %s: %v", args[2], err)
	}
	if session.completes(ctx, args[2]) == neg {
		ts.Fatalf("completing %s: %v", args[2], neg)
	}
	if neg {
		return
	}
	ts.Check(session.Subscribe(ctx, &mcp.SubscribeParams{URI: args[2]}))
	ts.Check(ts.Exec(args[3], args[4:]...))
	session.told(args[2])
}

package main

import (
	"context"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// watch URL TOKEN URI COMMAND… reads a resource as an agent and subscribes to it, runs a command, and wants to be told of
// the resource within a second of its end. With ! the resource must not be there for the agent.
func watch(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	heard := make(chan string, 10)
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { heard <- r.Params.URI }})
	session, err := c.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: args[0], HTTPClient: &http.Client{Transport: bearer(args[1])}}, nil)
	ts.Check(err)
	defer session.Close()
	_, err = session.ReadResource(ctx, &mcp.ReadResourceParams{URI: args[2]})
	if (err != nil) != neg {
		ts.Fatalf("reading %s: %v", args[2], err)
	}
	if neg {
		return
	}
	ts.Check(session.Subscribe(ctx, &mcp.SubscribeParams{URI: args[2]}))
	ts.Check(ts.Exec(args[3], args[4:]...))
	select {
	case uri := <-heard:
		if uri != args[2] {
			ts.Fatalf("told of %s", uri)
		}
	case <-time.After(time.Second):
		ts.Fatalf("not told within a second")
	}
}

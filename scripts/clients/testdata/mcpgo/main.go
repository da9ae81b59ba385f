// Mcpgo runs the conversation of scripts/clients with github.com/mark3labs/mcp-go, as conversation.mjs does with the
// npm clients. It reads URL, TOKEN, BAILIWICK and DEMO from the environment.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// slow joins all issues of a project with each other, which takes minutes unless it is cancelled.
var slow = map[string]any{"class_name": "issues", "pipeline": []any{
	map[string]any{"$lookup": map[string]any{"from": "issues", "localField": "project_id", "foreignField": "project_id", "as": "other"}},
	map[string]any{"$unwind": "$other"},
	map[string]any{"$group": map[string]any{"_id": "$other.title", "n": map[string]any{"$sum": 1}}},
	map[string]any{"$sort": map[string]any{"n": -1}},
}}

func main() {
	failed := false
	for _, generation := range []string{mcp.LATEST_PROTOCOL_VERSION, "2025-06-18"} {
		for _, over := range []string{"HTTP", "stdio"} {
			did, err := converse(generation, over)
			name := fmt.Sprintf("mcp-go %s %s", generation, over)
			if err != nil {
				fmt.Printf("%s: after %s: %v\n", name, strings.Join(did, ", "), err)
				failed = true
				continue
			}
			fmt.Printf("%s: %s\n", name, strings.Join(did, ", "))
		}
	}
	if failed {
		os.Exit(1)
	}
}

// connect returns a client over HTTP or stdio.
func connect(generation, over string) (*client.Client, error) {
	if over == "stdio" {
		t := transport.NewStdioWithOptions(os.Getenv("BAILIWICK"), os.Environ(), []string{"serve", "--stdio", "--tenant", "acme"},
			transport.WithCommandFunc(func(ctx context.Context, command string, env, args []string) (*exec.Cmd, error) {
				cmd := exec.CommandContext(ctx, command, args...)
				cmd.Env, cmd.Dir = env, os.Getenv("DEMO")
				return cmd, nil
			}))
		return client.NewClient(t, client.WithProtocolVersion(generation)), nil
	}
	options := []transport.StreamableHTTPCOption{transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + os.Getenv("TOKEN")})}
	if !mcp.IsModernProtocol(generation) {
		options = append(options, transport.WithContinuousListening())
	}
	t, err := transport.NewStreamableHTTP(os.Getenv("URL"), options...)
	if err != nil {
		return nil, err
	}
	return client.NewClient(t, client.WithProtocolVersion(generation)), nil
}

// converse runs all steps and returns those that worked.
func converse(generation, over string) (did []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c, err := connect(generation, over)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	progress, changed, listening := make(chan struct{}, 100), make(chan struct{}, 100), make(chan struct{}, 100)
	if err := c.Start(ctx); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		switch n.Method {
		case "notifications/progress":
			progress <- struct{}{}
		case mcp.MethodNotificationToolsListChanged:
			changed <- struct{}{}
		case "notifications/subscriptions/acknowledged":
			listening <- struct{}{}
		}
	})
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{Params: mcp.InitializeParams{ProtocolVersion: generation, ClientInfo: mcp.Implementation{Name: "mcp-go", Version: "1"}}}); err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	if c.ProtocolVersion() != generation {
		return nil, fmt.Errorf("it speaks %s", c.ProtocolVersion())
	}
	s := &session{c, progress, changed, listening, ""}
	for _, step := range []struct {
		what string
		run  func(context.Context) error
	}{{"list", s.list}, {"call", s.call}, {"refused", s.refused}, {"unknown tool", s.unknown}, {"page", s.page}, {"progress and cancel", s.cancel},
		{"resources", s.resources}, {"prompts", s.prompts}, {"list_changed", s.listChanged}} {
		if err := step.run(ctx); err != nil {
			return did, fmt.Errorf("%s: %w", step.what, err)
		}
		did = append(did, step.what)
	}
	return did, nil
}

type session struct {
	*client.Client
	progress, changed, listening chan struct{}
	first                        string // the text of the first page
}

// tool calls a tool and returns its text.
func (s *session) tool(ctx context.Context, name string, arguments any, meta *mcp.Meta) (text string, isError bool, err error) {
	res, err := s.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: name, Arguments: arguments, Meta: meta}})
	if err != nil {
		return "", false, err
	}
	for _, part := range res.Content {
		if t, ok := part.(mcp.TextContent); ok {
			text += t.Text
		}
	}
	return text, res.IsError, nil
}

func (s *session) list(ctx context.Context) error {
	res, err := s.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(res.Tools, func(t mcp.Tool) bool { return t.Name == "query_class" }) {
		return fmt.Errorf("no query_class in %v", res.Tools)
	}
	return nil
}

func (s *session) call(ctx context.Context) error {
	text, isError, err := s.tool(ctx, "query_class", map[string]any{"class_name": "issues", "limit": 2}, nil)
	if err != nil || isError || !strings.Contains(text, "2 records, more: query_class {") {
		return fmt.Errorf("%q, %v", text, err)
	}
	s.first = text
	return nil
}

// page makes the follow-up call given in the first answer.
func (s *session) page(ctx context.Context) error {
	_, next, _ := strings.Cut(s.first, "more: query_class ")
	next, _, _ = strings.Cut(next, "\n")
	text, isError, err := s.tool(ctx, "query_class", json.RawMessage(next), nil)
	if strings.Contains(text, "start again without a cursor") { // the previous client has just changed the rules
		if err := s.call(ctx); err != nil {
			return err
		}
		return s.page(ctx)
	}
	if err != nil || isError || !strings.Contains(text, "2 records") || text == s.first {
		return fmt.Errorf("%q, %v", text, err)
	}
	return nil
}

func (s *session) refused(ctx context.Context) error {
	for _, tt := range []struct {
		arguments map[string]any
		want      string
	}{
		{map[string]any{"class_name": "issues", "where": map[string]any{"staus": "Done"}}, `unknown field "staus".*\(at /where/staus\)`},
		{map[string]any{"clas_name": "issues"}, `unknown argument "clas_name". Did you mean class_name\?`},
	} {
		text, isError, err := s.tool(ctx, "query_class", tt.arguments, nil)
		if err != nil || !isError || !regexp.MustCompile(tt.want).MatchString(text) {
			return fmt.Errorf("%q, %v; want %s", text, err, tt.want)
		}
	}
	return nil
}

func (s *session) unknown(ctx context.Context) error {
	if _, _, err := s.tool(ctx, "query_clas", nil, nil); err == nil || !strings.Contains(err.Error(), "Did you mean query_class?") {
		return fmt.Errorf("%v", err)
	}
	return nil
}

// cancel starts a call that takes minutes, waits for progress, and cancels it.
func (s *session) cancel(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, _, err := s.tool(ctx, "aggregate", slow, &mcp.Meta{ProgressToken: "slow"})
		ended <- err
	}()
	select {
	case <-s.progress:
	case err := <-ended:
		return fmt.Errorf("it ended before there was progress: %w", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		return fmt.Errorf("a cancelled call gave %v", err)
	}
	return nil
}

func (s *session) resources(ctx context.Context) error {
	all, err := s.ListResources(ctx, mcp.ListResourcesRequest{})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all.Resources, func(r mcp.Resource) bool { return strings.HasSuffix(r.URI, "/issues/schema") })
	if i < 0 {
		return fmt.Errorf("no schema of issues in %v", all.Resources)
	}
	res, err := s.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: all.Resources[i].URI}})
	if err != nil || len(res.Contents) == 0 {
		return fmt.Errorf("read: %v %w", res, err)
	}
	return nil
}

func (s *session) prompts(ctx context.Context) error {
	if _, err := s.ListPrompts(ctx, mcp.ListPromptsRequest{}); err != nil {
		return err
	}
	res, err := s.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "conventions"}})
	if err != nil || len(res.Messages) == 0 {
		return fmt.Errorf("get: %v %w", res, err)
	}
	return nil
}

// listChanged changes the tools in the configuration and waits for the notification.
func (s *session) listChanged(ctx context.Context) error {
	if mcp.IsModernProtocol(s.ProtocolVersion()) {
		stop, err := s.ListenAsync(ctx, mcp.SubscriptionFilter{ToolsListChanged: true}, nil)
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		defer stop()
		select {
		case <-s.listening:
		case <-ctx.Done():
			return errors.New("the subscription was not acknowledged")
		}
	}
	file := os.Getenv("DEMO") + "/bailiwick.yaml"
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	from, to := "tool: true", "tool: false"
	if !strings.Contains(string(b), from) {
		from, to = to, from
	}
	if err := os.WriteFile(file+".new", []byte(strings.ReplaceAll(string(b), from, to)), 0o600); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return err
	}
	select {
	case <-s.changed:
		return nil
	case <-ctx.Done():
		return errors.New("nothing came")
	}
}

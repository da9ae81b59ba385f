package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/internal/health"
)

// calls contains an agent's calls to the application's own HTTP API.
var calls = []step{
	{says: "Is there an operation for open issues?", tool: "search_api", args: `{"query":"list issues","limit":3}`, lines: 4},
	{says: "How is it called?", tool: "search_api", args: `{"operationId":"listIssues"}`, lines: 11,
		then: "Nobody needs to give org: a rule sets it to the organisation of who asks, and refuses another."},
	{says: "Then: bugs in review, the newest three", tool: "call_api_read",
		args: `{"operationId":"listIssues","query":{"type":"Bug","status":"Review","limit":3},"fields":["items.key","items.title","total"]}`, lines: 3},
}

// configuration is the demo's initial configuration for the tracker and its API.
const configuration = demo.Config + "\ninclude: [" + demo.APIConfigFile + "] # the tracker's own HTTP API\n"

// serveAPI serves the tracker's own API on this machine until stop is called. It also writes the files that the
// configuration of the API needs.
func (d *demonstration) serveAPI(ctx context.Context) (stop func() error, err error) {
	path := func(name string) string { return filepath.Join(d.dir, name) }
	for name, contents := range map[string]string{demo.APIConfigFile: demo.APIConfig, demo.APIDocumentFile: string(demo.APIDocument), demo.APIKeyFile: "trk_" + strings.ToLower(rand.Text())} {
		if err := writeMissing(path(name), contents); err != nil {
			return nil, err
		}
	}
	key, err := os.ReadFile(path(demo.APIKeyFile))
	if err != nil {
		return nil, fmt.Errorf("read the key of the tracker's API: %w", err)
	}
	l, err := net.Listen("tcp", demo.ListenAPI)
	if health.IsPortInUse(err) {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("listen for the tracker's API: %w", err)
	}
	a, err := demo.OpenAPI(ctx, path("tracker.db"), strings.TrimSpace(string(key)))
	if err == nil {
		err = os.WriteFile(path(demo.APIURLFile), []byte("http://"+l.Addr().String()), 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s := &http.Server{Handler: a, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	return func() error {
		err := errors.Join(s.Close(), <-ended, a.Close())
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return err
	}, nil
}

// writeMissing writes a file unless it exists.
func writeMissing(path, contents string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	_, err = f.WriteString(contents)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// proposeCall proposes a write call of the API as the agent.
func (d *demonstration) proposeCall(ctx context.Context, c *client.Client, n int) error {
	if !d.withAPI {
		return nil
	}
	a, err := c.Call(ctx, "call_api_read", json.RawMessage(calls[len(calls)-1].args))
	if err != nil {
		return err
	}
	var page struct {
		Body struct {
			Items []struct{ Key string }
		}
	}
	if err := json.Unmarshal(a.Structured, &page); err != nil {
		return fmt.Errorf("read the answer of call_api_read: %w", err)
	}
	if len(page.Body.Items) == 0 {
		return nil // no suitable issue is left in this folder
	}
	return d.play(ctx, c, n, step{says: "Send the newest bug in review back, through the API", tool: "call_api_write", lines: 7,
		args: fmt.Sprintf(`{"operationId":"updateIssue","path":{"key":%q},"body":{"status":"InProgress"},"reason":"The review found a gap."}`, page.Body.Items[0].Key)})
}

// Package client calls the tools of a gateway over MCP.
//
// It is a door on the asker's side: it knows words alone, and nothing of what stands behind the gateway. It refuses to
// carry a token to another address than the one it was given for, and to lose digits of what a tool answers.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Client is a conversation with a gateway. One call at a time.
type Client struct {
	session *mcp.ClientSession
	heard   *heard
}

// Dial begins a conversation over HTTP with the gateway at u, which ends in /mcp, as whoever token stands for; "" is
// nobody. version is that of the calling program.
func Dial(ctx context.Context, u *url.URL, token, version string) (*Client, error) {
	h := &heard{token: token, next: http.DefaultTransport}
	transport := &mcp.StreamableClientTransport{Endpoint: u.String(), MaxRetries: -1, DisableStandaloneSSE: true,
		HTTPClient: &http.Client{Transport: h,
			// The token is for this address alone.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	c, err := connect(ctx, h, transport, version)
	if err != nil {
		return nil, h.explain(u, err)
	}
	return c, nil
}

// Stream begins a conversation over a pair of streams: answers come from in, calls go to out. Close closes both.
func Stream(ctx context.Context, in io.ReadCloser, out io.WriteCloser, version string) (*Client, error) {
	h := &heard{}
	return connect(ctx, h, &mcp.IOTransport{Reader: h.tee(in), Writer: out}, version)
}

func connect(ctx context.Context, h *heard, transport mcp.Transport, version string) (*Client, error) {
	sdk := mcp.NewClient(&mcp.Implementation{Name: "bailiwick-cli", Title: "Bailiwick command line", Version: version}, nil)
	session, err := sdk.Connect(ctx, transport, nil)
	if err != nil {
		return nil, err
	}
	return &Client{session, h}, nil
}

// Close ends the conversation.
func (c *Client) Close() error { return c.session.Close() }

// An Answer is what a tool gave.
type Answer struct {
	Text       string          // for people and models; "" when there is none
	Structured json.RawMessage // as the gateway wrote it, to the last digit; nil when there is none
}

// Call calls a tool. arguments is a JSON object. A tool's refusal is a *Refusal.
func (c *Client) Call(ctx context.Context, name string, arguments json.RawMessage) (Answer, error) {
	c.heard.forget()
	res, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return Answer{}, c.refused(ctx, name, err)
	}
	a := Answer{Structured: c.heard.structured()}
	for _, part := range res.Content {
		if text, ok := part.(*mcp.TextContent); ok {
			a.Text += text.Text
		}
	}
	if res.IsError {
		return Answer{}, refusalOf(a)
	}
	return a, nil
}

// explain says why there is no gateway at u.
func (h *heard) explain(u *url.URL, err error) error {
	at := u.Redacted()
	status := h.status.Load()
	var dialing *net.OpError
	switch {
	case status == http.StatusUnauthorized && h.token == "":
		return &problem.Error{Code: problem.Unauthorized, Detail: "the gateway at " + at + " wants a token"}
	case status == http.StatusUnauthorized:
		return &problem.Error{Code: problem.Unauthorized, Detail: "the gateway at " + at + " does not accept this token: it is unknown, expired, revoked, or not for this address"}
	case errors.As(err, &dialing) && dialing.Op == "dial":
		return fmt.Errorf("no gateway answers at %s: %v", at, dialing.Err)
	case status >= 300:
		return fmt.Errorf("there is no gateway at %s: it answers with HTTP status %d", at, status)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the gateway at %s did not answer in time", at)
	}
	return fmt.Errorf("no conversation with the gateway at %s: %w", at, err)
}

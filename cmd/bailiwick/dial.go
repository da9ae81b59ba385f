package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/pflag"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/server"
)

// A dialer is what flags say about the gateway to call: one that runs, or one made for the call.
type dialer struct {
	setup
	speaker
	url, token string
}

func (d *dialer) flags(f *pflag.FlagSet) {
	d.setup.flags(f)
	d.speaker.flags(f, "as")
	f.StringVar(&d.url, "url", "", "a running gateway: http://127.0.0.1:8420/mcp (default $BAILIWICK_URL)")
	f.StringVar(&d.token, "token", "", "its token (default $BAILIWICK_TOKEN)")
}

// A client calls the tools of a gateway over MCP.
type client struct {
	session *mcp.ClientSession
	heard   *heard
	closers []func() error
}

// dial connects to the gateway that flags and environment name; a configuration or source in the flags stands
// for a gateway in this process.
func (d *dialer) dial(ctx context.Context) (*client, error) {
	inProcess := d.file != "" || d.sources != nil || d.store != ""
	if inProcess && (d.url != "" || d.token != "") {
		return nil, usagef("--url and --token name a running gateway, --config, --source and --store one in this process; give one of both")
	}
	address := cmp.Or(d.url, os.Getenv("BAILIWICK_URL"))
	if !inProcess && address != "" {
		if d.tenant != "" || d.owner != "" || d.scopes != "" {
			return nil, usagef("who calls a running gateway is told by its token; take --as, --owner and --scopes out")
		}
		return dialURL(ctx, address, cmp.Or(d.token, os.Getenv("BAILIWICK_TOKEN")))
	}
	if !inProcess && !exists(defaultFile) {
		return nil, usagef("there is no gateway to call; name one that runs with --url, a configuration with --config, or a database with --source")
	}
	return d.inProcess(ctx)
}

func dialURL(ctx context.Context, address, token string) (*client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usagef("the gateway's URL must be like http://127.0.0.1:8420/mcp")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/mcp"
	}
	h := &heard{token: token, next: http.DefaultTransport}
	c := &client{heard: h}
	transport := &mcp.StreamableClientTransport{Endpoint: u.String(), MaxRetries: -1, DisableStandaloneSSE: true,
		HTTPClient: &http.Client{Transport: h,
			// The token is for this address alone.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if err := c.connect(ctx, transport); err != nil {
		return nil, h.explain(u, err)
	}
	return c, nil
}

// inProcess makes the gateway and speaks MCP with it through pipes, so that all is as over a connection.
func (d *dialer) inProcess(ctx context.Context) (_ *client, err error) {
	cfg, err := d.load()
	if err != nil {
		return nil, err
	}
	who, err := d.principal(cfg.Stdio, "cli")
	if err != nil {
		return nil, err
	}
	p, err := build(ctx, cfg)
	if err != nil {
		return nil, err
	}
	c := &client{heard: &heard{}, closers: []func() error{p.Close}}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	s, err := server.New(p.door())
	if err != nil {
		return nil, err
	}
	theirs, ours := io.Pipe()
	answers, theirAnswers := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := s.ServeStream(ctx, who, theirs, theirAnswers)
		theirAnswers.Close()
		ended <- err
	}()
	c.closers = append(c.closers, func() error { ours.Close(); return <-ended })
	return c, c.connect(ctx, &mcp.IOTransport{Reader: c.heard.tee(answers), Writer: ours})
}

func (c *client) connect(ctx context.Context, transport mcp.Transport) (err error) {
	sdk := mcp.NewClient(&mcp.Implementation{Name: "bailiwick-cli", Title: "Bailiwick command line", Version: version()}, nil)
	c.session, err = sdk.Connect(ctx, transport, nil)
	return err
}

// Close ends the session and, in process, the gateway.
func (c *client) Close() error {
	var errs []error
	if c.session != nil {
		errs = append(errs, c.session.Close())
	}
	for i := len(c.closers) - 1; i >= 0; i-- {
		errs = append(errs, c.closers[i]())
	}
	return errors.Join(errs...)
}

// An answer is what a tool gave: its text, and its structured content as the server wrote it.
type answer struct {
	text       string
	structured json.RawMessage
}

// call calls a tool. A tool's refusal is a *refusal.
func (c *client) call(ctx context.Context, name string, arguments json.RawMessage) (answer, error) {
	c.heard.forget()
	res, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return answer{}, c.refused(ctx, name, err)
	}
	a := answer{structured: c.heard.structured()}
	for _, part := range res.Content {
		if text, ok := part.(*mcp.TextContent); ok {
			a.text += text.Text
		}
	}
	if res.IsError {
		return answer{}, refusalOf(a)
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
		return &problem.Error{Code: problem.Unauthorized, Detail: "the gateway at " + at + " wants a token",
			Suggestion: "give one with --token or BAILIWICK_TOKEN; \"bailiwick token create\" makes one"}
	case status == http.StatusUnauthorized:
		return &problem.Error{Code: problem.Unauthorized, Detail: "the gateway at " + at + " does not accept this token: it is unknown, expired, revoked, or not for this address",
			Suggestion: "\"bailiwick token list\" tells which; \"bailiwick token create\" makes a new one"}
	case errors.As(err, &dialing) && dialing.Op == "dial":
		return fmt.Errorf("no gateway answers at %s: %v", at, dialing.Err)
	case status >= 300:
		return fmt.Errorf("there is no gateway at %s: it answers with HTTP status %d", at, status)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the gateway at %s did not answer in time", at)
	}
	return fmt.Errorf("no conversation with the gateway at %s: %w", at, err)
}

// callTimeout is how long a command waits for an answer: the longest that a gateway allows a tool (design 03).
const callTimeout = 300 * time.Second

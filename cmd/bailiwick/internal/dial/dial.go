// Package dial connects commands to the gateway that their flags name: one that runs, or one made for the command.
//
// The commands that call tools share it. It refuses flags that name two gateways.
package dial

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/client"
	"github.com/bailiwick-dev/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Dialer holds what flags say about the gateway to call: one that runs, or one made for the call.
type Dialer struct {
	app.Setup
	app.StdioFlags
	url, token string
}

// Flags adds the flags that name a gateway, and who asks it.
func (d *Dialer) Flags(f *pflag.FlagSet) {
	d.Setup.Flags(f)
	d.StdioFlags.Flags(f, "as")
	f.StringVar(&d.url, "url", "", "a running gateway: http://127.0.0.1:8420/mcp (default $BAILIWICK_URL)")
	f.StringVar(&d.token, "token", "", "its token (default $BAILIWICK_TOKEN)")
}

// Open connects to the gateway that flags and environment name; a configuration or source in the flags stands
// for a gateway in this process. end ends that, when the conversation is over.
func (d *Dialer) Open(ctx context.Context) (c *client.Client, end func() error, err error) {
	inProcess := d.File != "" || d.Sources != nil || d.Store != ""
	if inProcess && (d.url != "" || d.token != "") {
		return nil, nil, terminal.Usagef("--url and --token name a running gateway, --config, --source and --store one in this process; give one of both")
	}
	address := cmp.Or(d.url, os.Getenv("BAILIWICK_URL"))
	if !inProcess && address != "" {
		if d.Tenant != "" || d.Owner != "" || d.Scopes != "" {
			return nil, nil, terminal.Usagef("who calls a running gateway is told by its token; take --as, --owner and --scopes out")
		}
		c, err = Dial(ctx, address, cmp.Or(d.token, os.Getenv("BAILIWICK_TOKEN")))
		return c, func() error { return nil }, err
	}
	if !inProcess && !app.Exists(app.DefaultFile) {
		return nil, nil, terminal.Usagef("there is no gateway to call; name one that runs with --url, a configuration with --config, or a database with --source")
	}
	return d.inProcess(ctx)
}

// As makes the next Open connect as somebody else: with another token to a gateway that runs, and otherwise for another tenant.
func (d *Dialer) As(who string) {
	if d.File == "" && d.Sources == nil && d.Store == "" && cmp.Or(d.url, os.Getenv("BAILIWICK_URL")) != "" {
		d.token = who
		return
	}
	d.Tenant = who
}

// Dial connects to the gateway at address with a token; "" for none.
func Dial(ctx context.Context, address, token string) (*client.Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, terminal.Usagef("the gateway's URL must be like http://127.0.0.1:8420/mcp")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/mcp"
	}
	return client.Dial(ctx, u, token, app.Version())
}

// inProcess makes the gateway and speaks MCP with it through pipes, so that all is as over a connection.
func (d *Dialer) inProcess(ctx context.Context) (_ *client.Client, end func() error, err error) {
	cfg, err := d.Load()
	if err != nil {
		return nil, nil, err
	}
	principal, err := d.Principal(cfg.Stdio, "cli")
	if err != nil {
		return nil, nil, err
	}
	p, err := app.Build(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	s, err := mcp.New(p.Door())
	if err != nil {
		return nil, nil, errors.Join(err, p.Close())
	}
	theirs, ours := io.Pipe()
	answers, theirAnswers := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := s.ServeStream(ctx, principal, theirs, theirAnswers)
		theirAnswers.Close()
		ended <- err
	}()
	end = func() error {
		ours.Close()
		return errors.Join(<-ended, p.Close())
	}
	c, err := client.Stream(ctx, answers, ours, app.Version())
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return c, end, nil
}

// Timeout is how long a command waits for an answer: the longest that a gateway allows a tool.
const Timeout = 300 * time.Second

// With runs do on a client.
func (d *Dialer) With(ctx context.Context, do func(context.Context, *client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	c, end, err := d.Open(ctx)
	if err != nil {
		return Advise(err)
	}
	return errors.Join(Advise(do(ctx, c)), c.Close(), end())
}

// Advise says which command helps with what a gateway refuses.
func Advise(err error) error {
	p, ok := errors.AsType[*problem.Error](err)
	switch {
	case !ok || p.Suggestion != "":
	case p.Code == problem.Unauthorized:
		p.Suggestion = "give a good one with --token or BAILIWICK_TOKEN; \"bailiwick token list\" and \"bailiwick token create\" help"
	case p.Code == problem.UnknownTool:
		p.Suggestion = "\"bailiwick tools\" lists those that can be called"
	}
	return err
}

// Speak makes the next Open connect to a gateway of this process, as an agent of a tenant with scopes, "" for reading alone.
// Changes and the audit of it are kept nowhere. It refuses a gateway that runs, where the token says who asks.
func (d *Dialer) Speak(tenant, scopes string) error {
	if d.url != "" || d.token != "" || d.File == "" && d.Sources == nil && !app.Exists(app.DefaultFile) {
		return terminal.Usagef("the file says who asks, so it needs a gateway in this process: name a configuration with --config, or a database with --source")
	}
	d.Store, d.Tenant, d.Scopes = app.MemoryStore, tenant, scopes
	d.Given = func(name string) bool { return name == "scopes" && scopes != "" }
	return nil
}

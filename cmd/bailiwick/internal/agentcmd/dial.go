package agentcmd

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
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A dialer contains the flags that select a gateway. The gateway is already running, or is created in this process.
type dialer struct {
	app.Setup
	app.StdioFlags
	url, token string
}

// Flags adds the flags that select a gateway and the principal.
func (d *dialer) Flags(f *pflag.FlagSet) {
	d.Setup.Flags(f)
	d.StdioFlags.Flags(f, "as")
	f.StringVar(&d.url, "url", "", "a running gateway: http://127.0.0.1:8420/mcp (default $BAILIWICK_URL)")
	f.StringVar(&d.token, "token", "", "its token (default $BAILIWICK_TOKEN)")
}

// Open connects to the gateway that the flags and the environment select. If the flags contain a configuration or a
// source, it creates the gateway in this process. After the last request, the caller must call end, which closes the
// gateway.
func (d *dialer) Open(ctx context.Context) (c *client.Client, end func() error, err error) {
	inProcess := d.File != "" || d.Sources != nil || d.Store != ""
	if inProcess && (d.url != "" || d.token != "") {
		return nil, nil, config.Usagef("--url and --token name a running gateway, --config, --source and --store one in this process. Give only one kind")
	}
	address := cmp.Or(d.url, os.Getenv("BAILIWICK_URL"))
	if !inProcess && address != "" {
		if d.Tenant != "" || d.Owner != "" || d.Scopes != "" {
			return nil, nil, config.Usagef("a running gateway knows its caller by the token. Remove --as, --owner and --scopes")
		}
		c, err = Dial(ctx, address, cmp.Or(d.token, os.Getenv("BAILIWICK_TOKEN")))
		return c, func() error { return nil }, err
	}
	if !inProcess && !app.Exists(app.DefaultFile) {
		return nil, nil, config.Usagef("there is no gateway to call. Name a running one with --url, a configuration with --config, or a database with --source")
	}
	return d.inProcess(ctx)
}

// As makes the next Open connect as another principal. For a running gateway, who is a token. Otherwise it is a
// tenant.
func (d *dialer) As(who string) {
	if d.File == "" && d.Sources == nil && d.Store == "" && cmp.Or(d.url, os.Getenv("BAILIWICK_URL")) != "" {
		d.token = who
		return
	}
	d.Tenant = who
}

// Dial connects to the gateway at address with a token. The token may be "".
func Dial(ctx context.Context, address, token string) (*client.Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, config.Usagef("the gateway's URL must be like http://127.0.0.1:8420/mcp")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/mcp"
	}
	return client.Dial(ctx, u, token, app.Version())
}

// inProcess creates the gateway and connects to it through pipes. It uses the same protocol as a network connection.
func (d *dialer) inProcess(ctx context.Context) (_ *client.Client, end func() error, err error) {
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

// dialTimeout is the time that a command waits for an answer. It is the maximum timeout of a tool.
const dialTimeout = 300 * time.Second

// With connects and calls do with the client.
func (d *dialer) With(ctx context.Context, do func(context.Context, *client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, end, err := d.Open(ctx)
	if err != nil {
		return advise(err)
	}
	return errors.Join(advise(do(ctx, c)), c.Close(), end())
}

// advise adds the suggestion of a helpful command to an error of the gateway.
func advise(err error) error {
	p, ok := errors.AsType[*problem.Error](err)
	switch {
	case !ok || p.Suggestion != "":
	case p.Code == problem.Unauthorized:
		p.Suggestion = "give a good one with --token or BAILIWICK_TOKEN. \"bailiwick token list\" and \"bailiwick token create\" help"
	case p.Code == problem.UnknownTool:
		p.Suggestion = "\"bailiwick tools\" lists those that can be called"
	}
	return err
}

// Speak makes the next Open create a gateway in this process for an agent of a tenant with these scopes. Empty scopes
// mean read only. The gateway doesn't store changes and audit records. Speak fails for a running gateway, because its
// token determines the principal.
func (d *dialer) Speak(tenant, scopes string) error {
	if d.url != "" || d.token != "" || d.File == "" && d.Sources == nil && !app.Exists(app.DefaultFile) {
		return config.Usagef("the file says who asks, so it needs a gateway in this process: name a configuration with --config, or a database with --source")
	}
	d.Store, d.Tenant, d.Scopes = app.MemoryStore, tenant, scopes
	d.Given = func(name string) bool { return name == "scopes" && scopes != "" }
	return nil
}

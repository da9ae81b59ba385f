package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/internal/health"
)

// demoCommand returns the command demo. If the default address is in use and --listen is not given, it uses a free
// port.
func demoCommand(t *terminal.Terminal) *cobra.Command {
	var d demonstration
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Try it: an issue tracker with sample data, tokens, and a first conversation",
		Args:  terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.Terminal, d.anyPort = t, !cmd.Flags().Changed("listen")
			return d.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.listen, "listen", config.DefaultListen, "`ADDR` to listen on. When it is taken and not given, a free port")
	f.StringVar(&d.dir, "dir", "", "`FOLDER` for the tracker, its configuration and the audit (default a temporary one, removed at the end)")
	f.BoolVar(&d.once, "once", false, "show the conversation and end")
	return cmd
}

// A demonstration is one run of the demo.
type demonstration struct {
	*terminal.Terminal
	listen  string
	anyPort bool // use a free port if listen is in use
	dir     string
	once    bool
	passing bool // dir is removed at the end

	file   string            // the path of the configuration
	url    string            // the URL of the gateway
	tokens map[string]string // by tenant

	withAPI bool   // the configuration includes the API. A configuration from an earlier version may lack it
	signIn  string // a one-time link that signs the reviewer in
	second  string // a one-time link for the second reviewer, for changes that need two approvals
}

// quiet logs only errors, to keep the conversation readable.
func quiet() config.Log { return config.Log{Level: slog.LevelError, Text: true} }

// The reviewers of the demo. Neither is the owner of an agent.
const (
	reviewer = "rosa"
	another  = "sam"
)

// demoTokenLife is the lifetime of the demo's tokens.
const demoTokenLife = 7 * 24 * time.Hour

// run prepares the demo, serves it, and shows the conversation. Unless once is set, it then serves until it is
// interrupted. At the end it stops the API and removes a temporary folder. An interruption is not an error.
func (d *demonstration) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !app.Loopback(d.listen) {
		return config.Usagef("the demo's data is for this machine. Listen on a loopback address such as %s", config.DefaultListen)
	}
	if !d.anyPort {
		if err := free(d.listen); err != nil {
			return err // nothing was created yet
		}
	}
	if d.dir == "" {
		if d.dir, err = os.MkdirTemp("", "bailiwick-demo-"); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
		d.passing = true
		defer func() { err = errors.Join(err, os.RemoveAll(d.dir)) }()
	}
	c, stop, err := d.prepare(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	p, err := app.Build(ctx, c)
	if err != nil {
		return err
	}
	defer app.CloseAfter(p, &err)
	if err := d.makeTokens(ctx, p.Tokens); err != nil {
		return err
	}
	s, l, err := d.open(ctx, p)
	if err != nil {
		return err
	}
	address := "http://" + l.Addr().String()
	if err := d.invite(ctx, p, address); err != nil {
		return errors.Join(err, l.Close())
	}
	defer p.Announce(s.MCP)()
	defer s.Work(ctx, address)()
	ended := make(chan error, 1)
	go func() { ended <- s.MCP.Serve(ctx, l, s.Handler()) }()
	talked := d.show(ctx)
	if ctx.Err() != nil {
		talked = nil // the interruption is not an error
	}
	if d.once || talked != nil {
		cancel()
	}
	return errors.Join(talked, <-ended)
}

// prepare writes the tracker and its configuration unless they exist, and reads the configuration. It serves the
// tracker's API until stop is called.
func (d *demonstration) prepare(ctx context.Context) (c *config.Config, stop func() error, err error) {
	dir, err := filepath.Abs(d.dir)
	if err != nil {
		return nil, nil, fmt.Errorf("find the folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the folder: %w", err)
	}
	d.dir, d.file = dir, filepath.Join(dir, app.DefaultFile)
	if err := demo.Create(ctx, filepath.Join(dir, "tracker.db")); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, nil, err
	}
	if err := writeMissing(d.file, configuration); err != nil {
		return nil, nil, err
	}
	stop, err = d.serveAPI(ctx)
	if err != nil {
		return nil, nil, err
	}
	c, err = app.LoadFile(d.file)
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	d.withAPI = slices.ContainsFunc(c.Sources, func(s config.Source) bool { return s.OpenAPI != nil })
	return c, stop, nil
}

// makeTokens creates a token for an agent of each tenant. The store contains only hashes, so d.tokens stores the
// secrets for the conversation.
func (d *demonstration) makeTokens(ctx context.Context, tokens *identity.Tokens) error {
	d.tokens = map[string]string{}
	for _, tenant := range []string{demo.Acme, demo.Globex} {
		want := identity.Token{Name: "demo " + tenant, Owner: app.LocalUser(), Tenant: tenant, Scopes: []identity.Scope{identity.Read, identity.Write, identity.Delete},
			Expires: time.Now().Add(demoTokenLife)}
		_, secret, err := tokens.Create(ctx, identity.Local(app.LocalUser()), want)
		if err != nil {
			return err
		}
		d.tokens[tenant] = secret
	}
	return nil
}

// free returns an error if another program listens on addr.
func free(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return inUse(addr, err)
	}
	return l.Close()
}

// open listens on d.listen and sets d.url. If that address is in use and was not requested, it listens on a free
// port.
func (d *demonstration) open(ctx context.Context, p *app.App) (*app.Serving, net.Listener, error) {
	o := p.Door()
	o.Logger = app.Logger(d.Err, quiet())
	s, err := p.Serve(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	l, err := s.MCP.Listen(d.listen)
	if health.IsPortInUse(err) && d.anyPort {
		l, err = s.MCP.Listen("127.0.0.1:0")
	}
	if err != nil {
		return nil, nil, inUse(d.listen, err)
	}
	d.url = "http://" + l.Addr().String() + "/mcp"
	return s, l, nil
}

// invite creates sign-in links for the reviewers of acme. The links point to the console at address.
func (d *demonstration) invite(ctx context.Context, p *app.App, address string) error {
	for _, r := range []struct {
		name   string
		into   *string
		scopes []identity.Scope
	}{{reviewer, &d.signIn, []identity.Scope{identity.Read, identity.Review, identity.Audit, identity.Operator}},
		{another, &d.second, []identity.Scope{identity.Read, identity.Review}}} {
		want := identity.Token{Name: "demo reviewer", Owner: r.name, Tenant: demo.Acme, Scopes: r.scopes}
		_, link, err := p.Tokens.Invite(ctx, identity.Local(app.LocalUser()), want, demoTokenLife)
		if err != nil {
			return err
		}
		*r.into = address + console.SignIn(link)
	}
	return nil
}

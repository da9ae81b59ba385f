package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/config"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/server"
)

func serveCommand(t *terminal) *cobra.Command {
	var from setup
	var who speaker
	var listen string
	var stdio bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve agents over MCP",
		Long: "Serve agents over MCP, read-only. With a configuration its rules decide what agents see, and agents need a token.\n" +
			"With --source alone every table is a class under its own name; without --store whoever is on this machine may read.\n" +
			"SIGHUP looks at the databases again. The first SIGINT or SIGTERM lets calls in flight end, the second one doesn't.",
		Example: "  bailiwick serve\n  bailiwick serve --source sqlite:app.db\n  bailiwick serve --stdio --tenant acme",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := from.load()
			if err != nil {
				return err
			}
			c.Listen = cmp.Or(listen, c.Listen, config.DefaultListen)
			if stdio {
				if from.sources == nil && c.Stdio.ID == "" && !who.given("tenant") && !who.given("scopes") {
					return errors.New("nobody may speak over stdio: add \"stdio: {tenant: acme, scopes: [read]}\" to the configuration, or give --tenant or --scopes")
				}
				return serveStdio(cmd.Context(), t, c, &who)
			}
			return serveHTTP(cmd.Context(), t, c, from.sources != nil && from.store == "")
		},
	}
	from.flags(cmd.Flags())
	cmd.Flags().StringVar(&listen, "listen", "", "`ADDR` to listen on (default "+config.DefaultListen+")")
	cmd.Flags().BoolVar(&stdio, "stdio", false, "serve one agent over standard input and output")
	who.flags(cmd.Flags(), "tenant")
	return cmd
}

// serveHTTP serves until ctx ends. open lets in who is on this machine without a token.
func serveHTTP(ctx context.Context, t *terminal, c *config.Config, open bool) error {
	if open {
		c.Auth.TokensOff = true
		c.Auth.Anonymous = &identity.Principal{ID: "anonymous", Name: "anonymous", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}
	}
	if c.Auth.TokensOff && !loopback(c.Listen) {
		return fmt.Errorf("%s can be reached from other machines, and nobody would have to say who they are: "+
			"set store (--store sqlite:bailiwick.db) and make tokens with \"bailiwick token create\", or listen on %s", c.Listen, config.DefaultListen)
	}
	p, err := build(ctx, c)
	if err != nil {
		return err
	}
	defer p.Close()
	log := logger(t, c.Log)
	o := p.door()
	o.Logger = log
	s, err := server.New(o)
	if err != nil {
		return err
	}
	l, err := s.Listen(c.Listen)
	if err != nil {
		return inUse(c.Listen, err)
	}
	t.announce(ctx, p, open)
	defer p.refreshOnHangup(ctx, log, s)()
	if err := t.ready(l); err != nil {
		return errors.Join(err, l.Close())
	}
	return s.Serve(ctx, l, s.Handler())
}

// ready says, when nothing is missing any more, where to connect.
func (t *terminal) ready(l net.Listener) error {
	url := "http://" + l.Addr().String() + "/mcp"
	if t.json {
		return t.printJSON(struct {
			Listening string `json:"listening"`
		}{url})
	}
	t.printf("listening on %s\n", url)
	return nil
}

// announce says at the start what an operator may not expect.
func (t *terminal) announce(ctx context.Context, p *plant, open bool) {
	for _, w := range p.warnings {
		t.notef("warning: %s", w)
	}
	if p.config.Rules.Unlisted && p.config.Rules.Classes == nil {
		t.notef("no rules: every table is visible, read-only; fields that look like credentials are not shown (\"bailiwick init\" writes rules)")
	}
	if open {
		t.notef("no store: whoever is on this machine may read without a token, and the audit ends with this process (--store sqlite:bailiwick.db keeps it)")
		return
	}
	if p.config.Auth.TokensOff {
		return
	}
	all, err := p.tokens.List(ctx, identity.Local(localUser()))
	if err == nil && len(all) == 0 {
		t.notef("no token yet: make one with \"bailiwick token create --name NAME --tenant TENANT --store %s\"", cmp.Or(p.config.Store, config.DefaultStore))
	}
}

// refreshOnHangup looks at the sources again at each SIGHUP, until stop is called. What is wrong leaves all as it was.
func (p *plant) refreshOnHangup(ctx context.Context, log *slog.Logger, s *server.Server) (stop func()) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangup:
			}
			warnings, err := p.gateway.Refresh(ctx)
			if err != nil {
				log.ErrorContext(ctx, "the sources could not be read again; what was in force stays", "error", ruleFaults(p.config, err))
				continue
			}
			log.InfoContext(ctx, "read the sources again", "warnings", warnings)
			s.ToolsChanged()
		}
	}()
	return func() {
		signal.Stop(hangup)
		cancel()
		<-done
	}
}

// serveStdio serves the one principal that the configuration and flags name. Standard output belongs to the protocol.
func serveStdio(ctx context.Context, t *terminal, c *config.Config, flags *speaker) error {
	who, err := flags.principal(c.Stdio, "stdio")
	if err != nil {
		return err
	}
	p, err := build(ctx, c)
	if err != nil {
		return err
	}
	defer p.Close()
	for _, w := range p.warnings {
		t.notef("warning: %s", w)
	}
	o := p.door()
	o.Logger = logger(t, c.Log)
	s, err := server.New(o)
	if err != nil {
		return err
	}
	defer p.refreshOnHangup(ctx, o.Logger, s)()
	return s.ServeStdio(ctx, who)
}

func logger(t *terminal, l config.Log) *slog.Logger {
	o := &slog.HandlerOptions{Level: l.Level}
	if l.Text {
		return slog.New(slog.NewTextHandler(t.err, o))
	}
	return slog.New(slog.NewJSONHandler(t.err, o))
}

// inUse says what to do when another program listens on addr.
func inUse(addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("another program listens on %s; name another address with --listen, such as 127.0.0.1:0 for any free port", addr)
	}
	return err
}

// loopback reports whether only this machine can reach addr.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

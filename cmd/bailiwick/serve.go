package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/cmd/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/garbage"
	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/mcp"
)

// serveCommand returns the command serve, over HTTP or stdio. Requests from this machine need no token only if flags
// name the sources and no store can contain tokens. A failure before the first stdio call is sent to the client,
// because clients show no other output.
func serveCommand(t *terminal.Terminal) *cobra.Command {
	var from app.Setup
	var who app.StdioFlags
	var listen string
	var stdio bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve agents over MCP",
		Long: "Serve agents over MCP. With a configuration its rules decide what agents see, and agents need a token.\n" +
			"Agents propose writes, and people approve them (gates.writes: review is the default). Without rules agents only read.\n" +
			"With only --source every table is a class under its own name. Without --store every user of this machine may read.\n" +
			"A configuration that changes is put into force while calls run. A wrong one is refused, and the log says why.\n" +
			"SIGHUP reads it at once, and looks at the databases again. SIGTERM drains the server (server.drain)\n" +
			"and lets calls in flight end. SIGINT does the same without the drain. A second signal ends it at once.",
		Example: "  bailiwick serve\n  bailiwick serve --source sqlite:app.db\n  bailiwick serve --stdio --tenant acme",
		Args:    terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := &serving{from: &from}
			if stdio {
				err := r.serveStdio(cmd.Context(), t, &who)
				if err != nil && r.server == nil {
					return refuseStdio(t, err)
				}
				return err
			}
			c, err := r.begin(listen)
			if err != nil {
				return err
			}
			return r.serveHTTP(cmd.Context(), t, c, from.Sources != nil && from.Store == "")
		},
	}
	from.Flags(cmd.Flags())
	cmd.Flags().StringVar(&listen, "listen", "", "`ADDR` to listen on (default "+config.DefaultListen+")")
	cmd.Flags().BoolVar(&stdio, "stdio", false, "serve one agent over standard input and output")
	who.Flags(cmd.Flags(), "tenant")
	return cmd
}

// serveHTTP serves until ctx ends, and then drains. Background work and reloads stop after the last call. If open is
// set, requests from this machine need no token.
func (r *serving) serveHTTP(ctx context.Context, t *terminal.Terminal, c *config.Config, open bool) error {
	if open {
		c.Auth.TokensOff = true
		c.Auth.Anonymous = &identity.Principal{ID: "anonymous", Name: "anonymous", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}
	}
	if c.Auth.TokensOff && c.Auth.OIDC == nil && !app.Loopback(c.Listen) {
		return fmt.Errorf("%s can be reached from other machines, and callers would not have to authenticate. "+
			"Set store (--store sqlite:bailiwick.db) and make tokens with \"bailiwick token create\", or listen on %s", c.Listen, config.DefaultListen)
	}
	log := app.Logger(t.Err, c.Log)
	p, err := app.BuildWithTelemetry(ctx, c, log)
	if err != nil {
		return err
	}
	defer p.Close()
	var w app.ConfigWatcher
	o := p.Door()
	o.Logger, o.Notes = log, func() []string { return append(w.Notes(), p.Notes()...) }
	alive := context.WithoutCancel(ctx)
	serves, err := p.Serve(alive, o)
	if err != nil {
		return inUse(c.Server.Metrics.Listen, err)
	}
	l, err := serves.MCP.Listen(c.Listen)
	if err != nil {
		return inUse(c.Listen, err)
	}
	announce(ctx, starter(t, log, c.Log), p, open)
	r.plant, r.server, r.log = p, serves.MCP, o.Logger
	defer r.watch(alive, &w)()
	defer serves.Work(alive, "http://"+l.Addr().String())()
	garbage.FreeAfterLoad()
	if err := ready(t, l); err != nil {
		return errors.Join(err, l.Close())
	}
	return serves.MCP.Serve(ctx, l, serves.Handler())
}

// ready prints the address once the server is ready.
func ready(t *terminal.Terminal, l net.Listener) error {
	url := "http://" + l.Addr().String() + "/mcp"
	if t.JSON {
		return t.PrintJSON(struct {
			Listening string `json:"listening"`
		}{url})
	}
	t.Printf("listening on %s\n", url)
	return nil
}

// starter returns a function that writes a start-up message to standard error. If the log is JSON and standard error
// is not a terminal, it writes a log record. Otherwise it writes text.
func starter(t *terminal.Terminal, log *slog.Logger, l config.Log) func(level slog.Level, format string, args ...any) {
	return func(level slog.Level, format string, args ...any) {
		switch text := fmt.Sprintf(format, args...); {
		case !l.Text && !t.ErrIsTerminal():
			log.Log(context.Background(), level, text)
		case level == slog.LevelWarn:
			t.Notef("warning: %s", text)
		default:
			t.Notef("%s", text)
		}
	}
}

// announce reports noteworthy parts of the configuration at the start.
func announce(ctx context.Context, say func(slog.Level, string, ...any), p *app.App, open bool) {
	for _, w := range p.Warnings {
		say(slog.LevelWarn, "%s", w)
	}
	if !app.Loopback(p.Config.Listen) {
		say(slog.LevelWarn, "%s is reached without encryption, so that tokens can be read on the way: put a proxy with TLS in front of it (docs/operating.md)", p.Config.Listen)
	}
	if p.Config.Rules.Unlisted && p.Config.Rules.Classes == nil {
		say(slog.LevelInfo, "no rules: every table is visible, read-only. Fields that look like credentials are not shown (\"bailiwick init\" writes rules)")
	}
	if open {
		say(slog.LevelInfo, "no store: every user of this machine may read without a token, and the audit ends with this process (--store sqlite:bailiwick.db keeps it)")
		return
	}
	if p.Config.Auth.TokensOff {
		return
	}
	some, err := p.Tokens.List(ctx, identity.Local(app.LocalUser()), identity.TokenFilter{Limit: 1})
	if err == nil && len(some) == 0 {
		tenant := ""
		if _, closed := p.Config.CountTenantClasses(); closed > 0 || p.Config.TenantSchemaSources() != nil {
			tenant = " --tenant TENANT"
		}
		say(slog.LevelInfo, "no token yet: make one with \"bailiwick token create --name NAME%s --store %s\"", tenant, app.StoreName(p.Config.Store))
	}
}

// A serving is a running server and its parts.
type serving struct {
	from    *app.Setup
	started config.Config // the configuration as read at the start
	plant   *app.App
	server  *mcp.Server
	log     *slog.Logger
}

// begin reads the configuration for the first time. The address listen replaces the configured address unless it is
// "".
func (r *serving) begin(listen string) (*config.Config, error) {
	c, err := r.from.Load()
	if err != nil {
		return nil, err
	}
	r.started = *c
	c.Listen = cmp.Or(listen, c.Listen, config.DefaultListen)
	return c, nil
}

// load reads the configuration again for a reload.
func (r *serving) load() (*config.Config, error) {
	if _, err := os.Stat(r.from.Path()); err != nil {
		return nil, r.reportReload(err)
	}
	c, err := r.from.Load()
	if err != nil {
		return nil, r.reportReload(err)
	}
	return c, nil
}

// reportReload records the result of a reload in the telemetry and returns err.
func (r *serving) reportReload(err error) error {
	if t := r.plant.Telemetry; t != nil {
		t.RecordReload(err)
	}
	return err
}

// watch reloads the configuration when it changes, until stop is called. On SIGHUP it also reloads the sources. An
// invalid configuration is ignored.
func (r *serving) watch(ctx context.Context, w *app.ConfigWatcher) (stop func()) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	silence := r.plant.Announce(r.server)
	end := w.Watch(ctx, app.WatchOptions{
		Started: &r.started, File: r.from.Path(), Load: r.load, Restart: app.Restart, Hangup: hangup, Log: r.log,
		Apply: func(ctx context.Context, c *config.Config) ([]string, error) {
			warnings, err := r.plant.Reload(ctx, c)
			if err == nil {
				r.server.SetResults(app.Forms(c))
			}
			return warnings, r.reportReload(err)
		},
		Refresh: func(ctx context.Context) ([]string, error) {
			warnings, err := r.plant.Gateway.Refresh(ctx)
			return warnings, app.RuleFaults(r.plant.Config, r.reportReload(err))
		},
	})
	return func() {
		signal.Stop(hangup)
		end()
		silence()
	}
}

// serveStdio serves the single principal that the configuration and flags define. Standard output is reserved for the
// protocol.
func (r *serving) serveStdio(ctx context.Context, t *terminal.Terminal, flags *app.StdioFlags) error {
	c, err := r.begin("")
	if err != nil {
		return err
	}
	if r.from.Sources == nil && c.Stdio.ID == "" && !flags.Given("tenant") && !flags.Given("scopes") {
		return noPrincipal{}
	}
	principal, err := flags.Principal(c.Stdio, "stdio")
	if err != nil {
		return err
	}
	log := app.Logger(t.Err, c.Log)
	p, err := app.BuildWithTelemetry(ctx, c, log)
	if err != nil {
		return err
	}
	defer p.Close()
	say := starter(t, log, c.Log)
	for _, w := range p.Warnings {
		say(slog.LevelWarn, "%s", w)
	}
	o := p.Door()
	o.Logger = log
	s, err := mcp.New(o)
	if err != nil {
		return err
	}
	r.plant, r.server, r.log = p, s, log
	if _, err := p.Watch(s); err != nil {
		return inUse(c.Server.Metrics.Listen, err)
	}
	defer r.watch(ctx, new(app.ConfigWatcher))()
	defer p.Apply(ctx, log)()
	defer p.Tell(ctx, s, log)()
	defer p.Share(ctx, log)()
	garbage.FreeAfterLoad()
	return s.ServeStdio(ctx, principal)
}

// noPrincipal is the error of a configuration without a principal for stdio. The client may read its text.
type noPrincipal struct{}

func (noPrincipal) Error() string {
	return `stdio has no principal: add "stdio: {tenant: acme, scopes: [read]}" to the configuration, or give --tenant or --scopes`
}

// refuseStdio answers a client's first request with an MCP error and returns err. Clients don't show the standard
// error of a program that has ended. The answer doesn't contain the text of err, which may contain paths.
func refuseStdio(t *terminal.Terminal, err error) error {
	message := `the gateway did not start; its standard error says why, and "bailiwick check" tells more`
	if errors.Is(err, noPrincipal{}) {
		message = err.Error()
	}
	lines := bufio.NewScanner(t.In)
	for lines.Scan() {
		messages, _, fault := wire.Read(lines.Bytes(), 0)
		if fault != nil || len(messages) == 0 || !messages[0].IsCall() {
			continue
		}
		refusal := wire.RPCFault{Code: wire.CodeBusy, Message: message}
		t.Printf("%s\n", refusal.Append(nil, messages[0].ID))
		break
	}
	return err
}

// inUse returns a helpful error if another program listens on addr.
func inUse(addr string, err error) error {
	if health.IsPortInUse(err) {
		return fmt.Errorf("another program listens on %s. Name another address with --listen, such as 127.0.0.1:0 for any free port", addr)
	}
	return err
}

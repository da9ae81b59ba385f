package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/terminal"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/test/conformance"
)

func conformanceCommand(t *terminal.Terminal) *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "conformance",
		Short: "Serve the fixtures of the official MCP conformance suites, behind tokens, limits and audit",
		Args:  terminal.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !app.Loopback(listen) {
				return terminal.Usagef("the fixtures are for a suite on this machine; listen on a loopback address such as 127.0.0.1:0")
			}
			return serveFixtures(cmd.Context(), t, listen)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "loopback `ADDR` to listen on")
	return cmd
}

// serveFixtures serves the fixtures on a separate address, which requires a token, and on listen through a proxy that
// adds the token, because the suites can't send one.
func serveFixtures(ctx context.Context, t *terminal.Terminal, listen string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := app.Build(ctx, &config.Config{Store: app.MemoryStore, Limits: config.Limits{Rate: config.Rate{Calls: 100_000, Per: time.Minute}, Burst: 100_000}})
	if err != nil {
		return err
	}
	defer p.Close()
	_, token, err := p.Tokens.Create(ctx, identity.Local(app.LocalUser()), identity.Token{Name: "conformance", Owner: app.LocalUser()})
	if err != nil {
		return err
	}
	o := p.Door()
	o.Logger = logger(t, config.Log{})
	o.Extend = conformance.Extension(ctx)
	s, err := mcp.New(o)
	if err != nil {
		return err
	}
	inner, err := s.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, inner, s.Handler()) }()
	outer, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		cancel()
		return errors.Join(inUse(listen, err), <-ended)
	}
	front := &http.Server{Handler: conformance.Forward(&url.URL{Scheme: "http", Host: inner.Addr().String()}, token), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { front.Close() })
	defer stop()
	if err := ready(t, outer); err != nil {
		return err
	}
	if err := front.Serve(outer); !errors.Is(err, http.ErrServerClosed) {
		cancel()
		return errors.Join(fmt.Errorf("serve the fixtures: %w", err), <-ended)
	}
	return <-ended
}

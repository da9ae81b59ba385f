// Command server serves the fixtures of the official MCP conformance suites, behind tokens, limits and audit, at
// -listen. scripts/conformance runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/test/conformance"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "the loopback address to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, *listen); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve serves the fixtures on an address of their own, which requires a token. On listen it serves them through a
// proxy that adds the token, because the suites can't send one.
func serve(ctx context.Context, listen string) error {
	if !app.Loopback(listen) {
		return errors.New("the fixtures are for a suite on this machine. Listen on a loopback address such as 127.0.0.1:0")
	}
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
	o.Extend = conformance.Extension(ctx)
	s, err := mcp.New(o)
	if err != nil {
		return err
	}
	inner, err := s.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	outer, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return errors.Join(err, inner.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, inner, s.Handler()) }()
	front := &http.Server{Handler: conformance.Forward(&url.URL{Scheme: "http", Host: inner.Addr().String()}, token), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { front.Close() })()
	fmt.Printf("listening on http://%s/mcp\n", outer.Addr())
	err = front.Serve(outer)
	cancel()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, <-ended)
}

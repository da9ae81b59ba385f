package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/bailiwick-dev/bailiwick/server"
)

// Serve serves s, which has Extension, and beside it a listener that forwards with token, each on a free loopback
// port, until ctx ends. It prints `listening on URL` and `forwarding on URL` when both are ready.
func Serve(ctx context.Context, s *server.Server, token string, out io.Writer) error {
	l, err := s.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	f, err := s.Listen("127.0.0.1:0")
	if err != nil {
		return errors.Join(err, l.Close())
	}
	forwarder := &http.Server{
		Handler:           Forward(&url.URL{Scheme: "http", Host: l.Addr().String()}, token),
		ReadHeaderTimeout: 10 * time.Second,
	}
	stop := context.AfterFunc(ctx, func() { forwarder.Close() })
	defer stop()
	forwarded := make(chan error, 1)
	go func() { forwarded <- forwarder.Serve(f) }()
	if _, err := fmt.Fprintf(out, "listening on %s\nforwarding on %s\n", mcpURL(l), mcpURL(f)); err != nil {
		return errors.Join(fmt.Errorf("printing the addresses: %w", err), l.Close(), forwarder.Close())
	}
	err = errors.Join(s.Serve(ctx, l, s.Handler()), forwarder.Close())
	if ended := <-forwarded; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("forwarding: %w", ended))
	}
	return err
}

func mcpURL(l net.Listener) string { return "http://" + l.Addr().String() + "/mcp" }

package mcp

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// Listen listens on an address such as "127.0.0.1:8420". It refuses an address that other machines can reach if no
// authentication is configured. The error names the missing setting.
func (s *Server) Listen(addr string) (net.Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("resolving the listen address: %w", err)
	}
	if !at.IP.IsLoopback() && s.options.Tokens == nil && s.options.Authenticate == nil {
		return nil, fmt.Errorf("listen: %s can be reached from other machines and there is no authentication. "+
			"Set a store for tokens (server.Options.Tokens) or an Authenticate function, or listen on 127.0.0.1", addr)
	}
	l, err := edge.Listen(at.String())
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	return l, nil
}

// ErrNoDrain is the cause of a cancelled context that skips Options.Drain.
var ErrNoDrain = edge.ErrNoDrain

// Serve serves h on l until ctx ends, and limits connections. h must include Handler. When ctx ends, the server
// drains for Options.Drain. Meanwhile /readyz answers 503, answers close their connections, and calls are still
// served. Then Serve closes l and ends streams. It waits at most Options.ShutdownTimeout for running calls, and
// closes everything else.
func (s *Server) Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	front := edge.New(h, s.edge())
	front.OnDrain(func() {
		s.draining.Store(true)
		s.log.InfoContext(ctx, "draining: /readyz answers 503, and calls are still served", "for", s.options.Drain.String())
	})
	front.OnShutdown(s.close) // streams don't end by themselves
	err := front.Serve(ctx, l)
	if closing := s.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// OnClose registers a function that is called when streams end. That is when Serve closes its listener, or in Close.
func (s *Server) OnClose(f func()) { context.AfterFunc(s.closing, f) }

func (s *Server) edge() edge.Options {
	o := &s.options
	return edge.Options{Connections: o.Connections, PerAddress: o.ConnectionsEach, Drain: o.Drain, Grace: o.ShutdownTimeout, Refused: o.Refused, Log: o.Logger}
}

package mcp

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// Listen opens addr ("127.0.0.1:8420"). It refuses an address that other machines can reach if no authentication is
// configured; the error names the missing setting.
func (s *Server) Listen(addr string) (net.Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("resolving the listen address: %w", err)
	}
	if !at.IP.IsLoopback() && s.options.Tokens == nil && s.options.Authenticate == nil {
		return nil, fmt.Errorf("listen: %s can be reached from other machines and there is no authentication: "+
			"set a store for tokens (server.Options.Tokens) or an Authenticate function, or listen on 127.0.0.1", addr)
	}
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	return l, nil
}

// Serve serves h, which contains Handler, on l until ctx ends, and limits connections. It then waits up to
// Options.ShutdownTimeout for calls in flight, and closes everything else.
func (s *Server) Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	front := edge.New(h, s.edge())
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

func (s *Server) edge() edge.Options {
	o := &s.options
	return edge.Options{Connections: o.Connections, PerAddress: o.ConnectionsEach, Grace: o.ShutdownTimeout, Refused: o.Refused, Log: o.Logger}
}

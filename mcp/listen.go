package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Listen opens addr ("127.0.0.1:8420"). It refuses an address that other machines can reach when nobody would have
// to say who they are, and names the setting that is missing.
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

// Serve serves h, which contains Handler, on l until ctx ends. It then lets the calls in flight end, for as long
// as Options.ShutdownTimeout, and closes all else.
func (s *Server) Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{
		Handler: h,
		// There is no read or write timeout, which would end event streams; bodies have a deadline of their own.
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	srv.RegisterOnShutdown(s.close) // streams have no end of their own
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.ShutdownTimeout)
		defer cancel()
		err := srv.Shutdown(late)
		if err != nil {
			err = errors.Join(fmt.Errorf("calls were still running after %s: %w", s.options.ShutdownTimeout, err), srv.Close())
		}
		ended <- err
	})
	err := srv.Serve(l)
	if !stop() && errors.Is(err, http.ErrServerClosed) {
		err = <-ended
	}
	if closing := s.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// Package edge serves HTTP over connections that are bounded in number and in time. Every listener of the program is
// served by it.
//
// It stands before all doors and knows none of them. It refuses connections over the bounds, requests whose body has two
// lengths, and requests that share a packet with the one before; it ends connections that don't send what they began or
// don't take what they asked for. Deadlines hold until the answer is out. What it refuses goes to a refused.Log.
package edge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/refused"
)

// Options are the bounds of a Server. The zero of each field takes the default.
type Options struct {
	Connections int // at a time; default 4,096, and at most half of the files that the process may open
	PerAddress  int // of one IPv4 address or one IPv6 /64; default a quarter of Connections, at least 64

	Header time.Duration // for the header of a request to arrive; default 10 s
	Body   time.Duration // for its body to arrive; default 30 s
	Answer time.Duration // that sending an answer may wait for its reader, and 1 s more for each Rate bytes; default 30 s
	Event  time.Duration // that one event of a stream may wait for its reader; default 10 s
	Linger time.Duration // that is still read from a client that was answered before its body arrived; default 1 s
	Idle   time.Duration // between requests of a connection; default 2 minutes
	Grace  time.Duration // for requests under way when Serve ends; default 10 s

	Rate int // bytes of an answer that its reader takes in a second; default 16 KiB

	Refused *refused.Log // is told of what is refused; nil tells nobody
	Log     *slog.Logger // gets what net/http reports, for debugging; nil gets nothing
}

// maxHeader bounds the header of a request, in bytes.
const maxHeader = 64 << 10

func (o Options) withDefaults() Options {
	o.Connections = cmp.Or(o.Connections, min(4096, openFiles()/2))
	o.PerAddress = min(cmp.Or(o.PerAddress, max(o.Connections/4, 64)), o.Connections)
	o.Rate = cmp.Or(o.Rate, 16<<10)
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&o.Header, 10 * time.Second}, {&o.Body, 30 * time.Second}, {&o.Answer, 30 * time.Second}, {&o.Event, 10 * time.Second},
		{&o.Linger, time.Second}, {&o.Idle, 2 * time.Minute}, {&o.Grace, 10 * time.Second},
	} {
		*d.field = cmp.Or(*d.field, d.value)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// A Server serves one handler. It is made by New.
type Server struct {
	options Options
	http    *http.Server
}

// New returns a server of h.
func New(h http.Handler, o Options) *Server {
	o = o.withDefaults()
	s := &Server{options: o}
	s.http = &http.Server{
		Handler:           timed(h, o),
		ReadHeaderTimeout: o.Header,
		WriteTimeout:      o.Answer, // of what net/http answers by itself; each answer of h renews it
		IdleTimeout:       o.Idle,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		ConnState:         moved,
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	return s
}

// OnShutdown has f called when Serve begins to end: streams have no end of their own.
func (s *Server) OnShutdown(f func()) { s.http.RegisterOnShutdown(f) }

// Serve serves on l until ctx ends. Requests under way then have Options.Grace to end.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Grace)
		defer cancel()
		err := s.http.Shutdown(late)
		if err != nil {
			err = errors.Join(fmt.Errorf("calls were still running after %s: %w", s.options.Grace, err), s.http.Close())
		}
		ended <- err
	})
	err := s.http.Serve(s.bounded(l))
	if !stop() && errors.Is(err, http.ErrServerClosed) {
		err = <-ended
	}
	return err
}

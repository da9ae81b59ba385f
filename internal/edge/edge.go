// Package edge serves HTTP over connections that are bounded in number and in time. All listeners of the program use
// it.
//
//	connection ─bounds→ request ─checks→ handler of a transport ─deadlines→ response
//	refusal ─RefusalLog→ a bounded number of log lines
//
// The package runs before all transports and does not depend on them. It refuses connections over the bounds,
// requests whose body has two lengths, and requests that share a packet with the previous request. It closes
// connections whose client doesn't finish a request or doesn't read the response. Deadlines apply until the response
// is sent.
//
// A RefusalLog reports refused requests to operators. It logs the first refusal of a kind from a principal or an
// address. Once a minute, it reports the number of further refusals. So clients can't fill a disk with log lines. The
// log contains no values of requests. An OutageLog does the same for a failure that repeats, such as a failure of a
// store. It also logs the end of the outage.
//
// ReadEvents and EventStream read and send server-sent events, which MCP servers and model providers use. ReadEvents
// fails for events over its limit. InstallLinks makes links that add this server to an MCP client.
//
// GuardedDialer, GuardedClient and GuardedTransport connect to configured addresses. They refuse private networks
// unless the configuration allows them. They check the address after name resolution. So they also refuse a name that
// later resolves to a private network.
package edge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Options are the bounds of a Server. A zero field means its default.
type Options struct {
	Connections int // maximum number of open connections. Default 4,096, and at most half of the process's open files
	PerAddress  int // maximum for one IPv4 address or IPv6 /64. Default a quarter of Connections, at least 64

	Header time.Duration // maximum time for the header of a request to arrive. Default 10 s
	Body   time.Duration // maximum time for the body of a request to arrive. Default 30 s
	Answer time.Duration // maximum time that the client may delay a response, plus 1 s per Rate bytes. Default 30 s
	Event  time.Duration // maximum time that the client may delay one event of a stream. Default 10 s
	Linger time.Duration // how long to read the rest of a body after the response. Default 1 s
	Idle   time.Duration // maximum time between requests of a connection. Default 2 minutes
	Grace  time.Duration // time for running requests when Serve ends. Default 10 s
	Drain  time.Duration // how long to serve after the end of Serve's context. Default none

	Rate int // minimum number of bytes of a response that the client must read per second. Default 16 KiB

	Refused *RefusalLog  // logs refused requests. It may be nil
	Log     *slog.Logger // logs messages of net/http, for debugging. Nil discards them

	draining *atomic.Bool // responses close their connections while this is true. Nil under another server
}

// ErrNoDrain is a cause of a context's end. With this cause, Serve skips Options.Drain.
var ErrNoDrain = errors.New("end without a drain")

// maxHeader is the maximum size of a request header, in bytes.
const maxHeader = 64 << 10

// withDefaults returns o with defaults for its zero fields. Connections is at most half of the files that the process
// may open. PerAddress is at most Connections.
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

// A Server serves one handler. Use New to create it.
type Server struct {
	options Options
	http    *http.Server
	onDrain []func()
}

// New returns a server for h.
func New(h http.Handler, o Options) *Server {
	o = o.withDefaults()
	o.draining = new(atomic.Bool)
	s := &Server{options: o}
	s.http = &http.Server{
		Handler:           withDeadlines(h, o),
		ReadHeaderTimeout: o.Header,
		WriteTimeout:      o.Answer, // for responses of net/http itself. Responses of h have their own deadlines
		IdleTimeout:       o.Idle,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		ConnState:         noteConnState,
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	return s
}

// Listen opens addr for Serve. Serve also accepts other listeners. But with them, connections may be lost that arrive
// when the listener closes. To prevent this, the kernel must ignore new connections, which it can do only for plain
// TCP. The listeners of package net use multipath TCP.
func Listen(addr string) (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(context.Background(), "tcp", addr)
}

// OnDrain registers f. Serve calls f when its context ends, while it still serves new requests.
func (s *Server) OnDrain(f func()) { s.onDrain = append(s.onDrain, f) }

// OnShutdown registers f. Serve calls f when the listener closes. f must end streams, because streams don't end by
// themselves.
func (s *Server) OnShutdown(f func()) { s.http.RegisterOnShutdown(f) }

// Serve serves on l until ctx ends. It then continues for Options.Drain, so that a proxy has time to choose another
// server. In this time, responses close their connections. Then the listener closes, and running requests have
// Options.Grace to finish.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	broken, ended := make(chan struct{}), make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), ErrNoDrain) {
			s.drain(l, broken)
		}
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Grace)
		defer cancel()
		err := s.http.Shutdown(late)
		if err != nil {
			err = errors.Join(fmt.Errorf("calls were still running after %s: %w", s.options.Grace, err), s.http.Close())
		}
		ended <- err
	})
	err := s.http.Serve(s.limitListener(l))
	close(broken)
	if !stop() && errors.Is(err, http.ErrServerClosed) {
		err = <-ended
	}
	return err
}

// drain continues to serve for Options.Drain, or until the listener is broken. Then it refuses new connections, but
// waits until all connections in the queue of the listener are accepted. Closing the listener would reset these
// connections, and lose the requests sent over them.
func (s *Server) drain(l net.Listener, broken <-chan struct{}) {
	if s.options.Drain <= 0 {
		return
	}
	s.options.draining.Store(true)
	for _, f := range s.onDrain {
		f()
	}
	select {
	case <-time.After(s.options.Drain):
	case <-broken:
		return
	}
	if !ignoreNew(l) {
		return
	}
	for range settleTries {
		select {
		case <-time.After(settle):
		case <-broken:
			return
		}
		if waiting(l) == 0 {
			return
		}
	}
}

// settle is the maximum time for the end of a handshake that has begun. settleTries is how often drain waits for an
// empty queue of the listener.
const (
	settle      = 200 * time.Millisecond
	settleTries = 25
)

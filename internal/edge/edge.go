// Package edge serves HTTP over connections that are bounded in number and in time. All listeners of the program use
// it.
//
//	connection ─bounds→ request ─checks→ handler of a transport ─deadlines→ response
//	refusal ─RefusalLog→ a bounded number of log lines
//
// It runs before all transports and does not depend on them. It refuses connections over the bounds, requests whose
// body has two lengths, and requests that share a packet with the previous one. It ends connections that don't finish a
// request or don't read their response. Deadlines hold until the response is sent.
//
// A RefusalLog reports refused requests to operators. It logs the first refusal of a kind from a principal or an
// address, and reports the number of further ones once a minute. No client can fill a disk with log lines, and no value
// of a request is kept. An OutageLog does the same for a failure that repeats, such as that of a store. It also logs
// the end of the outage.
//
// ReadEvents and EventStream read and send server-sent events, which MCP servers and model providers use. Events over
// the reader's limit are refused. InstallLinks makes the links that add this server to an MCP client.
//
// GuardedDialer, GuardedClient and GuardedTransport send to configured addresses, and refuse private networks unless
// the configuration allows them. They check the dialled address, after name resolution. So a name that later resolves
// to a private network is refused as well.
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

// Options are the bounds of a Server. The zero value of a field means its default.
type Options struct {
	Connections int // open connections. Default 4,096, and at most half of the process's open files
	PerAddress  int // of them for one IPv4 address or IPv6 /64. Default a quarter of Connections, at least 64

	Header time.Duration // for the header of a request to arrive. Default 10 s
	Body   time.Duration // for the body of a request to arrive. Default 30 s
	Answer time.Duration // maximum wait for the reader while sending a response, plus 1 s per Rate bytes. Default 30 s
	Event  time.Duration // maximum wait for the reader of one event of a stream. Default 10 s
	Linger time.Duration // to go on reading from a client that was answered before its body arrived. Default 1 s
	Idle   time.Duration // between requests of a connection. Default 2 minutes
	Grace  time.Duration // for requests under way when Serve ends. Default 10 s
	Drain  time.Duration // between the end of Serve's context and that of the listener. Default none

	Rate int // bytes of a response that its reader must take per second. Default 16 KiB

	Refused *RefusalLog  // receives refused requests. It may be nil
	Log     *slog.Logger // receives the reports of net/http, for debugging. Nil discards them

	draining *atomic.Bool // answers end their connections while it is true. It is nil under another server
}

// ErrNoDrain is the cause of a context whose end skips Options.Drain.
var ErrNoDrain = errors.New("end without a drain")

// maxHeader is the maximum size of a request header, in bytes.
const maxHeader = 64 << 10

// withDefaults returns o with the defaults of its zero fields. Connections are at most half of the files that the process may open, and
// those of one address never more than all.
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

// A Server serves one handler. Use New to make one.
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
		WriteTimeout:      o.Answer, // for responses that net/http sends itself. Each response of h sets its own
		IdleTimeout:       o.Idle,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		ConnState:         noteConnState,
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	return s
}

// Listen opens addr for Serve. Serve also takes other listeners, but a connection that comes as one of them closes may
// be lost. The kernel can ignore new connections only to plain TCP, and listeners of package net are multipath.
func Listen(addr string) (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(context.Background(), "tcp", addr)
}

// OnDrain registers f to be called when the context of Serve ends, while new requests are still served.
func (s *Server) OnDrain(f func()) { s.onDrain = append(s.onDrain, f) }

// OnShutdown registers f to be called when the listener closes, to end streams, which don't end by themselves.
func (s *Server) OnShutdown(f func()) { s.http.RegisterOnShutdown(f) }

// Serve serves on l until ctx ends. It then goes on for Options.Drain, so that a proxy has the time to choose another
// server. Answers end their connections meanwhile. Then the listener closes, and requests in progress have
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

// drain serves for Options.Drain, or until the listener is broken. Then it takes no further connection, and accepts
// those that have begun. Closing a listener would reset the connections that wait for it, and lose requests sent over
// them.
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

// settle is how long a handshake that has begun may take to end. settleTries is how often drain waits for the queue of
// the listener to be empty.
const (
	settle      = 200 * time.Millisecond
	settleTries = 25
)

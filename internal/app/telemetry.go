package app

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/telemetry"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/source"
)

// Logger returns the log of a configuration, written to w. It writes only the loggable parts of errors.
func Logger(w io.Writer, l config.Log) *slog.Logger {
	o := &slog.HandlerOptions{Level: l.Level, ReplaceAttr: telemetry.Errors}
	if l.Text {
		return slog.New(slog.NewTextHandler(w, o))
	}
	return slog.New(slog.NewJSONHandler(w, o))
}

// BuildWithTelemetry does the same as Build, with logging, tracing and metrics as configured in c.
func BuildWithTelemetry(ctx context.Context, c *config.Config, log *slog.Logger) (*App, error) {
	o := telemetry.Options{Version: Version(), Logger: log, Calls: c.Log.Calls, Faults: !c.Log.Quiet}
	if t := c.Telemetry; t.Traces {
		o.Traces = &telemetry.Traces{OTLP: telemetry.OTLP(t.OTLP), Sample: t.Sample, Environment: t.Environment}
	}
	if c.Log.Quiet && o.Traces == nil && c.Server.Metrics == (config.Metrics{}) {
		p := &App{Config: c, log: log, serves: true, Refused: edge.NewRefusalLog(log, nil)}
		p.closers = []func() error{p.closeRefusals}
		return p, p.open(ctx)
	}
	t, err := telemetry.New(ctx, o)
	if err != nil {
		return nil, err
	}
	p := &App{Config: c, log: log, Telemetry: t, serves: true, Refused: edge.NewRefusalLog(log, t.CountRefusal)}
	p.closers = []func() error{func() error { return t.Close(ctx) }, p.closeRefusals}
	if err = p.open(ctx); err == nil && !c.Log.Quiet {
		log.InfoContext(ctx, "start", "rules", c.Rules.Version, "gates", c.Gates())
	}
	return p, err
}

func (p *App) closeRefusals() error {
	p.Refused.Close()
	return nil
}

// observers returns the observer of calls, and the audit log that records calls.
func (p *App) observers(ctx context.Context) (told bailiwick.Observer, _ audit.Log, err error) {
	var log audit.Log = p.Store
	if p.Telemetry != nil {
		told, log = p.Telemetry.Calls(), p.Telemetry.Audit(log)
	}
	key, err := signingKey(ctx, p.Config, p.Store)
	if err != nil {
		return nil, nil, err
	}
	p.signing = health.KeyID(key.Public().(ed25519.PublicKey))
	signed, err := audit.NewSigner(ctx, log, p.Store, key, p.serves)
	if err != nil {
		return nil, nil, err
	}
	p.closers = append(p.closers, func() error { return signed.Close(context.WithoutCancel(ctx)) })
	return told, signed, nil
}

// observeDoor makes o report requests to telemetry and, if configured, serve the metrics over HTTP.
func (p *App) observeDoor(o *mcp.Options) {
	if p.Telemetry == nil {
		return
	}
	o.Observer = p.Telemetry.Requests()
	if m := p.Config.Server.Metrics; m.Door || m.Listen != "" && !Loopback(m.Listen) {
		o.Metrics = p.Telemetry.Metrics()
	}
}

// Watch connects s to telemetry, opens the metrics listener if configured, and returns the handler to serve over HTTP
// instead of s.Handler().
func (p *App) Watch(s *mcp.Server) (http.Handler, error) {
	h := s.Handler()
	if p.Telemetry == nil {
		return h, nil
	}
	w := telemetry.Watch{Load: s.Load, Policy: p.Gateway.PolicyVersion, Pools: map[string]source.Pooled{}, Closed: func() int { return len(p.Gateway.ClosureReasons()) },
		Withheld: func() int { return len(p.Gateway.WithheldFields()) }, Replicas: func() health.ReplicaState { return p.shares.Load().State() },
		Changes: queueReader{p.Store}, Sources: slices.Sorted(maps.Keys(p.sources))}
	for name, src := range p.sources {
		if pooled, ok := src.(source.Pooled); ok {
			w.Pools[name] = pooled
		}
	}
	p.Telemetry.Look(w)
	p.Telemetry.RecordReload(nil)
	if at := p.Config.Server.Metrics.Listen; at != "" {
		if err := p.listenMetrics(at, h); err != nil {
			return nil, err
		}
	}
	return p.Telemetry.CountResponses(h), nil
}

// listenMetrics serves /metrics on a separate address. On a loopback address, it requires no authentication. On other
// addresses, it serves through door, which requires a token.
func (p *App) listenMetrics(at string, door http.Handler) error {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return fmt.Errorf("listening for server.metrics: %w", err)
	}
	metrics := http.NewServeMux()
	if Loopback(at) {
		metrics.Handle("GET /metrics", sameMachine(p.Telemetry.Metrics()))
	} else {
		metrics.Handle("GET /metrics", door)
	}
	srv := edge.New(metrics, edge.Options{Connections: 64, PerAddress: 16, Grace: time.Second, Refused: p.Refused})
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, l) }() // if it ends early, scrapes fail
	p.closers = append(p.closers, func() error {
		end()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return nil
}

// sameMachine refuses requests whose Host is not a loopback name, which prevents DNS rebinding by other sites.
func sameMachine(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if host != "localhost" && !loopbackIP(host) {
			http.Error(w, "Forbidden: Host", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// Loopback reports whether addr, which is host:port, is reachable only from this machine.
func Loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && (host == "localhost" || loopbackIP(host))
}

func loopbackIP(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

package config

import (
	"log/slog"
	"net/netip"
	"net/url"

	"github.com/bailiwick-dev/bailiwick/internal/yamlconf"
)

// Telemetry configures tracing.
type Telemetry struct {
	OTLP   OTLP
	Traces bool // calls are traced, because the section is present
	// The fraction of calls to trace. 0 means the default. A negative value traces only calls that clients trace.
	Sample      float64
	Environment bool // OTEL_* variables supply missing settings
}

// OTLP configures the endpoint for traces.
type OTLP struct {
	Endpoint string            // a URL. "" means a collector on this machine
	Headers  map[string]string // may contain a credential
	Insecure bool              // the endpoint may be on another machine without encryption
}

// Metrics configures the endpoint for metrics.
type Metrics struct {
	Door   bool   // serve /metrics on the HTTP transport, for tokens with the scope operator or audit
	Listen string // a separate address, host:port, or ""
}

// shape returns the shape of the tracing section. The presence of the section enables tracing. An endpoint without
// TLS on another machine is an error unless insecure is set, because the headers may contain a credential.
func (t *Telemetry) shape() yamlconf.Shape {
	o := &t.OTLP
	return yamlconf.Object([]yamlconf.Key{
		{Name: "otlp", Doc: "Where traces are sent, as OpenTelemetry does over HTTP", Shape: yamlconf.Object([]yamlconf.Key{
			{Name: "endpoint", Doc: "URL of a collector. Default http://localhost:4318", Shape: yamlconf.Text("a URL", o.setEndpoint)},
			{Name: "headers", Doc: "What is sent along, such as a credential: ${NAME} or file:path", Shape: yamlconf.Each(yamlconf.Table{Names: "header", Of: func(name string) (yamlconf.Shape, func()) {
				var v string
				return yamlconf.Secret("the text of a header", func(_, s string) string { v = s; return "" }), func() {
					if o.Headers == nil {
						o.Headers = map[string]string{}
					}
					o.Headers[name] = v
				}
			}})},
			{Name: "insecure", Doc: "true lets traces go to another machine without encryption", Shape: yamlconf.Flag(&o.Insecure)},
		}, nil)},
		{Name: "sample", Doc: "The part of calls that is traced, from 0 to 1. A client that traces decides itself. Default 0.1", Shape: yamlconf.Share(&t.Sample)},
		{Name: "environment", Doc: "true lets OTEL_* environment variables say what isn't said here", Shape: yamlconf.Flag(&t.Environment)},
	}, func(r *yamlconf.Reader, _ yamlconf.Node, at string) {
		t.Traces = true
		if u, err := url.Parse(o.Endpoint); err == nil && u.Scheme == "http" && !local(u.Hostname()) && !o.Insecure {
			r.WrongAt(at+"/otlp/endpoint", "is on another machine and not encrypted. Write https://, or add insecure: true")
		}
	})
}

func (o *OTLP) setEndpoint(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return "must be a URL of a collector, such as https://collector.example:4318. Write a credential into headers"
	}
	o.Endpoint = s
	return ""
}

// local reports whether host is this machine.
func local(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (m *Metrics) shape() yamlconf.Shape {
	own := yamlconf.Object([]yamlconf.Key{
		{Name: "listen", Doc: "host:port such as 127.0.0.1:9464. On an address that other machines can reach a token is asked for", Must: true,
			Shape: yamlconf.Text("host:port, such as 127.0.0.1:9464", m.setListen)},
	}, nil)
	return yamlconf.Either(yamlconf.Flag(&m.Door), own)
}

func (m *Metrics) setListen(s string) string {
	if !hostPort(s) {
		return "must be host:port, such as 127.0.0.1:9464"
	}
	m.Listen = s
	return ""
}

// shape returns the shape of the logging section. The key calls has three states: true, false (Quiet), and absent,
// which logs only failed calls.
func (l *Log) shape() yamlconf.Shape {
	calls := yamlconf.Flag(&l.Calls)
	given := calls.Read
	calls.Read = func(r *yamlconf.Reader, n yamlconf.Node, at string) {
		given(r, n, at)
		l.Quiet = !l.Calls
	}
	return yamlconf.Object([]yamlconf.Key{
		{Name: "level", Doc: "The least that is logged. Default info", Shape: yamlconf.Choose([]string{"debug", "info", "warn", "error"}, l.setLevel)},
		{Name: "format", Doc: "json (the default) or text", Shape: yamlconf.Choose([]string{"json", "text"}, func(s string) { l.Text = s == "text" })},
		{Name: "calls", Doc: "true logs a line at info for each call, false for none. Without it calls that are refused or fail have one", Shape: calls},
	}, nil)
}

func (l *Log) setLevel(s string) {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	l.Level = levels[s]
}

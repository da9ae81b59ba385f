package telemetry

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// OTLP says where traces are sent, by OpenTelemetry's protocol over HTTP.
type OTLP struct {
	Endpoint string            // URL of a collector; without a path, "/v1/traces" is added. "" means http://localhost:4318
	Headers  map[string]string // sent with each request; may hold a credential
	Insecure bool              // the endpoint may be http:// the endpoint may be http:// on another machine
}

// defaultEndpoint is a collector on this machine.
const defaultEndpoint = "http://localhost:4318"

const (
	sendTime = 10 * time.Second
	linger   = 5 * time.Second // how long spans wait to be sent together with others
)

// newProvider returns the provider that makes and sends spans. It sets everything that the SDK would take from the
// environment, unless that is asked for.
func (t *Telemetry) newProvider(ctx context.Context, o Traces) (*sdk.TracerProvider, error) {
	exporter := o.Exporter
	if exporter == nil {
		options, err := o.OTLP.options(o.Environment)
		if err != nil {
			return nil, err
		}
		if exporter, err = otlptracehttp.New(ctx, options...); err != nil {
			return nil, err
		}
	}
	res := resource.NewSchemaless(attribute.String("service.name", "bailiwick"), attribute.String("service.version", t.options.Version))
	sending := &sender{SpanExporter: exporter, t: t}
	options := []sdk.TracerProviderOption{sdk.WithResource(res)}
	if o.Environment {
		fromEnvironment, err := resource.Merge(res, resource.Environment())
		if err != nil {
			return nil, err
		}
		options = append(options, sdk.WithResource(fromEnvironment), sdk.WithBatcher(sending))
	} else {
		sending.resource = res
		options = append(options, sdk.WithRawSpanLimits(sdk.SpanLimits{AttributeValueLengthLimit: 1024, AttributeCountLimit: 128, EventCountLimit: 128,
			LinkCountLimit: 128, AttributePerEventCountLimit: 128, AttributePerLinkCountLimit: 128}),
			sdk.WithBatcher(sending, sdk.WithMaxQueueSize(2048), sdk.WithMaxExportBatchSize(512), sdk.WithBatchTimeout(linger), sdk.WithExportTimeout(3*sendTime)))
	}
	if o.Sample != 0 || !o.Environment {
		sample := o.Sample
		if sample == 0 {
			sample = DefaultSample
		}
		options = append(options, sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(max(sample, 0)))))
	}
	return sdk.NewTracerProvider(options...), nil
}

// options returns the options of the exporter. Unless environment is set, they override all that it would take from
// there.
func (o OTLP) options(environment bool) ([]otlptracehttp.Option, error) {
	if environment && o.Endpoint == "" {
		return o.headers(nil), nil
	}
	endpoint := o.Endpoint
	if endpoint == "" {
		endpoint = defaultEndpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, errors.New("the OTLP endpoint is not such as https://collector.example:4318; a credential goes into headers")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); u.Scheme == "http" && !o.Insecure && u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil, errors.New("the OTLP endpoint is on another machine and not encrypted; write https://, or insecure: true")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/traces"
	}
	out := o.headers([]otlptracehttp.Option{otlptracehttp.WithEndpointURL(u.String())})
	if environment {
		return out, nil
	}
	if o.Headers == nil {
		out = append(out, otlptracehttp.WithHeaders(map[string]string{}))
	}
	var encryption *tls.Config
	if u.Scheme == "https" {
		encryption = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	transport := &http.Transport{TLSClientConfig: encryption, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: sendTime}
	return append(out, otlptracehttp.WithTLSClientConfig(encryption), otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
		otlptracehttp.WithEncoding(otlptracehttp.EncodingProtobuf), otlptracehttp.WithTimeout(sendTime),
		otlptracehttp.WithHTTPClient(&http.Client{Transport: transport, Timeout: sendTime})), nil
}

func (o OTLP) headers(before []otlptracehttp.Option) []otlptracehttp.Option {
	if o.Headers == nil {
		return before
	}
	return append(before, otlptracehttp.WithHeaders(o.Headers))
}

// A sender sends spans. It logs once when sending begins to fail and once when it works again; the SDK would write to
// standard error each time, including the collector's response.
type sender struct {
	sdk.SpanExporter
	t        *Telemetry
	resource *resource.Resource // of all spans; nil keeps the SDK's, which includes the environment
	failing  atomic.Bool
}

// ExportSpans implements sdk.SpanExporter. It returns no error, since it has logged it.
func (s *sender) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if s.resource != nil {
		own := make([]sdk.ReadOnlySpan, len(spans))
		for i := range spans {
			own[i] = resourced{spans[i], s.resource}
		}
		spans = own
	}
	err := s.SpanExporter.ExportSpans(ctx, spans)
	if err != nil {
		s.t.metrics.unsentSpans.Add(float64(len(spans)))
	}
	switch {
	case err != nil && !s.failing.Swap(true):
		s.t.log.WarnContext(ctx, "traces can't be sent; they are dropped until they can", "error", Cause(err))
	case err == nil && s.failing.Swap(false):
		s.t.log.InfoContext(ctx, "traces are sent again")
	}
	return nil
}

// A resourced is a span with the resource of this process.
type resourced struct {
	sdk.ReadOnlySpan
	resource *resource.Resource
}

// Resource implements sdk.ReadOnlySpan.
func (r resourced) Resource() *resource.Resource { return r.resource }

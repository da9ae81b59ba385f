package telemetry

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// OTLP configures the endpoint for traces, which use OpenTelemetry's protocol over HTTP.
type OTLP struct {
	Endpoint string            // URL of a collector. Without a path, "/v1/traces" is added. "" means http://localhost:4318
	Headers  map[string]string // sent with each request. They may contain a credential
	Insecure bool              // the endpoint may be http:// on another machine
}

// defaultEndpoint is a collector on this machine.
const defaultEndpoint = "http://localhost:4318"

const (
	sendTime = 10 * time.Second
	linger   = 5 * time.Second // how long spans wait to be sent together
)

// newProvider returns the provider that creates and sends spans. It sets everything that the SDK would otherwise read
// from the environment, unless o.Environment is true.
func (t *Telemetry) newProvider(ctx context.Context, o Traces) (*sdk.TracerProvider, error) {
	exporter := o.Exporter
	if exporter == nil {
		to, err := o.OTLP.collector(o.Environment)
		if err != nil {
			return nil, err
		}
		if exporter, err = otlptrace.New(ctx, to); err != nil {
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

// collector returns the collector to which spans are sent.
func (o OTLP) collector(environment bool) (*collector, error) {
	if environment {
		return o.fromEnvironment()
	}
	endpoint, err := o.endpoint()
	if err != nil {
		return nil, err
	}
	transport := newTransport(&tls.Config{MinVersion: tls.VersionTLS12}, nil)
	return &collector{client: &http.Client{Transport: transport, Timeout: sendTime}, endpoint: endpoint, headers: o.Headers, compress: true}, nil
}

// endpoint returns the URL of requests.
func (o OTLP) endpoint() (*url.URL, error) {
	u, err := url.Parse(cmp.Or(o.Endpoint, defaultEndpoint))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, errors.New("the OTLP endpoint must be a URL such as https://collector.example:4318. Write a credential into headers")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); u.Scheme == "http" && !o.Insecure && u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil, errors.New("the OTLP endpoint is on another machine and not encrypted. Write https://, or insecure: true")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/traces"
	}
	return u, nil
}

// A sender sends spans. It logs once when sending starts to fail, and once when it works again. The SDK would write
// to standard error each time, and include the collector's response.
type sender struct {
	sdk.SpanExporter
	t        *Telemetry
	resource *resource.Resource // the resource of all spans. Nil means the SDK's resource, which includes the environment
	failing  atomic.Bool
}

// ExportSpans implements sdk.SpanExporter. It returns no error, because it has logged the error.
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
		s.t.log.WarnContext(ctx, "traces can't be sent. They are dropped until they can", "error", Cause(err))
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

package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A collector sends spans to a collector with OpenTelemetry's protocol over HTTP. It implements otlptrace.Client.
// OpenTelemetry's own client would link gRPC, which is not used.
type collector struct {
	client   *http.Client
	endpoint *url.URL
	headers  map[string]string
	compress bool
}

// newTransport returns the HTTP transport for a collector.
func newTransport(encryption *tls.Config, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	return &http.Transport{Proxy: proxy, TLSClientConfig: encryption, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: sendTime}
}

// Start implements otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It retries, until ctx ends, if the collector's response requests that.
func (c *collector) UploadTraces(ctx context.Context, spans []*trace.ResourceSpans) error {
	// A request has the same encoding as this message, because both have the spans in field 1.
	body, err := proto.Marshal(&trace.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	if c.compress {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(body); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		body = b.Bytes()
	}
	for wait := time.Second; ; wait *= 2 {
		after, err := c.send(ctx, body)
		if err == nil || after == nil {
			return err
		}
		pause := max(*after, wait+rand.N(wait/2))
		if end, ok := ctx.Deadline(); ok && time.Until(end) < pause {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// send sends body once. after is the minimum wait before a retry, or nil if a retry would not help.
func (c *collector) send(ctx context.Context, body []byte) (after *time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, v := range c.headers {
		r.Header.Set(name, v)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	if c.compress {
		r.Header.Set("Content-Encoding", "gzip")
	}
	response, err := c.client.Do(r)
	var failed *url.Error
	if errors.As(err, &failed) && failed.Temporary() {
		return new(time.Duration), err
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	// The connection can be reused only if the response was read. The text of the response is not returned.
	if _, err := io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)); err != nil {
		return nil, err
	}
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retryAfter(response.Header.Get("Retry-After")), httpStatus(response.StatusCode)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, httpStatus(response.StatusCode)
	}
	return nil, nil
}

// retryAfter parses the header Retry-After, which is a number of seconds or a time. Without it, the result is 0.
func retryAfter(text string) *time.Duration {
	var wait time.Duration
	if seconds, err := strconv.Atoi(text); err == nil {
		wait = time.Duration(min(seconds, 3600)) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = time.Until(at)
	}
	wait = max(wait, 0)
	return &wait
}

// An httpStatus is the error for a collector that doesn't accept spans.
type httpStatus int

// Error returns the status as text.
func (s httpStatus) Error() string {
	return fmt.Sprintf("the collector answers %d %s", int(s), cmp.Or(http.StatusText(int(s)), "(unknown)"))
}

// LogText returns the same text, because it contains nothing from the collector.
func (s httpStatus) LogText() string { return s.Error() }

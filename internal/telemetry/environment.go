package telemetry

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// setting returns an environment variable of OpenTelemetry's exporters. The variable for traces takes precedence over
// the variable for all signals.
func setting(name string) string {
	for _, prefix := range []string{"OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"} {
		if v := strings.TrimSpace(os.Getenv(prefix + name)); v != "" {
			return v
		}
	}
	return ""
}

// fromEnvironment returns the collector that the environment configures. The settings in o take precedence.
func (o OTLP) fromEnvironment() (*collector, error) {
	if p := setting("PROTOCOL"); p != "" && p != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %s. Write http/protobuf, the protocol that traces are sent by", p)
	}
	endpoint, err := o.environmentEndpoint()
	if err != nil {
		return nil, err
	}
	headers := o.Headers
	if headers == nil {
		if headers, err = environmentHeaders(setting("HEADERS")); err != nil {
			return nil, err
		}
	}
	timeout := sendTime
	if v := setting("TIMEOUT"); v != "" {
		ms, err := strconv.Atoi(v)
		if err != nil || ms <= 0 {
			return nil, errors.New("OTEL_EXPORTER_OTLP_TIMEOUT is not a number of milliseconds")
		}
		timeout = time.Duration(ms) * time.Millisecond
	}
	encryption, err := environmentTLS()
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: newTransport(encryption, http.ProxyFromEnvironment), Timeout: timeout}
	return &collector{client: client, endpoint: endpoint, headers: headers, compress: setting("COMPRESSION") == "gzip"}, nil
}

// environmentEndpoint returns the endpoint for traces from o or, if it is not set there, from the environment.
func (o OTLP) environmentEndpoint() (*url.URL, error) {
	if o.Endpoint != "" {
		return o.endpoint()
	}
	text, path := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), "/"
	if text == "" { // the other variable is only the start of a URL
		text, path = os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "/v1/traces"
	}
	if text == "" {
		text = defaultEndpoint
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the OTLP endpoint of the environment is not such as https://collector.example:4318")
	}
	if path != "/" || u.Path == "" {
		u = u.JoinPath(path)
	}
	return u, nil
}

// environmentHeaders parses "name=value,name=value", where values are percent-encoded.
func environmentHeaders(text string) (map[string]string, error) {
	out := map[string]string{}
	if text == "" {
		return out, nil
	}
	for pair := range strings.SplitSeq(text, ",") {
		name, v, ok := strings.Cut(pair, "=")
		v, err := url.PathUnescape(strings.TrimSpace(v))
		if name = strings.TrimSpace(name); !ok || name == "" || err != nil {
			// The error omits the text, which may contain a credential.
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS is not such as name=value,name=value")
		}
		out[name] = v
	}
	return out, nil
}

// environmentTLS returns the TLS configuration with the certificates from the environment.
func environmentTLS() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := setting("CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("the file of OTEL_EXPORTER_OTLP_CERTIFICATE holds no certificate")
		}
	}
	if certificate, key := setting("CLIENT_CERTIFICATE"), setting("CLIENT_KEY"); certificate != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("the files of OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

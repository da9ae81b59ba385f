package telemetry_test

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/internal/telemetry"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// A collector receives traces over OTLP.
type collector struct {
	url string

	mu       sync.Mutex
	requests []string // path, authorization, names of the spans and resource
	refuse   bool
	busy     int // number of requests that get the status 503
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.refuse {
			http.Error(w, "the words of the collector", http.StatusForbidden)
			return
		}
		if c.busy > 0 {
			c.busy--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body := r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			var err error
			if body, err = gzip.NewReader(r.Body); err != nil {
				t.Error(err)
			}
		}
		raw, err := io.ReadAll(body)
		if err != nil {
			t.Error(err)
		}
		var got trace.TracesData
		if err := proto.Unmarshal(raw, &got); err != nil {
			t.Error(err)
		}
		for _, rs := range got.ResourceSpans {
			var resource []string
			for _, a := range rs.Resource.Attributes {
				resource = append(resource, a.Key+"="+a.Value.GetStringValue())
			}
			slices.Sort(resource)
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					c.requests = append(c.requests, fmt.Sprintf("%s %s %s %s", r.URL.Path, r.Header.Get("Authorization"), s.Name, strings.Join(resource, ",")))
				}
			}
		}
	}))
	t.Cleanup(h.Close)
	c.url = h.URL
	return c
}

// TestOTLP checks that traces are sent to the configured endpoint, and that the environment is used only if the
// configuration allows it.
func TestOTLP(t *testing.T) {
	for _, tt := range []struct {
		name         string
		traces       func(ours string) telemetry.Traces
		ours, theirs []string
	}{
		{"configured", func(url string) telemetry.Traces {
			return telemetry.Traces{Sample: 1, OTLP: telemetry.OTLP{Endpoint: url, Headers: map[string]string{"Authorization": "Bearer ours"}}}
		}, []string{"/v1/traces Bearer ours ping service.name=bailiwick,service.version=1.2.3"}, nil},
		{"without headers", func(url string) telemetry.Traces {
			return telemetry.Traces{Sample: 1, OTLP: telemetry.OTLP{Endpoint: url + "/other"}}
		}, []string{"/other  ping service.name=bailiwick,service.version=1.2.3"}, nil},
		{"from the environment", func(string) telemetry.Traces { return telemetry.Traces{Environment: true} },
			nil, []string{"/v1/traces Bearer theirs ping colour=blue,service.name=theirs,service.version=1.2.3"}},
		{"from both", func(url string) telemetry.Traces {
			return telemetry.Traces{Environment: true, OTLP: telemetry.OTLP{Endpoint: url}}
		}, []string{"/v1/traces Bearer theirs ping colour=blue,service.name=theirs,service.version=1.2.3"}, nil},
		{"nothing sampled", func(url string) telemetry.Traces {
			return telemetry.Traces{Sample: -1, OTLP: telemetry.OTLP{Endpoint: url}}
		}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ours, theirs := newCollector(t), newCollector(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", theirs.url)
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer theirs")
			t.Setenv("OTEL_SERVICE_NAME", "theirs")
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "colour=blue")
			t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
			traces := tt.traces(ours.url)
			tel, err := telemetry.New(t.Context(), telemetry.Options{Version: "1.2.3", Traces: &traces})
			if err != nil {
				t.Fatal(err)
			}
			ctx := tel.Requests().Begin(t.Context(), wire.Operation{Method: "ping"})
			tel.Requests().End(ctx, "")
			if err := tel.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([][]string{tt.ours, tt.theirs}, [][]string{ours.requests, theirs.requests}); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestUnsent checks that a collector's refusal is logged once, without its text.
func TestUnsent(t *testing.T) {
	c := newCollector(t)
	c.refuse = true
	var log bytes.Buffer
	tel, err := telemetry.New(t.Context(), telemetry.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Traces: &telemetry.Traces{Sample: 1, OTLP: telemetry.OTLP{Endpoint: c.url}}})
	if err != nil {
		t.Fatal(err)
	}
	tel.Requests().End(tel.Requests().Begin(t.Context(), wire.Operation{Method: "ping"}), "")
	if err := tel.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); strings.Count(got, "traces can't be sent") != 1 || strings.Contains(got, "words of the collector") || !strings.Contains(got, "the collector answers 403 Forbidden") {
		t.Error(got)
	}
}

// TestBusyCollector checks that spans are sent again if the collector requests it.
func TestBusyCollector(t *testing.T) {
	c := newCollector(t)
	c.busy = 1
	tel, err := telemetry.New(t.Context(), telemetry.Options{Traces: &telemetry.Traces{Sample: 1, OTLP: telemetry.OTLP{Endpoint: c.url}}})
	if err != nil {
		t.Fatal(err)
	}
	tel.Requests().End(tel.Requests().Begin(t.Context(), wire.Operation{Method: "ping"}), "")
	if err := tel.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.busy != 0 || len(c.requests) != 1 {
		t.Errorf("%d requests to go, spans %q", c.busy, c.requests)
	}
}

// TestBadEnvironment checks that an invalid variable is an error, and that the error contains no credential.
func TestBadEnvironment(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"PROTOCOL", "grpc", "Write http/protobuf"},
		{"ENDPOINT", "collector:4318", "the OTLP endpoint of the environment"},
		{"TRACES_ENDPOINT", "://", "the OTLP endpoint of the environment"},
		{"HEADERS", "swordfish", "name=value,name=value"},
		{"HEADERS", "a=%zz-swordfish", "name=value,name=value"},
		{"TIMEOUT", "10s", "milliseconds"},
		{"CERTIFICATE", "/nowhere", "no such file"},
		{"CLIENT_KEY", "/nowhere", "OTEL_EXPORTER_OTLP_CLIENT_KEY"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_"+tt.name, tt.text)
			_, err := telemetry.New(t.Context(), telemetry.Options{Traces: &telemetry.Traces{Environment: true}})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "swordfish") {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if _, err := telemetry.New(t.Context(), telemetry.Options{Traces: &telemetry.Traces{}}); err != nil {
				t.Errorf("without the environment: %v", err)
			}
		})
	}
}

// TestEnvironmentEncryption sends spans to a collector over TLS. Its authority, headers and path come from the
// environment.
func TestEnvironmentEncryption(t *testing.T) {
	var got []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.Path+" "+r.Header.Get("A")+" "+r.Header.Get("Content-Encoding"))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", server.URL+"/in")
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", file)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "a=1")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", " a = x%20y ")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	tel, err := telemetry.New(t.Context(), telemetry.Options{Traces: &telemetry.Traces{Sample: 1, Environment: true}})
	if err != nil {
		t.Fatal(err)
	}
	tel.Requests().End(tel.Requests().Begin(t.Context(), wire.Operation{Method: "ping"}), "")
	if err := tel.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"/in x y gzip"}, got); d != "" {
		t.Error(d)
	}
}

func TestBadEndpoint(t *testing.T) {
	for _, endpoint := range []string{"collector:4318", "ftp://collector", "http://user:password@collector", "http://", "http://collector.example:4318"} {
		_, err := telemetry.New(t.Context(), telemetry.Options{Traces: &telemetry.Traces{OTLP: telemetry.OTLP{Endpoint: endpoint}}})
		if err == nil || strings.Contains(err.Error(), "password") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

type stated struct{}

func (stated) Error() string    { return "swordfish" }
func (stated) SQLState() string { return "22012" }

type coded struct{}

func (coded) Error() string { return "swordfish" }
func (coded) Code() int     { return 19 }

// TestCause checks that the log contains only the parts of an error that can't contain a value.
func TestCause(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("swordfish"), "*errors.errorString"},
		{fmt.Errorf("about swordfish: %w", io.ErrUnexpectedEOF), "unexpected EOF"},
		{&problem.Error{Code: problem.Upstream, Kind: "gone", Detail: "no swordfish", Err: stated{}}, "upstream_error (gone): SQLSTATE 22012"},
		{fmt.Errorf("storing: %w", coded{}), "telemetry_test.coded 19"},
		{errors.Join(stated{}, errors.New("swordfish")), "SQLSTATE 22012; *errors.errorString"},
		{&url.Error{Op: "Get", URL: "https://host/?key=swordfish", Err: io.EOF}, "Get: EOF"},
		{&fs.PathError{Op: "open", Path: "a.db", Err: fs.ErrNotExist}, "open a.db: file does not exist"},
	} {
		if got := telemetry.Cause(tt.err); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: telemetry.Errors})).Info("m", "error", errors.New("swordfish"), "n", 1)
	if got := log.String(); !strings.Contains(got, `error=*errors.errorString n=1`) {
		t.Error(got)
	}
}

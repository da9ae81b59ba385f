package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestInProcess checks that a handler receives requests as in a server, with the credential of the principal.
func TestInProcess(t *testing.T) {
	var got string
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/items/{id}/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = fmt.Sprint(r.Method, " ", r.RequestURI, " ", r.URL, " ", r.PathValue("id"), " ", r.Host, " ", r.RemoteAddr, " ", r.ContentLength, " ", r.Header, " ", string(body))
		w.Header().Set("X-A", "b")
		w.WriteHeader(http.StatusCreated)
		w.Header().Set("X-Late", "c")
		fmt.Fprint(w, "<p>")
	})
	mux.HandleFunc("GET /api/old", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "new", http.StatusFound) })
	mux.HandleFunc("GET /api/new", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Authorization")) })
	s := sender(t, Options{Base: "https://app.test/api", Handler: mux, Credential: BearerHeader("s")})
	m := post("/items/a%2Fb/", "{}")
	m.Request.Query, m.Key = "q=1", "k"
	res, err := s.Send(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("POST /api/items/a%2Fb/?q=1 /api/items/a%2Fb/?q=1 a/b app.test 0.0.0.0:0 2 "+
		"map[Accept:[application/json] Authorization:[Bearer s] Content-Type:[application/json] Idempotency-Key:[k] User-Agent:[bailiwick]] {}", got); d != "" {
		t.Error(d)
	}
	res.Free = nil
	if d := cmp.Diff(&calls.HTTPResponse{Request: m.Request, Status: 201, Header: http.Header{"X-A": {"b"}, "Content-Type": {"text/html; charset=utf-8"}}, MediaType: "text/html", Body: []byte("<p>")}, res); d != "" {
		t.Error(d)
	}
	m = get("/old")
	m.Redirected = anywhere
	if res, err = s.Send(t.Context(), m); err != nil || string(res.Body) != "Bearer s" {
		t.Error(res, err)
	}
	if res, err = s.Send(t.Context(), get("/none")); err != nil || res.Status != 404 {
		t.Error(res, err)
	}
}

// TestTrace checks that the trace of a call is passed to the API, unless the API has a parameter with the name of the
// trace header.
func TestTrace(t *testing.T) {
	ctx, call := sdk.NewTracerProvider().Tracer("test").Start(t.Context(), "call")
	defer call.End()
	var got string
	s := sender(t, Options{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Traceparent") })})
	if _, err := s.Send(ctx, get("/")); err != nil || !strings.HasPrefix(got, "00-"+call.SpanContext().TraceID().String()+"-") {
		t.Error(err, got)
	}
	m := get("/")
	m.Request.Header.Set("Traceparent", "own")
	if _, err := s.Send(ctx, m); err != nil || got != "own" {
		t.Error(err, got)
	}
	if _, err := s.Send(t.Context(), get("/")); err != nil || got != "" {
		t.Error(err, got)
	}
}

// TestHandlers checks faulty handlers. Their late output is discarded.
func TestHandlers(t *testing.T) {
	// The state that the late handler sees after all calls have returned.
	goesOn, returned := make(chan error, 1), make(chan struct{})
	for name, tt := range map[string]struct {
		serve  http.HandlerFunc
		want   string
		unread string // the reason in the response, or "" if the call returns the error want
	}{
		"panics": {func(http.ResponseWriter, *http.Request) { panic("swordfish") }, "upstream_error: the API broke off, or answered what can't be read", ""},
		"aborts": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "upstream_error: the API broke off, or answered what can't be read", ""},
		"never ends": {func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			<-returned
			_, err := w.Write([]byte("a"))
			goesOn <- err
		}, "timeout: the API did not answer in time", ""},
		"large": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2000)) }, "<nil>", "it is larger than 1000 bytes"},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for err := error(nil); err == nil; _, err = w.Write([]byte("abc")) {
			}
		}, "<nil>", "it is larger than 1000 bytes"},
		"events": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(200)
			<-r.Context().Done()
		}, "unsupported_by_source: the API answers with a stream of events (text/event-stream), which can't be read here", ""},
		"compresses": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "x")
		}, "<nil>", "it is in a content encoding that was not asked for"},
	} {
		s := sender(t, Options{Handler: tt.serve, MaxBody: 1000, Timeout: 100 * time.Millisecond})
		res, err := s.Send(t.Context(), post("/", "{}"))
		if tt.unread != "" && err == nil && res.Status == 200 && res.Unread == tt.unread {
			continue
		}
		if fmt.Sprint(err) != tt.want || !errors.Is(err, ErrUnsure) || strings.Contains(fmt.Sprint(problem.Of(err).Err), "swordfish") {
			t.Errorf("%s: %v, %v", name, err, problem.Of(err).Err)
		}
	}
	close(returned)
	if err := <-goesOn; err != http.ErrHandlerTimeout {
		t.Error(err)
	}
	for range 100 { // a handler that stops may return before its result is read
		ctx, cancel := context.WithCancel(t.Context())
		s := sender(t, Options{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })})
		if res, err := s.Send(ctx, get("/")); fmt.Sprint(err) != "cancelled: the call was cancelled" {
			t.Fatal(res, err)
		}
	}
}

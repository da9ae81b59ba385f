package client

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// inProcess answers requests with a handler in this process.
type inProcess struct {
	handler http.Handler
	most    int // maximum bytes of a response body
}

// RoundTrip implements http.RoundTripper. It abandons a handler that still runs after the context of r has ended, and
// discards the handler's later output.
func (p *inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	w := &recorder{header: http.Header{}, most: p.most, stop: cancel}
	over := make(chan error, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				over <- problem.PanicError(v).Err
			}
		}()
		p.handler.ServeHTTP(w, serverRequest(ctx, r))
		over <- nil
	}()
	select {
	case err := <-over:
		// A handler that stopped because its context ended may return without an error.
		return w.end(r, cmp.Or(err, ctx.Err()))
	case <-ctx.Done():
		return w.end(r, ctx.Err())
	}
}

// serverRequest returns r in the form in which a server receives it.
func serverRequest(ctx context.Context, r *http.Request) *http.Request {
	own := r.Clone(ctx)
	own.RequestURI = r.URL.RequestURI()
	own.URL = &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	own.RemoteAddr = "0.0.0.0:0" // not a real address, but in a form that middleware can parse
	own.GetBody = nil
	if own.Body == nil {
		own.Body = http.NoBody
	}
	return own
}

// A recorder records a handler's response. Writes after the end return an error.
type recorder struct {
	most int
	stop func() // cancels the context of the handler

	mu     sync.Mutex
	header http.Header // the handler's current headers
	sent   http.Header // the headers when the status was written
	status int
	body   bytes.Buffer
	err    error // the reason why further writes are refused
}

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin(status)
}

func (w *recorder) begin(status int) {
	if w.status != 0 || w.err != nil || status >= 100 && status < 200 {
		return
	}
	w.status, w.sent = status, w.header.Clone()
	if isStream(w.sent) {
		w.fail(errStream)
	}
}

// fail discards further output and cancels the handler's context.
func (w *recorder) fail(err error) {
	w.err = err
	w.stop()
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin(http.StatusOK)
	if w.err != nil {
		return 0, w.err
	}
	if w.body.Len()+len(b) > w.most {
		w.fail(errLarge)
		return 0, w.err
	}
	if w.body.Len() == 0 && w.sent.Get("Content-Type") == "" && len(b) > 0 {
		w.sent.Set("Content-Type", http.DetectContentType(b))
	}
	return w.body.Write(b)
}

// end returns the recorded response. err is the handler's error, or the reason for abandoning it.
func (w *recorder) end(r *http.Request, err error) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == errLarge {
		return w.response(r, http.NoBody, int64(w.most)+1), nil
	}
	if w.err != nil {
		return nil, w.err
	}
	if err != nil {
		w.err = http.ErrHandlerTimeout
		return nil, err
	}
	w.begin(http.StatusOK)
	if w.err != nil {
		return nil, w.err
	}
	w.err = http.ErrHandlerTimeout
	return w.response(r, io.NopCloser(&w.body), int64(w.body.Len())), nil
}

// response returns the response with a body of the given length. If the body is too large, it has its length and no
// content. The caller must hold w.mu.
func (w *recorder) response(r *http.Request, body io.ReadCloser, length int64) *http.Response {
	return &http.Response{StatusCode: w.status, Header: w.sent, Body: body, ContentLength: length, Request: r}
}

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

// RoundTrip implements http.RoundTripper. A handler that still runs after the context of r has ended is abandoned, and
// its later output is discarded.
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
		// A handler that gave up because its context ended may return as if all was well.
		return w.end(r, cmp.Or(err, ctx.Err()))
	case <-ctx.Done():
		return w.end(r, ctx.Err())
	}
}

// serverRequest returns r in the form a server receives it.
func serverRequest(ctx context.Context, r *http.Request) *http.Request {
	own := r.Clone(ctx)
	own.RequestURI = r.URL.RequestURI()
	own.URL = &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	own.RemoteAddr = "0.0.0.0:0" // no real address, but in the form that middleware can parse
	own.GetBody = nil
	if own.Body == nil {
		own.Body = http.NoBody
	}
	return own
}

// A recorder records a handler's response. Writes after the end return an error.
type recorder struct {
	most int
	stop func() // ends the context of the handler

	mu     sync.Mutex
	header http.Header // the handler's live headers
	sent   http.Header // the headers when the status was written
	status int
	body   bytes.Buffer
	err    error // why writes are refused
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

// fail discards further output and ends the handler's context.
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

// end returns the recorded response. err is the reason for abandoning the handler, or its error.
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

// response returns the response with a body of so many bytes. One that is too large has its length, and no content. w.mu is held.
func (w *recorder) response(r *http.Request, body io.ReadCloser, length int64) *http.Response {
	return &http.Response{StatusCode: w.status, Header: w.sent, Body: body, ContentLength: length, Request: r}
}

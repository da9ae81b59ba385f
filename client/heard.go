package client

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/bailiwick-dev/bailiwick/value"
)

// maxHeard bounds what is kept of one answer, in bytes.
const maxHeard = 16 << 20

// heard keeps what the server says, as it says it: the SDK reads structured content through floating point, which
// loses integers above 2^53. It also adds the token to requests.
type heard struct {
	token  string
	next   http.RoundTripper
	status atomic.Int64 // the last one that was no success

	mu  sync.Mutex
	buf bytes.Buffer
}

// RoundTrip implements http.RoundTripper.
func (h *heard) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+h.token)
	}
	res, err := h.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		h.status.Store(int64(res.StatusCode))
	}
	if r.Method == http.MethodPost {
		res.Body = &teeBody{h.tee(res.Body), res.Body}
	}
	return res, nil
}

type teeBody struct {
	io.Reader
	io.Closer
}

// tee returns r, read through h.
func (h *heard) tee(r io.ReadCloser) io.ReadCloser { return &teeBody{io.TeeReader(r, h), r} }

// Write implements io.Writer.
func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf.Write(b[:min(len(b), max(maxHeard-h.buf.Len(), 0))])
	return len(b), nil
}

// forget begins anew, before a call.
func (h *heard) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf.Reset()
}

// structured returns the structured content of the last result that has one, or nil. Messages come as a whole body,
// as the data of an event, or each on a line.
func (h *heard) structured() json.RawMessage {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found json.RawMessage
	for line := range bytes.Lines(h.buf.Bytes()) {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("data:")))
		if len(line) == 0 || line[0] != '{' {
			continue
		}
		message, err := value.Read(line, 200)
		if err != nil {
			continue // not a whole message
		}
		result, _ := message.Get("result")
		if content, ok := result.Get("structuredContent"); ok {
			found = content.AppendJSON(nil)
		}
	}
	return found
}

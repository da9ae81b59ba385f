package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// overHTTP sends each request as a POST. The answer is the response itself, or a stream of events that ends with the
// answer.
type overHTTP struct {
	url    *url.URL
	token  string
	client *http.Client
}

// Close implements transport.
func (t *overHTTP) Close() error {
	t.client.CloseIdleConnections()
	return nil
}

// roundTrip sends r and returns its response, from JSON or from the events of a stream. The error for each failure
// names the thing to check: the address, the token, or the gateway. See explain.
func (t *overHTTP) roundTrip(ctx context.Context, r request) (response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url.String(), bytes.NewReader(r.body))
	if err != nil {
		return response{}, fmt.Errorf("make the request: %w", err)
	}
	for name, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": Version, "Mcp-Method": r.method, "Mcp-Name": r.name} {
		if v != "" {
			req.Header.Set(name, v)
		}
	}
	if t.token != "" {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
	res, err := t.client.Do(req)
	if err != nil {
		return response{}, explain(t.url, t.token != "", 0, err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusUnauthorized {
		return response{}, explain(t.url, t.token != "", res.StatusCode, nil)
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	var found response
	switch kind {
	case "text/event-stream":
		found, err = fromEvents(res.Body, r.id)
	case "application/json":
		var body []byte
		if body, err = readAll(res.Body); err == nil {
			err = json.Unmarshal(body, &found)
		}
	}
	if ctx.Err() != nil {
		return response{}, explain(t.url, t.token != "", 0, context.Cause(ctx))
	}
	if err == nil && found.Result == nil && found.Error == nil {
		return response{}, explain(t.url, t.token != "", res.StatusCode, nil)
	}
	if err != nil {
		return response{}, explain(t.url, t.token != "", 0, fmt.Errorf("its answer can't be read: %w", err))
	}
	return found, nil
}

// readAll reads a body of at most maxMessage bytes.
func readAll(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxMessage+1))
	if err == nil && len(body) > maxMessage {
		err = fmt.Errorf("it is larger than %d bytes", maxMessage)
	}
	return body, err
}

// fromEvents returns the response with the given id. It drops notifications before the response.
func fromEvents(body io.Reader, id int64) (response, error) {
	var found response
	err := edge.ReadEvents(body, maxMessage, func(e edge.Event) error {
		r, ok := responseTo(e.Data, id)
		if !ok {
			return nil
		}
		found = r
		return io.EOF // the rest of the stream is not needed
	})
	if found.Result != nil || found.Error != nil {
		return found, nil
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return found, err
}

// responseTo parses message. It reports whether message is the response with the given id.
func responseTo(message []byte, id int64) (response, bool) {
	var r response
	ok := json.Unmarshal(message, &r) == nil && string(r.ID) == strconv.FormatInt(id, 10) && (r.Result != nil || r.Error != nil)
	return r, ok
}

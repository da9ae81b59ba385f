package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// overStream sends each request as a line. It passes each received line to the request that it answers.
type overStream struct {
	in  io.ReadCloser
	out io.WriteCloser

	writing sync.Mutex // locked while a line is written

	mu      sync.Mutex
	waiting map[string]chan response
	ended   chan struct{} // closed after in has ended and err is set
	err     error
}

func newStream(in io.ReadCloser, out io.WriteCloser) *overStream {
	t := &overStream{in: in, out: out, waiting: map[string]chan response{}, ended: make(chan struct{})}
	go t.read()
	return t
}

// Close implements transport.
func (t *overStream) Close() error { return errors.Join(t.out.Close(), t.in.Close()) }

// read passes each response to the request with its id, until the stream ends. It skips lines that are not messages,
// because a program may print other lines.
func (t *overStream) read() {
	lines := bufio.NewScanner(t.in)
	lines.Buffer(make([]byte, 0, 64<<10), maxMessage)
	for lines.Scan() {
		var r response
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue // not a message
		}
		t.mu.Lock()
		waiting := t.waiting[string(r.ID)]
		delete(t.waiting, string(r.ID))
		t.mu.Unlock()
		if waiting != nil {
			// The line's memory belongs to the scanner, but the members of r are copies.
			waiting <- r
		}
	}
	t.err = errors.Join(errors.New("the gateway has ended the conversation"), lines.Err())
	close(t.ended)
}

// roundTrip sends r and waits for its response. If ctx ends first, it notifies the gateway that the call is
// cancelled, and drops the answer.
func (t *overStream) roundTrip(ctx context.Context, r request) (response, error) {
	id, answer := strconv.FormatInt(r.id, 10), make(chan response, 1)
	t.mu.Lock()
	t.waiting[id] = answer
	t.mu.Unlock()
	if err := t.write(r.body); err != nil {
		t.mu.Lock()
		delete(t.waiting, id)
		t.mu.Unlock()
		return response{}, fmt.Errorf("send the request: %w", err)
	}
	select {
	case res := <-answer:
		return res, nil
	case <-t.ended:
		return response{}, t.err
	case <-ctx.Done():
		t.mu.Lock()
		delete(t.waiting, id)
		t.mu.Unlock()
		// The error is irrelevant if the gateway has disconnected.
		_ = t.write([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`))
		return response{}, ctx.Err()
	}
}

func (t *overStream) write(message []byte) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	_, err := t.out.Write(append(message[:len(message):len(message)], '\n'))
	return err
}

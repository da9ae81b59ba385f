package mcp

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/value"
)

// step is the progress that a heartbeat adds. Progress must increase with every notification, but must stay below the
// first value that the tool reports.
const step = 1e-6

// A heartbeat tells a client that requested progress that its call is still running. It stops when the tool reports
// progress itself.
type heartbeat struct {
	ctx     context.Context
	session *sdk.ServerSession
	token   any // nil if the client requested no progress
	done    chan struct{}
	ended   sync.WaitGroup

	mu   sync.Mutex
	own  bool    // the tool has reported progress itself
	sent bool    // a notification was sent
	last float64 // the last progress value sent
}

// startHeartbeat starts the heartbeat of a call. The token is the client's progress token, or nil if the client
// requested no progress.
func (s *Server) startHeartbeat(ctx context.Context, x *exchange, session *sdk.ServerSession, token any) *heartbeat {
	h := &heartbeat{ctx: ctx, session: session, token: token, done: make(chan struct{})}
	if x.message != nil {
		// The SDK reads numbers as doubles, and this parser reads them exactly.
		if t := x.message.Meta("progressToken"); t.Kind() == value.Int {
			h.token = t.Int()
		}
	}
	if h.token == nil || s.options.Heartbeat < 0 {
		return h
	}
	h.ended.Go(func() {
		tick := time.NewTicker(s.options.Heartbeat)
		defer tick.Stop()
		started := time.Now()
		for {
			select {
			case <-h.done:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
				h.beat(time.Since(started))
			}
		}
	})
	return h
}

func (h *heartbeat) beat(since time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.own {
		h.send(math.Round((h.last+step)/step)*step, 0, fmt.Sprintf("running for %d s", int(since.Seconds())))
	}
}

// report sends progress that the tool reports. A total of 0 means unknown. Progress that doesn't increase is not
// sent.
func (h *heartbeat) report(done, total float64, message string) {
	if h.token == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.own = true
	if done > h.last || !h.sent {
		h.send(done, total, message)
	}
}

// send sends one notification. The caller must have locked h.mu, so that notifications stay in order.
func (h *heartbeat) send(done, total float64, message string) {
	h.last, h.sent = done, true
	// An error means that the client has disconnected.
	_ = h.session.NotifyProgress(h.ctx, &sdk.ProgressNotificationParams{
		ProgressToken: h.token, Progress: done, Total: total, Message: message,
	})
}

// stop ends the heartbeat. Nothing is sent after it returns.
func (h *heartbeat) stop() {
	close(h.done)
	h.ended.Wait()
}

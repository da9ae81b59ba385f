package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Times of a cancellation.
const (
	cancelAgain  = 100 * time.Millisecond // between requests, and after the last one
	cancelWithin = 10 * time.Second       // then the connection is given up
)

// A canceller cancels the statement of a connection on the server when its context ends, and keeps the connection. It
// implements ctxwatch.Handler.
//
// The server drops a request that arrives before the statement has begun, so one request isn't enough. It is sent again
// until the connection answers.
type canceller struct {
	conn    *pgconn.PgConn
	answers context.CancelFunc // stops sending
	stopped chan struct{}      // closed when nothing more is sent
}

// HandleCancel begins to cancel the statement under way.
func (c *canceller) HandleCancel(context.Context) {
	deadline := time.Now().Add(cancelWithin)
	request, end := context.WithDeadline(context.Background(), deadline)
	ctx, answers := context.WithCancel(request)
	stopped := make(chan struct{})
	c.answers, c.stopped = answers, stopped
	_ = c.conn.Conn().SetDeadline(deadline) // else the statement ends when the server answers
	go func() {
		defer close(stopped)
		defer end()
		for ctx.Err() == nil {
			// A request is waited for although the connection has answered, because pgbouncer 1.18 ends itself when a
			// client leaves while its request is passed on. A request that fails is tried again.
			_ = c.conn.CancelRequest(request)
			// The server passes a request on after it has taken it. Without a pause, the last one could cancel the next
			// statement of this connection.
			time.Sleep(cancelAgain)
		}
	}()
}

// HandleUnwatchAfterCancel ends what HandleCancel began, when the connection has answered.
func (c *canceller) HandleUnwatchAfterCancel() {
	c.answers()
	<-c.stopped
	_ = c.conn.Conn().SetDeadline(time.Time{}) // a closed connection is noticed when it is used
}

package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Times for a cancellation.
const (
	cancelAgain  = 100 * time.Millisecond // the pause between requests, and after the last one
	cancelWithin = 10 * time.Second       // the time limit, after which the connection is closed
)

// A canceller cancels the statement of a connection on the server when its context ends, and keeps the connection
// open. It implements ctxwatch.Handler.
//
// The server ignores a request that arrives before the statement has begun, so one request isn't enough. The
// canceller repeats it until the connection answers.
type canceller struct {
	conn    *pgconn.PgConn
	answers context.CancelFunc // stops the requests
	stopped chan struct{}      // closed after the last request
}

// HandleCancel starts to cancel the running statement.
func (c *canceller) HandleCancel(context.Context) {
	deadline := time.Now().Add(cancelWithin)
	request, end := context.WithDeadline(context.Background(), deadline)
	ctx, answers := context.WithCancel(request)
	stopped := make(chan struct{})
	c.answers, c.stopped = answers, stopped
	_ = c.conn.Conn().SetDeadline(deadline) // otherwise the statement ends only when the server answers
	go func() {
		defer close(stopped)
		defer end()
		for ctx.Err() == nil {
			// The request completes even if the connection has answered. pgbouncer 1.18 crashes if a client
			// disconnects while it passes on the client's request. A failed request is repeated.
			_ = c.conn.CancelRequest(request)
			// The server forwards a request some time after it has accepted it. Without a pause, the last request
			// could cancel the next statement of this connection.
			time.Sleep(cancelAgain)
		}
	}()
}

// HandleUnwatchAfterCancel ends the requests of HandleCancel after the connection has answered.
func (c *canceller) HandleUnwatchAfterCancel() {
	c.answers()
	<-c.stopped
	_ = c.conn.Conn().SetDeadline(time.Time{}) // the next use of the connection detects if it is closed
}

package postgres

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

const (
	// silence is the idle time after which the listening connection is checked: whether it is alive, and whether
	// events were missed.
	silence = 5 * time.Second
	// reconnectEvery is the maximum delay before a replica tries to listen again. The minimum is half of that.
	reconnectEvery = time.Second
)

// listen receives the notifications of all replicas over its own connection, until ctx ends. It replaces a lost
// connection. Meanwhile callers of Await keep waiting, and then receive the missed events.
func (s *Store) listen(ctx context.Context) {
	defer close(s.listened)
	for ctx.Err() == nil {
		s.hear(ctx) // the error is ignored, because callers that use the database get their own errors
		select {
		case <-ctx.Done():
		case <-time.After(reconnectEvery/2 + rand.N(reconnectEvery/2)):
		}
	}
}

// hear listens over one connection until it is lost.
func (s *Store) hear(ctx context.Context) error {
	config := s.pool.Config().ConnConfig
	s.renew(config)
	// Ending a wait must neither cancel the next statement on the server nor close the connection.
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()}
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	if err := pinSettings(ctx, c); err != nil {
		return err
	}
	if err := run(ctx, c, `LISTEN bailiwick`); err != nil {
		return err
	}
	for {
		if err := s.catchUp(ctx, c); err != nil {
			return err
		}
		for {
			n, err := within(ctx, c)
			if err != nil {
				return err
			}
			if n == "" {
				break
			}
			s.hears(n)
		}
	}
}

// within returns the next notification, or "" if none arrives within silence.
func within(ctx context.Context, c *pgx.Conn) (string, error) {
	wait, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	n, err := c.WaitForNotification(wait)
	switch {
	case err == nil:
		return n.Payload, nil
	case wait.Err() != nil && ctx.Err() == nil && !c.IsClosed():
		return "", nil
	}
	return "", err
}

// catchUp reads the events missed while not listening.
func (s *Store) catchUp(ctx context.Context, c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var seq int64
	if err := c.QueryRow(ctx, `SELECT seq FROM bailiwick.change_event_head`).Scan(&seq); err != nil {
		return err
	}
	s.latest.Saw(seq)
	return nil
}

// ofChange is the prefix of notifications about changes. The event's Seq follows.
const ofChange = "change "

// hears handles one notification. It ignores unknown notifications, which come from other versions.
func (s *Store) hears(payload string) {
	if number, ok := strings.CutPrefix(payload, ofChange); ok {
		if seq, err := strconv.ParseInt(number, 10, 64); err == nil {
			s.latest.Saw(seq)
		}
	}
}

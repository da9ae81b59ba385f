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
	// silence is how long the listening connection may tell of nothing until it is asked whether it is there still, and
	// whether something was missed.
	silence = 5 * time.Second
	// reconnectEvery is how long a replica that can't listen waits until it tries again, at most and at least half.
	reconnectEvery = time.Second
)

// listen hears what replicas tell each other, over a connection of its own, until ctx ends. One that is lost is made
// again: who waits for an event goes on waiting meanwhile, and is told of what was missed.
func (s *Store) listen(ctx context.Context) {
	defer close(s.listened)
	for ctx.Err() == nil {
		s.hear(ctx) // why it ended is told to whoever asks the database for something
		select {
		case <-ctx.Done():
		case <-time.After(reconnectEvery/2 + rand.N(reconnectEvery/2)):
		}
	}
}

// hear listens over one connection until it is lost.
func (s *Store) hear(ctx context.Context) error {
	config := s.pool.Config().ConnConfig
	// Waiting that ends must neither ask the server to cancel what runs next nor close the connection.
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()}
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
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

// within returns the next thing that is told, and "" when it is silent.
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

// catchUp asks what happened while nobody listened.
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

// ofChange begins what is told of a change; the number of its event stands behind.
const ofChange = "change "

// hears takes one thing that a replica, or this one, has told. What it doesn't know is of another version.
func (s *Store) hears(payload string) {
	if number, ok := strings.CutPrefix(payload, ofChange); ok {
		if seq, err := strconv.ParseInt(number, 10, 64); err == nil {
			s.latest.Saw(seq)
		}
	}
}

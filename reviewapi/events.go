package reviewapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// events streams the events of changes that the reviewer may see (text/event-stream). It starts after Last-Event-ID
// or the parameter after. Without them, it starts with new events. It checks the credential again before it sends
// anything, so that a revoked credential receives nothing more.
func (a *API) events(w http.ResponseWriter, r *http.Request, c *call) error {
	p, reviewer, err := a.admit(r, c, identity.Review)
	if err != nil {
		return err
	}
	if r.Method != http.MethodGet {
		c.allow = http.MethodGet
		return problem.New(problem.InvalidArgument, "this path takes "+c.allow)
	}
	leave, err := a.streams.Enter(r.Context(), sharer(p))
	if err != nil {
		return &problem.Error{Code: problem.RateLimited, Detail: "too many streams at a time", RetryAfter: 5 * time.Second, Err: err}
	}
	defer leave()
	ctx, cancel := wire.While(r.Context(), func() bool {
		_, _, err := a.admit(r, c, identity.Review)
		return err == nil
	})
	defer cancel()
	defer context.AfterFunc(a.options.Closing, cancel)()
	at, err := begin(ctx, r, reviewer)
	if err != nil {
		return err
	}
	s := edge.BeginEvents(w)
	s.Send("retry: 1000\n\n")
	for s.Err == nil && ctx.Err() == nil {
		if _, reviewer, err = a.admit(r, c, identity.Review); err == nil {
			at, err = a.tell(ctx, s, reviewer, at)
		}
		if err != nil { // the response has begun, so it can only be ended
			a.options.Logger.InfoContext(ctx, "stream of events ended", "correlation_id", c.correlation, "error", cause(err))
			return nil
		}
	}
	return nil
}

// tell sends the events after the Seq at, or waits for new events. It returns the Seq from which to continue.
func (a *API) tell(ctx context.Context, s *edge.EventStream, reviewer bailiwick.Reviewer, at int64) (int64, error) {
	found, err := reviewer.Events(ctx, at)
	if err != nil {
		return at, err
	}
	for _, e := range found {
		at = e.Seq
		b, err := json.Marshal(e)
		if err != nil {
			return at, err
		}
		s.Send(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Kind, b))
	}
	if len(found) > 0 {
		return at, nil
	}
	wait, done := context.WithTimeout(ctx, a.options.Beat)
	defer done()
	switch err := reviewer.Await(wait, at); {
	case wait.Err() != nil:
		s.Send(": alive\n\n")
		return at, nil
	default:
		return at, err
	}
}

// begin returns the Seq after which a stream starts.
func begin(ctx context.Context, r *http.Request, reviewer bailiwick.Reviewer) (int64, error) {
	p, err := parameters(r.URL, []string{"after"})
	if err != nil {
		return 0, err
	}
	for _, given := range []string{r.Header.Get("Last-Event-ID"), p["after"]} {
		if given == "" {
			continue
		}
		at, err := strconv.ParseInt(given, 10, 64)
		if err != nil || at < 0 {
			return 0, problem.New(problem.InvalidArgument, "Last-Event-ID and after are the id of an event: a number")
		}
		return at, nil
	}
	return reviewer.LastEvent(ctx)
}

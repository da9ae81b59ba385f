package console

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
)

// How a live page is kept.
const (
	heartbeat = 15 * time.Second // between signs of life; whether the session still holds is looked at as often
	patience  = 2 * time.Second  // before events are asked for again when they could not be had
)

// A happening is an event as live pages show it.
type happening struct {
	change.Event
	Came int // changes that have come since the page was opened
}

// events tells a page what happens to changes, for as long as it is open and its session holds.
func (c *Console) events(v *visit) error {
	flusher, ok := v.w.(http.Flusher)
	if !ok {
		return fmt.Errorf("console: %T can't be flushed", v.w)
	}
	after, err := c.startAfter(v)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/event-stream")
	v.w.Header().Set("X-Accel-Buffering", "no")
	_, _ = fmt.Fprint(v.w, ": here\n\n")
	flusher.Flush()
	ctx, cancel := context.WithCancel(v.ctx())
	defer cancel()
	defer context.AfterFunc(c.closing, cancel)()
	desk, came := c.desk(v), 0
	for ctx.Err() == nil {
		if _, err := c.authenticate(v.r, v.session.Credential); err != nil || c.sessions.Ended(v.session) {
			return nil
		}
		waiting, stop := context.WithTimeout(ctx, heartbeat)
		err := desk.Await(waiting, after)
		beat := waiting.Err() != nil
		stop()
		if err == nil && !beat {
			var all []change.Event
			if all, err = desk.Events(ctx, after); err == nil {
				for _, e := range all {
					after = max(after, e.Seq)
					if e.Kind == change.EventCreated {
						came++
					}
					c.tell(v, happening{e, came})
				}
			}
		}
		if beat {
			_, _ = fmt.Fprint(v.w, ": still here\n\n")
		} else if err != nil {
			pause(ctx, patience)
		}
		flusher.Flush()
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// startAfter is the event behind which a page listens: what it says itself, else the newest.
func (c *Console) startAfter(v *visit) (int64, error) {
	for _, text := range []string{v.r.Header.Get("Last-Event-ID"), v.r.URL.Query().Get("after")} {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
			return n, nil
		}
	}
	return c.desk(v).LastEvent(v.ctx())
}

// tell writes one event: as a name that the change's own page waits for, and as parts of pages that list it.
func (c *Console) tell(v *visit, h happening) {
	var b bytes.Buffer
	if err := c.pages["happening"].ExecuteTemplate(&b, "happening", h); err != nil {
		c.log.ErrorContext(v.ctx(), "console: write an event", "error", err)
		return
	}
	_, _ = fmt.Fprintf(v.w, "id: %d\nevent: moved-%s\ndata: %s\n\n", h.Seq, eventName(h.Change), h.State)
	_, _ = fmt.Fprintf(v.w, "id: %d\ndata: %s\n\n", h.Seq, strings.Join(strings.Fields(b.String()), " "))
}

// eventName keeps of an id what can stand in the name of an event.
func eventName(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, id)
}

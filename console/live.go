package console

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// These times control live pages.
const (
	heartbeat = 15 * time.Second // interval of heartbeats and of checks of the session
	patience  = 2 * time.Second  // delay before reading events again after an error
)

// A happening is an event in the form in which live pages show it.
type happening struct {
	change.Event
	Came int // changes that have arrived since the page was opened
}

// events streams the events of changes to a page, as long as the page is open and its session is valid. It checks the
// session again before it sends anything.
func (c *Console) events(v *visit) error {
	leave, err := c.streams.Enter(v.ctx(), fair.Who{Tenant: v.who.Tenant, Owner: v.who.Account(), Credential: v.who.Origin()})
	if err != nil {
		return &problem.Error{Code: problem.RateLimited, Detail: "Too many pages are live at a time", Err: err}
	}
	defer leave()
	after, err := c.startAfter(v)
	if err != nil {
		return err
	}
	// The stream ends with the page, with the session, and with the server.
	ctx, cancel := wire.While(v.ctx(), func() bool { return c.holds(&visit{r: v.r}) })
	defer cancel()
	defer context.AfterFunc(c.closing, cancel)()
	s := edge.BeginEvents(v.w)
	s.Send(": here\n\n")
	for came := 0; s.Err == nil && ctx.Err() == nil; {
		waiting, stop := context.WithTimeout(ctx, heartbeat)
		err := c.reviewer(v).Await(waiting, after)
		// There was no event for the length of a heartbeat. A line prevents proxies from closing the stream.
		beat := waiting.Err() != nil
		stop()
		if !c.holds(&visit{r: v.r}) {
			return nil
		}
		if beat {
			s.Send(": still here\n\n")
			continue
		}
		var all []change.Event
		if err == nil {
			all, err = c.reviewer(v).Events(ctx, after)
		}
		// If the store doesn't answer, the stream keeps its position and the loop tries again.
		if err != nil {
			pause(ctx, patience)
		}
		for _, e := range all {
			after = max(after, e.Seq)
			if e.Kind == change.EventCreated {
				came++
			}
			s.Send(c.encodeEvent(v, happening{e, came}))
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// startAfter returns the Seq after which a page wants events. This is the number in the request or, without one, the
// newest Seq.
func (c *Console) startAfter(v *visit) (int64, error) {
	for _, text := range []string{v.r.Header.Get("Last-Event-ID"), v.r.URL.Query().Get("after")} {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
			return n, nil
		}
	}
	return c.reviewer(v).LastEvent(v.ctx())
}

// encodeEvent encodes one event twice: with a name for the page of that change, and without a name for the pages that
// list changes.
func (c *Console) encodeEvent(v *visit, h happening) string {
	var b bytes.Buffer
	if err := c.pages["happening"].ExecuteTemplate(&b, "happening", h); err != nil {
		c.log.ErrorContext(v.ctx(), "console: write an event", "error", err)
		return ""
	}
	return fmt.Sprintf("id: %d\nevent: moved-%s\ndata: %s\n\nid: %d\ndata: %s\n\n", h.Seq, eventText(h.Change), eventText(string(h.State)),
		h.Seq, strings.Join(strings.Fields(b.String()), " "))
}

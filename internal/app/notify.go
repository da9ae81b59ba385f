package app

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/mcp"
)

// sending returns the options of the Sender for the notifications in c. Links begin with the configured URL or,
// without one, with the address at.
func sending(c *config.Config, at string, log *slog.Logger) webhook.Options {
	n := c.Notifications
	at = cmp.Or(n.URL, c.Server.URL, at)
	o := webhook.Options{Hooks: n.Hooks, Link: at + console.Path + "/changes/", Answers: at + inboundPath, Logger: log}
	if n.Mail.Host != "" {
		o.Mail = n.Mail.Send
	}
	return o
}

// TestNotification immediately sends one test to a hook of c.
func TestNotification(ctx context.Context, c *config.Config, hook string) error {
	return webhook.New(sending(c, "", nil)).Test(ctx, hook)
}

// personSheet returns a change as a person sees it. The audit records the read as done by the notification, not by
// the person.
func (p *App) personSheet(ctx context.Context, as webhook.Person, change string) (*review.Sheet, error) {
	who, err := p.Tokens.FindPerson(ctx, as.Owner, as.Tenant)
	if err != nil {
		return nil, err
	}
	who.ID, who.TokenID = "notification:"+who.ID, ""
	return p.Gateway.Reviewer(who, "notification").Sheet(ctx, change)
}

// Answers returns the handler for decisions that people make in other systems, or nil if none is configured.
func (p *App) Answers(log *slog.Logger) http.Handler {
	n := p.inForce().Notifications
	if p.Tokens == nil || !slices.ContainsFunc(n.Hooks, func(h webhook.Hook) bool { return h.Answers() }) {
		return nil
	}
	return NewInbound(InboundOptions{Hooks: n.Hooks, Reviewer: p.Gateway.Reviewer, Used: p.Store, Link: p.site() + console.Path + "/changes/", Logger: log,
		Person: func(ctx context.Context, who webhook.Person) (identity.Principal, error) {
			return p.Tokens.FindPerson(ctx, who.Owner, who.Tenant)
		}})
}

// Notify sends the configured notifications about changes until stop is called. The argument at is the server's
// address, such as http://127.0.0.1:8420. Links use it unless the configuration contains another URL.
func (p *App) Notify(ctx context.Context, at string, log *slog.Logger) (stop func()) {
	if p.inForce().Notifications.Hooks == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	o := sending(p.inForce(), at, log)
	o.Changes, o.Store, o.Show = p.Store, p.Store, p.personSheet
	sender := webhook.New(o)
	done := make(chan struct{})
	go func() {
		defer close(done)
		sender.Run(ctx)
	}()
	silence := p.notifyWithheldFields(ctx, sender, log)
	return func() {
		cancel()
		silence()
		<-done
	}
}

// withheldPause is how long a notification about a field is not repeated.
const withheldPause = 90 * 24 * time.Hour

// notifyWithheldFields sends one notification for each field that is hidden because of its values, until stop is
// called.
func (p *App) notifyWithheldFields(ctx context.Context, sender *webhook.Sender, log *slog.Logger) (stop func()) {
	more, done := make(chan struct{}, 1), make(chan struct{})
	signal := func(e bailiwick.Event) {
		if e != bailiwick.WithheldChanged {
			return
		}
		select {
		case more <- struct{}{}:
		default:
		}
	}
	silence := p.Gateway.Subscribe(signal)
	signal(bailiwick.WithheldChanged) // the fields that are hidden at the start
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-more:
				for _, w := range p.Gateway.WithheldFields() {
					if err := p.tellOf(ctx, sender, w); err != nil && ctx.Err() == nil {
						log.WarnContext(ctx, "a hidden field could not be notified", "field", w.Class+"."+w.Field, "error", err)
					}
				}
			}
		}
	}()
	return func() {
		silence()
		<-done
	}
}

// tellOf sends a notification about one field, unless this or another replica has already sent it.
func (p *App) tellOf(ctx context.Context, sender *webhook.Sender, w bailiwick.Withheld) error {
	field, now := w.Class+"."+w.Field, time.Now()
	first, err := p.Store.UseUp(ctx, "withheld "+field, now.Add(withheldPause))
	if err != nil || !first {
		return err
	}
	return sender.Tell(ctx, change.Event{Kind: webhook.Withheld, At: now, Seq: now.UnixMicro(), Field: field, Why: w.Why})
}

// Tell notifies agents that are connected to s about changes that they watch, until stop is called. This includes
// changes made through other replicas.
func (p *App) Tell(ctx context.Context, s *mcp.Server, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var at int64
		begun := false
		failures := &edge.OutageLog{Log: log, Level: slog.LevelWarn, Fails: "agents do not hear of their changes now", Works: "agents hear of their changes again"}
		for ctx.Err() == nil {
			err := p.tell(ctx, s, &at, &begun)
			if failures.Note(ctx, err); err != nil {
				select {
				case <-ctx.Done():
				case <-time.After(2 * time.Second):
				}
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// tell sends the events after *at, or waits for new events.
func (p *App) tell(ctx context.Context, s *mcp.Server, at *int64, begun *bool) (err error) {
	if !*begun {
		if *at, err = p.Store.LastEvent(ctx); err != nil {
			return err
		}
		*begun = true
	}
	if err := p.Store.Await(ctx, *at); err != nil {
		return err
	}
	const most = 200
	events, err := p.Store.Events(ctx, *at, most)
	if err != nil {
		return err
	}
	for _, e := range events {
		*at = e.Seq
		s.NotifySubscribers(e.Change)
	}
	return nil
}

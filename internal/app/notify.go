package app

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/mcp"
)

// Notify sends the configured notifications about changes until stop is called. at is the server's address, such as
// http://127.0.0.1:8420: links use it unless the configuration has another.
func (p *App) Notify(ctx context.Context, at string, log *slog.Logger) (stop func()) {
	n := p.Config.Notifications
	if n.Hooks == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	sender := webhook.New(webhook.Options{Changes: p.Store, Store: p.Store, Hooks: n.Hooks, Link: cmp.Or(n.URL, p.Config.Server.URL, at) + console.Path + "/changes/", Logger: log})
	done := make(chan struct{})
	go func() {
		defer close(done)
		sender.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// Tell notifies agents connected to s about changes they watch, including those of other replicas, until stop is
// called.
func (p *App) Tell(ctx context.Context, s *mcp.Server, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var at int64
		begun := false
		for ctx.Err() == nil {
			err := p.tell(ctx, s, &at, &begun)
			if err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "agents are not told of their changes now", "error", err)
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

// tell reports the events after *at, or waits for more.
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
		s.ChangeMoved(e.Change)
	}
	return nil
}

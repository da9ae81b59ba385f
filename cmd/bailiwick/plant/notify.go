package plant

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/notify"
)

// Notify tells those whom the configuration names of what happens to changes, until stop is called. at is where the
// server listens, http://127.0.0.1:8420: links lead there unless the configuration says otherwise.
func (p *Plant) Notify(ctx context.Context, at string, log *slog.Logger) (stop func()) {
	n := p.Config.Notifications
	if n.Hooks == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	sender := notify.New(notify.Options{Changes: p.Store, Store: p.Store, Hooks: n.Hooks, Link: cmp.Or(n.URL, at) + console.Path + "/changes/", Logger: log})
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

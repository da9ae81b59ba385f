package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/outage"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/mongodb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
)

// A writable is a source that can be written to; reads use connections of their own.
type writable interface {
	source.Adapter
	source.Writer
}

// A declarer is a Writer that runs the declared statements of actions.
type declarer interface {
	Declare(statements []string)
}

// keptWritable is a kept source that can be written to.
type keptWritable struct {
	kept
	source.Writer
}

// declare passes the statements of the actions of c (do: sql) to the sources.
func (p *App) declare(c *config.Config) {
	var statements []string
	for _, a := range c.Actions {
		if a.Statement != "" {
			statements = append(statements, a.Statement)
		}
	}
	for _, s := range p.sources {
		k, _ := s.(*keptWritable)
		if k == nil {
			continue
		}
		if w, ok := k.Writer.(declarer); ok {
			w.Declare(statements)
		}
	}
}

// queue returns the queue of changes that wait for review.
func (p *App) queue() *change.Queue {
	c := p.Config
	return change.NewQueue(change.Options{Store: p.Store, Life: c.Review.Life, Most: c.Limits.Pending, Rate: c.Limits.Proposals, Single: c.Review.Single, Edit: c.Review.Edit,
		Audited: true})
}

// site returns the URL of this server as people know it: the configured one, or else its address.
func (p *App) site() string {
	c := p.inForce()
	return cmp.Or(c.Notifications.URL, c.Server.URL, p.Address)
}

// link returns the console's URL of a change.
func (p *App) link(id string) string { return p.site() + console.Path + "/changes/" + id }

// openWritable opens src for writing as well, if possible. A source that can only be read is returned unchanged, with a
// warning that gives the reason.
func openWritable(ctx context.Context, src config.Source, opened Opened) (Opened, string) {
	if k, ok := opened.(*keptParse); ok {
		w, err := k.Writable()
		if err != nil {
			return opened, fmt.Sprintf("source %s can only be read: %v", src.Name, err)
		}
		return &keptParseWritable{*k, w}, ""
	}
	k, ok := opened.(*kept)
	if !ok {
		return opened, ""
	}
	var w writable
	var err error
	switch s := k.Adapter.(type) {
	case *sqlite.Source:
		w, err = s.Writable(ctx)
	case *postgres.Source:
		w, err = s.Writable(ctx, src.WriteURL)
	case *mariadb.Source:
		w, err = s.Writable(ctx, src.WriteURL)
	case *mongodb.Source:
		w, err = s.Writable(ctx, src.WriteURL)
	default:
		err = errors.New("this version writes to no such source")
	}
	if err != nil {
		return opened, fmt.Sprintf("source %s can only be read: %v", src.Name, err)
	}
	return &keptWritable{kept{w, k.choice, k.through, k.mu, k.once}, w}, ""
}

// Apply applies approved changes until stop is called, which returns when no change is in progress. It logs failures for
// the operator, and when they have ended.
func (p *App) Apply(ctx context.Context, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		failures := &outage.Log{Log: log, Level: slog.LevelError, Fails: "a change could not be brought to its end, or the classes not read again; it is tried again", Works: "changes are brought to their end again"}
		p.Gateway.Execute(ctx, func(err error) { failures.Note(ctx, err) })
	}()
	return func() {
		cancel()
		<-done
	}
}

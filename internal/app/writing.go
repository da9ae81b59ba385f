package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/source"
)

// A writable is a source.Writer with its own connections. Close also closes the source.
type writable interface {
	source.Writer
	io.Closer
}

// A declarer is a Writer that runs the declared statements of actions.
type declarer interface {
	Declare(statements []string)
}

// late implements source.Late. It returns a writer as soon as the source is opened for writing.
type late struct{ writer atomic.Pointer[writable] }

// Writing implements source.Late.
func (l *late) Writing() source.Writer {
	if w := l.writer.Load(); w != nil {
		return *w
	}
	return nil
}

// A laterWritable is an open source that can be opened for writing.
type laterWritable interface {
	source.Late
	openWriter(ctx context.Context, s config.Source) error
}

// openWriters opens for writing those sources to which c lets agents write, unless they are already open. It returns
// warnings about sources that can only be read.
func (p *App) openWriters(ctx context.Context, c *config.Config) (warnings []string) {
	for _, s := range p.opened {
		later, ok := p.sources[s.Name].(laterWritable)
		if !ok || !c.Writes(s) || later.Writing() != nil {
			continue
		}
		if err := later.openWriter(ctx, s); err != nil {
			warnings = append(warnings, fmt.Sprintf("source %s can only be read: %v", s.Name, err))
		}
	}
	return warnings
}

// declare passes the statements of actions (do: sql) in the configurations to the sources.
func (p *App) declare(of ...*config.Config) {
	var statements []string
	for _, c := range of {
		for _, a := range c.Actions {
			if a.Statement != "" {
				statements = append(statements, a.Statement)
			}
		}
	}
	for _, s := range p.sources {
		w, _ := source.WriterOf(s)
		if d, ok := w.(declarer); ok {
			d.Declare(statements)
		}
	}
}

// queue returns the queue of changes that wait for review.
func (p *App) queue() *change.Queue {
	c := p.Config
	return change.NewQueue(change.Options{Store: p.Store, Life: c.Review.Life, Most: c.Limits.Pending, Rate: c.Limits.Proposals, Single: c.Review.Single, Edit: c.Review.Edit,
		Audited: true})
}

// site returns the public URL of this server. This is the configured URL or, without one, its address.
func (p *App) site() string {
	c := p.inForce()
	return cmp.Or(c.Notifications.URL, c.Server.URL, p.Address)
}

// link returns the console's URL of a change.
func (p *App) link(id string) string { return p.site() + console.Path + "/changes/" + id }

// openWriter implements laterWritable.
func (k *kept) openWriter(ctx context.Context, from config.Source) error {
	write := databaseOf(from).write
	if write == nil {
		return errors.New("this version writes to no such source")
	}
	w, err := write(ctx, k.Adapter, from.WriteURL)
	if err == nil {
		k.writer.Store(&w)
	}
	return err
}

// Apply applies approved changes until stop is called. stop returns when no change is in progress. Apply logs
// failures for the operator, and also when they have ended.
func (p *App) Apply(ctx context.Context, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		failures := &edge.OutageLog{Log: log, Level: slog.LevelError, Fails: "a change could not be completed, or the classes could not be read again. The gateway tries again", Works: "changes are brought to their end again"}
		p.Gateway.Execute(ctx, func(err error) { failures.Note(ctx, err) })
	}()
	return func() {
		cancel()
		<-done
	}
}

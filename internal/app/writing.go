package app

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/source"
)

// A writable is a source that can be written to; reads stay on connections that can't.
type writable interface {
	Adapter
	declarer
}

// A declarer is a Writer that runs statements of actions, once it is told them.
type declarer interface {
	source.Writer
	Declare(statements []string)
}

// keptWritable is a kept source that can be written to.
type keptWritable struct {
	kept
	declarer
}

// declare tells the sources the statements of the actions of c (do: sql).
func (p *App) declare(c *config.Config) {
	var statements []string
	for _, a := range c.Actions {
		if a.Statement != "" {
			statements = append(statements, a.Statement)
		}
	}
	for _, s := range p.sources {
		if w, ok := s.(declarer); ok {
			w.Declare(statements)
		}
	}
}

// queue is where what agents propose waits for people.
func (p *App) queue() *change.Queue {
	c := p.Config
	return change.NewQueue(change.Options{Store: p.Store, Life: c.Review.Life, Most: c.Limits.Pending, Single: c.Review.Single})
}

// link is where people look at a change, below the address that they reach the server by.
func (p *App) link(id string) string { return p.Address + "/console/changes/" + id }

// openWritable opens s for writing as well, where it can. A source that only lets itself be read stays as it is, and the
// warning says why.
func openWritable(ctx context.Context, src config.Source, opened Opened) (Opened, string) {
	k, ok := opened.(*kept)
	if !ok {
		return opened, ""
	}
	var w writable
	var err error
	switch s := k.Adapter.(type) {
	case *sqldriver.SQLite:
		w, err = s.Writable(ctx)
	case *sqldriver.Postgres:
		w, err = s.Writable(ctx, src.WriteURL)
	case *sqldriver.MySQL:
		w, err = s.Writable(ctx, src.WriteURL)
	}
	if err != nil {
		return opened, fmt.Sprintf("source %s can only be read: %v", k.name, err)
	}
	return &keptWritable{kept{w, k.config, k.name}, w}, ""
}

// Apply applies approved changes until stop is called, which returns when nothing is under way any more. It logs what an
// operator has to know.
func (p *App) Apply(ctx context.Context, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Gateway.Execute(ctx, func(err error) {
			log.Error("a change could not be brought to its end, or the classes not read again; it is tried again", "error", err)
		})
	}()
	return func() {
		cancel()
		<-done
	}
}

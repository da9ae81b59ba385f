// Package configwatch puts a changed configuration into force while a server runs.
//
// It stands beside the server, and watches what the configuration was read from: its files, those that it includes and
// those that hold its secrets. What it reads is put into force as a whole, or refused as a whole: then what was in force
// stays, and the log says why, once.
//
// Files are read again each second, not watched through the system: that works alike for editors that replace a file,
// for links that are turned to another folder, and for file systems of other machines. What has changed is taken only
// when it is the same a second later, for half of a file can be good YAML and mean something else.
package configwatch

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/config"
)

// Options say what is watched, and what is done.
type Options struct {
	Started *config.Config                                          // what the server started with
	File    string                                                  // the configuration; "" where there is none
	Load    func() (*config.Config, error)                          // reads it again
	Apply   func(context.Context, *config.Config) ([]string, error) // puts it into force as a whole or not at all; returns warnings
	Restart func(started, now *config.Config) []string              // the keys that only a restart puts into force
	Refresh func(context.Context) (warnings []string, err error)    // looks at the sources again
	Hangup  <-chan os.Signal                                        // reads the configuration and looks at the sources at once
	Log     *slog.Logger
	Every   time.Duration // between looks; 0 takes a second
}

// A Watcher watches a configuration. The zero Watcher watches none, until Watch.
type Watcher struct {
	options   Options
	told      reading  // what was put into force or refused last
	candidate *reading // what has changed, until it is seen to stay
	refused   atomic.Bool
}

// Watch begins to watch, until ctx ends or stop is called, which waits for what is being put into force. It is called
// once.
func (w *Watcher) Watch(ctx context.Context, o Options) (stop func()) {
	if o.Every == 0 {
		o.Every = time.Second
	}
	w.options, w.told = o, reading{config: o.Started}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// Notes says what whoever asks for the server's state should know: for server.Options. It can be called before Watch.
func (w *Watcher) Notes() []string {
	if w.refused.Load() {
		return []string{"config: the changed configuration is refused, and what was in force stays; the log says why"}
	}
	return nil
}

func (w *Watcher) run(ctx context.Context) {
	var tick <-chan time.Time
	switch info, err := os.Stat(w.options.File); {
	case w.options.File == "":
	case err != nil || info.Mode().IsRegular():
		t := time.NewTicker(w.options.Every)
		defer t.Stop()
		tick = t.C
	default: // reading it again could wait for ever
		w.options.File = ""
		w.options.Log.InfoContext(ctx, "the configuration is not an ordinary file; changes take a restart")
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			w.look(ctx)
		case <-w.options.Hangup:
			if w.options.File != "" {
				w.candidate = nil
				w.settle(ctx, w.read())
			}
			w.refresh(ctx)
		}
	}
}

// look takes one look at the files.
func (w *Watcher) look(ctx context.Context) {
	switch c := w.candidate; {
	case c != nil && w.now(*c) == c.state():
		w.candidate = nil
		if c.state() != w.told.state() {
			w.settle(ctx, *c)
		}
	case c != nil || w.now(w.told) != w.told.state():
		r := w.read()
		w.candidate = &r
	}
}

// settle puts r into force, or tells why not.
func (w *Watcher) settle(ctx context.Context, r reading) {
	w.told = r
	log, err := w.options.Log, r.err
	var warnings []string
	if err == nil {
		warnings, err = w.options.Apply(ctx, r.config)
	}
	w.refused.Store(err != nil)
	if err != nil {
		if ctx.Err() == nil {
			log.ErrorContext(ctx, "the configuration is refused; what was in force stays", "error", err)
		}
		return
	}
	log.InfoContext(ctx, "the configuration is in force", "rules", r.config.Rules.Version, "warnings", warnings)
	if keys := w.options.Restart(w.options.Started, r.config); keys != nil {
		log.WarnContext(ctx, "parts of the configuration take a restart; the rest is in force", "keys", keys)
	}
}

// refresh looks at the sources again.
func (w *Watcher) refresh(ctx context.Context) {
	warnings, err := w.options.Refresh(ctx)
	if err != nil {
		w.options.Log.ErrorContext(ctx, "the sources could not be read again; what was in force stays", "error", err)
		return
	}
	w.options.Log.InfoContext(ctx, "read the sources again", "warnings", warnings)
}

// A reading is what one reading of the configuration gave.
type reading struct {
	config *config.Config
	err    error
}

func (w *Watcher) read() reading {
	c, err := w.options.Load()
	return reading{c, err}
}

// state identifies what was read.
func (r reading) state() string {
	if r.err == nil {
		return r.config.State()
	}
	if e, ok := errors.AsType[*config.Error](r.err); ok {
		return e.Document.State()
	}
	return r.err.Error()
}

// now returns what the state of r would be if it were read now.
func (w *Watcher) now(r reading) string {
	if r.err == nil {
		return r.config.Now()
	}
	if e, ok := errors.AsType[*config.Error](r.err); ok {
		return e.Document.Now()
	}
	if _, err := os.Stat(w.options.File); errors.Is(r.err, fs.ErrNotExist) && errors.Is(err, fs.ErrNotExist) {
		return r.err.Error() // it is still away
	}
	return w.read().state()
}

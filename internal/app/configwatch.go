package app

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

// WatchOptions configure a ConfigWatcher.
type WatchOptions struct {
	Started *config.Config                                          // the configuration with which the server started
	File    string                                                  // the configuration file, or "" if there is none
	Load    func() (*config.Config, error)                          // reads the configuration again
	Apply   func(context.Context, *config.Config) ([]string, error) // applies a configuration completely or not at all. It returns warnings
	Restart func(started, now *config.Config) []string              // returns the keys that need a restart
	Refresh func(context.Context) (warnings []string, err error)    // reads the classes of the sources again
	Hangup  <-chan os.Signal                                        // each signal reads the configuration and the sources
	Log     *slog.Logger
	Every   time.Duration // interval. 0 means one second

	Documents time.Duration // interval for documents at URLs. 0 means 15 minutes
}

// A ConfigWatcher watches a configuration. The zero ConfigWatcher watches nothing until Watch is called.
type ConfigWatcher struct {
	options   WatchOptions
	told      reading  // the last reading that was applied or refused
	candidate *reading // a change that may still be incomplete
	refused   atomic.Bool
}

// Watch starts watching, until ctx ends or stop is called. stop waits for a reload in progress. Watch may be called
// only once.
func (w *ConfigWatcher) Watch(ctx context.Context, o WatchOptions) (stop func()) {
	if o.Every == 0 {
		o.Every = time.Second
	}
	if o.Documents == 0 {
		o.Documents = 15 * time.Minute
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

// Notes returns notes for the server's health report. It may be called before Watch.
func (w *ConfigWatcher) Notes() []string {
	if w.refused.Load() {
		return []string{"config: the changed configuration is refused, and the rules in force stay. The log says why"}
	}
	return nil
}

// run checks for changes at each tick until ctx ends. On a hangup, it reads everything at once. A configuration that
// is not a regular file, such as a pipe, is not read again.
func (w *ConfigWatcher) run(ctx context.Context) {
	var tick <-chan time.Time
	switch info, err := os.Stat(w.options.File); {
	case w.options.File == "":
	case err != nil || info.Mode().IsRegular():
		t := time.NewTicker(w.options.Every)
		defer t.Stop()
		tick = t.C
	default: // reading it again could block forever
		w.options.File = ""
		w.options.Log.InfoContext(ctx, "the configuration is not an ordinary file. Changes require a restart")
	}
	remote := time.NewTicker(w.options.Documents)
	defer remote.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			w.look(ctx)
		case <-remote.C:
			w.documents(ctx)
		case <-w.options.Hangup:
			if w.options.File != "" {
				w.candidate = nil
				w.settle(ctx, w.read())
			}
			w.refresh(ctx)
		}
	}
}

// look checks the files once.
func (w *ConfigWatcher) look(ctx context.Context) {
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

// documents reads documents at URLs again. If one has changed, it applies the configuration. If a document can't be
// read, nothing changes.
func (w *ConfigWatcher) documents(ctx context.Context) {
	if w.options.File == "" || w.candidate != nil || w.told.err != nil || !w.told.config.Remote() {
		return
	}
	r := w.read()
	switch {
	case r.state() != w.told.state(): // the files have changed too, and look detects that
	case r.err != nil:
		w.options.Log.WarnContext(ctx, "a document at a URL could not be read again. The rules in force stay", "error", r.err)
	case r.config.Rules.Version != w.told.config.Rules.Version:
		w.settle(ctx, r)
	}
}

// settle applies r, or logs why it can't.
func (w *ConfigWatcher) settle(ctx context.Context, r reading) {
	w.told = r
	log, err := w.options.Log, r.err
	var warnings []string
	if err == nil {
		warnings, err = w.options.Apply(ctx, r.config)
	}
	w.refused.Store(err != nil)
	if err != nil {
		if ctx.Err() == nil {
			log.ErrorContext(ctx, "the configuration is refused. The rules in force stay", "error", err)
		}
		return
	}
	log.InfoContext(ctx, "the configuration is in force", "rules", r.config.Rules.Version, "gates", r.config.Gates(), "warnings", warnings)
	if keys := w.options.Restart(w.options.Started, r.config); keys != nil {
		log.WarnContext(ctx, "parts of the configuration require a restart. The rest is in force", "keys", keys)
	}
}

// refresh reads the classes of the sources again.
func (w *ConfigWatcher) refresh(ctx context.Context) {
	warnings, err := w.options.Refresh(ctx)
	if err != nil {
		w.options.Log.ErrorContext(ctx, "the sources could not be read again. The rules in force stay", "error", err)
		return
	}
	w.options.Log.InfoContext(ctx, "read the sources again", "warnings", warnings)
}

// A reading is the result of reading the configuration.
type reading struct {
	config *config.Config
	err    error
}

func (w *ConfigWatcher) read() reading {
	c, err := w.options.Load()
	return reading{c, err}
}

// state identifies the configuration that was read.
func (r reading) state() string {
	if r.err == nil {
		return r.config.State()
	}
	if e, ok := errors.AsType[*config.Error](r.err); ok {
		return e.Document.State()
	}
	return r.err.Error()
}

// now returns the state that r would have if it were read now.
func (w *ConfigWatcher) now(r reading) string {
	if r.err == nil {
		return r.config.Now()
	}
	if e, ok := errors.AsType[*config.Error](r.err); ok {
		return e.Document.Now()
	}
	if _, err := os.Stat(w.options.File); errors.Is(r.err, fs.ErrNotExist) && errors.Is(err, fs.ErrNotExist) {
		return r.err.Error() // the file is still missing
	}
	return w.read().state()
}

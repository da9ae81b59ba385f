package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// The gateway checks every staleCheck whether sources report that they must be described again. It describes
// databases again every driftCheck.
const (
	staleCheck = 30 * time.Second
	driftCheck = 45 * time.Second
)

// Describes describes the sources again while p runs, until stop is called. It describes databases regularly, because
// their tables may change. It describes other sources when they report that they are stale.
func (p *App) Describes(ctx context.Context, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		stale, drift := time.NewTicker(staleCheck), time.NewTicker(driftCheck)
		defer stale.Stop()
		defer drift.Stop()
		told := slices.Clone(p.Gateway.ClosureReasons())
		for {
			select {
			case <-ctx.Done():
				return
			case <-stale.C:
				p.stale(ctx, log)
			case <-drift.C:
				begun := time.Now()
				_, err := p.Gateway.RefreshDrifting(ctx, nil, false)
				if closed := p.Gateway.ClosureReasons(); !slices.Equal(closed, told) && ctx.Err() == nil {
					told = closed
					log.Warn("classes have changed in a source", "closed", closed, "error", err)
				}
				drift.Reset(max(driftCheck, 20*time.Since(begun))) // describing takes at most a twentieth of the time
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// stale describes the sources again if one of them reports that it is stale.
func (p *App) stale(ctx context.Context, log *slog.Logger) {
	for _, s := range p.sources {
		if ages, ok := s.(interface{ Stale() bool }); ok && ages.Stale() {
			if _, err := p.Gateway.Refresh(ctx); err != nil && ctx.Err() == nil {
				log.Error("the classes could not be read again. Those known before stay", "error", err)
			}
			return
		}
	}
}

// Notes returns the notes that anyone may read on /readyz. They contain the number of classes, sources and schemas
// that are closed or can't be described. They also contain the number of replicas that differ from this one.
func (p *App) Notes() []string {
	var out []string
	if n := len(p.Gateway.ClosureReasons()); n > 0 {
		out = append(out, fmt.Sprintf("%d classes, sources or schemas no longer fit their description or the rules. The log names them", n))
	}
	return append(out, p.shares.Load().State().Notes()...)
}

package app

import (
	"context"
	"log/slog"

	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// Share compares this process with the other processes that share its store, until stop is called. A temporary store
// isn't shared.
func (p *App) Share(ctx context.Context, log *slog.Logger) (stop func()) {
	if storePath(p.Config.Store) == sqlite.Memory {
		return func() {}
	}
	k := health.KeepReplica(ctx, health.KeepOptions{Store: p.Store, Log: log, Own: func() health.ReplicaRow {
		return health.ReplicaRow{Rules: p.Gateway.PolicyVersion(), Key: p.signing, Program: Version()}
	}})
	p.shares.Store(k)
	return k.Close
}

package store

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// every is the interval between two runs of MoveRecords.
const every = time.Hour

// KeepArchive moves the records of s that are older than age to files in dir, every hour, until stop is called. If it
// can't move records, they stay in the store, and it logs the error.
func KeepArchive(ctx context.Context, s ArchiveStore, dir string, age time.Duration, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			moved, err := MoveRecords(ctx, s, ArchiveOptions{Dir: dir, Before: time.Now().Add(-age), By: "gateway"})
			if moved.Records > 0 {
				log.InfoContext(ctx, "old records of the audit are in the archive", "records", moved.Records, "files", len(moved.Files), "folder", dir)
			}
			if err != nil && ctx.Err() == nil && !errors.Is(err, audit.ErrMoved) { // another replica is moving records
				log.ErrorContext(ctx, "old records of the audit can't be archived. They stay in the store", "error", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(every):
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

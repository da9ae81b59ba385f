package wire

import (
	"context"
	"time"
)

// lookAgain is the interval at which While calls holds.
const lookAgain = time.Second

// While returns a context that ends when ctx does, or within a second after holds stops returning true. holds is
// called by one goroutine at a time. The context must be cancelled.
func While(ctx context.Context, holds func() bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		again := time.NewTicker(lookAgain)
		defer again.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-again.C:
				if !holds() {
					cancel()
					return
				}
			}
		}
	}()
	return ctx, cancel
}

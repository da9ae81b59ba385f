package wire

import (
	"context"
	"time"
)

// lookAgain is the interval at which While calls its function holds.
const lookAgain = time.Second

// While returns a context that ends with ctx, or at most a second after the function holds returns false. Only one
// goroutine at a time calls holds. The caller must cancel the context.
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

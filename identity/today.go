package identity

import (
	"context"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A PrincipalRefresher says who a principal is now that was recognised before: Tokens do. An error that is problem.Unauthorized means
// that its credential is no longer good.
type PrincipalRefresher interface {
	Refresh(context.Context, Principal) (Principal, error)
}

// recheck is how often something that runs for longer asks whether its credential is still good.
const recheck = 500 * time.Millisecond

// While returns a context that ends when the credential of who is no longer good; its cause is that refusal then. A
// sub-principal's ends with the credential that all of its line began with. stop ends the watch. A nil today watches nothing.
func While(ctx context.Context, today PrincipalRefresher, p Principal) (good context.Context, stop func()) {
	if today == nil || p.TokenID == "" {
		return ctx, func() {}
	}
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		tick := time.NewTicker(recheck)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			// A store that can't be asked is asked again.
			if _, err := today.Refresh(ctx, p); problem.CodeOf(err) == problem.Unauthorized {
				end(err)
			}
		}
	}()
	return ctx, func() { end(nil) }
}

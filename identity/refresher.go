package identity

import (
	"context"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A PrincipalRefresher returns the current state of a principal that was authenticated before. Tokens implements it. An
// Unauthorized error means that its credential is no longer valid.
type PrincipalRefresher interface {
	Refresh(context.Context, Principal) (Principal, error)
}

// Fixed is the PrincipalRefresher for programs whose principals never change and whose credentials are never revoked.
// It returns every principal unchanged.
type Fixed struct{}

// Refresh implements PrincipalRefresher.
func (Fixed) Refresh(_ context.Context, p Principal) (Principal, error) { return p, nil }

// recheck is the interval at which a long-running operation checks its credential.
const recheck = 500 * time.Millisecond

// While returns a context that is cancelled when p's credential is no longer valid. The refusal is then the cause of
// the cancellation. For a sub-principal, While checks the credential of its origin. stop ends the check. If today is
// nil or p has no TokenID, there is no check.
func While(ctx context.Context, today PrincipalRefresher, p Principal) (good context.Context, stop func()) {
	if today == nil || p.TokenID == "" {
		return ctx, func() {}
	}
	ctx, end := context.WithCancelCause(ctx)
	// Most operations end before the first check, so only longer ones start a goroutine.
	first := time.AfterFunc(recheck, func() { watchCredential(ctx, today, p, end) })
	return ctx, func() {
		first.Stop()
		end(nil)
	}
}

// watchCredential checks the credential of p regularly until ctx ends. If the credential is refused, it calls end with the
// refusal. It ignores failures of the store until the next check.
func watchCredential(ctx context.Context, today PrincipalRefresher, p Principal, end context.CancelCauseFunc) {
	tick := time.NewTicker(recheck)
	defer tick.Stop()
	for ctx.Err() == nil {
		if _, err := today.Refresh(ctx, p); problem.CodeOf(err) == problem.Unauthorized {
			end(err)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

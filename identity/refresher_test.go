package identity_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
)

// today is a PrincipalRefresher that answers with an error, and counts.
type today struct {
	err   error
	asked int
}

func (d *today) Refresh(_ context.Context, p identity.Principal) (identity.Principal, error) {
	d.asked++
	return p, d.err
}

// TestWhile checks, on a fake clock, when a long operation asks for its credential, and what ends it.
func TestWhile(t *testing.T) {
	revoked := identity.UnauthorizedError("token_revoked", nil)
	token := identity.Principal{ID: "token:1", TokenID: "1"}
	for _, tt := range []struct {
		name  string
		who   identity.Principal
		early time.Duration // when it is stopped
		err   error
		asked int
		cause error // after two seconds
	}{
		{"a good one", token, 0, nil, 4, nil},
		{"a revoked one", token, 0, revoked, 1, revoked},
		{"a store that fails", token, 0, errDisk, 4, nil},
		{"an operation that ends soon", token, 400 * time.Millisecond, revoked, 0, context.Canceled},
		{"one that ends later", token, 1200 * time.Millisecond, nil, 2, context.Canceled},
		{"another credential", identity.Principal{ID: "stdio"}, 0, revoked, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &today{err: tt.err}
				ctx, stop := identity.While(t.Context(), d, tt.who)
				if tt.early > 0 {
					time.Sleep(tt.early)
					stop()
				}
				time.Sleep(2*time.Second + 250*time.Millisecond - tt.early)
				synctest.Wait()
				if cause := context.Cause(ctx); !errors.Is(cause, tt.cause) || (cause == nil) != (tt.cause == nil) || d.asked != tt.asked {
					t.Errorf("asked %d times, want %d, ended by %v", d.asked, tt.asked, cause)
				}
				stop()
			})
		})
	}
	if ctx, stop := identity.While(t.Context(), nil, token); ctx != t.Context() {
		t.Error("nobody to ask")
	} else {
		stop()
	}
}

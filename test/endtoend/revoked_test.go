package endtoend

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// TestRevokedWhileRunning checks that a running call ends soon after its token was revoked through another handle of the
// store, as another process would; also the call of a sub-principal whose caller keeps its context from ending.
func TestRevokedWhileRunning(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "b.db"), t.Context()
	open := func() *identity.Tokens {
		s, err := sqlite.Open(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return identity.NewTokens(identity.TokenOptions{Store: s, Audit: s})
	}
	here, there := open(), open()
	log := &audit.Memory{}
	g := gateway(t, bailiwick.Options{Audit: log, Refresher: here})
	const patience = 20 * time.Second // it takes about a second on an idle machine
	for _, derived := range []bool{false, true} {
		token, _, err := here.Create(ctx, identity.Local("ops"), identity.Token{Name: "bot", Owner: "ana", Scopes: []identity.Scope{identity.Read}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := token.Principal()
		if err != nil {
			t.Fatal(err)
		}
		wait := func(ctx context.Context, _ *bailiwick.Call) (int, error) {
			if err := there.Revoke(context.WithoutCancel(ctx), identity.Local("ops"), token.ID); err != nil {
				return 0, err
			}
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(patience):
				t.Errorf("derived: %v: it went on", derived) // its error would be that of the call around it, whose context ended
				return 0, errors.New("it went on")
			}
		}
		ask := bailiwick.CallSpec{Tool: "slow", Needs: identity.Read, Timeout: time.Minute}
		run := wait
		if derived {
			run = func(ctx context.Context, c *bailiwick.Call) (int, error) {
				sub, err := c.Derive(identity.Derivation{Name: "child"})
				if err != nil {
					return 0, err
				}
				return 0, sub.Do(context.WithoutCancel(ctx), ask, wait)
			}
		}
		if err := g.Do(ctx, p, ask, run); problem.CodeOf(err) != problem.Unauthorized {
			t.Errorf("derived: %v: %v", derived, err)
		}
		var last audit.Record
		if err := log.Backwards(ctx, audit.Last, func(r audit.Record) bool { last = r; return false }); err != nil {
			t.Fatal(err)
		}
		if last.Kind != "token_revoked" || last.Outcome != audit.Refused {
			t.Errorf("recorded as %s, %s", last.Outcome, last.Kind)
		}
	}
}

package endtoend

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// TestRevokedWhileRunning revokes a token through another handle of the store, like another process. A running call
// of the token must end soon. The same holds for the call of a sub-principal even if its caller prevents the context
// from ending.
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
	const patience = 20 * time.Second // about a second on an idle machine
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
				t.Errorf("derived: %v: it went on", derived) // the returned error would be that of the outer call, whose context ended
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

// TestRevokedElsewhere revokes credentials through another handle of the store, like another process, and decides at
// once. A reviewer's decision must be refused, and an agent's proposal must not be applied. A credential that another
// process has just created must be accepted.
func TestRevokedElsewhere(t *testing.T) {
	ctx := t.Context()
	o := newOffice(t, nil)
	elsewhere, err := sqlite.Open(ctx, o.path)
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	there := identity.NewTokens(identity.TokenOptions{Store: elsewhere, Audit: elsewhere})
	ops := identity.Local("ops")
	revoke := func(p identity.Principal) {
		t.Helper()
		if _, err := o.tokens.Refresh(ctx, p); err != nil { // this process has cached it as valid
			t.Fatal(err)
		}
		if err := there.Revoke(ctx, ops, p.TokenID); err != nil {
			t.Fatal(err)
		}
	}
	wish := func(p identity.Principal, n int) (id, digest string) {
		t.Helper()
		s, err := o.propose(p, fmt.Sprintf(`{"op": "update", "class": "issues", "id": "1", "data": {"points": %d}}`, n))
		if err != nil {
			t.Fatal(err)
		}
		return s.ID, s.Digest
	}
	for name, decide := range map[string]func(r bailiwick.Reviewer, id, digest string) error{
		"approve": func(r bailiwick.Reviewer, id, digest string) error {
			_, err := r.Approve(ctx, id, digest, "")
			return err
		},
		"break glass": func(r bailiwick.Reviewer, id, digest string) error {
			_, err := r.BreakGlass(ctx, id, digest, "now")
			return err
		},
		"reject":  func(r bailiwick.Reviewer, id, _ string) error { _, err := r.Reject(ctx, id, "no"); return err },
		"ask":     func(r bailiwick.Reviewer, id, _ string) error { _, err := r.Ask(ctx, id, "other"); return err },
		"comment": func(r bailiwick.Reviewer, id, _ string) error { _, err := r.Comment(ctx, id, "hm"); return err },
		"view":    func(r bailiwick.Reviewer, id, digest string) error { _, err := r.View(ctx, id, digest, 0); return err },
		"revert":  func(r bailiwick.Reviewer, id, _ string) error { _, err := r.Revert(ctx, id, "back"); return err },
		"renew":   func(r bailiwick.Reviewer, id, _ string) error { _, err := r.Renew(ctx, id); return err },
	} {
		id, digest := wish(o.bot(), 1)
		ben := o.token(identity.Human, "ben", "acme", identity.Read, identity.Review)
		revoke(ben)
		if err := decide(o.gateway.Reviewer(ben, "visit"), id, digest); problem.CodeOf(err) != problem.Unauthorized {
			t.Errorf("%s: %v", name, err)
		}
	}

	bot := o.bot()
	id, digest := wish(bot, 2)
	revoke(bot)
	s, err := o.person("cleo").Approve(ctx, id, digest, "")
	if err == nil && s.State == change.Applied || o.holds("SELECT points FROM issues WHERE id = 1") != "" {
		t.Errorf("the change of a revoked agent is %v, %v; points %s", s.State, err, o.holds("SELECT points FROM issues WHERE id = 1"))
	}

	// Consent, and every other way to derive a credential from another.
	for name, decide := range map[string]func(p identity.Principal) error{
		"grant": func(p identity.Principal) error {
			_, err := o.tokens.Grant(ctx, p, identity.Granting{Client: "https://client.example", Name: "bot", Scopes: []identity.Scope{identity.Read}, Life: time.Hour})
			return err
		},
		"issue": func(p identity.Principal) error {
			_, _, err := o.tokens.Issue(ctx, p, identity.Ticket{Use: identity.Code, Expires: time.Now().Add(time.Minute)})
			return err
		},
	} {
		dora := o.token(identity.Human, "dora", "acme", identity.Read, identity.Write)
		revoke(dora)
		if err := decide(dora); problem.CodeOf(err) != problem.Unauthorized {
			t.Errorf("%s: %v", name, err)
		}
	}

	made, _, err := there.Create(ctx, ops, identity.Token{Name: "new", Owner: "ana", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Write}})
	if err != nil {
		t.Fatal(err)
	}
	young, err := made.Principal()
	if err != nil {
		t.Fatal(err)
	}
	id, digest = wish(young, 3)
	if s, err = o.person("cleo").Approve(ctx, id, digest, ""); err != nil || s.State != change.Applied {
		t.Errorf("the change of a credential of a moment ago: %v, %v", s, err)
	}
}

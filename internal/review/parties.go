package review

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// today returns the current principal of a party. With a nil refresher, it returns the recorded principal.
func today(ctx context.Context, refresher identity.PrincipalRefresher, p change.Party) (identity.Principal, error) {
	principal, err := identity.Thaw(p.Frozen)
	if err != nil || refresher == nil {
		return principal, err
	}
	return refresher.Refresh(ctx, principal)
}

// credentialError returns the refusal of a change if err reports an invalid credential. It returns other errors
// unchanged.
func credentialError(err error, detail string) error {
	if problem.CodeOf(err) != problem.Unauthorized {
		return err
	}
	return &problem.Error{Code: problem.PermissionDenied, Kind: problem.Of(err).Kind, Detail: detail}
}

// AgentOf returns the current principal of the agent that proposed c.
func AgentOf(ctx context.Context, refresher identity.PrincipalRefresher, c *change.Change) (identity.Principal, error) {
	p, err := today(ctx, refresher, c.Agent)
	if err != nil {
		return p, credentialError(err, "the credential of the agent is no longer good")
	}
	return p, nil
}

// CheckParties returns nil if everyone who approved c may still approve it.
func CheckParties(ctx context.Context, refresher identity.PrincipalRefresher, queue *change.Queue, c *change.Change) error {
	if c.Need == 0 {
		return nil // no approval was needed, so there is no reviewer to check
	}
	for _, d := range c.Decisions {
		if !d.Approve || d.Digest != c.Digest {
			continue
		}
		p, err := today(ctx, refresher, d.By)
		if err != nil {
			return credentialError(err, "the credential of "+d.By.Owner+", who approved, is no longer good")
		}
		err = queue.Eligible(p, c)
		if err != nil && !(d.Broken && problem.Of(err).Kind == "four_eyes") {
			return &problem.Error{Code: problem.PermissionDenied, Kind: "reviewer", Detail: d.By.Owner + ", who approved, may no longer do so"}
		}
	}
	return nil
}

package review

import (
	"context"
	"slices"

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

// CheckParties returns nil if everyone who approved c may still approve it, and they are still the reviewers that the
// rules require. queue has the rules in force.
func CheckParties(ctx context.Context, refresher identity.PrincipalRefresher, queue *change.Queue, c *change.Change) error {
	if c.Need == 0 {
		return nil // no approval was needed, so there is no reviewer to check
	}
	now, broken := *c, false // with the reviewers that the approvers are now
	now.Decisions = slices.Clone(c.Decisions)
	for i := range now.Decisions {
		d := &now.Decisions[i]
		if !d.Approve || d.Digest != c.Digest {
			continue
		}
		p, err := today(ctx, refresher, d.By)
		if err != nil {
			return credentialError(err, "the credential of "+d.By.Owner+", who approved, is no longer good")
		}
		broken = broken || d.Broken
		if err = queue.Eligible(p, c); err != nil && !(d.Broken && problem.Of(err).Kind == "four_eyes") {
			return reviewerError(d.By.Owner + ", who approved, may no longer do so")
		}
		if d.As, err = queue.Admits(p, c); err != nil && !d.Broken {
			return reviewerError(d.By.Owner + ", who approved, may no longer do so")
		}
	}
	if !broken && len(now.Missing()) > 0 {
		return reviewerError("those who approved may no longer do so")
	}
	return nil
}

func reviewerError(detail string) error {
	return &problem.Error{Code: problem.PermissionDenied, Kind: "reviewer", Detail: detail}
}

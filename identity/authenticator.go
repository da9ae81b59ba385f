package identity

import (
	"context"
	"net/netip"
	"strings"
)

// An Authenticator turns a credential into a principal. If the credential is unknown, expired, revoked or not allowed
// from remote, it returns a *problem.Error with code Unauthorized. Any other error is an internal failure.
type Authenticator interface {
	Authenticate(ctx context.Context, credential string, remote netip.Addr) (Principal, error)
}

// Forms selects an Authenticator by the form of the credential: Tokens for credentials that begin with TokenStart or
// AccessStart, JWT for all others. A nil Authenticator refuses every credential.
type Forms struct{ Tokens, JWT Authenticator }

// Authenticate implements Authenticator. A refused credential is never tried with the other Authenticator.
func (f Forms) Authenticate(ctx context.Context, credential string, remote netip.Addr) (Principal, error) {
	one := f.JWT
	if strings.HasPrefix(credential, TokenStart) || strings.HasPrefix(credential, AccessStart) {
		one = f.Tokens
	}
	switch {
	case credential == "":
		return Principal{}, UnauthorizedError("no_credential", nil)
	case one == nil:
		return Principal{}, UnauthorizedError("form_unknown", nil)
	}
	return one.Authenticate(ctx, credential, remote)
}

package identity

import (
	"context"
	"net/netip"
	"strings"
)

// An Authenticator turns a credential into a principal. A credential that is unknown, expired or revoked, or that
// may not be used from remote, is a *problem.Error with Unauthorized; any other error is a failure of ours.
type Authenticator interface {
	Authenticate(ctx context.Context, credential string, remote netip.Addr) (Principal, error)
}

// Forms tells credentials apart by their form and gives each to the one that knows it: tokens of ours to Tokens, and
// whatever doesn't begin as they do to JWT. Either may be nil, which knows nobody.
type Forms struct{ Tokens, JWT Authenticator }

// Authenticate implements Authenticator. A credential that one refuses is never tried with the other.
func (f Forms) Authenticate(ctx context.Context, credential string, remote netip.Addr) (Principal, error) {
	one := f.JWT
	if strings.HasPrefix(credential, TokenStart) {
		one = f.Tokens
	}
	switch {
	case credential == "":
		return Principal{}, Unauthorized("no_credential", nil)
	case one == nil:
		return Principal{}, Unauthorized("form_unknown", nil)
	}
	return one.Authenticate(ctx, credential, remote)
}

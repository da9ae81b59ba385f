package connect

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

const (
	askTimeout = 15 * time.Second
	margin     = 30 * time.Second // before a token expires, or a fifth of its lifetime if that is shorter
	patience   = 20 * time.Second // maximum time for a process to refresh before another one does
	pause      = 50 * time.Millisecond
)

// Apply implements client.Credential. It adds the access token of the person that p acts for.
func (a *Account) Apply(ctx context.Context, p identity.Principal, r *http.Request) error {
	token, err := a.Token(ctx, p)
	if err == nil {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return err
}

// Renew implements client.Renewer. It makes the next Apply refresh the token that r carries.
func (a *Account) Renew(p identity.Principal, r *http.Request) bool {
	k, err := a.key(p)
	if err != nil {
		return false
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused[k] = token
	return ok
}

// Secrets implements client.CredentialHolder.
func (a *Account) Secrets() []string { return []string{a.provider.Secret} }

// Whose returns the owner of the credential for the audit. See client.Whose.
func (a *Account) Whose(p identity.Principal) string { return "person " + p.Person() }

// Token returns an access token of the person that p acts for, refreshed if necessary. If there is no connection, or
// the provider has ended it, the error is problem.PermissionDenied with the URL at which the person connects.
func (a *Account) Token(ctx context.Context, p identity.Principal) (string, error) {
	k, err := a.key(p)
	if err != nil {
		return "", err
	}
	var busy int64 // a version that another process is refreshing, and when this was first seen
	var since time.Time
	for {
		row, err := a.all.o.Store.Connection(ctx, k)
		if err != nil {
			return "", storeError(err)
		}
		if row.Version == 0 || row.Ended {
			return "", a.connectFirst("not_connected")
		}
		t, err := a.all.open(row)
		if err != nil {
			a.all.log.Load().WarnContext(ctx, "a connection can't be opened. Its person has to connect again", "source", k.Source, "person", k.Person, "error", err)
			return "", a.connectFirst("connection_sealed")
		}
		if a.good(k, t) {
			return t.Access, nil
		}
		if t.Refresh == "" {
			return "", a.connectFirst("connection_expired")
		}
		// Another process may be refreshing the token. It has Patience to finish. Then its claim is taken over.
		if row.Busy && busy != row.Version {
			busy, since = row.Version, time.Now()
		}
		if row.Busy && time.Since(since) < a.all.o.Patience { // another process is refreshing it
			select {
			case <-time.After(pause):
				continue
			case <-ctx.Done():
				return "", unavailable("connection_wait", ctx.Err())
			}
		}
		// The claim makes only one process send the refresh request, because a refresh token may be valid only once.
		claimed := row
		claimed.Busy, claimed.Version = true, row.Version+1
		mine, err := a.all.o.Store.SwapConnection(ctx, row.Version, claimed)
		if err != nil {
			return "", storeError(err)
		}
		// The provider may have replaced the refresh token, so the new tokens are stored even if the caller has
		// disconnected.
		if mine {
			return a.refresh(context.WithoutCancel(ctx), claimed, t)
		}
	}
}

// good reports whether an access token is still usable.
func (a *Account) good(k Key, t tokens) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t.Access == "" || t.Access == a.refused[k] {
		return false
	}
	delete(a.refused, k)
	return t.Expires.IsZero() || a.all.o.Now().Before(t.Expires)
}

// refresh replaces the tokens of a row that this process has claimed, and returns the access token.
func (a *Account) refresh(ctx context.Context, row Row, t tokens) (string, error) {
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	fresh, asked := a.config("").TokenSource(a.with(asking), &oauth2.Token{RefreshToken: t.Refresh}).Token()
	next := row
	next.Busy, next.Version = false, row.Version+1
	switch {
	case asked == nil:
		sealed, err := a.all.seal(row.Key, a.tokensFrom(fresh, t.Since, t.Refresh))
		if err != nil {
			return "", storeError(err)
		}
		next.Sealed = sealed
	case isInvalidGrant(asked):
		next.Sealed = nil
	}
	keeping, stop := context.WithTimeout(ctx, askTimeout)
	defer stop()
	kept, err := a.all.o.Store.SwapConnection(keeping, row.Version, next)
	switch {
	case err != nil:
		return "", storeError(err)
	case isInvalidGrant(asked):
		return "", a.connectFirst("connection_revoked")
	case asked != nil:
		return "", tokenRequestError(asked)
	case !kept: // the person has connected again or been disconnected in the meantime, and that takes precedence
		return "", unavailable("connection_changed", nil)
	}
	return fresh.AccessToken, nil
}

// tokensFrom returns the tokens to store from t. If the provider sends no new refresh token, the previous one is
// kept.
func (a *Account) tokensFrom(t *oauth2.Token, since time.Time, before string) tokens {
	out := tokens{Access: t.AccessToken, Refresh: t.RefreshToken, Since: since}
	if out.Refresh == "" {
		out.Refresh = before
	}
	if !t.Expiry.IsZero() {
		life := time.Until(t.Expiry)
		out.Expires = a.all.o.Now().Add(life - min(margin, max(life/5, 0))).UTC()
	}
	return out
}

// isInvalidGrant reports whether err means that the provider has ended the connection.
func isInvalidGrant(err error) bool {
	e, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && e.ErrorCode == "invalid_grant"
}

// connectFirst returns the refusal for a person without a connection. Its text is the same for every reason.
func (a *Account) connectFirst(kind string) error {
	at := a.all.o.Page()
	return &problem.Error{Code: problem.PermissionDenied, Kind: kind, Detail: "the person you act for has not connected " + a.source + ": they connect it first, once, at " + at,
		Suggestion: "Ask them to open " + at + " and to connect " + a.source + ". Then make the call again"}
}

// tokenRequestError returns the error for a failed request to the token URL. It omits the response, which can repeat a secret.
func tokenRequestError(err error) error {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p
	}
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok && e.Response != nil {
		return unavailable("token_refused", problem.LoggableError("the token URL answered "+e.Response.Status))
	}
	return unavailable("token_unreachable", err)
}

func unavailable(kind string, err error) *problem.Error {
	return &problem.Error{Code: problem.Upstream, Detail: "the gateway can't sign in to the API for now", Kind: kind, Err: err,
		Suggestion: "Try again later. If the error stays, tell the owner of the gateway"}
}

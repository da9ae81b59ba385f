package oidc

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/value"
)

// endpoints caches a discovery document for as long as keys are fresh.
type endpoints struct {
	mu     sync.Mutex
	at     time.Time
	tried  time.Time // when the last fetch ended, by the system's clock
	failed error     // the error of the last fetch
	Endpoints
}

// Endpoints returns the issuer's endpoints for the sign-in of people. Each begins with https://, or is on this
// machine. Calls that wait for a fetch share its result, even a failure. So no call waits for more than two fetches,
// regardless of the number of calls.
func (i *Issuer) Endpoints(ctx context.Context) (Endpoints, error) {
	e, begun := &i.endpoints, time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	now := i.now()
	if now.Before(e.at.Add(i.keys.fresh)) {
		return e.Endpoints, nil
	}
	if begun.Before(e.tried) && e.failed != nil {
		return Endpoints{}, e.failed
	}
	// Other visitors also wait for this fetch.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	found, err := i.keys.from.discover(ctx)
	if err == nil {
		err = found.check()
	}
	e.tried, e.failed = time.Now(), err
	if err != nil {
		return Endpoints{}, err
	}
	e.at, e.Endpoints = now, found
	return found, nil
}

// check returns an error if an endpoint can't be trusted although people or credentials are sent to it.
func (e *Endpoints) check() error {
	for name, address := range map[string]string{"authorization_endpoint": e.Authorization, "token_endpoint": e.Token,
		"userinfo_endpoint": e.UserInfo, "end_session_endpoint": e.EndSession} {
		if optional := name == "userinfo_endpoint" || name == "end_session_endpoint"; optional && address == "" {
			continue
		}
		address, _, _ = strings.Cut(address, "?") // an endpoint may have a query
		if err := CheckURL(address); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// Expect contains the values that an ID token must match.
type Expect struct {
	ClientID string
	Nonce    string
	Access   string // the access token that the provider sent with the ID token
}

// A Proof describes how a person proved their identity to the issuer.
type Proof struct {
	At    time.Time // time of the proof, or zero if the issuer doesn't give it
	Level string    // the claim acr
}

// SignedIn returns the person of an ID token. Claims that are missing in the token come from the issuer's user-info
// endpoint.
func (i *Issuer) SignedIn(ctx context.Context, text string, want Expect) (identity.Principal, Proof, error) {
	refuse := func(kind string, err error) (identity.Principal, Proof, error) {
		return identity.Principal{}, Proof{}, identity.UnauthorizedError("id_token_"+kind, err)
	}
	t, kind := i.parse(text)
	if kind == "" {
		kind = i.check(t)
	}
	if kind == "" {
		kind = i.verify(ctx, t)
	}
	if kind == "" {
		kind = want.mismatch(t)
	}
	if kind != "" {
		return refuse(kind, nil)
	}
	// Claims from the user-info endpoint are only added to those of the token, and only for the same subject (OpenID
	// Connect Core, 5.3.2).
	more, err := i.userInfo(ctx, want.Access)
	if err != nil {
		return refuse("user_info", err)
	}
	claims := t.claims
	if more.Kind() == value.Object {
		if textOf(more, "sub") != textOf(claims, "sub") {
			return refuse("user_info_sub", nil)
		}
		members := claims.Members()
		for _, m := range more.Members() {
			if _, there := claims.Get(m.Name); !there {
				members = append(members, m)
			}
		}
		claims = value.OfObject(members)
	}
	if strings.TrimPrefix(i.claims.Owner, "/") == "email" && !isVerifiedAddress(textOf(claims, "email"), t.claims, more) {
		return refuse("email_not_verified", nil) // at some providers, a person can claim any address
	}
	p, kind := i.claims.principal(claims)
	if kind != "" {
		return refuse(kind, nil)
	}
	// This is when the person proved their identity. A time in the future counts as missing.
	at, ok := instant(t.claims, "auth_time")
	if !ok || at.After(i.now().Add(Skew)) {
		return refuse("auth_time", nil)
	}
	return p, Proof{at, textOf(t.claims, "acr")}, nil
}

// isVerifiedAddress reports whether an address is verified. The first claims that contain email_verified decide, in
// the order ID token, user info. Its value must be true, and the same claims must contain the address.
func isVerifiedAddress(address string, of ...value.Value) bool {
	for _, claims := range of {
		if v, said := claims.Get("email_verified"); said {
			return v.Kind() == value.Bool && v.Bool() && textOf(claims, "email") == address
		}
	}
	return false
}

// mismatch returns the reason why t is not the expected ID token, or "".
func (e Expect) mismatch(t *token) string {
	aud, _ := t.claims.Get("aud")
	party, named := t.claims.Get("azp")
	hash, hashed := t.claims.Get("at_hash")
	switch {
	case e.Nonce == "" || textOf(t.claims, "nonce") != e.Nonce:
		return "nonce"
	case named && (party.Kind() != value.String || party.Text() != e.ClientID), !named && len(aud.List()) > 1:
		return "authorized_party"
	case hashed && (hash.Kind() != value.String || hash.Text() != halfHash(string(t.alg), e.Access)):
		return "access_token"
	}
	return ""
}

// halfHash returns the value of at_hash for an access token. The signature algorithm determines the hash.
func halfHash(alg, access string) string {
	sum := []byte{}
	switch {
	case strings.HasSuffix(alg, "256"):
		s := sha256.Sum256([]byte(access))
		sum = s[:]
	case strings.HasSuffix(alg, "384"):
		s := sha512.Sum384([]byte(access))
		sum = s[:]
	case strings.HasSuffix(alg, "512"), alg == "EdDSA":
		s := sha512.Sum512([]byte(access))
		sum = s[:]
	}
	return base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2])
}

// userInfo returns the claims that the issuer's user-info endpoint has about the person of an access token. It
// returns null if there is no endpoint.
func (i *Issuer) userInfo(ctx context.Context, access string) (value.Value, error) {
	e, err := i.Endpoints(ctx)
	if err != nil || e.UserInfo == "" || access == "" {
		return value.Value{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, e.UserInfo, nil)
	if err != nil {
		return value.Value{}, err
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Authorization", "Bearer "+access)
	resp, err := i.keys.from.client.Do(r)
	if err != nil {
		return value.Value{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return value.Value{}, fmt.Errorf("%s: %s, %s", e.UserInfo, resp.Status, resp.Header.Get("Content-Type"))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxToken+1))
	if err != nil || len(body) > maxToken {
		return value.Value{}, fmt.Errorf("%s: not read, or more than %d bytes: %w", e.UserInfo, maxToken, err)
	}
	return value.Read(body, 0)
}

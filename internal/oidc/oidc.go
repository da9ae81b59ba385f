// Package oidc authenticates agents and people with an OpenID Connect or OAuth issuer.
//
//	JSON Web Token ─Issuer.Authenticate→ claims ─Mapping→ identity.Principal
//	browser ─Provider: authorization code, PKCE→ ID token ─Issuer.SignedIn→ identity.Principal, Proof
//
// An Issuer accepts only asymmetric algorithms, keys from the issuer's own address, and tokens for the configured
// audience. A Mapping written by the operator turns claims into a Principal. Other claims have no effect. Tokens are
// never forwarded. All refusals look the same to the caller.
//
// A Provider signs people in to the console. It uses a state that only the person's browser has, a nonce, and the
// issuer's name in the answer. Package golang.org/x/oauth2 sends the requests to the provider. The Issuer verifies
// the ID token in the same way as agents' tokens. The provider's tokens and secrets are not stored.
//
// Package authserver is for the reverse case, in which this server is the issuer.
package oidc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/bailiwick-dev/bailiwick/identity"
)

// Skew is the tolerated difference between the issuer's clock and the local clock.
const Skew = time.Minute

// maxToken is the maximum length of an accepted token, in bytes.
const maxToken = 16 << 10

// Options configure an Issuer. Issuer and Audience are required. Other fields have useful zero values.
type Options struct {
	Issuer     string   // the issuer in the claim iss, with https, or http on a loopback address
	Audience   []string // the accepted audiences of a token
	JWKS       string   // the address of the issuer's keys. "" means that the discovery document has it
	Algorithms []string // a subset of Algorithms(), or nil for all
	Claims     Mapping

	Fresh time.Duration // how long keys are used before they are fetched again. 0 means an hour
	Stale time.Duration // how long keys are used if the issuer can't be reached. 0 means a day
	Pause time.Duration // minimum time between two fetches. 0 means 10 s
	// Failed is called with the error of each failed fetch. May be nil.
	Failed func(error)
	Client *http.Client     // nil means a client that follows no redirects and times out after 10 s
	Now    func() time.Time // nil means time.Now
}

// Algorithms returns the names of the supported signature algorithms. All of them use a public key, so the key that
// signs tokens is not needed to verify them.
func Algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

// An Issuer authenticates the tokens of one issuer. It is safe for concurrent use.
type Issuer struct {
	issuer     string
	audience   []string
	algorithms []jose.SignatureAlgorithm
	claims     Mapping
	keys       *keys
	now        func() time.Time
	endpoints  endpoints
}

// New checks o and returns an Issuer. It doesn't contact the issuer.
func New(o Options) (*Issuer, error) {
	i := &Issuer{issuer: o.Issuer, audience: slices.Clone(o.Audience), claims: o.Claims, now: o.Now}
	if i.now == nil {
		i.now = time.Now
	}
	var errs []error
	for name, address := range map[string]string{"issuer": o.Issuer, "jwks_uri": cmp.Or(o.JWKS, o.Issuer)} {
		if err := CheckURL(address); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	if len(o.Audience) == 0 || slices.Contains(o.Audience, "") {
		errs = append(errs, errors.New("audience: name at least one, or tokens for any other program would be good here"))
	}
	algorithms := o.Algorithms
	if algorithms == nil {
		algorithms = Algorithms()
	}
	for _, a := range algorithms {
		if !slices.Contains(Algorithms(), a) {
			errs = append(errs, fmt.Errorf("algorithms: %q is none of %s", a, strings.Join(Algorithms(), ", ")))
		}
		i.algorithms = append(i.algorithms, jose.SignatureAlgorithm(a))
	}
	client := o.Client
	if client == nil {
		client = &http.Client{Timeout: fetchTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	i.keys = &keys{
		from: source{client: client, issuer: o.Issuer, jwks: o.JWKS}, now: i.now, failed: o.Failed,
		fresh: cmp.Or(o.Fresh, time.Hour), stale: cmp.Or(o.Stale, 24*time.Hour), pause: cmp.Or(o.Pause, 10*time.Second),
	}
	return i, errors.Join(errs...)
}

// CheckURL returns an error if address isn't valid for an issuer or its keys. http is allowed only for loopback
// addresses, because an attacker in a network could replace the keys.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("must be a URL such as https://login.example.com/, without user, query and fragment")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return errors.New("must begin with https://. Only an address of this machine may begin with http://")
	}
	return nil
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Authenticate implements identity.Authenticator. Every refusal is Unauthorized, even if the issuer's keys are not
// available.
func (i *Issuer) Authenticate(ctx context.Context, credential string, _ netip.Addr) (identity.Principal, error) {
	t, kind := i.parse(credential)
	if kind == "" {
		kind = i.check(t)
	}
	if kind == "" {
		kind = i.verify(ctx, t)
	}
	if kind != "" {
		return identity.Principal{}, identity.UnauthorizedError("jwt_"+kind, nil)
	}
	p, kind := i.claims.principal(t.claims)
	if kind != "" {
		return identity.Principal{}, identity.UnauthorizedError("jwt_"+kind, nil)
	}
	p.Expires, _ = instant(t.claims, "exp")
	return p, nil
}

// Close cancels a fetch in progress.
func (i *Issuer) Close() { i.keys.close() }

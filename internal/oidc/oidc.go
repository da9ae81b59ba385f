// Package oidc recognises the JSON Web Tokens of an OpenID Connect or OAuth issuer: a token becomes a Principal.
//
// It is part of the first step of the way, beside tokens of our own. It believes an issuer's signature and nothing
// else: asymmetric algorithms alone, keys from the issuer's own address alone, tokens for this audience alone. What a
// token says becomes a Principal by a mapping that the operator writes; what the mapping doesn't name has no effect. A
// token stops here: it is never sent on. Whatever is wrong is one and the same refusal.
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

// Skew is how far the issuer's clock may be from ours.
const Skew = time.Minute

// maxToken is the longest token that is looked at, in bytes.
const maxToken = 16 << 10

// Options say whose tokens are good and what they mean. Issuer and Audience are needed; the zero of each other field
// is good.
type Options struct {
	Issuer     string   // as tokens name it in iss; https, or http on a loopback address
	Audience   []string // a token must be for one of these
	JWKS       string   // where the issuer's keys are; "" asks the issuer's discovery document
	Algorithms []string // out of Algorithms(); nil takes all of them
	Claims     Mapping

	Fresh time.Duration // how long keys are good before they are fetched again; 0 takes an hour
	Stale time.Duration // how long keys are good when the issuer can't be reached; 0 takes a day
	Pause time.Duration // least time between two fetches; 0 takes 10 s
	// Failed is told, once for each fetch, why the issuer's keys could not be had; nil tells nobody.
	Failed func(error)
	Client *http.Client     // nil takes one that follows no redirects and waits for 10 s
	Now    func() time.Time // nil takes time.Now
}

// Algorithms returns the names of the algorithms that a token may be signed with: all have a public key, so that who
// can check a token can't make one.
func Algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

// An Issuer recognises the tokens of one issuer. It is safe for use by several goroutines.
type Issuer struct {
	issuer     string
	audience   []string
	algorithms []jose.SignatureAlgorithm
	claims     Mapping
	keys       *keys
	now        func() time.Time
}

// New checks o and returns an Issuer. It fetches nothing: the issuer need not be there yet.
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

// CheckURL returns what is wrong with the address of an issuer or of its keys; nil when nothing. Only on this machine
// may it be http: over a network, whoever sits between could put in keys of their own.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("must be a URL such as https://login.example.com/, without user, query and fragment")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return errors.New("must begin with https://; http is for an address of this machine alone")
	}
	return nil
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Authenticate implements identity.Authenticator. Every refusal is Unauthorized, also when the issuer's keys can't be
// had: who can't be recognised is not let in.
func (i *Issuer) Authenticate(ctx context.Context, credential string, _ netip.Addr) (identity.Principal, error) {
	t, kind := i.parse(credential)
	if kind == "" {
		kind = i.check(t)
	}
	if kind == "" {
		kind = i.verify(ctx, t)
	}
	if kind != "" {
		return identity.Principal{}, identity.Unauthorized("jwt_"+kind, nil)
	}
	p, kind := i.claims.principal(t.claims)
	if kind != "" {
		return identity.Principal{}, identity.Unauthorized("jwt_"+kind, nil)
	}
	return p, nil
}

// Close ends a fetch that is under way.
func (i *Issuer) Close() { i.keys.close() }

package oidc

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/bailiwick-dev/bailiwick/identity"
)

// SignInOptions configure a Provider. ClientID is required.
type SignInOptions struct {
	ClientID string
	Secret   string   // "" for a public client
	Name     string   // the name on the sign-in page. "" means the issuer's host
	Scopes   []string // scopes in addition to openid. Nil means profile and email
	Claims   Mapping
	Levels   []string      // the values of acr that are sufficient to break the glass, or nil for any
	Timeout  time.Duration // for one request to the provider. 0 means 10 s
}

// A Provider signs people in.
type Provider struct {
	options SignInOptions
	issuer  *Issuer
	address string
	client  *http.Client
}

// NewProvider returns a Provider for the issuer with options from. The audience of its tokens is the client.
func NewProvider(o SignInOptions, from Options) (*Provider, error) {
	if o.ClientID == "" {
		return nil, errors.New("sign_in: client_id is missing")
	}
	o.Claims.Default = identity.Human
	o.Claims.Owner = cmp.Or(o.Claims.Owner, "email")
	o.Claims.Filters = from.Claims.Filters
	from.Audience, from.Claims = []string{o.ClientID}, o.Claims
	client := &http.Client{Timeout: cmp.Or(o.Timeout, 10*time.Second), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	issuer, err := New(from)
	return &Provider{o, issuer, from.Issuer, client}, err
}

// Close cancels a fetch in progress.
func (p *Provider) Close() { p.issuer.Close() }

// Name implements console.Issuer.
func (p *Provider) Name() string {
	if u, err := url.Parse(p.address); err == nil {
		return cmp.Or(p.options.Name, u.Host)
	}
	return p.options.Name
}

// kept contains the values that the answer must match.
type kept struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	Again    bool   `json:"a,omitempty"`
	Began    int64  `json:"b"` // Unix seconds
}

func (p *Provider) config(e Endpoints, back string) *oauth2.Config {
	scopes := p.options.Scopes
	if scopes == nil {
		scopes = []string{"profile", "email"}
	}
	return &oauth2.Config{ClientID: p.options.ClientID, ClientSecret: p.options.Secret, RedirectURL: back, Scopes: append([]string{"openid"}, scopes...),
		Endpoint: oauth2.Endpoint{AuthURL: e.Authorization, TokenURL: e.Token, AuthStyle: authStyle(p.options.Secret, e.Methods)}}
}

// authStyle returns how the client authenticates. Both methods are supported, and HTTP Basic is used unless the
// provider offers only the other.
func authStyle(secret string, methods []string) oauth2.AuthStyle {
	if secret == "" || slices.Contains(methods, "client_secret_post") && !slices.Contains(methods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// Begin implements console.Issuer.
func (p *Provider) Begin(ctx context.Context, back string, again bool) (to, keep string, err error) {
	e, err := p.issuer.Endpoints(ctx)
	if err != nil {
		return "", "", err
	}
	k := kept{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Again: again, Began: time.Now().Unix()}
	extra := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(k.Verifier), oauth2.SetAuthURLParam("nonce", k.Nonce)}
	if again {
		extra = append(extra, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
		if p.options.Levels != nil {
			extra = append(extra, oauth2.SetAuthURLParam("acr_values", strings.Join(p.options.Levels, " ")))
		}
	}
	text, err := json.Marshal(k)
	return p.config(e, back).AuthCodeURL(k.State, extra...), string(text), err
}

// Finish implements console.Issuer.
func (p *Provider) Finish(ctx context.Context, back, keep string, answer url.Values) (identity.Principal, error) {
	refuse := func(kind string, err error) (identity.Principal, error) {
		return identity.Principal{}, identity.UnauthorizedError("sign_in_"+kind, err)
	}
	var k kept
	if json.Unmarshal([]byte(keep), &k) != nil || k.State == "" || k.Verifier == "" || k.Nonce == "" {
		return refuse("not_begun", nil)
	}
	for name, values := range answer {
		if len(values) > 1 {
			return refuse("ambiguous", errors.New(name))
		}
	}
	// The state is compared first. Without the right state, the answer doesn't belong to a sign-in of this browser.
	e, err := p.issuer.Endpoints(ctx)
	switch {
	case subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(k.State)) != 1:
		return refuse("state", nil)
	case err != nil:
		return refuse("unavailable", err)
	case answer.Has("iss") && answer.Get("iss") != p.address, !answer.Has("iss") && e.NamesItself:
		return refuse("issuer", nil) // an answer from another issuer (RFC 9207)
	case answer.Has("error"):
		return refuse("denied", errors.New(answer.Get("error")))
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, p.client)
	token, err := p.config(e, back).Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(k.Verifier))
	if err != nil {
		return refuse("code", err)
	}
	// The ID token contains the nonce of this sign-in, so a token from another sign-in can't replace it.
	text, _ := token.Extra("id_token").(string)
	person, proof, err := p.issuer.SignedIn(ctx, text, Expect{ClientID: p.options.ClientID, Nonce: k.Nonce, Access: token.AccessToken})
	if err != nil {
		return identity.Principal{}, err
	}
	if person.Kind != identity.Human {
		return refuse("no_person", nil)
	}
	person.Proven = proof.At // zero if the provider doesn't give a time, which counts as long ago
	if k.Again && proof.At.Before(time.Unix(k.Began, 0).Add(-Skew)) {
		return refuse("not_proved_again", nil) // the provider ignored prompt=login and max_age=0
	}
	if p.options.Levels != nil && !slices.Contains(p.options.Levels, proof.Level) {
		if k.Again {
			return refuse("level", errors.New(proof.Level))
		}
		person.Proven = time.Time{} // sufficient for everything except breaking the glass
	}
	return person, nil
}

// SignOut implements console.Issuer. It uses RP-initiated logout, if the provider supports it.
func (p *Provider) SignOut(ctx context.Context, back string) string {
	e, err := p.issuer.Endpoints(ctx)
	u, parsed := url.Parse(e.EndSession)
	if err != nil || parsed != nil || e.EndSession == "" {
		return ""
	}
	q := u.Query()
	q.Set("client_id", p.options.ClientID)
	q.Set("post_logout_redirect_uri", back)
	u.RawQuery = q.Encode()
	return u.String()
}

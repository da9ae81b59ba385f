package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	fetchTimeout = 10 * time.Second // for discovery and keys together
	maxDocument  = 1 << 20          // maximum bytes of each document
	maxKeys      = 100
	minRSA       = 2048 // minimum bits of an RSA key
)

// A source is the location of an issuer's keys.
type source struct {
	client       *http.Client
	issuer, jwks string // jwks is "" if the issuer's discovery document has the address
}

// errAbsent means that no document exists at an address.
var errAbsent = errors.New("404 Not Found")

// fetch returns the issuer's signing keys.
func (s source) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	address := s.jwks
	if address == "" {
		document, err := s.discover(ctx)
		if err != nil {
			return nil, err
		}
		address = document.JWKS
	}
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := s.get(ctx, address, &document); err != nil {
		return nil, err
	}
	if len(document.Keys) > maxKeys {
		return nil, fmt.Errorf("%s: %d keys, want at most %d", address, len(document.Keys), maxKeys)
	}
	var set []jose.JSONWebKey
	for _, raw := range document.Keys {
		var key jose.JSONWebKey
		// Keys of unknown types are skipped.
		if json.Unmarshal(raw, &key) == nil && key.Valid() && key.IsPublic() && (key.Use == "" || key.Use == "sig") {
			set = append(set, key)
		}
	}
	if set == nil {
		return nil, fmt.Errorf("%s: no key that a token could be signed with", address)
	}
	return set, nil
}

// Endpoints are the parts of an issuer's discovery document.
type Endpoints struct {
	Issuer        string   `json:"issuer"`
	JWKS          string   `json:"jwks_uri"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	UserInfo      string   `json:"userinfo_endpoint"`    // may be ""
	EndSession    string   `json:"end_session_endpoint"` // may be ""
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
	NamesItself   bool     `json:"authorization_response_iss_parameter_supported"`
}

// discover returns an issuer's OpenID Connect discovery document or, if there is none, its RFC 8414 metadata.
func (s source) discover(ctx context.Context) (document Endpoints, err error) {
	address := strings.TrimSuffix(s.issuer, "/") + "/.well-known/openid-configuration"
	err = s.get(ctx, address, &document)
	if errors.Is(err, errAbsent) {
		u, parsed := url.Parse(s.issuer)
		if parsed != nil {
			return document, parsed
		}
		u.Path = "/.well-known/oauth-authorization-server" + strings.TrimSuffix(u.Path, "/")
		address = u.String()
		err = s.get(ctx, address, &document)
	}
	if err != nil {
		return document, err
	}
	if document.Issuer != s.issuer {
		return document, fmt.Errorf("%s: the issuer calls itself %q, not %q", address, document.Issuer, s.issuer)
	}
	if err := CheckURL(document.JWKS); err != nil {
		return document, fmt.Errorf("%s: jwks_uri: %w", address, err)
	}
	return document, nil
}

// get reads the JSON document at an address.
func (s source) get(ctx context.Context, address string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	resp, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return fmt.Errorf("%s: %w", address, errAbsent)
	default:
		return fmt.Errorf("%s: %s", address, resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	if len(body) > maxDocument {
		return fmt.Errorf("%s: more than %d bytes", address, maxDocument)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}

// fits reports whether key can verify signatures made with alg.
func fits(key jose.JSONWebKey, alg jose.SignatureAlgorithm) bool {
	if key.Algorithm != "" && key.Algorithm != string(alg) {
		return false
	}
	switch k := key.Key.(type) {
	case *rsa.PublicKey:
		return (strings.HasPrefix(string(alg), "RS") || strings.HasPrefix(string(alg), "PS")) && k.N.BitLen() >= minRSA
	case *ecdsa.PublicKey:
		return map[jose.SignatureAlgorithm]int{jose.ES256: 256, jose.ES384: 384, jose.ES512: 521}[alg] == k.Curve.Params().BitSize
	case ed25519.PublicKey:
		return alg == jose.EdDSA
	}
	return false
}

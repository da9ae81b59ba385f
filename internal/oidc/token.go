package oidc

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/bailiwick-dev/bailiwick/value"
)

// A token is a parsed token whose signature has not been verified.
type token struct {
	signed *jose.JSONWebSignature
	alg    jose.SignatureAlgorithm
	kid    string // "" if the token names no key
	claims value.Value
}

// parse parses a token, or returns the kind of the refusal. It first reads header and claims with value.Read. This
// rejects JSON that parsers interpret differently, such as a duplicate claim.
func (i *Issuer) parse(credential string) (*token, string) {
	if len(credential) > maxToken {
		return nil, "too_long"
	}
	parts := strings.Split(credential, ".")
	if len(parts) != 3 {
		return nil, "malformed" // including encrypted tokens, which have five parts
	}
	header, okHeader := object(parts[0])
	claims, okClaims := object(parts[1])
	if _, ok := bytesOf(parts[2]); !ok || !okHeader || !okClaims {
		return nil, "malformed"
	}
	t := &token{claims: claims, alg: jose.SignatureAlgorithm(textOf(header, "alg"))}
	typ := strings.TrimPrefix(strings.ToLower(textOf(header, "typ")), "application/")
	_, critical := header.Get("crit")
	_, unencoded := header.Get("b64")
	kid, named := header.Get("kid")
	switch {
	case !slices.Contains(i.algorithms, t.alg):
		return nil, "algorithm"
	case critical || unencoded:
		return nil, "critical"
	case textOf(header, "cty") != "":
		return nil, "nested"
	case typ != "" && typ != "jwt" && typ != "at+jwt":
		return nil, "type" // for example a logout token, which doesn't authenticate anyone
	case named && (kid.Kind() != value.String || kid.Text() == "" || len(kid.Text()) > 256):
		return nil, "malformed"
	}
	t.kid = kid.Text()
	var err error
	if t.signed, err = jose.ParseSignedCompact(credential, i.algorithms); err != nil {
		return nil, "malformed"
	}
	return t, ""
}

// bytesOf decodes a part of a token, which must be base64url in canonical form.
func bytesOf(text string) ([]byte, bool) {
	b, _ := base64.RawURLEncoding.DecodeString(text) // a text that can't be decoded also fails the comparison below
	return b, base64.RawURLEncoding.EncodeToString(b) == text
}

// object decodes a part of a token that is a JSON object.
func object(text string) (value.Value, bool) {
	b, ok := bytesOf(text)
	if !ok {
		return value.Value{}, false
	}
	v, err := value.Read(b, 0)
	return v, err == nil && v.Kind() == value.Object
}

// textOf returns the string member of o called name, or "" if there is none.
func textOf(o value.Value, name string) string {
	if v, _ := o.Get(name); v.Kind() == value.String {
		return v.Text()
	}
	return ""
}

// check returns the kind of the refusal for a token with another issuer or audience, or outside its validity period.
// It returns "" for a valid token.
func (i *Issuer) check(t *token) string {
	now := i.now()
	expires, _ := instant(t.claims, "exp") // also zero if the claim is not a time
	from, okFrom := instant(t.claims, "nbf")
	issued, okIssued := instant(t.claims, "iat")
	switch {
	case textOf(t.claims, "iss") != i.issuer:
		return "issuer"
	case !i.audienceOf(t.claims):
		return "audience"
	case expires.IsZero() || !okFrom || !okIssued:
		return "times"
	case !now.Before(expires.Add(Skew)):
		return "expired"
	case now.Add(Skew).Before(from), now.Add(Skew).Before(issued):
		return "not_yet"
	}
	return ""
}

// instant returns the time in a claim, or zero if the claim is missing. It also reports whether the claim is valid.
func instant(claims value.Value, name string) (time.Time, bool) {
	const last = 1 << 40 // far below the overflow of times
	v, there := claims.Get(name)
	if !there {
		return time.Time{}, true
	}
	f, _ := v.AsFloat() // 0 if the claim is not a number
	if !(f > 0 && f < last) {
		return time.Time{}, false
	}
	return time.Unix(int64(f), 0), true
}

// audienceOf reports whether a token is for an accepted audience.
func (i *Issuer) audienceOf(claims value.Value) bool {
	aud, _ := claims.Get("aud")
	if aud.Kind() == value.String {
		return slices.Contains(i.audience, aud.Text())
	}
	return slices.ContainsFunc(aud.List(), func(v value.Value) bool {
		return v.Kind() == value.String && slices.Contains(i.audience, v.Text())
	})
}

// verify returns the kind of the refusal for a token without a valid signature of the issuer. It returns "" for a
// valid signature.
func (i *Issuer) verify(ctx context.Context, t *token) string {
	found, kind := i.keys.find(ctx, t.kid, t.alg)
	if kind != "" {
		return kind
	}
	for _, key := range found {
		if _, err := t.signed.Verify(key.Key); err == nil {
			return ""
		}
	}
	return "signature"
}

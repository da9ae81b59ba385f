package oidc_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/bailiwick-dev/bailiwick/internal/oidc"
)

var noon = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)

// A pair is a key of an issuer with its private half.
type pair struct {
	alg     jose.SignatureAlgorithm
	private crypto.Signer
}

// pairs returns keys that are generated only once, because RSA keys take time.
var pairs = sync.OnceValue(func() map[string]pair {
	must := func(k crypto.Signer, err error) crypto.Signer {
		if err != nil {
			panic(err)
		}
		return k
	}
	rsa1, rsa2 := must(rsa.GenerateKey(rand.Reader, 2048)), must(rsa.GenerateKey(rand.Reader, 2048))
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	return map[string]pair{
		"rsa": {jose.RS256, rsa1}, "rsa2": {jose.RS256, rsa2}, "ps": {jose.PS512, rsa1},
		"p256": {jose.ES256, must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))},
		"p384": {jose.ES384, must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))},
		"p521": {jose.ES512, must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader))},
		"ed":   {jose.EdDSA, must(ed, err)},
	}
})

// An issuer is a real issuer over HTTP, whose keys can change.
type issuer struct {
	*httptest.Server
	t       testing.TB
	now     atomic.Int64 // the gateway's time in Unix seconds
	fetches atomic.Int64 // number of fetches of the keys
	down    atomic.Bool
	slow    atomic.Int64 // delay of each response in nanoseconds
	keys    atomic.Pointer[string]
	broken  chan error // errors reported to the gateway
	asked   atomic.Int64
	says    atomic.Pointer[map[string]any] // edits of the discovery document
	info    atomic.Pointer[http.HandlerFunc]
}

func newIssuer(t testing.TB, kids ...string) *issuer {
	i := &issuer{t: t, broken: make(chan error, 1000)}
	i.now.Store(noon.Unix())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.asked.Add(1)
		document := map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token"}
		if edits := i.says.Load(); edits != nil {
			maps.Copy(document, *edits)
		}
		json.NewEncoder(w).Encode(document)
	})
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, r *http.Request) { (*i.info.Load())(w, r) })
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		i.fetches.Add(1)
		w.Write([]byte(*i.keys.Load()))
	})
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(i.slow.Load()))
		if i.down.Load() {
			http.Error(w, "out of order", http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(i.Close)
	i.publish(kids...)
	return i
}

// publish replaces the issuer's keys. Each key is given by its key id.
func (i *issuer) publish(kids ...string) {
	var set jose.JSONWebKeySet
	for _, kid := range kids {
		p := pairs()[kid]
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: p.private.Public(), KeyID: kid, Use: "sig", Algorithm: string(p.alg)})
	}
	b, err := json.Marshal(set)
	if err != nil {
		i.t.Fatal(err)
	}
	text := string(b)
	i.keys.Store(&text)
}

// more publishes additional keys.
func (i *issuer) more(keys ...jose.JSONWebKey) {
	var set jose.JSONWebKeySet
	if err := json.Unmarshal([]byte(*i.keys.Load()), &set); err != nil {
		i.t.Fatal(err)
	}
	text := mustJSON(jose.JSONWebKeySet{Keys: append(set.Keys, keys...)})
	i.keys.Store(&text)
}

// long returns a valid token with the given length in bytes.
func (i *issuer) long(length int) string {
	i.t.Helper()
	encoded := base64.RawURLEncoding.EncodedLen
	for _, header := range []map[string]any{{"kid": "ed"}, {"kid": "ed", "pad": ""}, {"kid": "ed", "pad": "x"}} {
		empty, payload := len(i.signed("ed", header, i.good(claims{"pad": ""}))), len(mustJSON(i.good(claims{"pad": ""})))
		for n := range length {
			if empty-encoded(payload)+encoded(payload+n) == length {
				return i.signed("ed", header, i.good(claims{"pad": strings.Repeat("x", n)}))
			}
		}
	}
	i.t.Fatalf("no token has %d bytes", length)
	return ""
}

func (i *issuer) after(d time.Duration) { i.now.Add(int64(d / time.Second)) }

// open returns the gateway's Issuer, with o in addition to the defaults.
func (i *issuer) open(o oidc.Options) *oidc.Issuer {
	i.t.Helper()
	o.Issuer, o.Audience = i.URL, []string{"https://agents.example/mcp"}
	o.Now = func() time.Time { return time.Unix(i.now.Load(), 0) }
	o.Failed = func(err error) { i.broken <- err }
	door, err := oidc.New(o)
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(door.Close)
	return door
}

type claims map[string]any

// good returns the claims of a token that is valid for an hour, with edits. A nil value removes a claim.
func (i *issuer) good(edits claims) claims {
	at := noon.Unix()
	c := claims{"iss": i.URL, "aud": "https://agents.example/mcp", "sub": "ana", "exp": at + 3600, "nbf": at, "iat": at, "scope": "read"}
	for k, v := range edits {
		if c[k] = v; v == nil {
			delete(c, k)
		}
	}
	return c
}

// sign returns a token signed with the key called kid.
func (i *issuer) sign(kid string, c claims) string {
	i.t.Helper()
	return i.signed(kid, map[string]any{"kid": kid, "typ": "JWT"}, c)
}

// signed returns a token with the given header. The default for alg is that of the key.
func (i *issuer) signed(key string, header map[string]any, c any) string {
	i.t.Helper()
	p := pairs()[key]
	payload, err := json.Marshal(c)
	if raw, ok := c.(string); ok {
		payload = []byte(raw)
	}
	if err != nil {
		i.t.Fatal(err)
	}
	o := (&jose.SignerOptions{})
	for k, v := range header {
		o.WithHeader(jose.HeaderKey(k), v)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: p.alg, Key: p.private}, o)
	if err != nil {
		i.t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		i.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		i.t.Fatal(err)
	}
	return text
}

// raw returns a token from a header and a payload as text, with any bytes as the signature.
func raw(header, payload string, signature []byte) string {
	e := base64.RawURLEncoding.EncodeToString
	return strings.Join([]string{e([]byte(header)), e([]byte(payload)), e(signature)}, ".")
}

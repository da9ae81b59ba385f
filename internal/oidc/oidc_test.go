package oidc_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/oidc"
	"github.com/bailiwick-dev/bailiwick/problem"
)

var nowhere netip.Addr

// kindOf returns the kind of the refusal of a token, or "" if it is accepted.
func kindOf(t *testing.T, door *oidc.Issuer, token string) string {
	t.Helper()
	principal, err := door.Authenticate(t.Context(), token, nowhere)
	if err == nil {
		return ""
	}
	p := problem.Of(err)
	if p.Code != problem.Unauthorized || principal.ID != "" {
		t.Errorf("%v, %v", principal, err)
	}
	return p.Kind
}

func TestAlgorithms(t *testing.T) {
	names := []string{"rsa", "ps", "p256", "p384", "p521", "ed"}
	i := newIssuer(t, names...)
	door := i.open(oidc.Options{})
	for _, kid := range names {
		p, err := door.Authenticate(t.Context(), i.sign(kid, i.good(nil)), nowhere)
		if err != nil || p.ID != "oidc:ana" || p.Kind != identity.Agent || fmt.Sprint(p.Scopes) != "[read]" {
			t.Errorf("%s: %+v, %v", kid, p, err)
		}
	}
	if n := i.fetches.Load(); n != 1 {
		t.Errorf("%d fetches, want 1", n)
	}
	only := i.open(oidc.Options{Algorithms: []string{"ES256"}})
	if kind := kindOf(t, only, i.sign("rsa", i.good(nil))); kind != "jwt_algorithm" {
		t.Error("an algorithm that the operator doesn't want:", kind)
	}
	if kind := kindOf(t, only, i.sign("p256", i.good(nil))); kind != "" {
		t.Error("the one that he wants:", kind)
	}
}

func TestAccepts(t *testing.T) {
	i := newIssuer(t, "p256", "ed")
	i.more(jose.JSONWebKey{Key: pairs()["rsa"].private.Public(), KeyID: "bare"}, jose.JSONWebKey{Key: pairs()["rsa"].private.Public(), KeyID: "same"},
		jose.JSONWebKey{Key: pairs()["rsa2"].private.Public(), KeyID: "same"})
	door := i.open(oidc.Options{})
	at := noon.Unix()
	for name, token := range map[string]string{
		"a list of audiences":       i.sign("ed", i.good(claims{"aud": []string{"other", "https://agents.example/mcp"}})),
		"an access token's type":    i.signed("ed", map[string]any{"kid": "ed", "typ": "at+jwt"}, i.good(nil)),
		"the same, written out":     i.signed("ed", map[string]any{"kid": "ed", "typ": "application/AT+JWT"}, i.good(nil)),
		"no type":                   i.signed("ed", map[string]any{"kid": "ed"}, i.good(nil)),
		"a key for any use":         i.signed("rsa", map[string]any{"kid": "bare"}, i.good(nil)),
		"the same for another":      i.signed("ps", map[string]any{"kid": "bare"}, i.good(nil)),
		"two keys of one name":      i.signed("rsa2", map[string]any{"kid": "same"}, i.good(nil)),
		"the longest there is":      i.long(16 << 10),
		"no key id, one key fits":   i.signed("ed", nil, i.good(nil)),
		"no nbf and no iat":         i.sign("ed", i.good(claims{"nbf": nil, "iat": nil})),
		"expired within the skew":   i.sign("ed", i.good(claims{"exp": at - 59})),
		"from within the skew":      i.sign("ed", i.good(claims{"nbf": at + 60, "iat": at + 60})),
		"a time with a fraction":    i.sign("ed", i.good(claims{"exp": float64(at) + 0.5})),
		"a claim that says nothing": i.sign("ed", i.good(claims{"principal": "root", "tenant": "acme", "owner": "ceo", "_meta": claims{"id": "root"}})),
	} {
		p, err := door.Authenticate(t.Context(), token, nowhere)
		if err != nil || p.ID != "oidc:ana" || p.Owner != "" || p.Tenant != "" || !p.Claims.IsNull() || p.Expires.Unix() != at+3600 && !strings.Contains("expired within the skew, a time with a fraction", name) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// TestRefuses has a row for each defect of a token.
func TestRefuses(t *testing.T) {
	i := newIssuer(t, "rsa", "p256", "p384", "ed")
	door := i.open(oidc.Options{})
	at := noon.Unix()
	header := func(alg string, more string) string {
		return `{"alg":"` + alg + `","kid":"ed","typ":"JWT"` + more + `}`
	}
	payload := func(c claims) string { b, _ := json.Marshal(c); return string(b) }
	good := i.sign("ed", i.good(nil))
	parts := strings.Split(good, ".")
	type row struct{ name, token, kind string }
	rows := []row{
		{"empty", "", "jwt_malformed"},
		{"a word", "token", "jwt_malformed"},
		{"two parts", parts[0] + "." + parts[1], "jwt_malformed"},
		{"four parts", good + ".", "jwt_malformed"},
		{"no signature", parts[0] + "." + parts[1] + ".", "jwt_signature"},
		{"a newline behind it", good + "\n", "jwt_malformed"},
		{"padding", parts[0] + "=." + parts[1] + "." + parts[2], "jwt_malformed"},
		{"bits behind the last byte", parts[0] + "." + parts[1] + "." + parts[2][:len(parts[2])-1] + "_", "jwt_malformed"},
		{"a newline in its header", parts[0][:8] + "\n" + parts[0][8:] + "." + parts[1] + "." + parts[2], "jwt_malformed"},
		{"a newline in its claims", parts[0] + "." + parts[1][:8] + "\n" + parts[1][8:] + "." + parts[2], "jwt_malformed"},
		{"a JSON form", `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`, "jwt_malformed"},
		{"a byte too long", i.long(16<<10 + 1), "jwt_too_long"},
		{"huge", i.sign("ed", i.good(claims{"pad": strings.Repeat("x", 16<<10)})), "jwt_too_long"},
		{"deep", raw(header("EdDSA", ""), strings.Repeat(`{"a":`, 1000)+"1"+strings.Repeat("}", 1000), nil), "jwt_malformed"},

		{"alg none", raw(`{"alg":"none"}`, payload(i.good(nil)), nil), "jwt_algorithm"},
		{"alg None", raw(`{"alg":"None","kid":"ed"}`, payload(i.good(nil)), nil), "jwt_algorithm"},
		{"no alg", raw(`{"kid":"ed"}`, payload(i.good(nil)), nil), "jwt_algorithm"},
		{"two algs", raw(`{"alg":"EdDSA","alg":"none","kid":"ed"}`, payload(i.good(nil)), nil), "jwt_malformed"},
		{"HS256 with the public key", withPublicKey(t, i), "jwt_algorithm"},
		{"another algorithm than its key's", i.signed("rsa2", map[string]any{"kid": "p256"}, i.good(nil)), "jwt_key_unknown"},
		{"another algorithm for its key", i.signed("ps", map[string]any{"kid": "rsa"}, i.good(nil)), "jwt_key_unknown"},
		{"one that its key can't have", i.signed("p256", map[string]any{"kid": "bare"}, i.good(nil)), "jwt_key_unknown"},
		{"another curve than its key's", i.signed("p384", map[string]any{"kid": "p256"}, i.good(nil)), "jwt_key_unknown"},
		{"somebody's key under a known name", i.signed("rsa2", map[string]any{"kid": "rsa"}, i.good(nil)), "jwt_signature"},
		{"another payload", parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(payload(i.good(claims{"sub": "root"})))) + "." + parts[2], "jwt_signature"},
		{"an unknown key", i.signed("ed", map[string]any{"kid": "nobody"}, i.good(nil)), "jwt_key_unknown"},
		{"no key id, two keys fit", twoFit(i), "jwt_key_unknown"},
		{"a key id that is no text", raw(`{"alg":"EdDSA","kid":1}`, payload(i.good(nil)), nil), "jwt_malformed"},
		{"a key id that is a fraction", raw(`{"alg":"EdDSA","kid":1.5}`, payload(i.good(nil)), nil), "jwt_malformed"},
		{"a key id without text", i.signed("ed", map[string]any{"kid": ""}, i.good(nil)), "jwt_malformed"},
		{"the longest key id", i.signed("ed", map[string]any{"kid": strings.Repeat("k", 256)}, i.good(nil)), "jwt_key_unknown"},
		{"a longer key id", i.signed("ed", map[string]any{"kid": strings.Repeat("k", 257)}, i.good(nil)), "jwt_malformed"},
		{"a broken key of its own", raw(header("EdDSA", `,"jwk":{}`), payload(i.good(nil)), []byte("x")), "jwt_malformed"},
		{"a key of its own", i.signed("rsa2", map[string]any{"kid": "own", "jwk": jose.JSONWebKey{Key: pairs()["rsa2"].private.Public()}}, i.good(nil)), "jwt_key_unknown"},
		{"a critical extension", raw(header("EdDSA", `,"crit":["exp"],"exp":1`), payload(i.good(nil)), []byte("x")), "jwt_critical"},
		{"an empty crit", i.signed("ed", map[string]any{"kid": "ed", "crit": []string{}}, i.good(nil)), "jwt_critical"},
		{"a payload as it is", raw(header("EdDSA", `,"b64":false`), payload(i.good(nil)), []byte("x")), "jwt_critical"},
		{"a token in a token", i.signed("ed", map[string]any{"kid": "ed", "cty": "JWT"}, i.good(nil)), "jwt_nested"},
		{"an encrypted token", encrypted(t, good), "jwt_malformed"},
		{"a logout token", i.signed("ed", map[string]any{"kid": "ed", "typ": "logout+jwt"}, i.good(nil)), "jwt_type"},

		{"a claim twice", i.signed("ed", map[string]any{"kid": "ed"}, strings.TrimSuffix(payload(i.good(nil)), "}")+`,"sub":"root"}`), "jwt_malformed"},
		{"no object", i.signed("ed", map[string]any{"kid": "ed"}, `["sub"]`), "jwt_malformed"},
		{"another issuer", i.sign("ed", i.good(claims{"iss": "https://evil.example"})), "jwt_issuer"},
		{"nearly the issuer", i.sign("ed", i.good(claims{"iss": i.URL + "/"})), "jwt_issuer"},
		{"no issuer", i.sign("ed", i.good(claims{"iss": nil})), "jwt_issuer"},
		{"another audience", i.sign("ed", i.good(claims{"aud": "https://other.example"})), "jwt_audience"},
		{"other audiences", i.sign("ed", i.good(claims{"aud": []any{"a", 1, []string{"https://agents.example/mcp"}}})), "jwt_audience"},
		{"no audience", i.sign("ed", i.good(claims{"aud": nil})), "jwt_audience"},
		{"expired", i.sign("ed", i.good(claims{"exp": at - 60})), "jwt_expired"},
		{"no exp", i.sign("ed", i.good(claims{"exp": nil})), "jwt_times"},
		{"an exp that is text", i.sign("ed", i.good(claims{"exp": "9999999999"})), "jwt_times"},
		{"an exp of the beginning", i.sign("ed", i.good(claims{"exp": 0})), "jwt_times"},
		{"the first exp beyond all", i.sign("ed", i.good(claims{"exp": 1 << 40})), "jwt_times"},
		{"an iat that is text", i.sign("ed", i.good(claims{"iat": "0"})), "jwt_times"},
		{"an exp beyond all", i.sign("ed", i.good(claims{"exp": 1e300})), "jwt_times"},
		{"an exp below all", i.sign("ed", i.good(claims{"exp": -1})), "jwt_times"},
		{"an exp that is null", i.signed("ed", map[string]any{"kid": "ed"}, strings.Replace(payload(i.good(nil)), fmt.Sprint(at+3600), "null", 1)), "jwt_times"},
		{"not yet", i.sign("ed", i.good(claims{"nbf": at + 61})), "jwt_not_yet"},
		{"an nbf that is text", i.sign("ed", i.good(claims{"nbf": "0"})), "jwt_times"},
		{"from the future", i.sign("ed", i.good(claims{"iat": at + 61})), "jwt_not_yet"},
		{"no sub", i.sign("ed", i.good(claims{"sub": nil})), "jwt_no_id"},
		{"an empty sub", i.sign("ed", i.good(claims{"sub": ""})), "jwt_no_id"},
		{"a sub that is a list", i.sign("ed", i.good(claims{"sub": []string{"ana"}})), "jwt_no_id"},
		{"a sub that moves the cursor", i.sign("ed", i.good(claims{"sub": "ana\x1b[2J"})), "jwt_no_id"},
		{"a long sub", i.sign("ed", i.good(claims{"sub": strings.Repeat("a", 201)})), "jwt_no_id"},
	}
	if kind := kindOf(t, door, good); kind != "" {
		t.Fatal("the good one:", kind)
	}
	first := ""
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			_, err := door.Authenticate(t.Context(), tt.token, nowhere)
			p := problem.Of(err)
			if p == nil || p.Code != problem.Unauthorized || p.Kind != tt.kind {
				t.Fatalf("%#v, want %s", p, tt.kind)
			}
			shown := *p
			shown.Kind, shown.Err = "", nil
			if text := fmt.Sprintf("%+v", shown); first == "" {
				first = text
			} else if text != first {
				t.Errorf("it looks different:\n%s\n%s", text, first)
			}
		})
	}
}

// withPublicKey returns a token whose signature uses a public key as the secret.
func withPublicKey(t *testing.T, i *issuer) string {
	der, err := x509.MarshalPKIXPublicKey(pairs()["rsa"].private.Public())
	if err != nil {
		t.Fatal(err)
	}
	unsigned := raw(`{"alg":"HS256","kid":"rsa"}`, fmt.Sprintf(`{"iss":%q,"aud":"https://agents.example/mcp","sub":"ana","exp":%d}`, i.URL, noon.Unix()+100), nil)
	mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	mac.Write([]byte(strings.TrimSuffix(unsigned, ".")))
	return unsigned + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// twoFit returns a token without a key id that either of two keys of the issuer could have signed.
func twoFit(i *issuer) string {
	i.publish("rsa", "rsa2", "p256", "p384", "ed")
	i.more(jose.JSONWebKey{Key: pairs()["rsa2"].private.Public(), KeyID: "bare"})
	return i.signed("rsa", nil, i.good(nil))
}

func encrypted(t *testing.T, token string) string {
	e, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: jose.RSA_OAEP_256, Key: pairs()["rsa"].private.Public()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := e.Encrypt([]byte(token))
	if err != nil {
		t.Fatal(err)
	}
	text, err := o.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestRotation(t *testing.T) {
	i := newIssuer(t, "p256")
	door := i.open(oidc.Options{})
	old, young := i.sign("p256", i.good(claims{"exp": noon.Unix() + 1e6})), i.sign("ed", i.good(claims{"exp": noon.Unix() + 1e6}))
	steps := []struct {
		name       string
		after      time.Duration
		publish    []string
		old, young string
		fetches    int64
	}{
		{"the first token", 0, nil, "", "jwt_key_unknown", 1},
		{"a new key, too soon to ask again", 9 * time.Second, []string{"p256", "ed"}, "", "jwt_key_unknown", 1},
		{"soon enough", time.Second, nil, "", "", 2},
		{"the old one is taken out, which isn't known yet", time.Minute, []string{"ed"}, "", "", 2},
	}
	for _, s := range steps {
		i.after(s.after)
		if s.publish != nil {
			i.publish(s.publish...)
		}
		if o, y := kindOf(t, door, old), kindOf(t, door, young); o != s.old || y != s.young || i.fetches.Load() != s.fetches {
			t.Fatalf("%s: %q, %q after %d fetches; want %q, %q, %d", s.name, o, y, i.fetches.Load(), s.old, s.young, s.fetches)
		}
	}
	i.after(time.Hour)
	for start := time.Now(); kindOf(t, door, old) == ""; time.Sleep(time.Millisecond) { // the keys are fetched in the background
		if time.Since(start) > 5*time.Second {
			t.Fatal("a key that was taken out is good for ever")
		}
	}
	if kind := kindOf(t, door, young); kind != "" {
		t.Error(kind)
	}
}

// TestUnknownKeys checks that many unknown key ids don't cause many fetches.
func TestUnknownKeys(t *testing.T) {
	i := newIssuer(t, "ed")
	door := i.open(oidc.Options{})
	good := i.sign("ed", i.good(claims{"exp": noon.Unix() + 1e6}))
	storm := func(kid func(n int) string) {
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for n := range 50 {
					token := raw(`{"alg":"EdDSA","kid":"`+kid(w*50+n)+`"}`, mustJSON(i.good(claims{"exp": noon.Unix() + 1e6})), make([]byte, 64))
					if kind := kindOf(t, door, token); kind != "jwt_key_unknown" {
						t.Error(kind)
					}
					if kind := kindOf(t, door, good); kind != "" {
						t.Error("a good token in the storm:", kind)
					}
				}
			})
		}
		wg.Wait()
	}
	for round := range int64(5) {
		storm(func(n int) string { return fmt.Sprint(round, "-", n) })
		if n := i.fetches.Load(); n > round+2 {
			t.Fatalf("%d fetches after %d rounds", n, round+1)
		}
		i.after(10 * time.Second)
	}
	before := i.fetches.Load()
	storm(func(int) string { return "one" })
	i.after(10 * time.Second)
	storm(func(int) string { return "one" })
	if n := i.fetches.Load(); n > before+1 {
		t.Errorf("%d fetches for one key that isn't there", n-before)
	}
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestIssuerDown(t *testing.T) {
	i := newIssuer(t, "ed")
	door := i.open(oidc.Options{})
	good := i.sign("ed", i.good(claims{"exp": noon.Unix() + 1e6}))
	i.down.Store(true)
	for range 100 {
		if kind := kindOf(t, door, good); kind != "jwt_issuer_unavailable" {
			t.Fatal(kind)
		}
	}
	if n := len(i.broken); n != 1 {
		t.Errorf("told %d times of one failure", n)
	}
	if err := <-i.broken; err.Error() != i.URL+"/.well-known/openid-configuration: 502 Bad Gateway" {
		t.Error(err)
	}
	i.down.Store(false)
	if kind := kindOf(t, door, good); kind != "jwt_issuer_unavailable" {
		t.Error("asked again too soon:", kind)
	}
	i.after(10 * time.Second)
	if kind := kindOf(t, door, good); kind != "" {
		t.Fatal(kind)
	}

	// While the issuer is down, its known keys stay valid, and new keys can't be fetched.
	i.down.Store(true)
	i.after(2 * time.Hour)
	for range 100 {
		if kind := kindOf(t, door, good); kind != "" {
			t.Fatal(kind)
		}
	}
	<-i.broken
	i.after(10 * time.Second)
	if kind := kindOf(t, door, i.sign("p256", i.good(claims{"exp": noon.Unix() + 1e6}))); kind != "jwt_issuer_unavailable" {
		t.Error("a new key:", kind)
	}
	<-i.broken
	i.after(10 * time.Second)
	i.publish("ed", "p256")
	i.down.Store(false)
	if kind := kindOf(t, door, i.sign("p256", i.good(claims{"exp": noon.Unix() + 1e6}))); kind != "" {
		t.Error("a new key when it is up:", kind)
	}
	i.down.Store(true)
	i.after(24*time.Hour - time.Second)
	if kind := kindOf(t, door, good); kind != "" {
		t.Error("after nearly a day:", kind)
	}
	<-i.broken
	i.after(11 * time.Second)
	if kind := kindOf(t, door, good); kind != "jwt_issuer_unavailable" {
		t.Error("after a day:", kind)
	}
	<-i.broken
	i.down.Store(false)
	i.after(10 * time.Second)
	if kind := kindOf(t, door, good); kind != "" {
		t.Error("up again:", kind)
	}
	if n := len(i.broken); n != 0 {
		t.Errorf("told %d more times", n)
	}
}

// TestKeysTooOld checks that expired keys are fetched again immediately, even just after an unknown key id.
func TestKeysTooOld(t *testing.T) {
	i := newIssuer(t, "ed")
	door := i.open(oidc.Options{Fresh: 20 * time.Second, Stale: 20 * time.Second})
	for n := int64(1); n < 3; n++ {
		if kind := kindOf(t, door, i.signed("ed", map[string]any{"kid": "new"}, i.good(nil))); kind != "jwt_key_unknown" || i.fetches.Load() != n {
			t.Errorf("%s after %d fetches, want %d", kind, i.fetches.Load(), n)
		}
		i.after(20 * time.Second)
	}
}

// TestAsksOnce checks that a call fetches once, even if the fetch takes long.
func TestAsksOnce(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusBadGateway} {
		var fetches, hours atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fetches.Add(1)
			w.WriteHeader(status)
			fmt.Fprint(w, mustJSON(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: pairs()["ed"].private.Public(), KeyID: "old"}}}))
		}))
		defer s.Close()
		door, err := oidc.New(oidc.Options{Issuer: s.URL, JWKS: s.URL, Audience: []string{"here"}, Stale: time.Minute,
			Now: func() time.Time { return noon.Add(time.Duration(hours.Add(1)) * time.Hour) }})
		if err != nil {
			t.Fatal(err)
		}
		token := raw(`{"alg":"EdDSA","kid":"ed"}`, mustJSON(claims{"iss": s.URL, "aud": "here", "sub": "ana", "exp": noon.Unix() + 1e6}), make([]byte, 64))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if _, err := door.Authenticate(ctx, token, nowhere); problem.Of(err).Kind != "jwt_issuer_unavailable" || fetches.Load() != 1 {
			t.Errorf("%d: %v after %d fetches", status, problem.Of(err).Kind, fetches.Load())
		}
	}
}

// TestClose checks that a fetch in progress has completely ended when Close returns.
func TestClose(t *testing.T) {
	asked := make(chan bool, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- true
		<-r.Context().Done()
	}))
	defer s.Close()
	told := make(chan error, 1)
	door, err := oidc.New(oidc.Options{Issuer: s.URL, JWKS: s.URL, Audience: []string{"here"}, Now: func() time.Time { return noon },
		Failed: func(err error) { time.Sleep(20 * time.Millisecond); told <- err }})
	if err != nil {
		t.Fatal(err)
	}
	token := raw(`{"alg":"EdDSA","kid":"ed"}`, mustJSON(claims{"iss": s.URL, "aud": "here", "sub": "ana", "exp": noon.Unix() + 100}), make([]byte, 64))
	var wg sync.WaitGroup
	wg.Go(func() {
		if kind := kindOf(t, door, token); kind != "jwt_issuer_unavailable" {
			t.Error(kind)
		}
	})
	<-asked
	door.Close()
	select {
	case err := <-told:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	default:
		t.Error("the fetch goes on")
	}
	wg.Wait()
}

// TestAudience checks that an audience must be text, not a number with the same digits.
func TestAudience(t *testing.T) {
	i := newIssuer(t, "ed")
	door, err := oidc.New(oidc.Options{Issuer: i.URL, Audience: []string{"1.5"}, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		aud  any
		want string
	}{{"1.5", ""}, {[]string{"a", "1.5"}, ""}, {1.5, "jwt_audience"}, {[]any{1.5}, "jwt_audience"}} {
		if kind := kindOf(t, door, i.sign("ed", i.good(claims{"aud": tt.aud}))); kind != tt.want {
			t.Errorf("%v: %q, want %q", tt.aud, kind, tt.want)
		}
	}
}

// TestClient uses the operator's own client, which trusts the issuer's certificate.
func TestClient(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, mustJSON(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: pairs()["ed"].private.Public(), KeyID: "ed"}}}))
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // hides errors of a client that doesn't trust the certificate
	s.StartTLS()
	defer s.Close()
	i := newIssuer(t)
	token := i.sign("ed", i.good(claims{"iss": s.URL, "aud": "here"}))
	for _, tt := range []struct {
		client *http.Client
		want   string
	}{{s.Client(), ""}, {nil, "jwt_issuer_unavailable"}} {
		door, err := oidc.New(oidc.Options{Issuer: s.URL, JWKS: s.URL, Audience: []string{"here"}, Client: tt.client, Now: func() time.Time { return noon }})
		if err != nil {
			t.Fatal(err)
		}
		if kind := kindOf(t, door, token); kind != tt.want {
			t.Errorf("got %q, want %q", kind, tt.want)
		}
	}
}

// TestSlowIssuer checks that a cancelled call returns while the others wait for the same fetch.
func TestSlowIssuer(t *testing.T) {
	i := newIssuer(t, "ed")
	i.slow.Store(int64(200 * time.Millisecond))
	door := i.open(oidc.Options{})
	good := i.sign("ed", i.good(nil))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if kind := kindOf(t, door, good); kind != "" {
				t.Error(kind)
			}
		})
	}
	wg.Wait()
	if n := i.fetches.Load(); n != 1 {
		t.Errorf("%d fetches for 20 calls at once", n)
	}
	door.Close() // returns, because no fetch is in progress
}

// TestEndpointsTogether checks many visitors that request the endpoints of an issuer that fails slowly. They share
// its failures. A visitor that disconnects doesn't end the fetch of the others.
func TestEndpointsTogether(t *testing.T) {
	const visitors = 50
	var fetches atomic.Int64
	all, answer := make(chan bool), make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if fetches.Add(1) == 1 {
			close(all)
		}
		<-answer
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer s.Close()
	door, err := oidc.New(oidc.Options{Issuer: s.URL, Audience: []string{"here"}})
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	gone, leave := context.WithCancel(t.Context())
	var wg, begun sync.WaitGroup
	ask := func(ctx context.Context) {
		if _, err := door.Endpoints(ctx); err == nil || errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	wg.Go(func() { ask(gone) })
	<-all
	leave()
	for range visitors {
		begun.Add(1)
		wg.Go(func() {
			begun.Done()
			ask(t.Context())
		})
	}
	begun.Wait()
	close(answer)
	wg.Wait()
	if n := fetches.Load(); n > visitors/2 { // visitors that started to wait after the first fetch cause another one
		t.Errorf("%d fetches for %d visitors", n, visitors+1)
	}
}

// TestIssuerFaults has a row for each invalid response of an issuer.
func TestIssuerFaults(t *testing.T) {
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"keys":[]}`) }))
	defer far.Close()
	const discovery, keys = "/.well-known/openid-configuration", "/keys"
	document := func(url string) string { return fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q}`, url, url+keys) }
	jwks := func(k jose.JSONWebKey) func(string) string {
		return func(string) string { return mustJSON(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{k}}) }
	}
	unlike := func(n string) string { // returns a key without an exponent
		return `{"keys":[{"kty":"RSA","kid":"ed","n":"` + n + `","e":"AA"}]}`
	}
	fill := func(size int) func(string) string {
		return func(string) string { return strings.Repeat(" ", size-len(`{"keys":[]}`)) + `{"keys":[]}` }
	}
	small := `{"keys":[{"kty":"RSA","kid":"ed","n":"` + base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{255}, 128)) + `","e":"AQAB"}]}`
	for _, tt := range []struct {
		name string
		at   map[string]func(w http.ResponseWriter, r *http.Request, url string)
		want string
	}{
		{"another issuer", answers(discovery, func(string) string { return document("https://evil.example") }), `%s/.well-known/openid-configuration: the issuer calls itself "https://evil.example", not "%s"`},
		{"keys over a network in the clear", answers(discovery, func(u string) string { return fmt.Sprintf(`{"issuer":%q,"jwks_uri":"http://keys.example/"}`, u) }),
			"%s/.well-known/openid-configuration: jwks_uri: must begin with https://. Only an address of this machine may begin with http://"},
		{"no document", nil, "%s/.well-known/oauth-authorization-server: 404 Not Found"},
		{"no JSON", answers(discovery, func(string) string { return "<html>" }), "%s/.well-known/openid-configuration: invalid character '<' looking for beginning of value"},
		{"no keys", answers(discovery, document, keys, func(string) string { return `{"keys":[]}` }), "%s/keys: no key that a token could be signed with"},
		{"symmetric keys", answers(discovery, document, keys, func(string) string { return `{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"ed"}]}` }), "%s/keys: no key that a token could be signed with"},
		{"a private key", answers(discovery, document, keys, jwks(jose.JSONWebKey{Key: pairs()["ed"].private, KeyID: "ed"})), "%s/keys: no key that a token could be signed with"},
		{"a key without an exponent", answers(discovery, document, keys, func(string) string {
			return unlike(base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{255}, 256)))
		}), "%s/keys: no key that a token could be signed with"},
		{"a key with a broken certificate", answers(discovery, document, keys, func(u string) string {
			return strings.Replace(jwks(jose.JSONWebKey{Key: pairs()["ed"].private.Public(), KeyID: "ed"})(u), `"kid"`, `"x5t":"AAAA","kid"`, 1)
		}), "%s/keys: no key that a token could be signed with"},
		{"keys for encryption", answers(discovery, document, keys, jwks(jose.JSONWebKey{Key: pairs()["ed"].private.Public(), KeyID: "ed", Use: "enc"})), "%s/keys: no key that a token could be signed with"},
		{"too many keys", answers(discovery, document, keys, func(string) string { return `{"keys":[` + strings.Repeat("{},", 100) + `{}]}` }), "%s/keys: 101 keys, want at most 100"},
		{"the most keys", answers(discovery, document, keys, func(string) string { return `{"keys":[` + strings.Repeat("{},", 99) + `{}]}` }), "%s/keys: no key that a token could be signed with"},
		{"the longest document", answers(discovery, document, keys, fill(1<<20)), "%s/keys: no key that a token could be signed with"},
		{"a longer one", answers(discovery, document, keys, fill(1<<20+1)), "%s/keys: more than 1048576 bytes"},
		{"a document cut off", map[string]func(http.ResponseWriter, *http.Request, string){discovery: func(w http.ResponseWriter, _ *http.Request, url string) {
			w.Header().Set("Content-Length", "10000")
			fmt.Fprint(w, document(url))
		}}, "%s/.well-known/openid-configuration: unexpected EOF"},
		{"another form for who doesn't ask for JSON", map[string]func(http.ResponseWriter, *http.Request, string){discovery: func(w http.ResponseWriter, r *http.Request, _ string) {
			fmt.Fprintf(w, `{"issuer":%q}`, r.Header.Get("Accept"))
		}}, `%s/.well-known/openid-configuration: the issuer calls itself "application/json", not "%s"`},
		{"no answer", map[string]func(http.ResponseWriter, *http.Request, string){discovery: func(http.ResponseWriter, *http.Request, string) {
			panic(http.ErrAbortHandler)
		}}, `Get "%s/.well-known/openid-configuration": EOF`},
		{"a document without end", answers(discovery, document, keys, func(string) string { return `{"keys":["` + strings.Repeat("x", 1<<20) + `"]}` }), "%s/keys: more than 1048576 bytes"},
		{"a redirect", map[string]func(http.ResponseWriter, *http.Request, string){discovery: func(w http.ResponseWriter, r *http.Request, _ string) {
			http.Redirect(w, r, far.URL, http.StatusFound)
		}}, "%s/.well-known/openid-configuration: 302 Found"},
		{"a short key", answers(discovery, document, keys, func(string) string { return small }), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var url string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if answer := tt.at[r.URL.Path]; answer != nil {
					answer(w, r, url)
					return
				}
				http.NotFound(w, r)
			}))
			defer s.Close()
			url = s.URL
			told := make(chan error, 1)
			door, err := oidc.New(oidc.Options{Issuer: url, Audience: []string{"here"}, Failed: func(err error) { told <- err }, Now: func() time.Time { return noon }})
			if err != nil {
				t.Fatal(err)
			}
			token := raw(`{"alg":"RS256","kid":"ed"}`, mustJSON(claims{"iss": url, "aud": "here", "sub": "ana", "exp": noon.Unix() + 100}), make([]byte, 256))
			want := "jwt_issuer_unavailable"
			if tt.want == "" {
				want = "jwt_key_unknown"
			}
			if kind := kindOf(t, door, token); kind != want {
				t.Error(kind)
			}
			if tt.want == "" {
				return
			}
			select {
			case err := <-told:
				if want := strings.ReplaceAll(tt.want, "%s", url); err.Error() != want {
					t.Errorf("told %q, want %q", err, want)
				}
			default:
				t.Error("told nothing")
			}
		})
	}
}

// answers returns handlers by path.
func answers(pairs ...any) map[string]func(http.ResponseWriter, *http.Request, string) {
	out := map[string]func(http.ResponseWriter, *http.Request, string){}
	for n := 0; n < len(pairs); n += 2 {
		text := pairs[n+1].(func(string) string)
		out[pairs[n].(string)] = func(w http.ResponseWriter, _ *http.Request, url string) { fmt.Fprint(w, text(url)) }
	}
	return out
}

// TestDiscovery checks OAuth discovery without OpenID, and a configured address of the keys.
func TestDiscovery(t *testing.T) {
	i := newIssuer(t, "ed")
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	defer s.Close()
	issuer := s.URL + "/tenant"
	mux.HandleFunc("GET /.well-known/oauth-authorization-server/tenant", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, issuer, i.URL+"/keys")
	})
	for _, o := range []oidc.Options{{Issuer: issuer}, {Issuer: "https://login.example", JWKS: i.URL + "/keys"}} {
		o.Audience, o.Now = []string{"here"}, func() time.Time { return noon }
		door, err := oidc.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if kind := kindOf(t, door, i.sign("ed", i.good(claims{"iss": o.Issuer, "aud": "here"}))); kind != "" {
			t.Errorf("%s: %s", o.Issuer, kind)
		}
	}
}

// TestNewRefuses has a row for each unsafe option.
func TestNewRefuses(t *testing.T) {
	good := oidc.Options{Issuer: "https://login.example/", Audience: []string{"here"}}
	with := func(edit func(*oidc.Options)) oidc.Options { o := good; edit(&o); return o }
	for _, ok := range []oidc.Options{good, with(func(o *oidc.Options) { o.Issuer = "http://localhost:1/" }), with(func(o *oidc.Options) { o.Issuer = "http://[::1]" })} {
		if _, err := oidc.New(ok); err != nil {
			t.Fatal(err)
		}
	}
	const notURL = "must be a URL such as https://login.example.com/, without user, query and fragment"
	for _, tt := range []struct {
		options oidc.Options
		want    string
	}{
		{with(func(o *oidc.Options) { o.Audience = nil }), "audience: name at least one, or tokens for any other program would be good here"},
		{with(func(o *oidc.Options) { o.Audience = []string{""} }), "audience: name at least one, or tokens for any other program would be good here"},
		{with(func(o *oidc.Options) { o.JWKS = "http://login.example/keys" }), "jwks_uri: must begin with https://. Only an address of this machine may begin with http://"},
		{with(func(o *oidc.Options) { o.JWKS = "file:///etc/passwd" }), "jwks_uri: " + notURL},
		{with(func(o *oidc.Options) { o.JWKS = "http://192.0.2.7/keys" }), "jwks_uri: must begin with https://. Only an address of this machine may begin with http://"},
		{with(func(o *oidc.Options) { o.JWKS = "https:///keys" }), "jwks_uri: " + notURL},
		{with(func(o *oidc.Options) { o.JWKS = "https://login.example/%zz" }), "jwks_uri: " + notURL},
		{with(func(o *oidc.Options) { o.JWKS = "ftp://login.example/" }), "jwks_uri: " + notURL},
		{with(func(o *oidc.Options) { o.JWKS = "https://login.example/?q" }), "jwks_uri: " + notURL},
		{with(func(o *oidc.Options) { o.JWKS = "https://login.example/#f" }), "jwks_uri: " + notURL},
		{with(func(o *oidc.Options) { o.Issuer, o.JWKS = "login.example", "https://login.example/keys" }), "issuer: " + notURL},
		{with(func(o *oidc.Options) { o.Issuer, o.JWKS = "https://me:pw@login.example", "https://login.example/keys" }), "issuer: " + notURL},
		{with(func(o *oidc.Options) { o.Algorithms = []string{"RS256", "HS256"} }), `algorithms: "HS256" is none of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA`},
		{with(func(o *oidc.Options) { o.Algorithms = []string{"none"} }), `algorithms: "none" is none of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA`},
	} {
		if _, err := oidc.New(tt.options); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

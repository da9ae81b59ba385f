package client

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
)

// spelt contains encodings of a text in responses, by name.
var spelt = map[string]func(string) string{
	"raw":       func(s string) string { return s },
	"query":     url.QueryEscape,
	"path":      url.PathEscape,
	"all bytes": func(s string) string { return everyByte(s, "%%%02x") },
	"json":      func(s string) string { b, _ := json.Marshal(s); return string(b[1 : len(b)-1]) },
	"json all":  func(s string) string { return everyByte(s, `\u%04x`) },
	"html":      html.EscapeString,
	"html all":  func(s string) string { return everyByte(s, "&#%d;") },
	"base64":    func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"shift 1":   func(s string) string { return base64.StdEncoding.EncodeToString([]byte("a" + s + "b")) },
	"shift 2":   func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("ab" + s)) },
	"hex":       func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":       func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"twice":     func(s string) string { return url.QueryEscape(everyByte(s, `\u%04x`)) },
	"thrice":    func(s string) string { return everyByte(url.QueryEscape(url.QueryEscape(s)), `\u%04x`) },
	"b64 in u":  func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) },
	"upper":     strings.ToUpper,
	"lower":     strings.ToLower,
	"prefix":    func(s string) string { return s[:9] + "…" },
	"suffix":    func(s string) string { return "…" + s[len(s)-9:] },
	"middle":    func(s string) string { return "*" + s[1:10] + "*" },
}

func everyByte(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

// holds reports whether nine bytes of a secret can be recovered from a text, ignoring case.
func holds(text, secret string) bool {
	texts := []string{text}
	for range 3 {
		plain, err := url.QueryUnescape(text)
		if err != nil {
			plain = text
		}
		plain = html.UnescapeString(plain)
		var read string
		if json.Unmarshal([]byte(`"`+plain+`"`), &read) == nil {
			plain = read
		}
		texts, text = append(texts, plain), plain
	}
	for _, text := range texts {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '"' || r == '[' || r == ']' }) {
			for _, decode := range []func(string) ([]byte, error){base64.StdEncoding.DecodeString, base64.RawURLEncoding.DecodeString, hex.DecodeString} {
				if b, err := decode(word); err == nil {
					texts = append(texts, string(b))
				}
			}
		}
	}
	for i := 0; i+9 <= len(secret); i++ {
		for _, text := range texts {
			if strings.Contains(strings.ToLower(text), strings.ToLower(secret[i:i+9])) {
				return true
			}
		}
	}
	return false
}

// TestKnown checks that no nine bytes of a credential remain, in any encoding and context.
func TestKnown(t *testing.T) {
	letters := `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+="\<& %é`
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var b strings.Builder
		for range 9 + random.IntN(60) {
			b.WriteByte(letters[random.IntN(len(letters)-2)])
		}
		secret := b.String()
		k := &KnownSecrets{}
		k.Add(secret)
		for name, spell := range spelt {
			if name == "middle" && len(secret) < 10 {
				continue
			}
			text := "Incorrect API key provided: " + spell(secret) + " and more"
			if !holds(text, secret) {
				continue // the encoding itself hides the secret
			}
			if got := k.Text(text); holds(got, secret) || !strings.HasPrefix(got, "Incorrect API key provided: ") || !strings.HasSuffix(got, " and more") {
				t.Fatalf("%s of %q: %q", name, secret, got)
			}
		}
	}
}

// TestKnownRows checks exact results, with masked and kept parts.
func TestKnownRows(t *testing.T) {
	k := &KnownSecrets{}
	k.Add("sk-live-4f9a8b7c6d5e", "hunter2", "abc", "123456789012")
	for in, want := range map[string]string{
		"":      "",
		"hello": "hello",
		"Incorrect API key provided: sk-live-4f9a8b7c6d5e.": "Incorrect API key provided: [masked].",
		"sk-live-4f9…": "[masked]…",
		"sk-live-…":    "sk-live-…",
		`{"error": "no \u0073\u006b\u002dlive\u002d4f9a8b7c6d5e"}`:                        `{"error": "no [masked]"}`,
		"k=sk%2Dlive%2D4f9a8b7c6d5e&x=1":                                                  "k=[masked]&x=1",
		"Basic " + base64.StdEncoding.EncodeToString([]byte("user:sk-live-4f9a8b7c6d5e")): "Basic dXNlcjp[masked]Q==",
		"the keys SK-LIVE-4F9A8B7C6D5E and HUNTER2":                                       "the keys [masked] and [masked]",
		"the password hunter2 is wrong":                                                   "the password [masked] is wrong",
		"hunter23 and xhunter2 and abc":                                                   "hunter23 and xhunter2 and abc",
		`{"a": 123456789012, "b": [1123456789012,2]}`:                                     `{"a": "[masked]", "b": ["[masked]",2]}`,
		"1234567890": "[masked]",
	} {
		if got := k.Text(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	long := strings.Repeat("x", chunk-10) + everyByte("sk-live-4f9a8b7c6d5e", `\u%04x`) + strings.Repeat("y", chunk)
	if got := k.Text(long); got != strings.Repeat("x", chunk-10)+masked+strings.Repeat("y", chunk) {
		t.Error("what lies where two parts meet is not found")
	}
	odd := &KnownSecrets{}
	odd.Add("~~~???~~~???") // in base64, each group of four contains one that the two alphabets write differently
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		if got := odd.Text(encoding.EncodeToString([]byte("~~~???~~~???"))); got != masked {
			t.Error(got)
		}
	}
	if got := (&KnownSecrets{}).Text("nothing % is known"); got != "nothing % is known" {
		t.Error(got)
	}
}

// TestLearn checks that the secrets that a credential adds are known. It also checks that they are returned, for use
// after they were dropped.
func TestLearn(t *testing.T) {
	for name, c := range map[string]Credential{
		"bearer": BearerHeader("token-of-the-api"), "header": HeaderCredential{"X-Key", "token-of-the-api"}, "query": QueryCredential{"k", "token-of-the-api"},
		"basic": BasicCredential{"ana", "token-of-the-api"}, "scheme": HeaderCredential{"Authorization", "Token token-of-the-api"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/?a=1", nil)
		before := r.Clone(t.Context())
		if err := c.Apply(t.Context(), identity.Principal{}, r); err != nil {
			t.Fatal(err)
		}
		k := &KnownSecrets{}
		own := k.Learn(before, r)
		echo := r.Header.Get("Authorization") + r.Header.Get("X-Key") + r.URL.RawQuery
		if got := k.Text(echo); holds(got, "token-of-the-api") {
			t.Errorf("%s: %s", name, got)
		}
		for i := range 20000 {
			k.learn(fmt.Sprintf("another-token-%d", i))
		}
		if got := k.Text(echo, own...); holds(got, "token-of-the-api") {
			t.Errorf("%s, forgotten: %s", name, got)
		}
		if n := len(k.fresh.pieces) + len(k.past.pieces); n > 2*maxFresh+1000 {
			t.Errorf("%d pieces are kept", n)
		}
		if h, ok := c.(CredentialHolder); !ok || !strings.Contains(strings.Join(h.Secrets(), " "), "token-of-the-api") {
			t.Errorf("%s doesn't say what is secret", name)
		}
	}
}

// BenchmarkHide measures a response of 1 MiB.
func BenchmarkHide(b *testing.B) {
	k := &KnownSecrets{}
	for i := range 100 {
		k.Add(fmt.Sprintf("secret-%d-%x", i, rand.Uint64()))
	}
	body := []byte(strings.Repeat(`{"id": "a1b2c3", "name": "some \"name\" of a thing", "url": "https://a.example/b?c=d&e=f%20g", "count": 1234},`, 10000))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		k.Hide(body)
	}
}

package console

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/edge"
)

// visitorName is the cookie that identifies a visitor before sign-in, so that the sign-in form can be verified. It
// grants no rights.
const visitorName = "bailiwick-visitor"

// themeName is the cookie of the colour theme that a person chose.
const themeName = "bailiwick-theme"

// sessionOf returns the name of the session cookie. Browsers accept the prefix __Host- only over https and for this
// host. Plain http on this machine uses the name without the prefix.
func sessionOf(r *http.Request) string { return cookieName(r, "bailiwick-session") }

func cookieName(r *http.Request, name string) string {
	if edge.Plainly(r) {
		return name
	}
	return "__Host-" + name
}

// plainCookie returns a cookie that scripts can't read and that requests from other sites don't carry.
func plainCookie(r *http.Request, name, value string) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", Secure: !edge.Plainly(r), HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// signInAway is the state that the browser stores while a person signs in at the issuer.
type signInAway struct {
	Kept    string `json:"k"` // the value that the issuer's answer must match
	Next    string `json:"n"` // the page to show after the sign-in
	Session string `json:"s"` // the ID of the session that the new session replaces, or ""
}

// awayLife is the maximum time to sign in at the issuer, in seconds.
const awayLife = 600

// leaveCookie returns the cookie of a person who goes to the issuer to sign in. Its SameSite mode is lax, so a
// redirect from the issuer carries it. Such a redirect doesn't carry the session cookie.
func leaveCookie(r *http.Request, a signInAway) *http.Cookie {
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // texts always encode
	}
	c := plainCookie(r, cookieName(r, "bailiwick-leaving"), base64.RawURLEncoding.EncodeToString(text))
	c.SameSite, c.MaxAge = http.SameSiteLaxMode, awayLife
	return c
}

// returnCookie returns the state from leaveCookie and removes the cookie. It returns false if the browser doesn't
// have the cookie.
func returnCookie(w http.ResponseWriter, r *http.Request) (a signInAway, ok bool) {
	gone := leaveCookie(r, signInAway{})
	gone.Value, gone.MaxAge = "", -1
	http.SetCookie(w, gone)
	cookie, err := r.Cookie(gone.Name)
	if err != nil {
		return signInAway{}, false
	}
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	return a, err == nil && json.Unmarshal(text, &a) == nil
}

// browserOf returns the browser and operating system of a request, for the list of sessions.
func browserOf(r *http.Request) string {
	agent := r.UserAgent()
	first := func(names ...string) string {
		for _, n := range names {
			if word, shown, _ := strings.Cut(n, "="); strings.Contains(agent, word) {
				return cmp.Or(shown, word)
			}
		}
		return "unknown"
	}
	return first("Firefox", "Edg=Edge", "OPR=Opera", "Chrome", "Safari", "curl") + " on " +
		first("Android", "iPhone", "iPad", "Windows", "Mac OS X=macOS", "Linux", "CrOS=ChromeOS")
}

// formMark returns the token for the forms of a session or a visitor. It is derived from the secret in the cookie, so
// pages of other sites can't know it.
func formMark(secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("bailiwick forms"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// newVisitorID returns a random value for the cookie of a visitor who is not signed in.
func newVisitorID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// themeCookie returns the cookie for a selected theme. Any value except light and dark removes the cookie, so that
// the browser's theme applies.
func themeCookie(r *http.Request, theme string) *http.Cookie {
	c := plainCookie(r, themeName, theme)
	c.MaxAge = 365 * 24 * 3600
	if theme != "light" && theme != "dark" {
		c.Value, c.MaxAge = "", -1
	}
	return c
}

package main

import (
	"database/sql"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSignInFlood sends many requests without a credential to all endpoints that sign people and agents in. Each must
// be refused, the number of log lines must be bounded, and the store must not grow.
func TestSignInFlood(t *testing.T) {
	a, metrics := guarded(t, "auth: {agents: {sign_in: true}}\n")
	a.token(t, "--name", "agent")
	a.start(t)
	b := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(r *http.Request, err error) (*http.Response, string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		res, err := b.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res, string(text)
	}
	post := func(path, kind, body string) *http.Request {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		return r
	}
	const form = "application/x-www-form-urlencoded"
	page, text := send(http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+"/console/sign-in", nil))
	mark := regexp.MustCompile(`name="mark" value="([^"]*)"`).FindStringSubmatch(text)
	if mark == nil || len(page.Cookies()) == 0 {
		t.Fatal(text)
	}
	signIn := func() *http.Request {
		r := post("/console/sign-in", form, url.Values{"mark": mark[1:], "credential": {"nothing"}}.Encode())
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.AddCookie(page.Cookies()[0])
		return r
	}
	elsewhere := func() *http.Request {
		r := post("/console/sign-in", form, "")
		r.Host = "evil.example"
		return r
	}
	const times = 60
	secret := "bwr_" + strings.Repeat("A", 43)
	for name, make := range map[string]func() *http.Request{
		"refresh": func() *http.Request {
			return post("/oauth/token", form, "grant_type=refresh_token&client_id=x&refresh_token="+secret)
		},
		"code": func() *http.Request {
			return post("/oauth/token", form, "grant_type=authorization_code&client_id=x&code=y")
		},
		"register": func() *http.Request { return post("/oauth/register", "application/json", strings.Repeat("[", 10_000)) },
		"sign in":  signIn,
		"a host":   elsewhere,
	} {
		for range times {
			if res, text := send(make(), nil); res.StatusCode < 400 {
				t.Fatalf("%s: %s\n%s", name, res.Status, text)
			}
		}
	}
	if n := metric(t, metrics, "bailiwick_door_refusals_total"); n < 5*times {
		t.Errorf("%d refusals counted, want %d", n, 5*times)
	}
	a.stop(t)
	if lines := strings.Count(a.stderr.String(), "\n"); lines > 25 {
		t.Errorf("%d lines: %.3000s", lines, a.stderr.String())
	}
	for _, kind := range []string{"ticket_unknown", "host"} {
		if !strings.Contains(a.stderr.String(), kind) {
			t.Errorf("%s isn't in the log: %s", kind, a.stderr.String())
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(a.dir, "bailiwick.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var kept int
	if err := db.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM ticket) + (SELECT count(*) FROM token) - 1`).Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d things kept (%v)", kept, err)
	}
}

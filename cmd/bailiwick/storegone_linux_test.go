package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/test/services"
)

// TestStoreGone checks that agents, the review API and the console receive 503 with Retry-After while the store can't
// be reached. Afterwards they must receive normal answers.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	line := services.Through(t, services.Postgres(t))
	b := newBox(t, line.URL)
	b.serve()
	out, errs, err := b.run("token", "create", "--name", "ann-reviews", "--kind", "human", "--owner", "ann@example.com", "--tenant", "acme", "--scopes", "review,read", "--json")
	var made struct{ Token string }
	if err != nil || json.Unmarshal([]byte(out), &made) != nil {
		t.Fatalf("no token: %s%s%v", out, errs, err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	said := func(res *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		again := res.Header.Get("Retry-After")
		text := b.answer(res, nil)
		if n, err := strconv.Atoi(again); strings.HasPrefix(text, "503 ") && (err != nil || n < 1 || n > 5) {
			t.Errorf("503 with Retry-After %q: %s", again, text)
		}
		return text
	}
	get := func(path, token string) func() string {
		return func() string {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
				return said(http.DefaultClient.Do(r))
			}
			return said(client.Do(r))
		}
	}
	b.until(b.ask, answered)
	res, err := client.Get(b.url + "/console/sign-in")
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(res.Body)
	res.Body.Close()
	mark := regexp.MustCompile(`name="mark" value="([^"]+)"`).FindSubmatch(page)
	if err != nil || mark == nil {
		t.Fatalf("no form: %v %s", err, page)
	}
	if text := said(client.PostForm(b.url+"/console/sign-in", url.Values{"mark": {string(mark[1])}, "credential": {made.Token}})); !strings.HasPrefix(text, "200 ") {
		t.Fatal(text)
	}
	doors := []struct {
		name       string
		ask        func() string
		well, gone string
	}{
		{"agents", func() string { return said(http.DefaultClient.Do(b.question())) }, answered,
			`^503 \{"jsonrpc":"2.0","id":null,"error":\{"code":-32000,"message":"The gateway can't reach its records now. Try again in [1-5] seconds","data":\{"error_code":"upstream_error","retryable":true,"retry_after":[1-5]\}\}\}$`},
		{"the review API", get("/api/changes", made.Token), `^200 `, `^503 \{"error":"the gateway can't keep its records, so it answers no calls","error_code":"upstream_error","retryable":true,.*"retry_after":`},
		{"the console", get("/console/changes", ""), `^200 `, `(?s)^503 .*Not available now.*The gateway can&#39;t reach its records. The gateway may not have recorded your action`},
		{"signing in", get("/console/sign-in", ""), `^200 `, `(?s)^503 .*Not available now`},
	}
	for _, d := range doors {
		b.until(d.ask, d.well)
	}
	line.Cut()
	for _, d := range doors {
		got := b.until(d.ask, d.gone)
		for _, bad := range []string{"postgres", "SQLSTATE", "127.0.0.1", "Internal error"} {
			if strings.Contains(got, bad) {
				t.Errorf("%s: it says %s: %s", d.name, bad, got)
			}
		}
	}
	line.Mend()
	for _, d := range doors {
		b.until(d.ask, d.well)
	}
}

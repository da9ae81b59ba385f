package services

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	osexec "os/exec"
	"regexp"
	"testing"
	"time"
)

// OIDC starts a real OpenID Connect provider for one client, "gate" with the secret "secret", whose redirect URIs are back, with spaces between them. It
// returns its issuer. The person there is test-user@localhost with the password "verysecure", whose claim org is org, of the
// group reviewers until GET test/groups?set=a,b sets others. The provider ends with the test.
func OIDC(t testing.TB, back, org string) (issuer string) {
	t.Helper()
	folder, err := inModule("test/services/testdata/provider")
	if err != nil {
		t.Fatal(err)
	}
	run := osexec.Command("go", "run", ".", back, org) // the program is built once and cached
	run.Dir = folder
	in, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = run.Wait() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the provider didn't start")
	}
	return lines.Text()
}

// SignIn opens the address of OIDC's provider that a program sends a browser to, and signs in there as its person. It
// returns the query that the provider sends back to an address on 127.0.0.1:9.
func SignIn(t testing.TB, to string) url.Values {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var answer url.Values
	b := &http.Client{Jar: jar, Timeout: time.Minute, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host == "127.0.0.1:9" {
			answer = r.URL.Query()
			return http.ErrUseLastResponse
		}
		return nil
	}}
	res, err := b.Get(to)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(res.Body)
	res.Body.Close()
	id := regexp.MustCompile(`name="id" value="([^"]*)"`).FindSubmatch(page)
	if err != nil || id == nil {
		t.Fatalf("%s %v\n%s", res.Status, err, page)
	}
	at := res.Request.URL
	res, err = b.PostForm(at.Scheme+"://"+at.Host+"/login/username", url.Values{"username": {"test-user@" + at.Hostname()}, "password": {"verysecure"}, "id": {string(id[1])}})
	if err != nil {
		t.Fatal(err)
	}
	page, _ = io.ReadAll(res.Body)
	res.Body.Close()
	if answer == nil {
		t.Fatalf("not back: %s\n%s", res.Status, page)
	}
	return answer
}

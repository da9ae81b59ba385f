package testservices

import (
	"bufio"
	osexec "os/exec"
	"testing"
)

// OIDC starts a real OpenID Connect provider for one client, "gate" with the secret "secret", whose redirect URIs are back, with spaces between them. It
// returns its issuer. The person there is test-user@localhost with the password "verysecure", whose claim org is org, of the
// group reviewers until GET test/groups?set=a,b sets others. The provider ends with the test.
func OIDC(t testing.TB, back, org string) (issuer string) {
	t.Helper()
	folder, err := inModule("internal/testservices/testdata/provider")
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

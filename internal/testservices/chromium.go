package testservices

import (
	"os"
	osexec "os/exec"
	"testing"
)

// Chromium returns the path of a headless Chromium, which the test starts and stops itself.
func Chromium(t testing.TB) string {
	t.Helper()
	if os.Getenv(chromiumVariable) == "" {
		for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
			if path, err := osexec.LookPath(name); err == nil {
				return path // without starting servers, which a browser doesn't need
			}
		}
	}
	path, why := serverURL(chromiumVariable)
	if why != "" {
		t.Skipf("LEFT OUT: Chromium: %s", why)
	}
	return path
}

package services

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

// Axe returns the script of axe-core, which checks pages for obstacles to people with disabilities. If the script is
// not available, it returns "" and logs a line.
func Axe(t testing.TB) string {
	t.Helper()
	path, why := serverURL(axeVariable)
	if why != "" {
		t.Logf("LEFT OUT: axe-core: %s", why)
		return ""
	}
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

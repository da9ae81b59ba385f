package services

import (
	"os"
	osexec "os/exec"
	"strings"
)

// Proxy returns the path of nginx, haproxy or caddy, which the test starts and stops itself. If it is not available, it
// returns why.
func Proxy(name string) (path, why string) {
	variable := "BAILIWICK_TEST_" + strings.ToUpper(name)
	if os.Getenv(variable) == "" {
		for _, at := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
			if path, err := osexec.LookPath(at); err == nil {
				return path, "" // without starting servers, which a proxy doesn't need
			}
		}
	}
	return serverURL(variable)
}

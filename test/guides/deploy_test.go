package guides

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestUnit has systemd read the unit of deploy/systemd, and judge how much it leaves a service that was taken over: 0 is
// nothing, 10 all of the machine.
func TestUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("LEFT OUT: the systemd unit, because systemd-analyze is not here")
	}
	unit, err := os.ReadFile("../../deploy/systemd/bailiwick.service")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bailiwick.service")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(unit), "/usr/local/bin/bailiwick", "/bin/true")), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("verify: %v\n%s", err, out)
	}
	out, err := exec.Command(analyze, "security", "--offline=true", path).CombinedOutput()
	if err != nil && strings.Contains(string(out), "unrecognized option") {
		t.Skip("LEFT OUT: the exposure of the systemd unit, because systemd is older than 250")
	}
	m := regexp.MustCompile(`exposure level for bailiwick.service: ([0-9.]+)`).FindStringSubmatch(string(out))
	if m == nil {
		t.Fatalf("security: %v\n%s", err, out)
	}
	if level, err := strconv.ParseFloat(m[1], 64); err != nil || level > 2 {
		t.Errorf("the exposure is %s, %v; want at most 2", m[1], err)
	}
}

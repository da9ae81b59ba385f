package guides

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestUnit has systemd read the unit of examples/deploy/systemd, and judge how much it leaves a service that was taken over: 0 is
// nothing, 10 all of the machine.
func TestUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("LEFT OUT: the systemd unit, because systemd-analyze is not here")
	}
	unit, err := os.ReadFile("../../examples/deploy/systemd/bailiwick.service")
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

// TestRestricted holds examples/deploy/kubernetes/deployment.yaml to the Pod Security standard "restricted", which its namespace enforces: the
// fields that must be set, and those that must not.
func TestRestricted(t *testing.T) {
	text, err := os.ReadFile("../../examples/deploy/kubernetes/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n---\n")
	var d struct {
		Spec struct {
			Template struct {
				Spec struct {
					HostNetwork, HostPID, HostIPC       bool
					InitContainers, EphemeralContainers []any
					SecurityContext                     struct {
						RunAsNonRoot   bool
						RunAsUser      int
						SeccompProfile map[string]string
						Sysctls        []any
					}
					Containers []struct {
						SecurityContext struct {
							AllowPrivilegeEscalation *bool
							ReadOnlyRootFilesystem   bool
							Privileged               bool
							RunAsNonRoot             *bool
							RunAsUser                *int
							SeccompProfile           map[string]string
							Capabilities             map[string][]string
						}
						Ports []map[string]any
					}
					Volumes []map[string]any
				}
			}
		}
	}
	// The names of fields are matched by their lower case.
	var tree any
	if err := yaml.Unmarshal([]byte(first), &tree); err != nil {
		t.Fatal(err)
	}
	doc, err := json.Marshal(tree)
	if err == nil {
		err = json.Unmarshal(doc, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	pod := d.Spec.Template.Spec
	if c := pod.SecurityContext; pod.HostNetwork || pod.HostPID || pod.HostIPC || !c.RunAsNonRoot || c.RunAsUser == 0 || c.SeccompProfile["type"] != "RuntimeDefault" || c.Sysctls != nil ||
		pod.InitContainers != nil || pod.EphemeralContainers != nil {
		t.Errorf("the pod: %+v", pod)
	}
	if len(pod.Containers) != 1 {
		t.Fatalf("%d containers", len(pod.Containers))
	}
	c := pod.Containers[0].SecurityContext
	if c.AllowPrivilegeEscalation == nil || *c.AllowPrivilegeEscalation || !c.ReadOnlyRootFilesystem || c.Privileged || c.RunAsNonRoot != nil || c.RunAsUser != nil || c.SeccompProfile != nil ||
		!slices.Equal(c.Capabilities["drop"], []string{"ALL"}) || c.Capabilities["add"] != nil {
		t.Errorf("the container: %+v", c)
	}
	for _, port := range pod.Containers[0].Ports {
		if port["hostPort"] != nil {
			t.Errorf("a port of the host: %v", port)
		}
	}
	for _, v := range pod.Volumes {
		delete(v, "name")
		if len(v) != 1 || v["configMap"] == nil && v["emptyDir"] == nil {
			t.Errorf("a volume: %v", v)
		}
	}
}
